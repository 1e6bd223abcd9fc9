"""The second line of a queue row: why it waits, what its proposer says, or how its content begins. It may be cut."""

import re

from approvals.domain.states import DraftState
from approvals.models import Draft

LENGTH = 120
_WHY = frozenset(
    {
        DraftState.DELIVERY_UNKNOWN,
        DraftState.RETRACTION_UNKNOWN,
        DraftState.CHANGES_REQUESTED,
        DraftState.FAILED,
        DraftState.RETRACTION_FAILED,
        DraftState.REJECTED,
        DraftState.REVOKED,
        DraftState.EXPIRED,
    }
)
_TEXT = re.compile(r':"((?:[^"\\]|\\.)+)')
_ESCAPE = re.compile(r"\\(?:u[0-9a-f]{4}|.)")


def of_draft(draft: Draft, prefix: bytes) -> str:
    """Gives one line; `prefix` is the beginning of the newest revision's canonical bytes."""
    if draft.state in _WHY and draft.reason:
        return _one_line(draft.reason)
    return _one_line(draft.note) if draft.note.strip() else _content(prefix)


def _content(prefix: bytes) -> str:
    """Gives the longest text near the beginning: names and codes are short, what a reader looks for is not."""
    _, _, payload = prefix.decode(errors="ignore").partition('"payload":')
    longest = max(_TEXT.findall(payload.partition(',"schema":')[0]), key=len, default="")
    return f"“{_one_line(_ESCAPE.sub(' ', longest))}”" if longest else ""


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LENGTH else f"{line[:LENGTH].rstrip()}…"
