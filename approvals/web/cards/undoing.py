"""The lane of a retraction: what was public, being taken back, and whether a read-back saw it gone."""

from approvals.domain.states import DeliveryState, DraftState
from approvals.models import Delivery
from approvals.web.cards.sending import sending_note
from approvals.web.cards.story import (
    AHEAD,
    HERE,
    PAST,
    Branch,
    Step,
    Story,
    by_person,
    held,
    lost_at,
    paused,
    reason_of,
)

UNKNOWN_ICON = "status-retraction_unknown"
FAILED_ICON = "status-retraction_failed"


def steps(story: Story) -> tuple[Step, ...]:
    """Gives the four stations of an undoing; nothing in it is green, for nothing is there to be proved."""
    gone = story.state == DraftState.RETRACTED
    write, seen = story.write, "Recorded: it is gone" if by_person(story.retraction) else "Read back: it is gone"
    return (
        Step("approved", "Approved", story.at(story.approval.approved_at, ""), PAST),
        Step("submitted", "Submitted", story.at(write.delivered_at if write else None, ""), PAST),
        Step("retracting", "Retracting", _note(story), PAST if gone else HERE, hue="gone"),
        Step(
            "retracted",
            "Retracted",
            seen if gone else "Not seen to be gone",
            HERE if gone else AHEAD,
            hue="gone" if gone else "",
        ),
    )


def branch(story: Story) -> Branch | None:
    """Gives what an undoing waits for, or why it is still public."""
    undoing = story.retraction
    if undoing is None:
        return None
    makers = {
        DraftState.RETRACTING: _under_way,
        DraftState.RETRACTION_UNKNOWN: _unknown,
        DraftState.RETRACTION_FAILED: _failed,
    }
    maker = makers.get(DraftState(story.state))
    return maker(story, undoing) if maker else None


def _note(story: Story) -> str:
    undoing = story.retraction
    if undoing is not None and undoing.state == DeliveryState.DELIVERED and story.state != DraftState.RETRACTED:
        return f"Accepted {story.at(undoing.delivered_at, '')}"
    return sending_note(undoing, story)


def _under_way(story: Story, undoing: Delivery) -> Branch | None:
    if undoing.state == DeliveryState.DELIVERED:
        when = story.when(undoing.next_check_at)
        text = f"Only a read-back proves that it is gone: the remote is read {when}. Until then it may still be public."
        return Branch("wait", "clock", "Accepted by the remote, not seen to be gone", text, "retracting")
    if undoing.state != DeliveryState.WAITING:
        return None
    if held(undoing):
        return _late("It is not asked for again meanwhile.")
    if story.pause_reason:
        return paused(f"It is still public. {story.pause_reason}", "retracting")
    if not undoing.attempt_count:
        return Branch("wait", "clock", "Waits for a worker", "It is still public.", "retracting")
    late = undoing.next_attempt_at and undoing.next_attempt_at > story.now
    when = f", not before {story.at(undoing.next_attempt_at, '')}" if late else ""
    text = f"{reason_of(undoing)} It is still public."
    return Branch("wait", "clock", f"Waits to be asked for again{when}", text, "retracting")


def _unknown(story: Story, undoing: Delivery) -> Branch:
    why = story.why or reason_of(undoing)
    text = f"{why} It may or may not still be there. {_way_on(story, undoing)}"
    return Branch("unknown", UNKNOWN_ICON, f"Retraction unknown{_since(story, undoing)}", text, "retracting")


def _since(story: Story, undoing: Delivery) -> str:
    lost = undoing.delivered_at or lost_at(undoing)
    return f" since {story.at(lost, '')}" if lost else ""


def _way_on(story: Story, undoing: Delivery) -> str:
    if undoing.next_check_at is not None:
        return f"It is read back {story.when(undoing.next_check_at)}."
    return "It stays so until somebody settles it."


def _failed(story: Story, undoing: Delivery) -> Branch:
    why = story.why or reason_of(undoing)
    if held(undoing):
        return _late(f"Recorded before: {why}")
    if undoing.state == DeliveryState.DELIVERED:
        title = "Still public, although the remote accepted it"
        return Branch("bad", FAILED_ICON, title, why, "retracting")
    return Branch("bad", FAILED_ICON, "Still public", f"{why} It was not undone.", "retracting")


def _late(then: str) -> Branch:
    text = f"A worker that was thought dead reported success afterwards. A read-back or a person settles it. {then}"
    return Branch("unknown", UNKNOWN_ICON, "Late evidence: it may be gone after all", text, "retracting")
