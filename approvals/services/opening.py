"""What every gate before a send shares: the locks, the lease, the attempt, and the insistence on this database.

Bodies only, in the order the gates use them: lock, ask, open the attempt, turn the dispatch claim to sending.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection

from approvals.connectors.base import Job, Outcome, Receipt
from approvals.domain.actor import Actor
from approvals.domain.errors import Unavailable
from approvals.domain.gate import Cause, GateAnswer, Reason
from approvals.domain.states import ClaimState
from approvals.models import Approval, Attempt, Delivery, DispatchClaim, Draft, Installation, walls
from approvals.permissions import Verb, require
from approvals.services import claims, holding, locks, outcomes, record, rendering
from approvals.services.holding import Hold

LOST = GateAnswer((Reason(Cause.STALE, "The dispatch claim is no longer this worker's, or the work is done."),))
"""Not a no to these bytes: somebody else has the target or the delivery by now, and whatever follows is theirs."""

MAYBE_SENT = "The database was restored from a copy since this was approved, so it may have been sent before."
LOOK_FIRST = GateAnswer((Reason(Cause.STALE, f"{MAYBE_SENT} The remote is asked first."),))
"""No no either: the attempt is recorded as unknown, and what follows is what follows an unknown outcome."""


@dataclass(frozen=True, slots=True)
class Begun:
    """The attempt stands in the database: these bytes may leave, under this lease."""

    hold: Hold
    attempt_id: int
    job: Job
    lease_until: datetime


def lock(actor: Actor, hold: Hold) -> tuple[DispatchClaim | None, Draft, Approval]:
    """Locks what all gates read, in order. The claim is None if it is another worker's by now."""
    require(actor, Verb.WORK)
    insist_on_this_database()
    _commit_to_disk()
    locks.target(hold.target_id)
    claim = holding.held_claim(hold)
    draft = locks.draft(hold.draft_id)
    return claim, draft, locks.approval(hold.approval_id, draft=draft)


def is_live(claim: DispatchClaim, now: datetime) -> bool:
    """True while the reservation is under its lease."""
    return claim.state == ClaimState.RESERVED and claim.lease_until is not None and claim.lease_until > now


def insist_on_this_database() -> None:
    """Refuses to send from a copy: a restored or cloned database belongs to another installation."""
    installation = Installation.objects.first()
    owner = installation.instance_id if installation else "no installation"
    if owner != settings.REVIEWROOM_INSTANCE:
        raise Unavailable(
            f"This database belongs to {owner} and this installation is {settings.REVIEWROOM_INSTANCE}, so nothing is "
            "sent: a copy would send a second time. Only if the original no longer runs, make the database this "
            "installation's with manage.py adopt_database."
        )
    if walls.problems(connection):
        raise Unavailable("The database's walls do not stand, so nothing is sent. Run manage.py migrate.")


def new_attempt(delivery: Delivery, hold: Hold, *, owner: str, now: datetime) -> Attempt:
    """Opens the next attempt. What the last one prepared (a post-once link) goes with it, for while it lives."""
    last = delivery.attempts.order_by("-number").first()
    return Attempt.objects.create(
        delivery=delivery,
        number=delivery.attempt_count,
        epoch=hold.epoch,
        token=hold.token,
        owner=owner,
        lease_until=holding.lease_end(now),
        prepared=last.prepared if last else {},
        started_at=now,
    )


def send_claim(claim: DispatchClaim, hold: Hold, *, now: datetime) -> None:
    """Turns the reservation into sending, its lease renewed, while it is still live."""
    claim.send()
    claim.lease_until = holding.lease_end(now)
    holding.save_claim(claim, hold, now=now, lease_until__gt=now)


def has_to_look_first(approval: Approval, delivery: Delivery | None) -> bool:
    """True for what was approved before the database was restored and has not been tried since.

    Between the copy and the restore the original may have sent it, and nothing here would know.
    """
    adopted_at = Installation.objects.values_list("adopted_at", flat=True).first()
    if adopted_at is None or approval.opened_at > adopted_at:
        return False
    return delivery is None or not delivery.attempts.filter(started_at__gt=adopted_at).exists()


def look_first(attempt: Attempt, delivery: Delivery, draft: Draft, *, actor: Actor, now: datetime) -> GateAnswer:
    """Ends an attempt that was just opened as unknown, without sending: what may have gone out is looked up first."""
    record.finish(attempt, Receipt(Outcome.UNKNOWN, MAYBE_SENT), now)
    outcomes.to_unknown(delivery, draft, attempt, reason=MAYBE_SENT, actor=actor, now=now)
    claims.settle(delivery, attempt, known=False, now=now)
    return LOOK_FIRST


def job(approval: Approval, write: Delivery, *, prepared: Mapping[str, Any], retraction_id: UUID | None = None) -> Job:
    """Gives a connector everything about one write, with the write's own configuration."""
    revision = approval.revision
    return Job(
        request=rendering.render(revision, write.pk, write.config),
        binding=rendering.binding_of(revision),
        delivery_id=write.pk,
        settings=rendering.settings_of(write.config),
        operation=revision.operation,
        remote_id=write.remote_id or None,
        prepared=dict(prepared),
        retraction_id=retraction_id,
        begun_at=write.created_at,
    )


def told(attempt: Attempt) -> dict[str, Any]:
    """Gives what the history says of an attempt."""
    return {
        "delivery_id": str(attempt.delivery_id),
        "attempt": attempt.number,
        "epoch": attempt.epoch,
        "owner": attempt.owner,
    }


def _commit_to_disk() -> None:
    """Makes this transaction's commit durable on PostgreSQL: authority is on disk before the bytes leave."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL synchronous_commit = on")
