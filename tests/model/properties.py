"""What must hold of one record, of one step, and of two records side by side; and what each promise needs."""

from collections.abc import Callable

from approvals.domain.combinations import is_allowed
from tests.model.record import FIRST, A, Record, T, W, World, combination
from tests.model.steps import REMOVED_ANOTHERS, REPLACED_LATER, Move

COMBINATIONS = "only the allowed combinations of draft, approval, write, retraction and dispatch claim"
AUTHORITY = "no send without a live approval of those bytes at begin, and an unexpired one at resume"
ALONE = "two workers never both may start their first byte under live leases"
EVIDENCE = "unknown becomes success only where the remote acted, or a person says so"
ONE_WRITE = "at most one effective write per delivery"
FAILURE = "what failed, or waits to be sent, did not arrive"
RETRACTION = "retracted means gone, and a look that says still public saw it"
REST = "from every state a way to rest without a person"

Needs = Callable[[World], bool]


def _nothing(world: World) -> bool:
    return True


def _time_and_honesty(world: World) -> bool:
    return world.timely and world.honest


NEEDS: dict[str, Needs] = {
    COMBINATIONS: _nothing,
    AUTHORITY: _nothing,
    ALONE: _nothing,
    EVIDENCE: _nothing,
    ONE_WRITE: lambda world: world.remote == "dedupe" or _time_and_honesty(world),
    FAILURE: _time_and_honesty,
    REPLACED_LATER: _time_and_honesty,
    REMOVED_ANOTHERS: _time_and_honesty,
    RETRACTION: _time_and_honesty,
    REST: lambda world: world.idempotent and world.readable and _time_and_honesty(world),
}
"""What each promise rests on. Where it does not hold, a run shows the nearest way to break it."""

PEOPLE = frozenset(
    (
        *("submit", "rework", "withdraw", "edit", "approve", "request_changes", "reject", "take_back", "revoke"),
        *("retract", "retry", "cancel", "resolve", "look_again"),
    )
)
"""Steps that need a person; everything else happens by itself, sooner or later."""

_UNDER_WAY = (T.APPROVED, T.SUBMITTING, T.DELIVERY_UNKNOWN, T.RETRACTING, T.RETRACTION_UNKNOWN)
_NOT_ARRIVED = (W.WAITING, W.REFUSED, W.CANCELLED)


def promised(world: World) -> frozenset[str]:
    return frozenset(promise for promise, needs in NEEDS.items() if needs(world))


def broken_by(before: Record, move: Move) -> str:
    """Gives the promise that this step breaks, if any."""
    name, after = move.step[0], move.record
    if name in ("begin", "resume", "begin_retract"):
        return "" if _has_authority(before, name) else AUTHORITY
    if name == "resolve":
        return ""
    if before.write != W.DELIVERED and after.write == W.DELIVERED and not after.written:
        return EVIDENCE
    if before.draft != T.RETRACTED and after.draft == T.RETRACTED and after.there:
        return RETRACTION
    says_public = before.draft != T.RETRACTION_FAILED and after.draft == T.RETRACTION_FAILED
    saw_nothing = name == "look_and_hand_in" or move.step == ("hand_in", "another")
    if says_public and not after.there and saw_nothing:
        return RETRACTION
    return ""


def broken_in(record: Record, world: World) -> str:
    """Gives the promise that this record breaks, if any."""
    if record.wrong:
        return record.wrong
    if not is_allowed(combination(record, exclusive=world.exclusive)):
        return COMBINATIONS
    if record.written > 1:
        return ONE_WRITE
    if record.written and record.write in _NOT_ARRIVED and not record.held:
        return FAILURE
    return ""


def is_at_rest(record: Record) -> bool:
    """True where nothing is under way, in doubt or due, and the target can be had by whoever comes next."""
    return record.draft not in _UNDER_WAY and not record.workers and record.is_free and not record.held


def _has_authority(before: Record, gate: str) -> bool:
    if gate == "begin_retract":
        return not before.held
    covers = not before.expired and not before.stale
    if gate == "begin":
        return covers and before.approval == A.APPROVED and before.purpose == FIRST
    return covers and before.approval == A.CONSUMED and not before.held
