"""The case: one draft with everything that decides what becomes of it, read once, and the gate it stands before."""

from dataclasses import dataclass
from datetime import datetime

from approvals.domain.gate import GateAnswer, may_retract, may_send
from approvals.domain.states import ApprovalState, ClaimState, DeliveryState, DraftState
from approvals.models import Approval, Attempt, Delivery, DispatchClaim, Draft
from approvals.selectors.drafts import state_at
from approvals.services import corrections, ground, retract


class Why(str):
    """A sentence that says how it stands and what holds it."""

    __slots__ = ()


class Next(str):
    """A sentence that says what happens next, or who has to do what."""

    __slots__ = ()


Line = Why | Next


@dataclass(frozen=True, slots=True)
class Gate:
    """Which gate the next request has to pass, and what it would say now."""

    name: str
    answer: GateAnswer


@dataclass(frozen=True, slots=True)
class Case:
    """Everything about one draft's way out. `state` is as of `now`: past its time it is expired, swept or not."""

    draft: Draft
    state: DraftState
    approval: Approval | None
    claim: DispatchClaim
    write: Delivery | None
    undoing: Delivery | None
    gate: Gate | None
    now: datetime

    @property
    def newest(self) -> Delivery | None:
        """Gives the delivery that the draft's state is about: its newest retraction, else its write."""
        return self.undoing or self.write


def read(draft_id: int, now: datetime) -> Case:
    related = ("room", "channel__room", "channel__config", "target", "author", "approval", "corrects")
    draft = Draft.objects.select_related(*related).get(pk=draft_id)
    approval, write, undoing = _approval(draft), corrections.write_of(draft), retract.newest(draft)
    return Case(
        draft=draft,
        state=state_at(draft, now),
        approval=approval,
        claim=DispatchClaim.objects.select_related("target").get(target_id=draft.target_id),
        write=write,
        undoing=undoing,
        gate=_gate(draft, approval, write, undoing, now),
        now=now,
    )


def newest_attempt(delivery: Delivery) -> Attempt | None:
    found: Attempt | None = delivery.attempts.order_by("-number").first()
    return found


def served(claim: DispatchClaim) -> int | None:
    """Gives the id of the draft that a held claim serves: by its approval, or for a retraction by its delivery."""
    if claim.state == ClaimState.IDLE:
        return None
    of_approval = Approval.objects.filter(pk=claim.approval_id).values_list("draft_id", flat=True).first()
    if of_approval is not None:
        return int(of_approval)
    found = Delivery.objects.filter(pk=claim.delivery_id).values_list("draft_id", flat=True).first()
    return int(found) if found is not None else None


def _approval(draft: Draft) -> Approval | None:
    found: Approval | None = (
        Approval.objects.select_related("revision", "config__channel").filter(pk=draft.approval_id).first()
    )
    if found is not None:
        found.draft = draft
    return found


def _gate(
    draft: Draft, approval: Approval | None, write: Delivery | None, undoing: Delivery | None, now: datetime
) -> Gate | None:
    """Asks the very gate of the dispatcher: of the first send, of another attempt, or of the undoing."""
    if approval is None or draft.state == DraftState.RETRACTED:
        return None
    if write is None:
        return Gate("begin", may_send(ground.facts(approval, now=now, state=ApprovalState.APPROVED)))
    if write.state == DeliveryState.DELIVERED:
        held = undoing is not None and undoing.held_at is not None
        return Gate("begin_retract", may_retract(retract.facts(draft, write, held=held)))
    held = write.held_at is not None
    consumed = ApprovalState.CONSUMED
    return Gate("resume", may_send(ground.facts(approval, now=now, state=consumed, config=write.config, held=held)))
