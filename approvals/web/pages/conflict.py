"""The conflict page of a refused decision or verb: what was seen, what is now, the difference, the comment kept."""

from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse

from approvals.domain.binding import short
from approvals.domain.errors import Refusal
from approvals.domain.gate import Verdict
from approvals.domain.states import DraftState
from approvals.models import Draft, Revision
from approvals.permissions import Verb
from approvals.services import rendering, retract
from approvals.web import words
from approvals.web.cards import changes, conflict, rail
from approvals.web.cards.changes import Difference
from approvals.web.cards.conflict import Conflict, ConflictSide
from approvals.web.pages import settle, tabs
from approvals.web.pages.actions import Link
from approvals.web.pages.draft import crumbs
from approvals.web.pages.reader import Reader


@dataclass(frozen=True, slots=True)
class Pressed:
    """What somebody pressed, on what, with which words: all they have to get back."""

    what: str
    version: int | None = None
    digest: str = ""
    comment: str = ""

    @property
    def is_decision(self) -> bool:
        return self.version is not None or bool(self.digest)


def page(reader: Reader, refusal: Refusal, pressed: Pressed) -> Conflict:
    """Gives the page. Its one way on leads to what is current; the comment goes along, and nothing is decided by it."""
    draft, offer = reader.draft, _offer(reader, refusal)
    seen = _seen(draft, pressed)
    moved = seen is not None and seen.number != draft.version
    label = f"Review revision {draft.version}" if reader.can_decide else f"Look at revision {draft.version}"
    return Conflict(
        code=refusal.code,
        title=conflict.title(
            "stale_revision" if _was_replaced(refusal, seen, draft) else refusal.code, is_decision=pressed.is_decision
        ),
        text=_text(reader, refusal, pressed, seen),
        crumbs=crumbs(reader),
        review_url=reverse("keep_comment", args=[draft.pk]),
        review_label=label,
        review_code=short(reader.revision.digest),
        saw=_saw(seen, reader.now) if moved and seen else None,
        now=conflict.of_draft_now(draft, reader.revision, reader.now),
        diff=_difference(seen, reader) if moved and seen else None,
        comment=pressed.comment,
        comment_label="Your comment, kept" if pressed.is_decision else "What you wrote, kept",
        comment_note=_note(reader),
        offer_url=offer.url if offer else "",
        offer_label=offer.label if offer else "",
    )


def _note(reader: Reader) -> str:
    if reader.can_decide:
        return f"Not posted. It goes with you to revision {reader.draft.version}, where you can change it."
    return "Not posted. Copy it from here if you need it again."


def _offer(reader: Reader, refusal: Refusal) -> Link | None:
    """Gives what can be done instead: what was sent before it could be stopped is taken back."""
    draft = reader.draft
    if refusal.code != "consumed" or draft.state not in settle.PUBLISHED or not reader.may(Verb.RETRACT):
        return None
    if not retract.why_not(draft).ok:
        return None
    url = f"{reverse('draft', args=[draft.pk])}?tab={tabs.DELIVERY}&open={Verb.RETRACT}#settle"
    return Link("Retract it instead…", url, "status-retracting")


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
    return f"{said} {refusal} {_reason(reader)} {_later(reader, refusal)}".strip()


def _was_replaced(refusal: Refusal, seen: Revision | None, draft: Draft) -> bool:
    """True if the page held an older revision: that is what happened, whatever the approval is called since."""
    return refusal.code in ("stale_revision", "superseded") and seen is not None and seen.number < draft.version


def _replaced(reader: Reader) -> str:
    revision = reader.revision
    earlier = words.span(reader.now - revision.created_at)
    acts = f", acting for {revision.acts_for.username}" if revision.acts_for else ""
    return f"Revision {revision.number} had replaced it {earlier} earlier, by {revision.author.username}{acts}."


def _later(reader: Reader, refusal: Refusal) -> str:
    """Says when what was sent too early can be taken back, while the remote has not answered yet."""
    if refusal.code != "consumed" or reader.draft.state != DraftState.SUBMITTING or not reader.may(Verb.RETRACT):
        return ""
    return "As soon as the remote has taken it, it can be retracted on its page."


def _reason(reader: Reader) -> str:
    return f"The record says: {reader.draft.reason}" if reader.draft.reason else ""
