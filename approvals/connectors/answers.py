"""What came of one HTTP call: an answer, or the reason why there is none."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from approvals.connectors import secrets
from approvals.connectors.secrets import Secret

EVIDENCE_CHARACTERS = 4000
_KEPT_HEADERS = ("content-type", "date", "location", "retry-after", "server", "x-request-id")


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

    @property
    def evidence(self) -> dict[str, Any]:
        return {"url": self.url, "fault": self.fault.value, "error": self.reason}


@dataclass(frozen=True)
class Response:
    """What the remote answered."""

    status: int
    headers: Mapping[str, str]  # names in lower case
    body: bytes
    complete: bool  # False: cut off by the remote or by our limit
    url: str = ""
    hidden: tuple[Secret, ...] = field(default=(), repr=False)

    def json(self) -> Any:
        """The whole document. Raises ValueError for anything else."""
        if not self.complete:
            raise ValueError("The answer was cut off.")
        try:
            return json.loads(self.body.decode(), parse_constant=_no_constant)
        except RecursionError as exc:
            raise ValueError("The answer nests too deep.") from exc

    @property
    def evidence(self) -> dict[str, Any]:
        """What may be stored and shown: no secret, and no character a database refuses."""
        kept = {name: self.headers[name] for name in _KEPT_HEADERS if name in self.headers}
        text = secrets.redact(self.body.decode(errors="replace"), self.hidden)
        found = {
            "url": self.url,
            "status": self.status,
            "headers": secrets.redact(kept, self.hidden),
            "body": text[:EVIDENCE_CHARACTERS],
            "complete": self.complete and len(text) <= EVIDENCE_CHARACTERS,
        }
        return {key: storable(value) for key, value in found.items()}


Answer = Response | Failure


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
