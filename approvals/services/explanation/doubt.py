"""Sentences about what nobody knows: unknown outcomes, late evidence, and how each of them is settled."""

from collections.abc import Iterator
from datetime import datetime

from approvals.domain.gate import is_expired
from approvals.models import Delivery
from approvals.services import checks, look_again, outcomes, retry
from approvals.services.audit import stamp
from approvals.services.explanation import obstacles
from approvals.services.explanation.case import Case, Line, Next, Why


def of_a_write(case: Case, write: Delivery) -> Iterator[Line]:
    """Says how an unknown write is settled: by a look, by a repetition the receiver drops, or by a person."""
    if retry.can_send_again(case.draft):
        yield from _absent(case, write)
    elif write.next_check_at is None and write.next_attempt_at is not None:
        yield Why(f"The receiver drops repetitions, so it is sent again at {stamp(write.next_attempt_at)}.")
        yield from obstacles.reasons(case.gate.answer if case.gate else None)
        yield obstacles.workers("dispatch_approved")
    else:
        yield from of_a_look(case, write)


def of_a_look(case: Case, delivery: Delivery) -> Iterator[Line]:
    """Says when the remote is asked next; where it is asked no more, that a person has to."""
    if delivery.next_check_at is not None:
        yield asked_at(case, delivery.next_check_at)
        yield obstacles.workers("reconcile_deliveries")
        return
    if delivery.check_count >= checks.LOOKS_BEFORE_A_PERSON:
        yield Why(f"The remote was asked {delivery.check_count} times and could not tell, so it is asked no more.")
    elif not look_again.can_look(delivery, case.draft):
        yield Why("This channel has no way to ask the remote.")
    if look_again.can_look(delivery, case.draft):
        yield Next("An operator has the remote asked again, on its page.")
    yield from a_person(case, delivery)


def asked_at(case: Case, moment: datetime) -> Why:
    return Why(f"The remote is {'due to be asked since' if moment <= case.now else 'asked at'} {stamp(moment)}.")


def a_person(case: Case, delivery: Delivery) -> Iterator[Line]:
    """Says who may record what is at the remote, and from when a no counts."""
    yield Next("An operator who did not write it looks at the remote and records what is there, with evidence.")
    until = outcomes.horizon(delivery)
    if until > case.now:
        yield Next(f"“Not delivered” can be recorded from {stamp(until)}: until then a stopped worker may still send.")


def held(case: Case) -> Iterator[Line]:
    """Says of each held delivery what holds it."""
    for delivery in (case.undoing, case.write):
        if delivery is None or delivery.held_at is None:
            continue
        what = "retraction" if outcomes.is_retraction(delivery) else "delivery"
        yield Why(
            f"A late answer of {stamp(delivery.held_at)} says that the {what} was done after all. Until that is "
            "settled it is neither tried again nor cancelled."
        )
        yield from of_a_look(case, delivery)


def _absent(case: Case, write: Delivery) -> Iterator[Line]:
    assert case.approval is not None  # what was sent has one
    yield Why("It is proven absent, but the remote cannot tell a repeat from a new one.")
    if is_expired(case.now, case.approval.expires_at):
        yield Why(f"Its approval's time ended at {stamp(case.approval.expires_at)}, so it covers no further send.")
        yield from a_person(case, write)
        return
    yield Next(f"An operator presses Send again, until {stamp(case.approval.expires_at)}, or records what is there.")
