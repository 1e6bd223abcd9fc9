"""The undo window: an approved draft that is about to be sent says when, and offers the way back to whoever has one."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.urls import reverse

from approvals.domain.gate import Verdict
from approvals.domain.states import DraftState
from approvals.permissions import Verb
from approvals.web import words
from approvals.web.pages.actions import Action
from approvals.web.pages.reader import Reader

TICKS = timedelta(hours=1)
"""Below this the page's script counts down; above it nobody waits in front of the page."""


@dataclass(frozen=True, slots=True)
class Undo:
    """`seconds` is for the script; `left` says the same in words at the moment the page was made."""

    at: datetime
    left: str
    seconds: int | None
    text: str
    step: Action | None


def card(reader: Reader) -> Undo | None:
    """Gives the card while an approved draft has a time before it that has not come yet."""
    approval = reader.approval
    due = approval.dispatch_at if approval else None
    if reader.draft.state != DraftState.APPROVED or due is None or due <= reader.now:
        return None
    left = due - reader.now
    step = way_back(reader)
    return Undo(
        at=due,
        left=words.span(left),
        seconds=int(left.total_seconds()) if left < TICKS else None,
        text=step.hint if step else "A reviewer or an operator of the room can still stop it.",
        step=step,
    )


def way_back(reader: Reader) -> Action | None:
    """Gives the lightest verb that stops it: one's own decision, then the approval, then the draft."""
    approval, mine = reader.approval, reader.my_decision
    assert approval is not None  # approved
    hidden = (("approval", str(approval.pk)),)
    if mine is not None and mine.verdict == Verdict.APPROVE and reader.may(Verb.TAKE_BACK):
        hint = "Nothing has left yet. Undo takes your decision back; the draft returns to review."
        return Action("take_back", reverse("take_back", args=[reader.draft.pk]), "Undo", hint, hidden=hidden)
    if reader.may(Verb.REVOKE):
        hint = "Nothing has left yet. Undo revokes the approval for everybody; the author has to submit it again."
        url = reverse("revoke", args=[reader.draft.pk])
        return Action("revoke", url, "Undo", hint, needs_reason=True, hidden=hidden)
    if reader.may(Verb.WITHDRAW):
        hint = "Nothing has left yet. Undo withdraws the draft; it can be submitted again."
        return Action("withdraw", reverse("withdraw", args=[reader.draft.pk]), "Undo", hint, needs_reason=True)
    return None
