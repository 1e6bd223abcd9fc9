"""The conflict page of a refused decision or verb: what was seen, what is now, the difference, the comment kept."""

from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse

from approvals.domain.binding import short
from approvals.domain.errors import Refusal
from approvals.domain.gate import Verdict
from approvals.models import Draft, Revision
from approvals.services import rendering
from approvals.web import words
from approvals.web.cards import changes, conflict, rail
from approvals.web.cards.changes import Difference
from approvals.web.cards.conflict import Conflict, ConflictSide
from approvals.web.pages.draft import crumbs
from approvals.web.pages.reader import Reader


@dataclass(frozen=True, slots=True)
class Pressed:
    """What somebody pressed, on what, with which words: all they have to get back."""

    what: str
    version: int | None = None
    digest: str = ""
    comment: str = ""


def page(reader: Reader, refusal: Refusal, pressed: Pressed) -> Conflict:
    """Gives the page. Its one way on leads to what is current; the comment goes along, and nothing is decided by it."""
    draft = reader.draft
    seen = _seen(draft, pressed)
    moved = seen is not None and seen.number != draft.version
    label = f"Review revision {draft.version}" if reader.can_decide else f"Look at revision {draft.version}"
    return Conflict(
        code=refusal.code,
        title=conflict.title("stale_revision" if _was_replaced(refusal, seen, draft) else refusal.code),
        text=_text(reader, refusal, pressed, seen),
        crumbs=crumbs(reader),
        review_url=reverse("keep_comment", args=[draft.pk]),
        review_label=label,
        review_code=short(reader.revision.digest),
        saw=_saw(seen, reader.now) if moved and seen else None,
        now=conflict.of_draft_now(draft, reader.revision, reader.now),
        diff=_difference(seen, reader) if moved and seen else None,
        comment=pressed.comment,
        comment_note=f"Not posted. It goes with you to revision {draft.version}, where you can change it.",
    )


def _seen(draft: Draft, pressed: Pressed) -> Revision | None:
    """Gives the revision that was on the page: by its number and digest, never by the number alone."""
    if pressed.version is None:
        return None
    found = draft.revisions.select_related("author", "acts_for").filter(number=pressed.version).first()
    return found if found and found.digest == pressed.digest else None


def _saw(seen: Revision, now: datetime) -> ConflictSide:
    return conflict.side("You saw", seen, now)


def _difference(seen: Revision, reader: Reader) -> Difference:
    numbers = (seen.number, reader.draft.version)
    return changes.difference(rendering.binding_of(seen), rendering.binding_of(reader.revision), numbers=numbers)


def _text(reader: Reader, refusal: Refusal, pressed: Pressed, seen: Revision | None) -> str:
    """Says what was pressed and what had happened before; who and when, where the record knows."""
    at = words.moment(reader.now, reader.now, seconds=True)
    on = f" on revision {pressed.version}" if pressed.version else ""
    said = f"You pressed {pressed.what}{on} at {at} UTC."
    if _was_replaced(refusal, seen, reader.draft):
        return f"{said} {_replaced(reader)}"
    if refusal.code == "already_decided" and reader.my_decision is not None:
        decision = reader.my_decision
        verb = rail.VERBS[Verdict(decision.verdict)][1]
        when = words.moment(decision.decided_at, reader.now, seconds=True)
        return f"You {verb} revision {decision.version} at {when} UTC. Take it back first to say something else."
    return f"{said} {refusal} {_reason(reader)}".strip()


def _was_replaced(refusal: Refusal, seen: Revision | None, draft: Draft) -> bool:
    """True if the page held an older revision: that is what happened, whatever the approval is called since."""
    return refusal.code in ("stale_revision", "superseded") and seen is not None and seen.number < draft.version


def _replaced(reader: Reader) -> str:
    revision = reader.revision
    earlier = words.span(reader.now - revision.created_at)
    acts = f", acting for {revision.acts_for.username}" if revision.acts_for else ""
    return f"Revision {revision.number} had replaced it {earlier} earlier, by {revision.author.username}{acts}."


def _reason(reader: Reader) -> str:
    return f"The record says: {reader.draft.reason}" if reader.draft.reason else ""
