"""What must hold: of one record, of one step, and of two records side by side."""

from approvals.domain.combinations import is_allowed
from approvals.domain.states import DraftState as T
from approvals.domain.states import DeliveryState as W
from approvals.domain.states import ApprovalState as A
from approvals.domain.states import ClaimState as C
from tests.model.moves import Move
from tests.model.record import FIRST, NEVER, UNDO, WRITE, Record, World, combination

COMBINATIONS = "only allowed combinations of draft, approval, write, retraction and dispatch claim"
ONE_WRITE = "at most one effective write per delivery"
AUTHORITY = "no send without a live approval of those bytes at begin, and an unexpired one at resume"
EVIDENCE = "unknown becomes success only where the remote acted or a person says so"
FAILURE = "what failed or waits did not arrive"
ALONE = "two workers never both may start their first byte under live leases"
ORDER = "an earlier write never replaces a later one"
OTHERS = "a retraction never removes another draft's write"
RETRACTION = "retracted means gone, and still public means still there"
REST = "from every state a way to rest without a person"

ALWAYS = frozenset({COMBINATIONS, ONE_WRITE, AUTHORITY, EVIDENCE, FAILURE, ALONE, ORDER, OTHERS, RETRACTION})

PEOPLE = frozenset(
    "submit rework withdraw edit approve request_changes reject take_back revoke retract retry cancel resolve "
    "look_again".split()
)
"""Steps that need a person; everything else happens by itself, sooner or later."""


def broken_by_step(before: Record, move: Move, world: World) -> str:
    """Gives the promise that this step breaks, if any."""
    name, after = move.step[0], move.record
    if name == "begin" and not (_covers(before) and before.approval == A.APPROVED and before.purpose == FIRST):
        return AUTHORITY
    if name in ("resume", "begin_retract") and before.held:
        return AUTHORITY
    if name == "resume" and not (_covers(before) and before.approval == A.CONSUMED):
        return AUTHORITY
    if name == "resolve":
        return ""
    if before.write != W.DELIVERED and after.write == W.DELIVERED and not after.written:
        return EVIDENCE
    if before.draft != T.RETRACTED and after.draft == T.RETRACTED and after.there:
        return RETRACTION
    if name == "look_and_hand_in" and after.draft == T.RETRACTION_FAILED != before.draft and not after.there:
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
    if record.written and record.write in (W.WAITING, W.REFUSED, W.CANCELLED) and not record.held:
        return FAILURE
    return ""


def is_at_rest(record: Record) -> bool:
    """True where nothing is under way, in doubt or due."""
    moving = (T.APPROVED, T.SUBMITTING, T.DELIVERY_UNKNOWN, T.RETRACTING, T.RETRACTION_UNKNOWN)
    return record.draft not in moving and not record.workers and record.claim == C.IDLE and not record.held


def _covers(record: Record) -> bool:
    return not record.expired and not record.stale
