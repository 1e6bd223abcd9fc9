"""What came of one HTTP call: an answer, or the reason why there is none."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from approvals.connectors import secrets
from approvals.connectors.secrets import Secret

EVIDENCE_BYTES = 2048  # of a body, an address or a sentence; more proves nothing and is somebody's data
_HEADER_BYTES = 256
_KEPT_HEADERS = (
    "content-length",
    "content-type",
    "date",
    "location",
    "retry-after",
    "server",
    "www-authenticate",
    "x-correlation-id",
    "x-request-id",
)


class Fault(StrEnum):
    """Why there is no answer. All but LOST: no byte of the request left."""

    ADDRESS = "address"  # forbidden by our own rule
    SECRET = "secret"  # noqa: S105 (missing, or not meant for this host)
    NAME = "name"
    CONNECT = "connect"
    TLS = "tls"
    CERTIFICATE = "certificate"
    TOO_LATE = "too_late"
    LOST = "lost"  # after bytes may have left


@dataclass(frozen=True)
class Failure:
    """A call that brought no answer."""

    fault: Fault
    reason: str
    url: str = ""
    timing: Mapping[str, float] = field(default_factory=dict)

    @property
    def evidence(self) -> dict[str, Any]:
        return {
            "url": shortened(self.url),
            "fault": self.fault.value,
            "error": shortened(self.reason),
            "timing": dict(self.timing),
        }


@dataclass(frozen=True)
class Response:
    """What the remote answered."""

    status: int
    headers: Mapping[str, str]  # names in lower case
    body: bytes
    complete: bool  # False: cut off by the remote or by our limit
    url: str = ""
    hidden: tuple[Secret, ...] = field(default=(), repr=False)
    timing: Mapping[str, float] = field(default_factory=dict)  # milliseconds by phase, see `phases`

    def json(self) -> Any:
        """The whole document. Raises ValueError for anything else."""
        if not self.complete:
            raise ValueError("The answer was cut off.")
        try:
            return json.loads(self.body.decode(), parse_constant=_no_constant, object_pairs_hook=_no_repeats)
        except RecursionError as exc:
            raise ValueError("The answer nests too deep.") from exc

    def shows_secret(self, text: str) -> bool:
        """Whether a text out of this answer repeats a secret, so that it can be neither stored nor shown."""
        return bool(secrets.redact(text, self.hidden) != text)

    @property
    def evidence(self) -> dict[str, Any]:
        """What may be stored and shown: no secret, and no character a database refuses."""
        kept = {name: self.headers[name] for name in _KEPT_HEADERS if name in self.headers}
        headers = storable(secrets.redact(kept, self.hidden))
        text = storable(secrets.redact(self.body.decode(errors="replace"), self.hidden))
        body = shortened(text)
        return {
            "url": shortened(self.url),
            "status": self.status,
            "headers": {name: shortened(value, _HEADER_BYTES) for name, value in headers.items()},
            "body": body,
            "complete": self.complete and body == text,
            "timing": dict(self.timing),
        }


Answer = Response | Failure


def shortened(text: str, limit: int = EVIDENCE_BYTES) -> str:
    """The longest beginning that takes at most so many bytes."""
    return text.encode()[:limit].decode(errors="ignore")


def storable(value: Any) -> Any:
    """The same JSON value without NUL and lone surrogates, which databases refuse."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode().replace("\x00", "\ufffd")
    if isinstance(value, dict):
        return {storable(key): storable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [storable(item) for item in value]
    return value


def _no_constant(text: str) -> Any:
    raise ValueError(f"{text} is not JSON.")


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A key given twice means what its reader likes: no answer to build on."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("A key stands twice in one object.")
    return found
