"""Reads requests strictly: bodies, headers and query parameters; what is odd is refused by name."""

import hashlib
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Annotated, Any

from django.core import signing
from django.http import HttpRequest
from ninja.errors import ValidationError
from ninja.parser import Parser
from pydantic import Field

from approvals.domain import pointer as pointers
from approvals.domain.binding import parse_json
from approvals.domain.errors import InvalidPayload, PreconditionRequired
from approvals.services.idempotency import Key

KEY = re.compile(r"[\x21-\x7e]{1,200}")
VERSION = re.compile(r'(?:W/)?"([0-9]{1,9})(?:\.[0-9]{1,9})?"|([0-9]{1,9})')
MOMENT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?([Zz]|[+-][0-9]{2}:[0-9]{2})?"
)
Limit = Annotated[int, Field(ge=1, le=100)]
Seconds = Annotated[int, Field(ge=0, le=60)]


class StrictParser(Parser):
    """Reads bodies as the binding does: nothing that two readers could understand differently."""

    def parse_body(self, request: HttpRequest) -> Any:
        return parse_json(request.body)


def idempotency_key(request: HttpRequest, *, status: int = 200) -> Key | None:
    """Gives the request's Idempotency-Key, if it has one, tied to its method, path and raw body."""
    text = request.headers.get("Idempotency-Key")
    if text is None:
        return None
    if not KEY.fullmatch(text):
        raise InvalidPayload("Make the Idempotency-Key of 1 to 200 visible ASCII characters, without blanks.")
    told = b"\n".join([str(request.method).encode(), request.path.encode(), request.body])
    user_id = request.auth.user_id  # type: ignore[attr-defined]
    return Key(user_id, text, hashlib.sha256(told).hexdigest(), status)


def edited_version(request: HttpRequest) -> int:
    """Gives the version that If-Match names: the draft's ETag, or the version alone."""
    text = request.headers.get("If-Match", "").strip()
    if text in ("", "*"):
        raise PreconditionRequired()
    found = VERSION.fullmatch(text)
    if found is None:
        raise InvalidPayload('If-Match names one version: send the draft\'s ETag, like "3.7", or "3".')
    return int(found[1] or found[2])


def moment(text: str | None, *, pointer: str) -> datetime | None:
    """Gives an RFC 3339 time (seconds may be left out) in UTC; one without an offset comes back naive."""
    if text is None:
        return None
    try:
        if not MOMENT.fullmatch(text):
            raise ValueError(text)
        found = datetime.fromisoformat(text.upper())
        return found.astimezone(UTC) if found.tzinfo else found
    except (ValueError, OverflowError) as exc:
        raise InvalidPayload(
            "Give a time as in RFC 3339, with its UTC offset, like 2026-11-01T01:30:00-04:00.", pointer=pointer
        ) from exc


def only(request: HttpRequest, *known: str) -> None:
    """Refuses query parameters a call does not have: a misspelt filter or dry_run must not be ignored."""
    for name in request.GET:
        if name not in known:
            raise InvalidPayload(f"There is no query parameter {name!r} here. Known: {', '.join(known) or 'none'}.")


def cursor(text: str | None, *, kind: str) -> int | None:
    """Gives the position a cursor of ours stands for."""
    if text is None:
        return None
    try:
        return int(signing.loads(text, salt=kind))
    except (signing.BadSignature, ValueError, TypeError) as exc:
        raise InvalidPayload("This cursor is not one of ours. Take next_cursor from the page before.") from exc


def cursor_for(position: int, *, kind: str) -> str:
    return signing.dumps(position, salt=kind)


def faults(error: ValidationError) -> list[dict[str, str]]:
    """Says for each fault of a request where it is (`pointer` in the body, else `parameter`) and what to do."""
    return [_fault(item) for item in error.errors]


def _fault(item: dict[str, Any]) -> dict[str, str]:
    source, *path = item["loc"]
    where = {"pointer": pointers.build(path[1:])} if source == "body" else {"parameter": str(path[-1])}
    return {**where, "detail": _sentence(item, path[1:] if source == "body" else path)}


def _sentence(item: dict[str, Any], path: Iterable[str | int]) -> str:
    name = next(reversed([*path]), None)
    if name is None:
        return "Send a JSON object as the body of the request."
    if item["type"] == "missing":
        return f"Give {name!r}; it is required."
    if item["type"] == "extra_forbidden":
        return f"There is no field {name!r} here. Leave it out."
    return f"{name!r}: {item['msg'].rstrip('.')}."
