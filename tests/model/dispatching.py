"""Dispatch: reserve, the gate, the worker with its attempt, the receipt, the sweeper.

A worker may die or sleep anywhere. Sleeping needs no step of its own: between any two steps of a worker everything
else may happen.
"""

from collections.abc import Iterator

from tests.model.outcomes import deliver, end_lease, fail, growth, lose, settle, wait
from tests.model.record import (
    ACTED,
    AGAIN,
    ARMED,
    ASKED,
    BEGUN,
    ENDED,
    ENDING,
    FIRST,
    LIVE,
    MISSED,
    MOST_REQUESTS,
    NEVER,
    NONE,
    SETTLED,
    SHRUGGED,
    UNDO,
    UNDONE,
    WRITE,
    A,
    C,
    Record,
    T,
    W,
    Worker,
    World,
    approval_goes,
    claim_goes,
    delivery_goes,
    draft_goes,
)
from tests.model.remote import act
from tests.model.steps import BEGAN, BOTH_IDLE, NOTHING, ONE_IDLE, TAKEN, Move

ANSWERS = {
    BEGUN: ("not_sent",),
    ARMED: (),
    ASKED: ("unknown",),
    ACTED: ("delivered", "unknown"),
    SHRUGGED: ("delivered", "unknown"),
    MISSED: ("refused", "not_sent", "unknown"),
}
"""What a worker may have to record, by what became of its request. A remote that says no has not acted."""


def claims(record: Record, world: World) -> Iterator[Move]:
    if record.is_free and _is_due(record, world) and len(record.workers) < 2:
        purpose = FIRST if record.approval == A.APPROVED else AGAIN
        taken = record._replace(claim=claim_goes(record, "reserve"), purpose=purpose, over=False, orphaned=False)
        yield Move(("reserve",), taken, needs=BOTH_IDLE if record.workers else ONE_IDLE, effect=TAKEN)
    if record.claim == C.RESERVED and not record.orphaned:
        if not record.over:
            yield from _gate(record, world)
        yield Move(("let_go",), record._replace(claim=claim_goes(record, "release")))
        yield Move(("crash", "reserved"), record._replace(orphaned=True))
    if record.claim == C.SENDING and (record.age >= ENDED or world.lacks("a lease that ended before the sweep")):
        yield Move(("sweep",), settle(lose(record, record.open_kind, world), world, known=False))


def workers(record: Record, world: World) -> Iterator[Move]:
    for place, worker in enumerate(record.workers):
        if worker not in record.workers[:place]:
            others = record.workers[:place] + record.workers[place + 1 :]
            yield from _worker(record, record._replace(workers=others), worker, world)


def called(worker: Worker) -> tuple[str, str, str]:
    return worker.phase, worker.kind, "newest" if worker.newest else "older"


def _is_due(record: Record, world: World) -> bool:
    if record.approval == A.APPROVED:
        return True
    state = getattr(record, record.open_kind)
    is_unknown_write = state == W.UNKNOWN and record.open_kind == WRITE
    resends = is_unknown_write and world.resends and record.absent != SETTLED
    guesses = is_unknown_write and world.lacks("no resend on a guess")
    return not record.held and (state == W.WAITING or resends or guesses)


def _gate(record: Record, world: World) -> Iterator[Move]:
    is_covered = not record.expired and not record.stale
    if record.purpose != AGAIN:
        is_approved = record.approval == A.APPROVED
        yes = (is_approved and record.purpose == FIRST and is_covered) or world.lacks("a live approval at begin")
        if yes and is_approved:
            yield Move(("begin",), _begun(record, WRITE), effect=BEGAN)
    elif record.open_kind == WRITE and record.write in (W.WAITING, W.UNKNOWN) and not record.held:
        if is_covered or world.lacks("an unexpired approval at resume"):
            yield Move(("resume",), _begun(record, WRITE), effect=BEGAN)
        else:
            yield Move(("refuse", WRITE), _ending(record, WRITE))
    elif record.undo == W.WAITING and record.draft == T.RETRACTING and not record.held:
        if not record.newer or world.lacks("only the newest write is undone"):
            yield Move(("begin_retract",), _begun(record, UNDO), effect=BEGAN)
        else:
            yield Move(("refuse", UNDO), _ending(record, UNDO))


def _ending(record: Record, kind: str) -> Record:
    """The gate said no: the target is let go, and the worker is about to cancel what waits."""
    return record._replace(claim=claim_goes(record, "release"), workers=(*record.workers, Worker(ENDING, kind)))


