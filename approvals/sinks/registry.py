"""The sink that REVIEWROOM_AUDIT_SINK names: a built-in one or that of an installed package.

A package brings a scheme by an entry point of the group `reviewroom.sinks`: its name is the scheme, and what it names
is called with `base.Options` and gives a `base.Sink`, or raises SinkError with the remedy.
"""

from functools import cache
from importlib.metadata import entry_points

from approvals.connectors import outbound as outbounds
from approvals.connectors.outbound import Outbound
from approvals.sinks import file, http
from approvals.sinks.base import Factory, Options, Sink, SinkError

GROUP = "reviewroom.sinks"
_BUILT_IN: dict[str, Factory] = {"file": file.make, "http": http.make, "https": http.make}


def from_settings() -> Sink:
    """The configured sink. Raises SinkError."""
    from django.conf import settings

    return make_with(
        Options(
            url=settings.REVIEWROOM_AUDIT_SINK,
            outbound=outbounds.from_settings(),
            token=settings.REVIEWROOM_AUDIT_TOKEN,
            signing_secret=settings.REVIEWROOM_AUDIT_SIGNING_SECRET,
            gzip=settings.REVIEWROOM_AUDIT_GZIP,
            rotate=settings.REVIEWROOM_AUDIT_ROTATE,
        )
    )


def make(url: str, token: str, outbound: Outbound) -> Sink:
    """The sink for a URL, with nothing but a token. Raises SinkError."""
    return make_with(Options(url=url, outbound=outbound, token=token))


def make_with(options: Options) -> Sink:
    """The sink for everything the settings say. Raises SinkError, with the remedy, for what cannot be used."""
    scheme = options.url.rpartition(":")[0].partition(":")[0].lower()  # also of what is no URL at all
    known = _kinds()
    if scheme not in known:
        schemes = ", ".join(f"{name}:" for name in sorted(known))
        raise SinkError(
            f"REVIEWROOM_AUDIT_SINK has to begin with one of {schemes} and {scheme or 'nothing'}: is none. "
            f"Write file:///path or https://host/path, or install the package that brings {scheme or 'it'}."
        )
    return known[scheme](options)


@cache
def _kinds() -> dict[str, Factory]:
    """By scheme. A package cannot take the place of a built-in: installing something must not change whom we tell."""
    found: dict[str, Factory] = {point.name: point.load() for point in entry_points(group=GROUP)}
    return found | _BUILT_IN
