"""What a lane is told from, and what it consists of."""

from dataclasses import dataclass
from datetime import datetime

from approvals.models import Approval, Delivery, Draft, Observation
from approvals.web import words

PAST, HERE, AHEAD = "past", "here", "ahead"


@dataclass(frozen=True, slots=True)
class Step:
    """One station. `hue` is `proved` for what was read back, `gone` for what was undone."""

    state: str
    label: str
    note: str
    status: str
    hue: str = ""


@dataclass(frozen=True, slots=True)
class Branch:
    """What hangs under a step: `unknown`, `bad` or `wait`. `under` is the state of that step."""

    kind: str
    icon: str
    title: str
    text: str
    under: str


@dataclass(frozen=True, slots=True)
class Lane:
    title: str
    steps: tuple[Step, ...]
    branch: Branch | None


@dataclass(frozen=True, slots=True)
class Story:
    """The rows a lane is told from. `is_absent`: proven not to be at the remote, and a person may send it again."""

    draft: Draft
    approval: Approval
    approvals_counted: int
    write: Delivery | None
    retraction: Delivery | None
    now: datetime
    is_absent: bool = False
    corrected_by: str = ""

    @property
    def why(self) -> str:
        """Gives the reason of the draft's state, to be followed by another sentence."""
        return words.sentence(self.draft.reason)

    @property
    def state(self) -> str:
        return str(self.draft.state)

    @property
    def pause_reason(self) -> str:
        """Gives why nothing leaves now; empty if something may."""
        draft = self.draft
        if draft.room.paused_at:
            return words.sentence(draft.room.paused_reason) or "The room is paused."
        return words.sentence(draft.channel.paused_reason or "It is paused") if draft.channel.paused_at else ""

    def at(self, moment: datetime | None, otherwise: str) -> str:
        return words.moment(moment, self.now, seconds=True) if moment else otherwise

    def when(self, moment: datetime | None) -> str:
        """Gives `at 12:03:00`, or `now` for what is due."""
        return f"at {self.at(moment, '')}" if moment and moment > self.now else "now"


def step(index: int, reached: int, state: str, label: str, note: str, *, hue: str = "") -> Step:
    """Gives a station; its hue is for the last one only, once it is reached."""
    status = PAST if index < reached else HERE if index == reached else AHEAD
    return Step(state, label, note, status, hue=hue if status == HERE else "")


def lost_at(delivery: Delivery | None) -> datetime | None:
    """Gives when the newest attempt ended without an answer."""
    newest = max(delivery.attempts.all(), key=lambda attempt: attempt.number, default=None) if delivery else None
    return (newest.finished_at or newest.lease_until) if newest else None


def reason_of(delivery: Delivery | None) -> str:
    return words.sentence(delivery.reason) if delivery else ""


def held(delivery: Delivery | None) -> bool:
    return delivery is not None and delivery.held_at is not None


def by_person(delivery: Delivery | None) -> bool:
    """True if the last thing seen of a delivery is what a person recorded."""
    seen = max(delivery.observations.all(), key=lambda row: row.pk, default=None) if delivery else None
    return seen is not None and seen.kind == Observation.Kind.RESOLUTION


def paused(reason: str, under: str) -> Branch:
    text = f"{reason} Nothing leaves until an operator resumes it."
    return Branch("wait", "pause", "Sending is paused", text, under)
