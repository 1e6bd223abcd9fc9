"""Sentences about a draft that is out: its read-back, its corrections, and its undoing."""

from collections.abc import Iterator

from approvals.domain.states import DeliveryState
from approvals.models import Delivery
from approvals.services import corrections
from approvals.services.explanation import doubt, obstacles, sending
from approvals.services.explanation.case import Case, Line, Next, Why

V = Delivery.Verification
_READ = {
    V.DIFFERS: "It was sent and accepted, but reads back different from what was approved.",
    V.GONE: "It was sent and accepted, but is not there any more.",
    V.REPLACED: "It was sent and accepted; a newer write to the same target replaced it since.",
    V.IMPOSSIBLE: "It was sent and accepted; this channel cannot read back whether it reads as approved.",
}


def submitted(case: Case) -> Iterator[Line]:
    write = case.write
    assert write is not None  # the state says so
    if write.verification in _READ:
        yield Why(_READ[V(write.verification)])
        if write.verification != V.REPLACED:
            yield Next("Somebody looks at the remote. It can be corrected or retracted where the channel can.")
    elif write.next_check_at is not None:
        yield Why("It was sent and accepted, and has not been read back yet.")
        yield doubt.asked_at(case, write.next_check_at)
        yield obstacles.workers("reconcile_deliveries")
    elif corrections.corrected_by(case.draft) is None:
        yield Why(f"It was sent and accepted, but {write.check_count} tries could not read it back.")
        yield Next("An operator has it read back again, on its page, or looks at the remote.")
    else:
        yield Why("It was sent and accepted. What was corrected is not read back.")


def confirmed(case: Case) -> Iterator[Line]:
    yield Why("It was sent, and reads back as approved.")
    yield Next("There is nothing left to do.")


def retracting(case: Case) -> Iterator[Line]:
    undoing = case.undoing
    assert undoing is not None  # the state says so
    yield Why("It is public, and is to be taken back.")
    if undoing.state == DeliveryState.WAITING:
        yield from sending.waiting(case, undoing)
    elif undoing.state == DeliveryState.SENDING:
        yield from sending.being_sent(case, undoing)
    else:
        yield Why("The remote accepted the retraction. It counts as retracted only once it reads back as gone.")
        yield from doubt.of_a_look(case, undoing)


def retracted(case: Case) -> Iterator[Line]:
    yield Why("It was sent, and taken back later: it reads back as gone.")
    yield Next("There is nothing left to do.")


def retraction_unknown(case: Case) -> Iterator[Line]:
    undoing = case.undoing
    assert undoing is not None  # the state says so
    if undoing.state == DeliveryState.UNKNOWN:
        yield Why("Nobody knows whether it was taken back, so it may still be public.")
    else:
        yield Why("The remote accepted the retraction, but nobody could read back whether it is gone.")
    yield from doubt.of_a_look(case, undoing)
    if undoing.state == DeliveryState.DELIVERED:
        yield Next("An operator can also retract it again.")


def retraction_failed(case: Case) -> Iterator[Line]:
    undoing = case.undoing
    assert undoing is not None  # the state says so
    how = {
        DeliveryState.REFUSED: "the remote refused to take it back, or still shows it",
        DeliveryState.CANCELLED: "the retraction was cancelled",
        DeliveryState.DELIVERED: "the remote accepted the retraction and yet still shows it",
    }
    yield Why(f"It is still public: {how[DeliveryState(undoing.state)]}.")
    if undoing.held_at is not None:
        return
    answer = case.gate.answer if case.gate else None
    lasting = list(obstacles.reasons(answer))
    yield from lasting
    if lasting:
        yield Next("It cannot be retracted again as things stand; take it back at the remote by hand.")
    else:
        yield Next("An operator retracts it again, or takes it back at the remote by hand.")


def corrected(case: Case) -> Iterator[Line]:
    """Says what a draft corrects, and what corrects it."""
    if case.draft.corrects is not None:
        yield Why(f"It corrects {case.draft.corrects.reference}: it replaces what that one published.")
    newer = corrections.corrected_by(case.draft)
    if newer is not None:
        yield Why(f"{newer.reference} corrected it since; what stands at the remote is that one's.")
    for rival in case.draft.corrections.filter(state__in=corrections.UNDER_WAY).order_by("id"):
        yield Why(f"{rival.reference} is to correct it and is {rival.state.replace('_', ' ')}.")
