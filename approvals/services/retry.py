"""Retry: an operator has a failed delivery tried again, an absent one sent again, a retraction asked for again."""

from datetime import datetime

from approvals.domain.actor import Actor
from approvals.domain.errors import Expired, Refusal, WrongState
from approvals.domain.gate import is_expired
from approvals.domain.states import DeliveryState, DraftState
from approvals.models import Delivery, Draft
from approvals.permissions import Verb, require
from approvals.services import audit, authority, corrections, door, locks, reconcile, retract
from approvals.services.door import Clock, Key, Subject

RETRACTIONS = (DraftState.RETRACTION_FAILED, DraftState.RETRACTION_UNKNOWN)


def retry(*, actor: Actor, clock: Clock, draft_id: int, key: Key | None = None) -> Draft:
    """Makes a failed delivery due again, through its gate, under the same id.

    From delivery_unknown only what is proven absent (Send again). Raises Expired where the approval no longer
    covers a send, WrongState for anything else that cannot be tried again.
    """

    def body() -> Draft:
        draft = _locked(draft_id)
        now = clock()
        require(actor, Verb.RETRY, draft=draft)
        if draft.state == DraftState.FAILED:
            _again(draft, actor=actor, now=now)
        elif draft.state == DraftState.DELIVERY_UNKNOWN:
            _send_absent(draft, actor=actor, now=now)
        elif draft.state in RETRACTIONS:
            retract.reopen(draft, reason="", actor=actor, now=now)
        elif not _is_due_again(draft):
            raise _not_failed(draft)
        return draft

    return door.run(
        body,
        actor=actor,
        verb=Verb.RETRY,
        subject=Subject(draft_id=draft_id),
        key=key,
        name=lambda draft: f"draft:{draft.pk}",
    )


def can_send_again(draft: Draft) -> bool:
    """True where the write is unknown, proven absent, and only a person may send it again."""
    write = corrections.write_of(draft)
    if write is None or write.state != DeliveryState.UNKNOWN or write.held_at is not None:
        return False
    newest = write.attempts.order_by("-number").first()
    return newest is not None and reconcile.is_proven_absent(write, newest)


def _locked(draft_id: int) -> Draft:
    """Locks target, dispatch claim and draft; the claim of an absent delivery is let go here."""
    target_id: int | None = Draft.objects.filter(pk=draft_id).values_list("target_id", flat=True).first()
    if target_id is not None:
        locks.target(target_id)
        locks.dispatch_claim(target_id)
    return locks.draft(draft_id)


def _again(draft: Draft, *, actor: Actor, now: datetime) -> None:
    delivery = _write(draft)
    _insist_on_time(draft, now)
    delivery.retry()
    delivery.reason, delivery.next_attempt_at = "", now
    delivery.save_move("reason", "next_attempt_at", held_at=None)
    draft.retry()
    draft.reason = ""
    draft.save_move("reason", *draft.touch(now))
    audit.of_draft(draft, actor=actor, action="delivery.retried", now=now, delivery_id=str(delivery.pk))


def _send_absent(draft: Draft, *, actor: Actor, now: datetime) -> None:
    delivery = _write(draft)
    attempt = delivery.attempts.order_by("-number").first()
    assert attempt is not None  # only an attempt makes it unknown
    if not reconcile.is_proven_absent(delivery, attempt):
        raise WrongState(
            "It is not proven absent at the remote, so sending it again could make a second one. Let it be looked up, "
            "or record what is there.",
            draft_id=draft.pk,
        )
    _insist_on_time(draft, now)
    reconcile.send_again(delivery, draft, attempt, reason="", now=now)
    audit.of_draft(draft, actor=actor, action="delivery.sent_again", now=now, delivery_id=str(delivery.pk))


def _write(draft: Draft) -> Delivery:
    found = corrections.write_of(draft)
    assert found is not None  # its states say so
    delivery = locks.delivery(found.pk)
    if delivery.held_at is not None:
        raise retract.held(draft)
    return delivery


def _insist_on_time(draft: Draft, now: datetime) -> None:
    approval = locks.approval(draft.approval_id, draft=draft)
    if is_expired(now, approval.expires_at):
        raise Expired(
            "The approval's time is over, so it covers no further send. Copy the draft into a new one.",
            draft_id=draft.pk,
            approval_id=approval.pk,
        )


def _is_due_again(draft: Draft) -> bool:
    """True where a first press has done it already: the second changes nothing."""
    return draft.deliveries.filter(state=DeliveryState.WAITING).exists()


def _not_failed(draft: Draft) -> Refusal:
    if draft.state in (DraftState.SUBMITTED, DraftState.CONFIRMED, DraftState.RETRACTED):
        state = DraftState(draft.state).replace("_", " ")
        return WrongState(f"{draft.reference} is {state}; there is nothing to try again.", draft_id=draft.pk)
    return authority.wrong_state(draft, "tried again")
