"""What people do: write, decide and take authority away; afterwards retract, retry, cancel and record what they saw."""

from collections.abc import Iterator

from approvals.domain.states import DRAFT
from tests.model.outcomes import fail, found, gone, not_there, settle, still_there, wait
from tests.model.record import (
    FIRST,
    SETTLED,
    SURE,
    UNDO,
    UNDONE,
    VOID,
    WRITE,
    A,
    Record,
    T,
    W,
    World,
    approval_goes,
    delivery_goes,
    draft_goes,
)
from tests.model.steps import Move


def authors(record: Record) -> Iterator[Move]:
    if record.draft in DRAFT.edge("submit").sources:
        yield Move(("submit",), _opened(record, draft_goes(record, "submit")))
    if record.draft in DRAFT.edge("rework").sources:
        yield Move(("rework",), record._replace(draft=draft_goes(record, "rework")))
    if record.draft in DRAFT.edge("withdraw").sources:
        approval = approval_goes(record, "revoke") if record.is_live else record.approval
        yield Move(("withdraw",), _ended(record, approval, draft_goes(record, "withdraw")))
    if record.is_live:
        yield Move(("edit",), _back_to_review(record, "supersede"))


def reviewers(record: Record) -> Iterator[Move]:
    on_time = record.is_live and not record.expired
    if record.approval == A.PENDING and on_time and not record.stale:
        approved = {"approval": approval_goes(record, "approve"), "draft": draft_goes(record, "approve")}
        yield Move(("approve",), record._replace(**approved))
        for verb in ("request_changes", "reject"):
            yield Move((verb,), _ended(record, approval_goes(record, "reject"), draft_goes(record, verb)))
    if record.approval == A.APPROVED and on_time:
        yield Move(("take_back",), _back_to_review(record, "revoke"))
    if record.is_live:
        yield Move(("revoke",), _ended(record, approval_goes(record, "revoke"), draft_goes(record, "revoke")))


def housekeeping(record: Record) -> Iterator[Move]:
    """What anybody does who notices: ground that moved, and time that ran out."""
    if record.is_live and record.stale and not record.expired:
        yield Move(("reopen",), _back_to_review(record, "supersede"))
    if record.is_live and record.expired:
        yield Move(("expire",), _ended(record, approval_goes(record, "expire"), draft_goes(record, "expire")))


def after_sending(record: Record, world: World) -> Iterator[Move]:
    if world.retracts:
        yield from _retract(record)
    yield from _retry(record, world)
    kind = record.open_kind
    if getattr(record, kind) == W.WAITING and not record.held:
        yield Move(("cancel",), fail(record, kind, "cancel"))
    yield from _resolve(record, world)
    if record.absent == SETTLED and world.readable:
        yield Move(("look_again",), record._replace(absent=SETTLED + 1))


def _opened(record: Record, draft: str) -> Record:
    return record._replace(draft=draft, approval=A.PENDING, stale=False, expired=False, purpose=_voided(record))


def _ended(record: Record, approval: str, draft: str) -> Record:
    return record._replace(draft=draft, approval=approval, purpose=_voided(record))


def _back_to_review(record: Record, verb: str) -> Record:
    approval_goes(record, verb)
    return _opened(record, draft_goes(record, "reopen") if record.draft == T.APPROVED else record.draft)


def _voided(record: Record) -> str:
    """A reservation for a first send names its approval; when that ends, it is good for nothing but letting go."""
    return VOID if record.purpose == FIRST else record.purpose


def _retract(record: Record) -> Iterator[Move]:
    if record.newer:
        return
    if record.draft in DRAFT.edge("retract").sources:
        yield Move(("retract",), _new_undo(record, "retract"))
    if record.draft in DRAFT.edge("retry_retraction").sources and not record.held:
        if record.undo == W.DELIVERED:
            yield Move(("retry",), _new_undo(record, "retry_retraction"))
        elif record.undo != W.UNKNOWN:
            waits = {"undo": delivery_goes(record, UNDO, "retry"), "draft": draft_goes(record, "retry_retraction")}
            yield Move(("retry",), record._replace(**waits))


def _new_undo(record: Record, verb: str) -> Record:
    """Makes the next retraction; whoever is still at an earlier one, or has read it back, is at a thing of the past."""
    workers = tuple(
        worker._replace(kind=UNDONE, newest=False) if worker.kind == UNDO else worker for worker in record.workers
    )
    look = f"old {record.look.removeprefix('old ')}" if record.look else ""
    return record._replace(undo=W.WAITING, draft=draft_goes(record, verb), workers=workers, look=look, held=False)


def _retry(record: Record, world: World) -> Iterator[Move]:
    if record.held or record.expired:
        return
    if record.draft == T.FAILED:
        waits = {"write": delivery_goes(record, WRITE, "retry"), "draft": draft_goes(record, "retry")}
        yield Move(("retry",), record._replace(**waits))
    is_absent = record.absent >= SETTLED and world.readable
    is_absent = is_absent or world.lacks("proven absence before sending again")
    if record.draft == T.DELIVERY_UNKNOWN and is_absent:
        yield Move(("retry",), settle(wait(record, WRITE), world, known=True))


def _resolve(record: Record, world: World) -> Iterator[Move]:
    """A person's word, on what is unknown, held or unproven, and never while an attempt is under way."""
    kind = record.open_kind
    state = getattr(record, kind)
    unproven = record.undo == W.DELIVERED and record.draft in (T.RETRACTING, T.RETRACTION_UNKNOWN)
    under_way = state == W.SENDING and not world.lacks("no word while an attempt is under way")
    if under_way or not (state == W.UNKNOWN or record.held or unproven):
        return
    happened = record.there if kind == WRITE else not record.there
    # An honest person calls an object gone for good: not while a request may still act on whatever comes next.
    is_early = kind == UNDO and record.age != SURE and not world.lacks("nobody calls it gone while it may still act")
    if (happened and not is_early) or not world.honest:
        yield (found if kind == WRITE else gone)(record, world, ("resolve", "delivered"))
    if record.age == SURE and not (happened and world.honest):
        after = not_there(record, world) if kind == WRITE else still_there(record, world)
        yield Move(("resolve", "not_delivered"), after)
