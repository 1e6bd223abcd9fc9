"""Secrets by name: where they come from, which hosts may see them, and how they are taken out of evidence."""

import base64
import binascii
import html
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

PREFIX = "REVIEWROOM_TARGET_SECRET_"
HIDDEN = "[redacted]"
_LEAST_OF_BASE64 = 8  # characters; fewer are found in innocent text too
_OTHER_SPELLINGS = {" ": ("+",), "/": ("_",), "+": ("-",), "'": ("&apos;",)}
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
    """The same JSON value without the secrets, in whatever usual encoding they come back."""
    values = sorted({secret.value for secret in secrets}, key=len, reverse=True)
    return _redacted(value, [_shown(text) for text in values if text])


def _redacted(value: Any, patterns: list[re.Pattern[str]]) -> Any:
    if isinstance(value, str):
        for pattern in patterns:
            value = pattern.sub(HIDDEN, value)
        return value
    if isinstance(value, dict):
        return {_redacted(key, patterns): _redacted(item, patterns) for key, item in value.items()}
    if isinstance(value, list):
        return [_redacted(item, patterns) for item in value]
    return value


@lru_cache(maxsize=64)
def _shown(secret: str) -> re.Pattern[str]:
    """Finds the secret, its password part and its bare key, as they are and as servers write them."""
    plain = {secret, secret.removeprefix("whsec_"), secret.partition(":")[2]} - {""}
    encoded = {form for text in plain for form in _in_base64(text.encode())}
    return re.compile("|".join(_spelled(text) for text in sorted(plain | encoded, key=len, reverse=True)))


def _in_base64(raw: bytes) -> Iterator[str]:
    """All of it, and what stays the same of it inside a longer text, wherever its groups of three bytes begin."""
    yield base64.b64encode(raw).decode()
    for shift in range(3):
        bits = 8 * shift
        first, end = -(-bits // 6), (bits + 8 * len(raw)) // 6
        if end - first >= _LEAST_OF_BASE64:
            yield base64.b64encode(bytes(shift) + raw).decode()[first:end]


def _spelled(text: str) -> str:
    """Matches the text where each of its signs may be written as in a URL, JSON, HTML or base64 for URLs."""
    return "".join(char if char.isascii() and char.isalnum() else _any_spelling(char) for char in text)


def _any_spelling(char: str) -> str:
    """Once or twice encoded: error documents are often put into others."""
    percent = "".join(f"%(?:25){{0,2}}{byte:02x}" for byte in char.encode())
    number = f"&#(?:0*{ord(char)}|x0*{ord(char):x});"
    escaped = r"\\{1,3}" + re.escape(json.dumps(char)[1:-1].removeprefix("\\"))
    units = "".join(rf"\\{{1,3}}u{unit}" for unit in re.findall("....", char.encode("utf-16-be").hex()))
    others = (re.escape(form) for form in (html.escape(char), *_OTHER_SPELLINGS.get(char, ()), char))
    every = dict.fromkeys([*(f"(?i:{form})" for form in (percent, number, escaped, units)), *others])
    return f"(?:{'|'.join(every)}){'?' if char == '=' else ''}"  # base64 for URLs leaves its = out


def _origin(url: str) -> tuple[str, int | None]:
    parts = urlsplit(url)
    return (parts.hostname or "").lower(), parts.port or _DEFAULT_PORTS.get(parts.scheme)


def _bound_hosts(listed: str, scheme: str) -> set[tuple[str, int | None]]:
    return {_origin(f"{scheme}://{host.strip()}") for host in listed.split(",") if host.strip()}
