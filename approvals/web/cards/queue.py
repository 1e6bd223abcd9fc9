"""Rows, filters and empty lists of the queue pages."""

from dataclasses import dataclass
from datetime import datetime

from approvals.domain.binding import short
from approvals.domain.gate import Tally
from approvals.domain.states import DraftState
from approvals.models import Approval, Draft, User
from approvals.web import words
from approvals.web.cards import rail
from approvals.web.cards.expiry import Expiry, expiry
from approvals.web.cards.people import Who, who


@dataclass(frozen=True, slots=True)
class Chip:
    label: str
    url: str
    count: str
    is_current: bool = False
    is_unknown: bool = False


@dataclass(frozen=True, slots=True)
class Progress:
    counted: int
    required: int
    need: str

    @property
    def is_last(self) -> bool:
        """True if one approval more is enough by number."""
        return self.counted + 1 >= self.required

    @property
    def pips(self) -> list[bool]:
        """Gives one box per approval needed; more than eight would say less than the number."""
        return [place < self.counted for place in range(self.required)] if self.required <= 8 else []


@dataclass(frozen=True, slots=True)
class QueueRow:
    number: int
    url: str
    state: str
    title: str
    excerpt: str
    place: str
    place_exact: str
    author: Who
    author_note: str
    version: int
    short: str
    progress: Progress
    expiry: Expiry
    age: str


@dataclass(frozen=True, slots=True)
class Empty:
    icon: str
    title: str
    text: str
    url: str = ""
    link: str = ""


def row(
    draft: Draft, *, url: str, tally: Tally | None, digest: str, excerpt: str, reader: User, now: datetime
) -> QueueRow:
    """Gives the two lines of one draft, as `reader` sees them at `now`."""
    approval = draft.approval
    author = who(draft.author, reader=reader)
    return QueueRow(
        number=draft.pk,
        url=url,
        state=draft.state,
        title=draft.title,
        excerpt=excerpt,
        place=draft.channel.name,
        place_exact=f"{draft.target.account} · {draft.target.resource}",
        author=Who(author.name, author.is_agent),
        author_note=_author_note(draft, reader),
        version=draft.version,
        short=short(digest),
        progress=_progress(approval, tally),
        expiry=_expiry(draft, approval, now),
        age=f"{words.span(now - draft.created_at)} old",
    )


def _author_note(draft: Draft, reader: User) -> str:
    if draft.author.is_agent:
        return f"for {draft.acts_for.username}" if draft.acts_for else "agent"
    return "you" if draft.author_id == reader.pk else ""


def _progress(approval: Approval | None, tally: Tally | None) -> Progress:
    if approval is None or tally is None:
        return Progress(0, approval.required_approvals if approval else 1, "")
    need = rail.missing(approval.rules, tally) if approval.is_live else ""
    return Progress(len(tally.approvals), approval.required_approvals, need)


def _expiry(draft: Draft, approval: Approval | None, now: datetime) -> Expiry:
    open_states = (DraftState.IN_REVIEW, DraftState.APPROVED)
    return expiry(approval.expires_at if approval and draft.state in open_states else None, now)
