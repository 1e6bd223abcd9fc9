"""What a draft's own state allows now, as links: the next calls a client may make about it.

Whether this caller may make them, and whether something outside of the draft stands against it (a newer write to the
target, a pause), is said by the answer of the call. So everybody is given the same links, and they change only with
the draft.
"""

from collections.abc import Iterator
from datetime import datetime

from approvals.api import links
from approvals.connectors.base import Capability
from approvals.domain.gate import is_expired
from approvals.domain.states import DRAFT, DeliveryState, DraftState
from approvals.models import Approval, Delivery, Draft
from approvals.selectors import drafts as reads
from approvals.services import rendering, resolve, retry

OF_A_STATE = ("submit", "withdraw")
"""Calls that a draft's state alone decides on; they are named as in the table of states."""


def of(
    draft: Draft, approval: Approval | None, write: Delivery | None, undoing: Delivery | None, now: datetime
) -> dict:
    """Gives the links for a draft that `selectors.drafts` has read whole, with its write and newest retraction."""
    state = reads.state_at(draft, now)
    found = {verb: links.call(draft.pk, verb) for verb in OF_A_STATE if state in DRAFT.edge(verb).sources}
    if approval is not None:
        found |= {name: links.about(approval.pk, name) for name in _on_approval(state)}
        found |= {
            verb: links.call(draft.pk, verb) for verb in _on_delivery(draft, state, approval, write, undoing, now)
        }
    doubtful = next((item for item in (undoing, write) if item and resolve.can_be_resolved(item, draft)), None)
    if doubtful is not None:
        found["resolve"] = links.resolve(doubtful.pk)
    return found


def _on_approval(state: DraftState) -> Iterator[str]:
    if state == DraftState.IN_REVIEW:
        yield "decisions"
    if state in DRAFT.edge("revoke").sources:
        yield "revoke"


def _on_delivery(
    draft: Draft,
    state: DraftState,
    approval: Approval,
    write: Delivery | None,
    undoing: Delivery | None,
    now: datetime,
) -> Iterator[str]:
    newest = undoing or write
    if state == DraftState.APPROVED and approval.dispatch_at is None:
        yield "dispatch"
    if newest is not None and newest.state == DeliveryState.WAITING and newest.held_at is None:
        yield "cancel"
    if newest is not None and newest.held_at is None and _can_be_tried_again(draft, approval, newest, now):
        yield "retry"
    if write is not None and state in DRAFT.edge("retract").sources and _can_be_undone(draft, write):
        yield "retract"


def _can_be_tried_again(draft: Draft, approval: Approval, newest: Delivery, now: datetime) -> bool:
    if draft.state in retry.RETRACTIONS:
        return newest.state != DeliveryState.UNKNOWN
    if is_expired(now, approval.expires_at):
        return False
    return draft.state == DraftState.FAILED or (
        draft.state == DraftState.DELIVERY_UNKNOWN and retry.can_send_again(draft)
    )


def _can_be_undone(draft: Draft, write: Delivery) -> bool:
    corrected = draft.corrected_by_id is not None  # type: ignore[attr-defined]  # read by `selectors.drafts`
    can = Capability.RETRACT in rendering.capabilities(write.config, draft.operation)
    return can and bool(write.remote_id) and not corrected
