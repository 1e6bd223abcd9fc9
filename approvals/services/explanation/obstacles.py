"""What stands against a send or an undoing from outside of the draft: pauses, a busy target, a copied database."""

import json
from collections.abc import Iterator

from django.conf import settings
from django.db import connection

from approvals.domain.gate import Cause, GateAnswer
from approvals.domain.states import ClaimState, DeliveryState, DraftState
from approvals.models import AuditEvent, Channel, Installation, Room, walls
from approvals.selectors import work
from approvals.services import ground, opening
from approvals.services.audit import room_chain, stamp
from approvals.services.explanation.case import Case, Line, Next, Why, served

WORKERS = (
    "Whether workers run cannot be seen from here: check that run_worker is running, or that {command} is run again "
    "and again, and read its log."
)
_TOLD_APART = (Cause.PAUSED, Cause.NOT_YET, Cause.HELD)
"""Causes that have a fuller sentence of their own."""


def workers(command: str) -> Next:
    return Next(WORKERS.format(command=command))


def reasons(answer: GateAnswer | None) -> Iterator[Line]:
    """Gives the gate's reasons that no other sentence tells."""
    for reason in answer.reasons if answer else ():
        if reason.cause not in _TOLD_APART:
            yield Why(reason.message)


def outside(case: Case) -> Iterator[Line]:
    """Gives everything outside of the draft that keeps its next request from leaving."""
    yield from _pauses(case)
    yield from _adoption(case)
    yield from _busy(case)
    yield from _earlier(case)
    yield from _database()


def _pauses(case: Case) -> Iterator[Line]:
    room, channel = case.draft.room, case.draft.channel
    if room.paused_at is not None:
        yield Why(f"Sending from the room {room.slug} is paused since {stamp(room.paused_at)} {_by(case, room)}")
        yield Next(f"An operator lets the room send again: manage.py resume_channel --room {room.slug}.")
    if channel.paused_at is not None:
        yield Why(f"Sending by the channel {channel} is paused since {stamp(channel.paused_at)} {_by(case, channel)}")
        yield Next(f"An operator mends what the reason says and resumes: manage.py resume_channel {channel}.")


def _by(case: Case, row: Room | Channel) -> str:
    """Gives who paused and why; the history knows who."""
    is_room = isinstance(row, Room)
    action = "room.paused" if is_room else "channel.paused"
    events = AuditEvent.objects.filter(chain__key=room_chain(case.draft.room_id), action=action).order_by("-seq")
    for event in events.iterator(chunk_size=50):
        if is_room or json.loads(event.body)["details"].get("channel") == row.slug:
            return f"by {event.actor}: {row.paused_reason}"
    return f": {row.paused_reason}"


def _adoption(case: Case) -> Iterator[Line]:
    delivery = case.newest
    first_or_waiting = delivery is None or delivery.state == DeliveryState.WAITING
    if case.approval is not None and first_or_waiting and opening.has_to_look_first(case.approval, delivery):
        yield Why(opening.MAYBE_SENT)
        yield Next("It is not sent on a guess: the remote is asked first, or a person where it cannot be asked.")


def _busy(case: Case) -> Iterator[Line]:
    """Says who else holds the target."""
    claim, serves = case.claim, served(case.claim)
    if claim.state == ClaimState.IDLE or serves == case.draft.pk or claim.lease_until is None:
        return
    if claim.state == ClaimState.UNCERTAIN:
        yield Why(f"The target is blocked: what RR-{serves} asked for may still arrive there.")
        yield Next(f"Settle RR-{serves} first: manage.py explain RR-{serves} says how.")
        return
    yield Why(f"{claim.owner} is busy with RR-{serves} on the same target until {stamp(claim.lease_until)}.")
    if claim.lease_until <= case.now:
        frees = "sweep_expired" if claim.state == ClaimState.SENDING else "dispatch_approved"
        yield Next(f"That lease is over, so {frees} ends it. {WORKERS.format(command=frees)}")
    else:
        yield Next("Its turn comes once that one is done, by itself.")


def _earlier(case: Case) -> Iterator[Line]:
    """Says how much is due longer on the same target: the oldest goes first."""
    approval = case.approval
    if case.state != DraftState.APPROVED or approval is None or approval.dispatch_at is None:
        return
    sends = work.due_approvals(case.now).filter(target_id=case.draft.target_id, dispatch_at__lt=approval.dispatch_at)
    resumed = work.due_deliveries(case.now).filter(
        target_id=case.draft.target_id, next_attempt_at__lte=approval.dispatch_at
    )
    if number := sends.count() + resumed.count():
        yield Why(f"On the same target {number} due longer {'goes' if number == 1 else 'go'} first, one at a time.")
        yield Next("Its turn comes after them, by itself.")


def _database() -> Iterator[Line]:
    installation = Installation.objects.first()
    if installation is None or installation.instance_id != settings.REVIEWROOM_INSTANCE:
        yield Why("This database belongs to another installation, so no worker here sends anything.")
        yield Next("Only if the original no longer runs: make the database this one's with manage.py adopt_database.")
    if walls.problems(connection):
        yield Why("The database's walls do not stand, so nothing is sent.")
        yield Next("Run manage.py migrate, which puts them up again.")


def after_a_no(case: Case) -> Iterator[Line]:
    """Says what the dispatcher does at its next beat about a no that time alone does not mend."""
    answer = case.gate.answer if case.gate else GateAnswer(())
    if case.gate is not None and case.gate.name != "begin":
        if any(reason.cause not in _TOLD_APART for reason in answer.reasons):
            yield Next("The dispatcher cancels it at its next beat and says why; nothing is sent.")
    elif answer.has(Cause.INTEGRITY):
        yield Next("The dispatcher revokes it with an alert. manage.py verify_audit names what was altered.")
    elif answer.has(Cause.CORRECTS):
        yield Next("The dispatcher revokes it at its next beat.")
    elif answer.has(*ground.MOVED, Cause.STANDING):
        yield Next("The dispatcher sends it back to review at its next beat; reviewers decide again.")