def _begun(record: Record, kind: str) -> Record:
    """Opens an attempt. Whoever is at an earlier one of this delivery has a lease that ended."""
    earlier = tuple(
        worker._replace(newest=worker.newest and worker.kind != kind and record.age == LIVE)
        for worker in record.workers
    )
    if record.write == NONE:
        moved = record._replace(
            approval=approval_goes(record, "consume"), draft=draft_goes(record, "begin"), write=W.SENDING
        )
    else:
        draft = draft_goes(record, "resend") if record.draft == T.DELIVERY_UNKNOWN else record.draft
        moved = record._replace(**{kind: delivery_goes(record, kind, "send")}, draft=draft)
    return moved._replace(
        claim=claim_goes(record, "send"),
        unsure=record.unsure or getattr(record, kind) == W.UNKNOWN,
        age=LIVE,
        absent=NEVER,
        look=record.look if record.look.startswith("old") else "",
        began_last=record.began_last or kind == WRITE,
        workers=(*earlier, Worker(BEGUN, kind)),
    )


def _worker(record: Record, without: Record, worker: Worker, world: World) -> Iterator[Move]:
    """`without` is the record as it is when this worker has gone."""
    name = called(worker)
    left = _left_behind(without, worker) if worker.phase == ASKED else without
    yield Move(("crash", *name), left)
    if worker.phase == ENDING:
        yield Move(("cancel_after_no", worker.kind), _ended_by_no(without, worker, world))
        return
    yield from _sends(record, without, worker, world)
    for outcome in ANSWERS[worker.phase]:
        yield _recorded(left, worker, outcome, world)


def _sends(record: Record, without: Record, worker: Worker, world: World) -> Iterator[Move]:
    def turned(phase: str) -> Record:
        return without._replace(workers=(*without.workers, worker._replace(phase=phase)))

    name = called(worker)
    on_time = (worker.newest and record.age == LIVE) or world.lacks("a look at the clock before the first byte")
    if worker.phase == BEGUN and on_time:
        yield Move(("look_at_clock", *name), turned(ARMED))
    elif worker.phase == ARMED and record.in_flight < MOST_REQUESTS:
        yield Move(("send", *name), turned(ASKED))
    elif worker.phase == ASKED:
        acted, effect = act(turned(ACTED), worker.kind, world)
        yield Move(("act", *name), acted, effect=effect)
        yield Move(("miss", *name), turned(MISSED))
        if worker.kind != WRITE:
            yield Move(("shrug", *name), turned(SHRUGGED))


def _left_behind(record: Record, worker: Worker) -> Record:
    if worker.kind == WRITE:
        return record._replace(late_writes=record.late_writes + 1)
    return record._replace(late_undos=record.late_undos + 1)


def _ended_by_no(record: Record, worker: Worker, world: World) -> Record:
    state = NONE if worker.kind == UNDONE else getattr(record, worker.kind)
    if state == W.WAITING:
        return fail(record, worker.kind, "cancel")
    if state == W.UNKNOWN and worker.kind == WRITE and not world.readable:
        return record._replace(absent=SETTLED)  # it may have arrived; it only is not sent again
    return record


def _recorded(record: Record, worker: Worker, outcome: str, world: World) -> Move:
    """A receipt speaks for the newest attempt of what is sending or unknown; any other is evidence and no more."""
    step = ("record", outcome, *called(worker))
    kind = WRITE if worker.kind == WRITE else UNDO
    state = getattr(record, kind)
    is_newest = worker.newest or (world.lacks("a token at record") and worker.kind != UNDONE)
    if not (is_newest and state in (W.SENDING, W.UNKNOWN)):
        holds = outcome == "delivered" and worker.kind != UNDONE and state != W.DELIVERED
        return Move(step, record._replace(held=True) if holds else record)
    applied = _apply(record, kind, outcome, world)
    known = getattr(applied, kind) != W.UNKNOWN
    effect = growth(kind, world) if outcome == "delivered" else NOTHING
    return Move(step, settle(applied, world, known=known), effect=effect)


def _apply(record: Record, kind: str, outcome: str, world: World) -> Record:
    if kind == UNDO:  # from now on the grace counts from here, and what was seen before counts for nothing
        record = end_lease(record)._replace(look=record.look if record.look.startswith("old") else "")
    if outcome == "delivered":
        return deliver(record, kind, world)
    speaks = not record.unsure or world.lacks("a no speaks only for its own attempt")
    if outcome == "unknown" or not speaks:
        return lose(record, kind, world)
    return fail(record, kind, "refuse") if outcome == "refused" else wait(record, kind)
