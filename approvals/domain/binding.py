"""The binding: exactly what an approval covers, as canonical bytes (RFC 8785) and their SHA-256 digest.

The bytes are made once, when a revision is proposed. From then on they are only stored, hashed, shown and sent:
making them again from something parsed could give other bytes than those that were approved.
"""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import rfc8785

from approvals.domain.errors import InvalidPayload, TooLarge
from approvals.domain.resource import matches
from approvals.domain.strict_json import MAX_DEPTH, check_text, check_value, parse_json

__all__ = [
    "MAX_CANONICAL_BYTES",
    "MAX_DEPTH",
    "SCHEMA",
    "Binding",
    "Corrects",
    "TargetRef",
    "bind",
    "check_operation",
    "check_resource",
    "check_value",
    "digest_of",
    "load",
    "parse_json",
    "short",
]

SCHEMA = "reviewroom.binding.v1"
MAX_CANONICAL_BYTES = 256 * 1024
MAX_RESOURCE_BYTES = 512  # what a connector can fill into a URL

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")


@dataclass(frozen=True)
class TargetRef:
    """Where the action goes, as it stands in the binding."""

    connector: str
    account: str
    resource: str


@dataclass(frozen=True)
class Corrects:
    """The published object that a correction replaces."""

    delivery_id: str
    remote_id: str


@dataclass(frozen=True)
class Binding:
    """An operation on a target with a payload, and the canonical bytes that say so: see `bind` and `load`."""

    operation: str
    target: TargetRef
    payload: dict[str, Any]
    canonical: bytes
    corrects: Corrects | None = None

    @property
    def digest(self) -> str:
        """Hashes the canonical bytes anew on every call, so that it can be asked right before sending."""
        return digest_of(self.canonical)

    @property
    def payload_bytes(self) -> bytes:
        """Gives the payload's own slice of the canonical bytes.

        Quotes inside a string are escaped, so these two marks can only be keys. Keys are sorted, and neither
        what comes before the payload (corrects, operation) nor what follows it (schema, target) holds another.
        """
        before, after = b',"payload":', b',"schema":'
        start = self.canonical.index(before) + len(before)
        return self.canonical[start : self.canonical.rindex(after)]


def bind(*, operation: str, target: TargetRef, payload: dict[str, Any], corrects: Corrects | None = None) -> Binding:
    """Gives the binding of an action. Raises InvalidPayload or TooLarge, pointing into the request."""
    _check_names(operation, target, corrects)
    if not isinstance(payload, dict):
        raise InvalidPayload('Make the payload a JSON object, like {"summary": "..."}.', pointer="/payload")
    check_value(payload)
    document: dict[str, Any] = {"schema": SCHEMA, "operation": operation, "payload": payload}
    document["target"] = asdict(target)
    if corrects is not None:
        document["corrects"] = asdict(corrects)
    canonical = rfc8785.dumps(document)
    if len(canonical) > MAX_CANONICAL_BYTES:
        raise TooLarge(
            f"The canonical form takes {len(canonical):,} bytes and may take {MAX_CANONICAL_BYTES:,}. "
            "Shorten the payload.",
            pointer="/payload",
        )
    return load(canonical)


def load(canonical: bytes) -> Binding:
    """Gives the binding that stored bytes hold, with those very bytes.

    Raises InvalidPayload for bytes that are no binding. Only the digest tells whether they are the approved ones.
    """
    document = parse_json(canonical)
    try:
        if document.pop("schema") != SCHEMA or not isinstance(document["payload"], dict):
            raise ValueError("another schema, or a payload that is no object")
        target = TargetRef(**document.pop("target"))
        corrects = Corrects(**document.pop("corrects")) if "corrects" in document else None
        return Binding(target=target, corrects=corrects, canonical=canonical, **document)
    except (AttributeError, KeyError, TypeError, ValueError) as exc:
        raise InvalidPayload(f"These bytes are not a {SCHEMA}. Propose the draft again.", pointer="") from exc


def digest_of(canonical: bytes) -> str:
    """Gives `sha256:` and the 64 hex digits that name these bytes."""
    return "sha256:" + hashlib.sha256(canonical).hexdigest()


def short(digest: str) -> str:
    """Gives a label for the eye (`9f2c…41`). Its 24 bits prove nothing: always compare the full digest."""
    hexadecimal = digest.removeprefix("sha256:")
    return f"{hexadecimal[:4]}…{hexadecimal[-2:]}"


def check_operation(operation: str, declared: Iterable[str]) -> None:
    """Refuses an operation that the channel does not declare."""
    known = sorted(declared)
    if operation not in known:
        raise InvalidPayload(
            f"This channel does not declare that operation. Use one of: {', '.join(known) or 'none'}.",
            pointer="/operation",
        )


def check_resource(resource: str, pattern: str) -> None:
    """Refuses a resource outside the channel's pattern; `*` is one segment, never empty, `.` or `..`."""
    _check_name(resource, "resource")
    if not matches(pattern, resource) or _CONTROL.search(resource) or len(resource.encode()) > MAX_RESOURCE_BYTES:
        raise InvalidPayload(
            f"Name a resource that fits {pattern} ('*' stands for one segment), in at most "
            f"{MAX_RESOURCE_BYTES} bytes and without control characters.",
            pointer="/resource",
        )


def _check_names(operation: str, target: TargetRef, corrects: Corrects | None) -> None:
    """Refuses names that are no text. A request names connector and account by its channel."""
    _check_name(operation, "operation")
    _check_name(target.resource, "resource")
    for name in (target.connector, target.account):
        _check_name(name, "channel")
    for name in (corrects.delivery_id, corrects.remote_id) if corrects else ():
        _check_name(name, "corrects")


def _check_name(name: str, field: str) -> None:
    if not isinstance(name, str) or not name:
        raise InvalidPayload(f"Give the {field} as a text that is not empty.", pointer=f"/{field}")
    check_text(name, [field])
