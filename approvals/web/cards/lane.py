"""The lane: how far a delivery has come. Past is solid, not reached dashed; trouble hangs under the step it left."""

from dataclasses import dataclass
from datetime import datetime

from approvals.domain.states import DeliveryState, DraftState
from approvals.models import Approval, Delivery, Draft
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
    """The rows a lane is told from."""

    draft: Draft
    approval: Approval
    approvals_counted: int
    write: Delivery | None
    retraction: Delivery | None
    now: datetime

    @property
    def state(self) -> str:
        return self.draft.state

    def at(self, moment: datetime | None, otherwise: str) -> str:
        return words.moment(moment, self.now, seconds=True) if moment else otherwise


RETRACTION = (
    DraftState.RETRACTING,
    DraftState.RETRACTED,
    DraftState.RETRACTION_UNKNOWN,
    DraftState.RETRACTION_FAILED,
)


def lane(story: Story) -> Lane:
    """Gives the lane of a draft that was approved: of its write, or of the undoing of it."""
    if story.state in RETRACTION:
        return Lane("Retraction", _undoing_steps(story), _undoing_branch(story))
    return Lane("Delivery", _steps(story), _branch(story))


def _steps(story: Story) -> tuple[Step, ...]:
    reached = {DraftState.APPROVED: 0, DraftState.SUBMITTED: 2, DraftState.CONFIRMED: 3}.get(DraftState(story.state), 1)
    write, approval = story.write, story.approval
    labels = (
        ("approved", "Approved", f"{story.at(approval.approved_at, '')}, {_count(story)}"),
        ("submitting", "Submitting", _sending_note(write, story)),
        ("submitted", "Submitted", story.at(write.delivered_at if write else None, "No answer seen")),
        ("confirmed", "Confirmed", _read_back_note(write, reached)),
    )
    return tuple(_step(index, reached, *label) for index, label in enumerate(labels))


def _step(index: int, reached: int, state: str, label: str, note: str) -> Step:
    status = PAST if index < reached else HERE if index == reached else AHEAD
    return Step(state, label, note, status, hue="proved" if state == "confirmed" and status == HERE else "")


def _read_back_note(write: Delivery | None, reached: int) -> str:
    if reached == 3:
        return "Read back: it is there"
    return "Not confirmed" if write is not None and write.verification else "Not read back yet"


def _count(story: Story) -> str:
    return f"{story.approvals_counted} of {story.approval.required_approvals}"


def _sending_note(write: Delivery | None, story: Story) -> str:
    if write is None:
        return _goes_out(story)
    return f"{story.at(write.created_at, '')}, {words.plural(write.attempt_count, 'attempt')}"


def _goes_out(story: Story) -> str:
    due = story.approval.dispatch_at
    if due is None:
        return "Waits for somebody to press Send"
    return "Due now" if due <= story.now else f"Not before {story.at(due, '')}"


def _branch(story: Story) -> Branch | None:
    makers = {
        DraftState.APPROVED: _approved_branch,
        DraftState.SUBMITTING: _waiting_branch,
        DraftState.DELIVERY_UNKNOWN: _unknown_branch,
        DraftState.FAILED: _failed_branch,
        DraftState.SUBMITTED: _unequal_branch,
    }
    maker = makers.get(DraftState(story.state))
    return maker(story) if maker else None


def _approved_branch(story: Story) -> Branch | None:
    paused = story.draft.room.paused_reason or story.draft.channel.paused_reason
    if story.draft.room.paused_at or story.draft.channel.paused_at:
        text = f"{paused} Nothing leaves until an operator resumes it."
        return Branch("wait", "pause", "Sending is paused", text, "approved")
    if story.approval.dispatch_at is None:
        return Branch("wait", "clock", "Waits to be sent by hand", "This room sends only on a press.", "approved")
    return None


def _waiting_branch(story: Story) -> Branch | None:
    write = story.write
    if write is None or write.state != DeliveryState.WAITING:
        return None
    when = story.at(write.next_attempt_at, "")
    title = f"Waits to be sent again{f', not before {when}' if when else ''}"
    return Branch("wait", "clock", title, f"{write.reason} Nothing of it has arrived.", "submitting")


def _unknown_branch(story: Story) -> Branch:
    since = story.at(_lost_at(story.write), "an unknown time")
    text = f"{story.draft.reason or _reason(story.write)} It may or may not be there. {_unknown_way_on(story.write)}"
    return Branch("unknown", "status-delivery_unknown", f"Delivery unknown since {since}", text, "submitting")


def _lost_at(write: Delivery | None) -> datetime | None:
    newest = max(write.attempts.all(), key=lambda attempt: attempt.number, default=None) if write else None
    return (newest.finished_at or newest.lease_until) if newest else None


def _unknown_way_on(write: Delivery | None) -> str:
    if write is not None and write.next_check_at is None and write.next_attempt_at is None:
        return "It stays so until somebody settles it."
    return "It will not be sent again until a check or a person settles this."


def _failed_branch(story: Story) -> Branch:
    text = f"{story.draft.reason or _reason(story.write)} It is not there. The approval is spent."
    return Branch("bad", "status-failed", "Failed", text, "submitting")


def _unequal_branch(story: Story) -> Branch | None:
    titles = {
        Delivery.Verification.DIFFERS: "Read back, and it differs from what was approved",
        Delivery.Verification.GONE: "Read back, and it is gone",
        Delivery.Verification.REPLACED: "A newer write to the same target replaced it",
        Delivery.Verification.IMPOSSIBLE: "It cannot be read back",
    }
    verdict = story.write.verification if story.write else ""
    if verdict not in titles:
        return None
    text = story.draft.reason or _reason(story.write)
    return Branch("unknown", "alert", titles[Delivery.Verification(verdict)], text, "submitted")


def _undoing_steps(story: Story) -> tuple[Step, ...]:
    gone = story.state == DraftState.RETRACTED
    write, undoing = story.write, story.retraction
    return (
        Step("approved", "Approved", story.at(story.approval.approved_at, ""), PAST),
        Step("submitted", "Submitted", story.at(write.delivered_at if write else None, ""), PAST),
        Step("retracting", "Retracting", _sending_note(undoing, story), PAST if gone else HERE, hue="gone"),
        Step(
            "retracted",
            "Retracted",
            "Read back: it is gone" if gone else "Not read back as gone yet",
            HERE if gone else AHEAD,
            hue="gone" if gone else "",
        ),
    )


def _undoing_branch(story: Story) -> Branch | None:
    text = story.draft.reason or _reason(story.retraction)
    if story.state == DraftState.RETRACTION_UNKNOWN:
        note = f"{text} It may or may not still be there."
        return Branch("unknown", "status-retraction_unknown", "Retraction unknown", note, "retracting")
    if story.state == DraftState.RETRACTION_FAILED:
        return Branch("bad", "status-retraction_failed", "Still public", f"{text} It was not undone.", "retracting")
    return None


def _reason(delivery: Delivery | None) -> str:
    return delivery.reason if delivery else ""
