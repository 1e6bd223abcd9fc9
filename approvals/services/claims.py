"""What becomes of a target's dispatch claim when an outcome is known, or is known to be unknown. Bodies only."""

from datetime import datetime

from approvals.domain.states import ClaimState, DeliveryState
from approvals.models import Attempt, Delivery, DispatchClaim
from approvals.services import locks


def settle(delivery: Delivery, attempt: Attempt, *, known: bool, now: datetime) -> None:
    """Moves the dispatch claim with the outcome, if it still serves this attempt.

    A reservation for sending once more what proves to be delivered is let go: nobody else would ever come for it.
    """
    claim = locks.dispatch_claim(delivery.target_id)
    serves = (claim.epoch, claim.token) == (attempt.epoch, attempt.token)
    if serves and claim.state == ClaimState.SENDING:
        keeps = not known and delivery.config.channel.is_exclusive
        claim.lose() if keeps else claim.settle()
    elif serves and claim.state == ClaimState.UNCERTAIN and known:
        claim.clear()
    elif claim.state == ClaimState.RESERVED and _is_needless(claim, delivery):
        claim.release()
    else:
        return
    claim.changed_at = now
    claim.save_move("changed_at", epoch=claim.epoch, token=claim.token)


def _is_needless(claim: DispatchClaim, delivery: Delivery) -> bool:
    return claim.delivery_id == delivery.pk and delivery.state == DeliveryState.DELIVERED
