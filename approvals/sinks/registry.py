"""The sink that REVIEWROOM_AUDIT_SINK names."""

from pathlib import Path
from urllib.parse import unquote, urlsplit

from approvals.connectors import outbound as outbounds
from approvals.connectors.base import ConfigError
from approvals.connectors.outbound import Outbound
from approvals.sinks.base import Sink, SinkError
from approvals.sinks.file import FileSink
from approvals.sinks.http import HttpSink


def from_settings() -> Sink:
    """The configured sink. Raises SinkError."""
    from django.conf import settings

    return make(settings.REVIEWROOM_AUDIT_SINK, settings.REVIEWROOM_AUDIT_TOKEN, outbounds.from_settings())


def make(url: str, token: str, outbound: Outbound) -> Sink:
    """The sink for a URL. Raises SinkError, with the remedy, for one that cannot be used."""
    scheme = url.partition(":")[0].lower()
    if scheme == "file":
        return FileSink(_path(url))
    if scheme not in ("http", "https"):
        raise SinkError("REVIEWROOM_AUDIT_SINK has to begin with file:///, http:// or https://.")
    try:
        outbound.check_url("", url)
    except ConfigError as exc:
        raise SinkError(f"REVIEWROOM_AUDIT_SINK cannot be used: {exc.message}") from exc
    return HttpSink(url, outbound, token)


def _path(url: str) -> Path:
    parts = urlsplit(url)
    path = Path(unquote(parts.path))
    if parts.netloc not in ("", "localhost") or parts.query or parts.fragment or not path.is_absolute():
        raise SinkError("A file sink is written with three slashes and a whole path: file:///var/audit.jsonl.")
    if not path.name or path.is_dir():
        raise SinkError(f"{path} is a directory: name a file in it.")
    return path
