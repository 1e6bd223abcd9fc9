"""Conflicts: what happened, what was seen beside what is now, and one way on. Never "approve anyway"."""

from dataclasses import dataclass
from datetime import datetime

from approvals.domain.binding import short
from approvals.models import Draft, Revision
from approvals.web import words
from approvals.web.cards.changes import Difference


@dataclass(frozen=True, slots=True)
class ConflictSide:
    label: str
    version: int
    short: str
    line: str
    state: str = ""


@dataclass(frozen=True, slots=True)
class Conflict:
    """One refused decision or verb, as its page shows it."""

    code: str
    title: str
    text: str
    crumbs: tuple[object, ...]
    review_url: str
    review_label: str
    review_code: str = ""
    saw: ConflictSide | None = None
    now: ConflictSide | None = None
    diff: Difference | None = None
    comment: str = ""
    comment_label: str = ""
    comment_note: str = ""
    offer_url: str = ""
    offer_label: str = ""


@dataclass(frozen=True, slots=True)
class EditConflict:
    title: str
    text: str
    saw: ConflictSide
    now: ConflictSide
    diff: Difference | None
    open_url: str
    open_label: str


TITLES = {
    "stale_revision": "This draft changed while you were reading. Your decision was not recorded.",
    "superseded": "A newer approval replaced this one. Your decision was not recorded.",
    "revoked": "This approval was revoked. Your decision was not recorded.",
    "expired": "This item expired before you decided. Nothing was recorded.",
    "consumed": "Sending has begun. It can no longer be taken back.",
    "already_decided": "You already decided on this. That decision stands.",
    "stale_view": "This page was open for too long. Your decision was not recorded.",
    "target_changed": "The target moved on while you were reading. Your decision was not recorded.",
    "wrong_state": "It is not in a state that allows this. Nothing was recorded.",
    "paused": "Sending is paused. Nothing was recorded.",
    "not_eligible": "You cannot decide on this one. Nothing was recorded.",
    "dispatch_claim_held": "A worker holds the target right now. Nothing was recorded.",
    "unsupported": "The connector of this channel cannot do this. Nothing was recorded.",
    "unavailable": "The service refuses to act right now. Nothing was recorded.",
    "open_draft_exists": "Another open draft writes to the same target. Nothing was recorded.",
    "duplicate": "The same bytes were proposed before. Nothing was recorded.",
}
OF_VERBS = {
    "superseded": "A newer approval replaced this one. Nothing was done.",
    "revoked": "This approval was revoked already. Nothing more was done.",
    "expired": "The time for this approval ran out. Nothing was done.",
    "stale_view": "This page is about something else by now. Nothing was done.",
    "target_changed": "A newer write stands at the target. Nothing was done.",
    "wrong_state": "It is not in a state that allows this. Nothing was done.",
    "not_eligible": "You cannot do this. Nothing was done.",
    "unsupported": "The connector of this channel cannot do this. Nothing was done.",
}
"""What differs where no decision was pressed, but one of the other verbs."""
OTHER_TITLE = "This was not recorded."


def title(code: str, *, is_decision: bool = True) -> str:
    """Gives the heading of a refusal: first what is so, then that nothing came of the press."""
    special = None if is_decision else OF_VERBS.get(code)
    return special or TITLES.get(code, OTHER_TITLE)


def side(label: str, revision: Revision, now: datetime, *, state: str = "") -> ConflictSide:
    """Gives one side: which revision, by whom, when, to the second."""
    acts = f" for {revision.acts_for.username}" if revision.acts_for else ""
    line = f"Saved by {revision.author.username}{acts}, {words.moment(revision.created_at, now, seconds=True)} UTC"
    return ConflictSide(label, revision.number, short(revision.digest), line, state)


def of_draft_now(draft: Draft, revision: Revision, now: datetime) -> ConflictSide:
    return side("Now", revision, now, state=draft.state)
