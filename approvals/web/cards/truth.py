"""What may truthfully be said of a draft: over its plate, beside its badge, in its rail. One place, so that all agree.

A state alone does not tell: late evidence puts a failure in doubt, a read-back or a correction changes what stands.
"""

from dataclasses import dataclass

from approvals.domain.states import DeliveryState, DraftState
from approvals.models import Delivery
from approvals.web import words
from approvals.web.cards.story import by_person, held

WILL, IS_BEING, MAY, WAS, WAS_NOT = (
    "Will be written to",
    "Being written to",
    "May have been written to",
    "Written to",
    "Was not written to",
)
T = DraftState
TITLES = {
    T.REJECTED: WAS_NOT,
    T.EXPIRED: WAS_NOT,
    T.REVOKED: WAS_NOT,
    T.FAILED: WAS_NOT,
    T.SUBMITTING: IS_BEING,
    T.DELIVERY_UNKNOWN: MAY,
    T.SUBMITTED: WAS,
    T.CONFIRMED: WAS,
    T.RETRACTING: "Written to, being taken back from",
    T.RETRACTION_UNKNOWN: "Written to, may be gone again from",
    T.RETRACTION_FAILED: "Written to, and still public at",
    T.RETRACTED: "Was written to, and is gone again from",
}
VERIFIED = {
    Delivery.Verification.GONE: "Was written to, and is gone from",
    Delivery.Verification.REPLACED: "Was written to, replaced since at",
}
HELD_WRITE = "Late evidence says that it may be there after all"
HELD_UNDOING = "Late evidence says that it may be gone after all"


@dataclass(frozen=True, slots=True)
class Truth:
    """`plate` is the plate's title, `says` the words beside the badge."""

    plate: str
    says: str


@dataclass(frozen=True, slots=True)
class Rows:
    """What it is told from. `corrected_by` is the reference of the draft that replaced it at the remote.

    `is_absent`: it is proven not to be there, and only a person may send it again.
    """

    state: str
    write: Delivery | None = None
    retraction: Delivery | None = None
    corrected_by: str = ""
    is_absent: bool = False


def of(rows: Rows) -> Truth:
    """Gives what is true of a draft now."""
    state = DraftState(rows.state)
    found = _of_delivery(rows, state)
    return found or Truth(TITLES.get(state, WILL), words.STATE_SAYS[state])


def _of_delivery(rows: Rows, state: DraftState) -> Truth | None:
    write, undoing = rows.write, rows.retraction
    if state == T.DELIVERY_UNKNOWN and rows.is_absent:
        return Truth(MAY, "Two look-ups did not find it; a person may send it again")
    if state in (T.FAILED, T.SUBMITTING) and held(write):
        return Truth(MAY, HELD_WRITE)
    if state in (T.RETRACTING, T.RETRACTION_FAILED) and held(undoing):
        return Truth(TITLES[T.RETRACTION_UNKNOWN], HELD_UNDOING)
    if state == T.SUBMITTING and write is not None and write.state == DeliveryState.WAITING:
        return Truth(WILL, "Waits to be sent again")
    if state == T.RETRACTING and undoing is not None and undoing.state == DeliveryState.DELIVERED:
        return Truth(TITLES[state], "Accepted by the remote, not seen to be gone yet")
    if state == T.RETRACTION_FAILED and undoing is not None and undoing.state == DeliveryState.DELIVERED:
        return Truth(TITLES[state], "Still public: the remote accepted it, yet it is still readable")
    if state == T.RETRACTED and by_person(undoing):
        return Truth(TITLES[state], "Recorded by a person: it is gone")
    if state in (T.SUBMITTED, T.CONFIRMED) and rows.corrected_by:
        return Truth(VERIFIED[Delivery.Verification.REPLACED], f"Corrected by {rows.corrected_by}")
    if state == T.SUBMITTED and write is not None and write.verification in words.READ_BACK_SAYS:
        title = VERIFIED.get(Delivery.Verification(write.verification), WAS)
        return Truth(title, words.READ_BACK_SAYS[write.verification])
    return None
