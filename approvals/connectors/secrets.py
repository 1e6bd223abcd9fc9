"""Secrets by name: where they come from, which hosts may see them, and how they are taken out of evidence."""

import base64
import binascii
import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, quote_plus, urlsplit

PREFIX = "REVIEWROOM_TARGET_SECRET_"
HIDDEN = "[redacted]"
_NAME = re.compile(r"[A-Z0-9_]+")
_DEFAULT_PORTS = {"http": 80, "https": 443, "smtp": 587, "smtps": 465}  # smtp: with STARTTLS, or no secret is sent


class SecretError(Exception):
    """The secret is missing, or is not meant for this host."""


@dataclass(frozen=True)
class Secret:
    """A secret that has been cleared for one URL."""

    name: str
    value: str = field(repr=False)

    @property
    def basic(self) -> str:
        """The Authorization header for `user:password`."""
        return "Basic " + base64.b64encode(self.value.encode()).decode()

    @property
    def key(self) -> bytes:
        """The signing key: base64 behind `whsec_` (Standard Webhooks), else the bytes as they are."""
        if not self.value.startswith("whsec_"):
            return self.value.encode()
        try:
            return base64.b64decode(self.value.removeprefix("whsec_"), validate=True)
        except binascii.Error as exc:
            raise SecretError(f"{PREFIX}{self.name} begins with whsec_ but goes on with no valid base64.") from exc


def name_problem(name: str) -> str | None:
    """Why this cannot be the name of a secret, or None."""
    if not _NAME.fullmatch(name) or name.endswith("_HOSTS"):
        return "A secret's name holds only A-Z, 0-9 and _, and does not end in _HOSTS."
    return None


def find(name: str, url: str, environ: Mapping[str, str] | None = None) -> Secret:
    """The secret, if it may be sent to the URL's host. Raises SecretError."""
    known = os.environ if environ is None else environ
    variable = PREFIX + name
    value = known.get(variable, "")
    if name_problem(name) or not value:
        raise SecretError(f"The secret {name} is not set: set {variable} and {variable}_HOSTS.")
    if _origin(url) not in _bound_hosts(known.get(f"{variable}_HOSTS", ""), urlsplit(url).scheme):
        host = urlsplit(url).netloc
        raise SecretError(f"The secret {name} is not meant for {host}: add it to {variable}_HOSTS if it is.")
    return Secret(name, value)


def redact(value: Any, secrets: Iterable[Secret]) -> Any:
    """The same JSON value without the secrets, in whatever encoding they come back."""
    forms = sorted({form for secret in secrets for form in _forms(secret.value)}, key=len, reverse=True)
    return _redacted(value, forms)


def _redacted(value: Any, forms: list[str]) -> Any:
    if isinstance(value, str):
        for form in forms:
            value = value.replace(form, HIDDEN)
        return value
    if isinstance(value, dict):
        return {_redacted(key, forms): _redacted(item, forms) for key, item in value.items()}
    if isinstance(value, list):
        return [_redacted(item, forms) for item in value]
    return value


def _forms(secret: str) -> set[str]:
    """The secret, its password part and its bare key, as they are and as they look after the usual encodings."""
    plain = {secret, secret.removeprefix("whsec_"), secret.partition(":")[2]} - {""}
    encoded = {base64.b64encode(text.encode()).decode() for text in plain}
    escaped = {json.dumps(text)[1:-1] for text in plain}
    quoted = {form(text) for text in plain | encoded for form in (quote, quote_plus, _fully_quoted)}
    unpadded = {text.rstrip("=") for text in encoded}
    return plain | encoded | escaped | quoted | unpadded


def _fully_quoted(text: str) -> str:
    return quote(text, safe="")


def _origin(url: str) -> tuple[str, int | None]:
    parts = urlsplit(url)
    return (parts.hostname or "").lower(), parts.port or _DEFAULT_PORTS.get(parts.scheme)


def _bound_hosts(listed: str, scheme: str) -> set[tuple[str, int | None]]:
    return {_origin(f"{scheme}://{host.strip()}") for host in listed.split(",") if host.strip()}
