"""Reserve and release: who may write to a target now."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID, uuid4

from django.conf import settings

from approvals.domain.actor import Actor
from approvals.domain.states import ClaimState
from approvals.models import Approval, Delivery, DispatchClaim, Draft
from approvals.permissions import Verb, require
from approvals.selectors import work
from approvals.services import audit, door, locks
from approvals.services.door import Clock, Subject


@dataclass(frozen=True, slots=True)
class Hold:
    """A dispatch claim in hand: every later step names its epoch and token, so an old holder can do nothing more."""

    target_id: int
    draft_id: int
    epoch: int
    token: UUID
    delivery_id: UUID
    approval_id: UUID
    resumes: bool
    retracts: bool = False

    @property
    def gate(self) -> str:
        """Gives the name of the gate it stands before."""
        if self.retracts:
            return "begin_retract"
        return "resume" if self.resumes else "begin"


def reserve(*, actor: Actor, clock: Clock, target_id: int, owner: str) -> Hold | None:
    """Reserves a free target for its oldest due work; None if it is taken or nothing is due any more."""
    return door.run(
        lambda: _reserve(actor=actor, clock=clock, target_id=target_id, owner=owner), actor=actor, verb=Verb.WORK
    )


def release(*, actor: Actor, clock: Clock, hold: Hold, reason: str) -> bool:
    """Lets a reserved target go, unused. False if the claim is another's by now."""

    def body() -> bool:
        claim = held_claim(hold)
        if claim is None or claim.state != ClaimState.RESERVED:
            return False
        now = clock()
        claim.release()
        save_claim(claim, hold, now=now)
        draft = Draft.objects.get(pk=hold.draft_id)
        audit.of_draft(draft, actor=actor, action="dispatch.released", now=now, reason=reason, epoch=hold.epoch)
        return True

    return door.run(body, actor=actor, verb=Verb.WORK, subject=Subject(draft_id=hold.draft_id))


def held_claim(hold: Hold) -> DispatchClaim | None:
    """Locks the target's dispatch claim; None if it is no longer this hold's."""
    claim = locks.dispatch_claim(hold.target_id)
    return claim if (claim.epoch, claim.token) == (hold.epoch, hold.token) else None


def save_claim(claim: DispatchClaim, hold: Hold, *, now: datetime, **where: object) -> None:
    """Writes a moved claim where target, epoch and token are still the hold's."""
    claim.changed_at = now
    claim.save_move("changed_at", "lease_until", epoch=hold.epoch, token=hold.token, **where)


def lease_end(now: datetime) -> datetime:
    return now + timedelta(seconds=settings.REVIEWROOM_LEASE_SECONDS)


def _reserve(*, actor: Actor, clock: Clock, target_id: int, owner: str) -> Hold | None:
    require(actor, Verb.WORK)
    claim = locks.dispatch_claim(target_id)
    now = clock()
    if not _is_free(claim, now):
        return None
    due = _oldest_due(target_id, now)
    if due is None:
        return None
    approval, delivery = due
    retracts = delivery is not None and delivery.kind == Delivery.Kind.RETRACT
    delivery_id = delivery.pk if delivery is not None else approval.write_id
    epoch = claim.epoch
    claim.reserve()
    claim.epoch, claim.token, claim.owner = epoch + 1, uuid4(), owner
    claim.lease_until, claim.changed_at = lease_end(now), now
    claim.approval, claim.delivery_id = None if retracts else approval, delivery_id
    claim.save_move("epoch", "token", "owner", "lease_until", "changed_at", "approval", "delivery_id", epoch=epoch)
    audit.of_draft(approval.draft, actor=actor, action="dispatch.reserved", now=now, epoch=claim.epoch, owner=owner)
    return Hold(
        target_id=target_id,
        draft_id=approval.draft_id,
        epoch=claim.epoch,
        token=claim.token,
        delivery_id=delivery_id,
        approval_id=approval.pk,
        resumes=delivery is not None,
        retracts=retracts,
    )


def _is_free(claim: DispatchClaim, now: datetime) -> bool:
    """A reserved claim past its lease may be taken over: its holder has sent nothing, or `begin` would have said so."""
    if claim.state == ClaimState.IDLE:
        return True
    return claim.state == ClaimState.RESERVED and claim.lease_until is not None and claim.lease_until <= now


def _oldest_due(target_id: int, now: datetime) -> tuple[Approval, Delivery | None] | None:
    """Gives the oldest due delivery of a target with its approval, or the approval whose first send is due longer."""
    delivery: Delivery | None = (
        work.due_deliveries(now).filter(target_id=target_id).select_related("approval__draft").first()
    )
    approval: Approval | None = work.due_approvals(now).filter(target_id=target_id).select_related("draft").first()
    if delivery is not None and (approval is None or _due(delivery.next_attempt_at) <= _due(approval.dispatch_at)):
        return delivery.approval, delivery
    return (approval, None) if approval is not None else None


def _due(moment: datetime | None) -> datetime:
    assert moment is not None  # what is due has a time
    return moment
