"""Corrections: a new draft, reviewed like any other, that replaces what an earlier one published. Bodies only."""

from typing import Any

from approvals.connectors.base import Capability
from approvals.domain.binding import Corrects
from approvals.domain.errors import InvalidPayload, OpenDraftExists, Unsupported, WrongState
from approvals.domain.states import OPEN_DRAFT, DeliveryState, DraftState
from approvals.models import ChannelConfig, Delivery, Draft, Room, Target
from approvals.services import rendering

CORRIGIBLE = (DraftState.SUBMITTED, DraftState.CONFIRMED)
UNDER_WAY = (*OPEN_DRAFT, DraftState.SUBMITTING, DraftState.DELIVERY_UNKNOWN)
"""States in which a correction is, or may be, on its way; a second one would not know what it replaces."""


def named(room: Room, value: Any) -> Draft | None:
    """Gives the room's draft that is to be corrected, named by its number or reference; None if none is named."""
    if value in (None, ""):
        return None
    digits = str(value).upper().removeprefix("RR-")
    is_number = not isinstance(value, bool) and digits.isascii() and digits.isdigit() and len(digits) < 19
    found: Draft | None = Draft.objects.filter(pk=int(digits), room=room).first() if is_number else None
    if found is None:
        raise InvalidPayload("Name the published draft to correct, like RR-1042.", pointer="/corrects")
    return found


def binding_of(
    original: Draft, *, config: ChannelConfig, operation: str, target: Target, draft_id: int | None = None
) -> Corrects:
    """Gives what a correction binds: the original's delivery and its object at the remote.

    Raises Unsupported, InvalidPayload, WrongState or OpenDraftExists. `draft_id` is the correction itself, if it
    exists already. The target is locked by the caller, so that two corrections cannot miss each other.
    """
    if Capability.CORRECT not in rendering.capabilities(config, operation):
        raise Unsupported(
            "The connector of this channel cannot replace what it published with this operation. Retract it and "
            "propose a new draft.",
            draft_id=original.pk,
        )
    if original.target_id != target.pk:
        raise InvalidPayload(f"{original.reference} went to another target: {original.target}.", pointer="/corrects")
    if reason := _not_corrigible(original, draft_id):
        raise WrongState(reason, draft_id=original.pk)
    rivals = original.corrections.filter(state__in=UNDER_WAY)
    rival = (rivals if draft_id is None else rivals.exclude(pk=draft_id)).first()
    if rival is not None:
        raise OpenDraftExists(
            f"{rival.reference} corrects {original.reference} already. Finish or withdraw that one first.",
            draft_id=rival.pk,
        )
    write = write_of(original)
    assert write is not None  # what is published has one
    if not write.remote_id:
        raise Unsupported(
            f"The object of {original.reference} is not known at the remote, so it cannot be replaced.",
            draft_id=original.pk,
        )
    return Corrects(str(write.pk), write.remote_id)


def why_not(draft: Draft) -> str:
    """Says why a correction must not be sent any more; empty if it may, or if the draft corrects nothing."""
    if draft.corrects is None:
        return ""
    return _not_corrigible(draft.corrects, draft.pk)


def corrected_by(draft: Draft) -> Draft | None:
    """Gives the draft whose write replaced this one's at the remote, if there is one."""
    replaced = Delivery.objects.filter(
        draft__corrects=draft, kind=Delivery.Kind.WRITE, state=DeliveryState.DELIVERED
    ).select_related("draft")
    newest = replaced.order_by("-delivered_at").first()
    return newest.draft if newest else None


def under_way(draft: Draft) -> Draft | None:
    """Gives a correction of this draft that is being sent, or may have arrived."""
    found: Draft | None = draft.corrections.filter(
        state__in=(DraftState.SUBMITTING, DraftState.DELIVERY_UNKNOWN)
    ).first()
    return found


def write_of(draft: Draft) -> Delivery | None:
    """Gives the draft's one write."""
    found: Delivery | None = (
        draft.deliveries.select_related("config__channel", "target").filter(kind=Delivery.Kind.WRITE).first()
    )
    return found


def _not_corrigible(original: Draft, correction_id: int | None) -> str:
    if original.state not in CORRIGIBLE:
        state = DraftState(original.state).replace("_", " ")
        return f"{original.reference} is {state}, so there is nothing published to correct."
    newer = corrected_by(original)
    if newer is not None and newer.pk != correction_id:
        return f"{newer.reference} corrected {original.reference} since. Correct that one instead."
    return ""
