"""The lane of a write: approved, submitting, submitted, confirmed, and what went wrong on the way."""

from approvals.domain.states import DeliveryState, DraftState
from approvals.models import Delivery
from approvals.web import words
from approvals.web.cards.story import Branch, Step, Story, held, lost_at, paused, reason_of, step

UNKNOWN_ICON = "status-delivery_unknown"
UNEQUAL = {
    Delivery.Verification.DIFFERS: "Read back, and it differs from what was approved",
    Delivery.Verification.GONE: "Read back, and it is gone",
    Delivery.Verification.REPLACED: "A newer write to the same target replaced it",
    Delivery.Verification.IMPOSSIBLE: "It cannot be read back",
}


def steps(story: Story) -> tuple[Step, ...]:
    """Gives the four stations, as far as they were reached."""
    reached = {DraftState.APPROVED: 0, DraftState.SUBMITTED: 2, DraftState.CONFIRMED: 3}.get(DraftState(story.state), 1)
    write, approval = story.write, story.approval
    count = f"{story.approvals_counted} of {approval.required_approvals}"
    return (
        step(0, reached, "approved", "Approved", f"{story.at(approval.approved_at, '')}, {count}"),
        step(1, reached, "submitting", "Submitting", sending_note(write, story)),
        step(2, reached, "submitted", "Submitted", story.at(write.delivered_at if write else None, "No answer seen")),
        step(3, reached, "confirmed", "Confirmed", _read_back_note(write, reached), hue="proved"),
    )


def branch(story: Story) -> Branch | None:
    """Gives what hangs under the step that was left, or that waits."""
    makers = {
        DraftState.APPROVED: _approved,
        DraftState.SUBMITTING: _waiting,
        DraftState.DELIVERY_UNKNOWN: _unknown,
        DraftState.FAILED: _failed,
        DraftState.SUBMITTED: _unequal,
    }
    maker = makers.get(DraftState(story.state))
    return maker(story) if maker else None


def sending_note(delivery: Delivery | None, story: Story) -> str:
    """Says when a delivery began and how often it was tried; before that, when it goes out."""
    if delivery is None:
        return _goes_out(story)
    tries = words.plural(delivery.attempt_count, "attempt") if delivery.attempt_count else "not tried yet"
    return f"{story.at(delivery.created_at, '')}, {tries}"


def _read_back_note(write: Delivery | None, reached: int) -> str:
    if reached == 3:
        return "Read back: it is there"
    return "Not confirmed" if write is not None and write.verification else "Not read back yet"


def _goes_out(story: Story) -> str:
    due = story.approval.dispatch_at
    if due is None:
        return "Waits for somebody to press Send"
    return "Due now" if due <= story.now else f"Not before {story.at(due, '')}"


def _approved(story: Story) -> Branch | None:
    if story.pause_reason:
        return paused(story.pause_reason, "approved")
    if story.approval.dispatch_at is None:
        return Branch("wait", "clock", "Waits to be sent by hand", "This room sends only on a press.", "approved")
    return None


def _waiting(story: Story) -> Branch | None:
    write = story.write
    if write is None or write.state != DeliveryState.WAITING:
        return None
    if held(write):
        return _late("submitting", "It is not sent again meanwhile.")
    if story.pause_reason:
        # what the remote said when it locked us out is the reason of both
        why = dict.fromkeys((reason_of(write), "Nothing of it has arrived.", story.pause_reason))
        return paused(" ".join(filter(None, why)), "submitting")
    when = story.at(write.next_attempt_at, "") if write.next_attempt_at and write.next_attempt_at > story.now else ""
    title = f"Waits to be sent again{f', not before {when}' if when else ''}"
    return Branch("wait", "clock", title, f"{reason_of(write)} Nothing of it has arrived.".strip(), "submitting")


def _unknown(story: Story) -> Branch:
    since = story.at(lost_at(story.write), "an unknown time")
    why = story.why or reason_of(story.write)
    doubt = "Two look-ups, far enough apart, did not find it." if story.is_absent else "It may or may not be there."
    text = f"{why} {doubt} {_way_on(story)}"
    return Branch("unknown", UNKNOWN_ICON, f"Delivery unknown since {since}", text, "submitting")


def _way_on(story: Story) -> str:
    write = story.write
    if story.is_absent:
        return "An operator may send it again."
    if write is not None and write.next_check_at is not None:
        return f"It is looked up {story.when(write.next_check_at)}, and not sent again before that settles it."
    if write is not None and write.next_attempt_at is not None:
        return f"It is sent again {story.when(write.next_attempt_at)}, under the same id, which this remote recognises."
    return "It stays so until somebody settles it."


def _failed(story: Story) -> Branch:
    why = story.why or reason_of(story.write)
    if held(story.write):
        return _late("submitting", f"Recorded before: {why}")
    return Branch("bad", "status-failed", "Failed", f"{why} It is not there. The approval is spent.", "submitting")


def _late(under: str, then: str) -> Branch:
    text = f"A worker that was thought dead reported success afterwards. A look-up or a person settles it. {then}"
    return Branch("unknown", UNKNOWN_ICON, "Late evidence: it may be there after all", text, under)


def _unequal(story: Story) -> Branch | None:
    if story.corrected_by:
        text = f"{story.corrected_by} replaced it at the remote, so it is not compared any more."
        return Branch("wait", "replaces", f"Corrected by {story.corrected_by}", text, "submitted")
    verdict = story.write.verification if story.write else ""
    if verdict not in UNEQUAL:
        return None
    text = story.why or reason_of(story.write)
    return Branch("unknown", "alert", UNEQUAL[Delivery.Verification(verdict)], text, "submitted")
