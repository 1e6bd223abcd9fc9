"""Retract: take back what was published. The undoing is a delivery of its own, verified by reading back."""

from datetime import datetime
from uuid import UUID, uuid5

from approvals.connectors.base import Capability
from approvals.domain import words
from approvals.domain.actor import Actor
from approvals.domain.errors import Refusal, TargetChanged, Unsupported, WrongState
from approvals.domain.gate import Cause, GateAnswer, RetractFacts, may_retract
from approvals.domain.states import DRAFT, DeliveryState, DraftState
from approvals.models import Delivery, Draft
from approvals.permissions import Verb, require
from approvals.services import audit, authority, corrections, door, locks, rendering
from approvals.services.door import Clock, Key, Subject

_REFUSAL_OF = {Cause.UNSUPPORTED: Unsupported, Cause.NEWER_WRITE: TargetChanged}


def retract(*, actor: Actor, clock: Clock, draft_id: int, reason: str, key: Key | None = None) -> Draft:
    """Asks for a published write to be undone; a worker does it. Asking again while it is under way changes nothing.

    Raises Unsupported without the capability or an object id, TargetChanged where a newer write stands at an
    exclusive target, WrongState for what is not published or was corrected since.
    """

    def body() -> Draft:
        draft = _locked(draft_id)
        now = clock()
        require(actor, Verb.RETRACT, draft=draft)
        why = words.checked(reason, pointer="/reason", limit=words.REASON_LIMIT, required=True)
        if draft.state == DraftState.RETRACTING:
            return draft
        if draft.state not in DRAFT.edge("retract").sources:
            raise _not_published(draft)
        _insist(draft)
        draft.retract()
        _open(draft, reason=why, actor=actor, now=now)
        return draft

    return door.run(
        body,
        actor=actor,
        verb=Verb.RETRACT,
        subject=Subject(draft_id=draft_id),
        key=key,
        name=lambda draft: f"draft:{draft.pk}",
    )


def facts(draft: Draft, write: Delivery, *, held: bool = False) -> RetractFacts:
    """Collects what the gate asks about undoing a write. A paused way out stops it; a retired one does not."""
    newer = corrections.corrected_by(draft) or corrections.under_way(draft)
    paused = [f"room {draft.room.slug}"] if draft.room.paused_at else []
    paused += [f"channel {draft.channel}"] if draft.channel.paused_at else []
    return RetractFacts(
        can_retract=Capability.RETRACT in rendering.capabilities(write.config, draft.operation),
        remote_id=write.remote_id,
        corrected_by=newer.reference if newer else "",
        is_newest=not is_overwritten(write),
        paused=tuple(paused),
        held=held,
    )


def why_not(draft: Draft) -> GateAnswer:
    """Gives why a published draft cannot be retracted; a pause only makes it wait. For pages and the verb alike."""
    write = corrections.write_of(draft)
    assert write is not None  # published
    reasons = may_retract(facts(draft, write)).reasons
    return GateAnswer(tuple(reason for reason in reasons if reason.cause != Cause.PAUSED))


def is_overwritten(write: Delivery) -> bool:
    """True if a newer write to the same exclusive target was delivered."""
    newer = Delivery.objects.filter(
        target_id=write.target_id, kind=Delivery.Kind.WRITE, delivered_at__gt=write.delivered_at
    )
    return write.config.channel.is_exclusive and newer.exists()


def reopen(draft: Draft, *, reason: str, actor: Actor, now: datetime) -> None:
    """Makes a retraction that failed, or that nobody can prove, due again. Inside a door, the draft locked.

    One that was accepted, yet left the object readable, is history: the next one begins.
    """
    _insist(draft)
    last = newest(draft)
    assert last is not None  # the draft's state says so
    last = locks.delivery(last.pk)
    if last.held_at is not None:
        raise held(draft)
    if last.state == DeliveryState.UNKNOWN:
        raise WrongState(
            "Nobody knows yet whether it was retracted. It is read back first, or an operator records what is there.",
            draft_id=draft.pk,
        )
    draft.retry_retraction()
    if last.state == DeliveryState.DELIVERED:
        _open(draft, reason=reason, actor=actor, now=now)
        return
    last.retry()
    last.reason, last.next_attempt_at, last.next_check_at = "", now, None
    last.save_move("reason", "next_attempt_at", "next_check_at", held_at=None)
    draft.reason = reason
    draft.save_move("reason", *draft.touch(now))
    audit.of_draft(draft, actor=actor, action="retraction.retried", now=now, delivery_id=str(last.pk))


def newest(draft: Draft) -> Delivery | None:
    """Gives the draft's newest retraction."""
    found: Delivery | None = (
        draft.deliveries.select_related("config__channel", "target")
        .filter(kind=Delivery.Kind.RETRACT)
        .order_by("created_at")
        .last()
    )
    return found


def held(draft: Draft) -> WrongState:
    return WrongState(
        "Late evidence says that it may have happened after all. A look-up or an operator has to settle that first.",
        draft_id=draft.pk,
    )


def _locked(draft_id: int) -> Draft:
    """Locks the draft behind its target, under whose lock nothing newer is delivered."""
    target_id: int | None = Draft.objects.filter(pk=draft_id).values_list("target_id", flat=True).first()
    if target_id is not None:
        locks.target(target_id)
    return locks.draft(draft_id)


def _insist(draft: Draft) -> None:
    answer = why_not(draft)
    for reason in answer.reasons:
        kind: type[Refusal] = _REFUSAL_OF.get(reason.cause, WrongState)
        raise kind(reason.message, draft_id=draft.pk)


def _not_published(draft: Draft) -> Refusal:
    if draft.state in (DraftState.SUBMITTING, DraftState.DELIVERY_UNKNOWN, DraftState.FAILED):
        state = DraftState(draft.state).replace("_", " ")
        return WrongState(f"{draft.reference} is {state}, so there is nothing to retract yet.", draft_id=draft.pk)
    if draft.state in (DraftState.RETRACTION_FAILED, DraftState.RETRACTION_UNKNOWN):
        return WrongState("It was asked for already and did not succeed. An operator can try again.", draft_id=draft.pk)
    if draft.state == DraftState.RETRACTED:
        return WrongState(f"{draft.reference} was retracted already.", draft_id=draft.pk)
    return authority.wrong_state(draft, "retracted")


def _open(draft: Draft, *, reason: str, actor: Actor, now: datetime) -> None:
    """Makes the next retraction and stops comparing the write: what is to go need not read equal."""
    write = corrections.write_of(draft)
    assert write is not None  # published
    write = locks.delivery(write.pk)
    write.next_check_at = None
    write.save_move("next_check_at")
    undoing = Delivery.objects.create(
        state=DeliveryState.WAITING,
        id=retraction_id(draft),
        kind=Delivery.Kind.RETRACT,
        approval_id=draft.approval_id,
        draft=draft,
        target_id=write.target_id,
        config=write.config,
        remote_id=write.remote_id,
        next_attempt_at=now,
        created_at=now,
    )
    draft.reason = reason
    draft.save_move("reason", *draft.touch(now))
    audit.of_draft(
        draft, actor=actor, action="retraction.requested", now=now, reason=reason, delivery_id=str(undoing.pk)
    )


def retraction_id(draft: Draft) -> UUID:
    """Gives the id of the next retraction: the same again if its row was lost in a restore."""
    assert draft.approval_id is not None
    number = draft.deliveries.filter(kind=Delivery.Kind.RETRACT).count() + 1
    return uuid5(draft.approval_id, f"retract:{number}")
