"""What stands at an exclusive target now, as it was last read. Shown beside a draft; no part of what is approved."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from approvals.models import Target, TargetReading
from approvals.web.cards import changes, payload
from approvals.web.cards.changes import FieldChange
from approvals.web.cards.payload import Field, Hidden


@dataclass(frozen=True, slots=True)
class Standing:
    """`differences` lead from what stands there to the draft, field by field, where both have the field.

    `is_due`: a worker is about to read it, so the card asks again by itself.
    """

    url: str
    ask_url: str
    can_ask: bool
    about: str
    said: str
    read_at: Any
    caution: str
    fields: list[Field]
    warning: Hidden | None
    differences: list[FieldChange]
    is_equal: bool
    compares: bool
    is_open: bool
    is_due: bool


@dataclass(frozen=True, slots=True)
class Asks:
    """Where the card is loaded from and where a new reading is asked for, if the connector can read at all."""

    url: str
    ask_url: str
    can_ask: bool
    about: str


CANNOT = "This connector cannot read what stands at a target, so nobody here knows what is there now."


def standing(
    target: Target,
    reading: TargetReading | None,
    wanted: dict[str, Any],
    *,
    asks: Asks,
    is_open: bool = False,
) -> Standing:
    """Gives the card of a target, with the way from what stands there to the wanted payload."""
    content = reading.content if reading else None
    found = list(payload.fields(_object(content)))
    shared = _shared(found, list(payload.fields(wanted)))
    differing = [new for old, new in shared if old != new]
    return Standing(
        url=asks.url,
        ask_url=asks.ask_url,
        can_ask=asks.can_ask,
        about=asks.about,
        said=_said(reading) if asks.can_ask else CANNOT,
        read_at=reading.read_at if reading else None,
        caution=_caution(reading, target),
        fields=found,
        warning=payload.hidden(content, found) if found else None,
        differences=list(_differences(shared)),
        is_equal=bool(shared) and not differing,
        compares=bool(shared),
        is_open=is_open,
        is_due=asks.can_ask and reading is not None and reading.next_read_at is not None,
    )


def _said(reading: TargetReading | None) -> str:
    if reading is None:
        return "Nobody has read it yet."
    if reading.known and not reading.content:
        return reading.reason or "Nothing stands there."
    if reading.known:
        return ""
    if reading.read_at is None and not reading.reason:
        return "It has not been read yet."
    return f"It could not be read: {reading.reason}"


def _caution(reading: TargetReading | None, target: Target) -> str:
    """Says why what is shown may no longer be what is there."""
    if reading is None or reading.read_at is None:
        return ""
    if not reading.known:
        return "This was read before that."
    return "This was read before the last write." if reading.version < target.version else ""


def _object(content: Any) -> dict[str, Any]:
    if content in (None, {}, []):
        return {}
    return content if isinstance(content, dict) else {"content": content}


def _shared(there: list[Field], wanted: list[Field]) -> list[tuple[Field, Field]]:
    """Gives the fields that both have: only there the shapes match and a comparison says something."""
    here = {field.steps: field for field in wanted}
    return [(field, here[field.steps]) for field in there if field.steps in here]


def _differences(shared: list[tuple[Field, Field]]) -> Iterator[FieldChange]:
    return (changes.changed(old, new) for old, new in shared if old != new)
