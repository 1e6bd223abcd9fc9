"""Every step the model can take from one record: the guards of the services, and nothing more.

A step touches one draft. What it needs of the other draft, and what it does to it, is said beside it (`Move.needs`,
`Move.effect`), so that the steps of a record are worked out once, whatever the other draft is doing.
"""

from collections.abc import Iterator
from typing import NamedTuple

from approvals.domain.combinations import NONE
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
    LONG_AGO,
    MISSED,
    MOST_REQUESTS,
    NEVER,
    ONCE,
    SETTLED,
    SHRUGGED,
    SURE,
    UNDO,
    UNDONE,
    VOID,
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
    go,
)
from approvals.domain.states import DRAFT

ANYTHING, ONE_IDLE, BOTH_IDLE, ANOTHER_THERE, NONE_THERE = 1, 2, 4, 8, 16
"""What a step needs of the other draft: its claim is free and a worker is idle (it may keep one busy, or none)."""

NOTHING, TAKEN, GREW, GREW_BY_WRITE, BEGAN, PLACED, REMOVED = range(7)
"""What a step does to the other draft."""


class Move(NamedTuple):
    step: tuple[str, ...]
    record: Record
    needs: int = ANYTHING
    effect: int = NOTHING


def moves(record: Record, world: World) -> Iterator[Move]:
    """Gives every step from here."""
    yield from _people_before(record, world)
    yield from _people_after(record, world)
    yield from _time(record, world)
    yield from _claims(record, world)
    for place, worker in enumerate(record.workers):
        if worker not in record.workers[:place]:
            rest = record.workers[:place] + record.workers[place + 1 :]
            yield from _worker(record, record._replace(workers=rest), worker, world)
    yield from _network(record, world)
    yield from _reconciler(record, world)


def offers(record: Record) -> int:
    """Gives the needs of the other draft's steps that this record meets."""
    met = ANYTHING | (ANOTHER_THERE if record.there else NONE_THERE)
    free = record.claim == C.IDLE or (record.claim == C.RESERVED and record.over)
    holder_gives_way = record.busy - record.holds
    if free and holder_gives_way <= 1:
        met |= ONE_IDLE
    if free and not holder_gives_way:
        met |= BOTH_IDLE
    return met


def suffers(record: Record, effect: int) -> Record:
    """Gives what a step of the other draft makes of this one."""
    if effect == TAKEN and record.claim == C.RESERVED:
        return record._replace(claim=C.IDLE)
    if effect == BEGAN:
        return record._replace(began_last=False)
    if effect in (GREW, GREW_BY_WRITE):
        is_open = record.is_live or (record.approval == A.CONSUMED and record.write != W.DELIVERED)
        newer = record.newer or (effect == GREW_BY_WRITE and record.write == W.DELIVERED)
        return record._replace(stale=record.stale or is_open, newer=newer)
    if effect in (PLACED, REMOVED) and record.there:
        return record._replace(there=False, wrong=_loss(record, effect))
    return record


def _loss(record: Record, effect: int) -> str:
    if effect == REMOVED:
        return "a retraction removed another draft's write"
    return "an earlier write replaced a later one" if record.began_last else ""


# People, before anything is sent


def _people_before(record: Record, world: World) -> Iterator[Move]:
    yield from _authors(record)
    yield from _reviewers(record, world)


def _authors(record: Record) -> Iterator[Move]:
    if record.draft in DRAFT.edge("submit").sources:
        yield Move(("submit",), _opened(record, draft_goes(record, "submit")))
    if record.draft in DRAFT.edge("rework").sources:
        yield Move(("rework",), record._replace(draft=draft_goes(record, "rework")))
    if record.draft in DRAFT.edge("withdraw").sources:
        ended = approval_goes(record, "revoke") if record.is_live else record.approval
        yield Move(("withdraw",), _ended(record, ended, draft_goes(record, "withdraw")))
    if record.is_live:
        yield Move(("edit",), _back_to_review(record, "supersede"))


def _reviewers(record: Record, world: World) -> Iterator[Move]:
    if record.approval == A.PENDING and not record.expired and not record.stale:
        approved = {"approval": approval_goes(record, "approve"), "draft": draft_goes(record, "approve")}
        yield Move(("approve",), record._replace(**approved))
        for verb in ("request_changes", "reject"):
            yield Move((verb,), _ended(record, approval_goes(record, "reject"), draft_goes(record, verb)))
    if record.approval == A.APPROVED and not record.expired:
        yield Move(("take_back",), _back_to_review(record, "revoke"))
    if record.is_live:
        yield Move(("revoke",), _ended(record, approval_goes(record, "revoke"), draft_goes(record, "revoke")))
    if record.is_live and record.stale and not record.expired:
        yield Move(("reopen",), _back_to_review(record, "supersede"))
    if record.is_live and record.expired:
        yield Move(("expire",), _ended(record, approval_goes(record, "expire"), draft_goes(record, "expire")))


def _opened(record: Record, draft: str) -> Record:
    return record._replace(draft=draft, approval=A.PENDING, stale=False, expired=False, purpose=_voided(record))


def _ended(record: Record, approval: str, draft: str) -> Record:
    return record._replace(draft=draft, approval=approval, purpose=_voided(record))


def _back_to_review(record: Record, verb: str) -> Record:
    approval_goes(record, verb)
    draft = draft_goes(record, "reopen") if record.draft == T.APPROVED else record.draft
    return _opened(record, draft)


def _voided(record: Record) -> str:
    return VOID if record.purpose == FIRST else record.purpose


# People, afterwards


def _people_after(record: Record, world: World) -> Iterator[Move]:
    yield from _retract(record)
    yield from _retry(record, world)
    kind = record.open_kind
    if getattr(record, kind) == W.WAITING and not record.held:
        yield Move(("cancel",), _failed(record, kind, "cancel"))
    yield from _resolve(record, world)
    if record.absent == SETTLED and world.readable:
        yield Move(("look_again",), record._replace(absent=SETTLED + 1))


def _retract(record: Record) -> Iterator[Move]:
    if record.draft in DRAFT.edge("retract").sources and not record.newer:
        yield Move(("retract",), _new_undo(record, "retract"))
    if record.draft in DRAFT.edge("retry_retraction").sources and not record.newer and not record.held:
        if record.undo == W.DELIVERED:
            yield Move(("retry",), _new_undo(record, "retry_retraction"))
        elif record.undo != W.UNKNOWN:
            waits = {"undo": delivery_goes(record, UNDO, "retry"), "draft": draft_goes(record, "retry_retraction")}
            yield Move(("retry",), record._replace(**waits))


def _new_undo(record: Record, verb: str) -> Record:
    """Makes the next retraction; whoever is still at an earlier one is at a thing of the past."""
    workers = tuple(
        worker._replace(kind=UNDONE, newest=False) if worker.kind == UNDO else worker for worker in record.workers
    )
    look = f"old {record.look}" if record.look and not record.look.startswith("old") else record.look
    return record._replace(undo=W.WAITING, draft=draft_goes(record, verb), workers=workers, look=look, held=False)


def _retry(record: Record, world: World) -> Iterator[Move]:
    if record.held or record.expired:
        return
    if record.draft == T.FAILED:
        waits = {"write": delivery_goes(record, WRITE, "retry"), "draft": draft_goes(record, "retry")}
        yield Move(("retry",), record._replace(**waits))
    absent = (record.absent >= SETTLED and world.readable) or world.lacks("proven absence before sending again")
    if record.draft == T.DELIVERY_UNKNOWN and absent:
        yield Move(("retry",), _send_again(record, world))


def _send_again(record: Record, world: World) -> Record:
    waiting = record._replace(write=delivery_goes(record, WRITE, "wait"), draft=draft_goes(record, "resend"))
    return _settle(waiting._replace(unsure=False), world, known=True)


def _failed(record: Record, kind: str, verb: str) -> Record:
    draft = draft_goes(record, "fail" if kind == WRITE else "fail_retraction")
    return record._replace(**{kind: delivery_goes(record, kind, verb)}, draft=draft)


def _resolve(record: Record, world: World) -> Iterator[Move]:
    kind = record.open_kind
    unproven = record.undo == W.DELIVERED and record.draft in (T.RETRACTING, T.RETRACTION_UNKNOWN)
    if not (getattr(record, kind) == W.UNKNOWN or record.held or unproven):
        return
    happened = record.there if kind == WRITE else not record.there
    if happened or not world.honest:
        yield _delivered_by_word(record, kind, world)
    if record.age == SURE and not (happened and world.honest):
        yield _not_delivered_by_word(record, kind, world)


def _delivered_by_word(record: Record, kind: str, world: World) -> Move:
    if kind == UNDO:
        return _gone(record, world, ("resolve", "delivered"))
    return Move(("resolve", "delivered"), _settle(_deliver(record, WRITE, world), world, known=True), effect=_growth(WRITE, world))


def _not_delivered_by_word(record: Record, kind: str, world: World) -> Move:
    step = ("resolve", "not_delivered")
    if kind == UNDO:
        return Move(step, _still_there(record, world))
    if record.write == W.UNKNOWN:
        return Move(step, _settle(_failed(record, WRITE, "refuse")._replace(unsure=False), world, known=True))
    return Move(step, _settle(record._replace(held=False), world, known=True))


# Time


def _time(record: Record, world: World) -> Iterator[Move]:
    covers = record.is_live or (record.approval == A.CONSUMED and record.write != W.DELIVERED)
    if covers and not record.expired:
        yield Move(("approval_time_passes",), record._replace(expired=True))
    if record.claim == C.RESERVED and not record.over:
        yield Move(("reservation_time_passes",), record._replace(over=True))
    state = getattr(record, record.open_kind)
    unproven = record.undo == W.DELIVERED and record.draft in (T.RETRACTING, T.RETRACTION_UNKNOWN)
    if not (state in (W.SENDING, W.UNKNOWN) or record.held or unproven or _starters(record)):
        return
    if record.age == LIVE:
        yield Move(("lease_time_passes",), _lease_ends(record))
    elif (record.age == ENDED or record.absent == ONCE) and _is_quiet(record, world):
        absent = LONG_AGO if record.absent == ONCE else record.absent
        yield Move(("grace_passes",), record._replace(age=SURE, absent=absent))


def _lease_ends(record: Record) -> Record:
    """Ends the newest attempt's lease, and with a retraction's that of the write before it, if a worker is left."""
    workers = tuple(
        worker._replace(newest=False) if record.undo != NONE and worker.kind == WRITE else worker
        for worker in record.workers
    )
    return record._replace(age=ENDED, workers=workers)


def _is_quiet(record: Record, world: World) -> bool:
    """The timing assumption: within the grace, every worker that looked at its clock has written, and the network
    has delivered or lost what it held."""
    armed = any(worker.phase == ARMED for worker in record.workers)
    return not world.timely or not (armed or record.in_flight)


def _starters(record: Record) -> int:
    """Counts the workers that may still start their first byte under a live lease."""
    if record.age != LIVE:
        return 0
    return sum(worker.phase in (BEGUN, ARMED) and worker.newest for worker in record.workers)


starters = _starters

# Dispatch claims: reserve, gate, let go, sweep


def _claims(record: Record, world: World) -> Iterator[Move]:
    is_free = record.claim == C.IDLE or (record.claim == C.RESERVED and record.over)
    if is_free and _is_due(record, world):
        purpose = FIRST if record.approval == A.APPROVED else AGAIN
        busy = len(record.workers)
        if busy < 2:
            taken = record._replace(claim=claim_goes(record, "reserve"), purpose=purpose, over=False, orphaned=False)
            yield Move(("reserve",), taken, needs=BOTH_IDLE if busy else ONE_IDLE, effect=TAKEN)
    if record.holds:
        yield from _gate(record, world)
        yield Move(("let_go",), record._replace(claim=claim_goes(record, "release")))
        yield Move(("crash", "reserved"), record._replace(orphaned=True))
    if record.claim == C.SENDING and record.age >= ENDED:
        yield Move(("sweep",), _settle(_lose(record, record.open_kind, world), world, known=False))


def _is_due(record: Record, world: World) -> bool:
    if record.approval == A.APPROVED:
        return True
    state = getattr(record, record.open_kind)
    resends = state == W.UNKNOWN and record.open_kind == WRITE and world.resends and record.absent != SETTLED
    guesses = state == W.UNKNOWN and record.open_kind == WRITE and world.lacks("no resend on a guess")
    return not record.held and (state == W.WAITING or resends or guesses)


def _gate(record: Record, world: World) -> Iterator[Move]:
    if record.over and not world.lacks("live lease at the gate"):
        return
    if record.purpose != AGAIN:
        ground = not record.stale and not record.expired
        covered = record.approval == A.APPROVED and record.purpose == FIRST and ground
        if covered or (record.approval == A.APPROVED and world.lacks("live approval at begin")):
            yield Move(("begin",), _begun(record, WRITE, world), effect=BEGAN)
        return
    kind = record.open_kind
    state = getattr(record, kind)
    if kind == WRITE and state in (W.WAITING, W.UNKNOWN):
        yield from _resume(record, world)
    elif kind == UNDO and state == W.WAITING and record.draft == T.RETRACTING:
        if record.newer:
            yield Move(("refuse", UNDO), _ending(record, UNDO))
        elif not record.held:
            yield Move(("begin_retract",), _begun(record, UNDO, world), effect=BEGAN)


def _resume(record: Record, world: World) -> Iterator[Move]:
    covered = not record.expired and not record.stale
    if not covered and not record.held:
        yield Move(("refuse", WRITE), _ending(record, WRITE))
    if not record.held and (covered or world.lacks("unexpired approval at resume")):
        yield Move(("resume",), _begun(record, WRITE, world), effect=BEGAN)


def _ending(record: Record, kind: str) -> Record:
    workers = (*record.workers, Worker(ENDING, kind))
    return record._replace(claim=claim_goes(record, "release"), workers=workers)


def _begun(record: Record, kind: str, world: World) -> Record:
    """Opens an attempt: whoever is at an earlier one of this delivery has a lease that ended."""
    workers = tuple(worker._replace(newest=False) if worker.kind == kind else worker for worker in record.workers)
    changes: dict[str, object] = {}
    if record.write == NONE:
        changes["approval"] = approval_goes(record, "consume")
        changes["draft"] = draft_goes(record, "begin")
        changes["write"] = W.SENDING
    else:
        changes[kind] = delivery_goes(record, kind, "send")
        if record.draft == T.DELIVERY_UNKNOWN:
            changes["draft"] = draft_goes(record, "resend")
    return record._replace(
        **changes,
        claim=claim_goes(record, "send"),
        unsure=record.unsure or getattr(record, kind) == W.UNKNOWN,
        age=LIVE,
        absent=NEVER,
        look=record.look if record.look.startswith("old") else "",
        began_last=record.began_last or kind == WRITE,
        workers=(*workers, Worker(BEGUN, kind)),
    )


# A worker with an attempt in hand


def _worker(record: Record, without: Record, worker: Worker, world: World) -> Iterator[Move]:
    """`without` is the record as it is when this worker has gone."""
    if worker.phase == ENDING:
        yield Move(("cancel_after_no", worker.kind), _ended_by_no(without, worker, world))
        yield Move(("crash", *worker_name(worker)), without)
        return
    yield from _sends(record, without, worker, world)
    for outcome in ANSWERS[worker.phase]:
        left = _left_behind(without, worker) if worker.phase == ASKED else without
        yield _record_receipt(left, worker, outcome, world)
    crashed = _left_behind(without, worker) if worker.phase == ASKED else without
    yield Move(("crash", *worker_name(worker)), crashed)


ANSWERS = {
    BEGUN: ("not_sent",),
    ARMED: (),
    ASKED: ("unknown",),
    ACTED: ("delivered", "unknown"),
    SHRUGGED: ("delivered", "unknown"),
    MISSED: ("refused", "not_sent", "unknown"),
}
"""What a worker may have to record, by what became of its request. A remote that says no has not acted."""


def worker_name(worker: Worker) -> tuple[str, str, str]:
    return worker.phase, worker.kind, "newest" if worker.newest else "older"


def _sends(record: Record, without: Record, worker: Worker, world: World) -> Iterator[Move]:
    name = worker_name(worker)
    if worker.phase == BEGUN:
        on_time = worker.newest and record.age == LIVE
        if on_time or world.lacks("clock check before the first byte"):
            yield Move(("look_at_clock", *name), _with(without, worker, ARMED))
    elif worker.phase == ARMED and record.in_flight < MOST_REQUESTS:
        yield Move(("send", *name), _with(without, worker, ASKED))
    elif worker.phase == ASKED:
        acted, effect = _act(_with(without, worker, ACTED), worker.kind, world)
        yield Move(("act", *name), acted, effect=effect)
        yield Move(("miss", *name), _with(without, worker, MISSED))
        if worker.kind != WRITE:
            yield Move(("shrug", *name), _with(without, worker, SHRUGGED))


def _with(without: Record, worker: Worker, phase: str) -> Record:
    return without._replace(workers=(*without.workers, worker._replace(phase=phase)))


def _left_behind(record: Record, worker: Worker) -> Record:
    if worker.kind == WRITE:
        return record._replace(late_writes=record.late_writes + 1)
    return record._replace(late_undos=record.late_undos + 1)


def _ended_by_no(record: Record, worker: Worker, world: World) -> Record:
    if worker.kind == UNDONE:
        return record
    state = getattr(record, worker.kind)
    if state == W.WAITING:
        return _failed(record, worker.kind, "cancel")
    if state == W.UNKNOWN and worker.kind == WRITE and not world.readable:
        return record._replace(absent=SETTLED)  # it is not sent again
    return record


# The network and the remote


def _network(record: Record, world: World) -> Iterator[Move]:
    if record.late_writes:
        left = record._replace(late_writes=record.late_writes - 1)
        acted, effect = _act(left, WRITE, world)
        yield Move(("late_act", WRITE), acted, effect=effect)
        yield Move(("late_miss", WRITE), left)
    if record.late_undos:
        left = record._replace(late_undos=record.late_undos - 1)
        acted, effect = _act(left, UNDO, world)
        yield Move(("late_act", UNDO), acted, effect=effect)
        yield Move(("late_miss", UNDO), left)


def _act(record: Record, kind: str, world: World) -> tuple[Record, int]:
    """Lets the remote do what a request asks."""
    if kind != WRITE:
        return record._replace(there=False), REMOVED if world.exclusive else NOTHING
    if (world.remote == "dedupe" and record.written) or (world.remote == "upsert" and record.there):
        return record, NOTHING
    written = min(record.written + 1, 2)
    return record._replace(written=written, there=True), PLACED if world.exclusive else NOTHING


# Receipts


def _record_receipt(record: Record, worker: Worker, outcome: str, world: World) -> Move:
    step = ("record", outcome, *worker_name(worker))
    kind = UNDO if worker.kind == UNDONE else worker.kind
    state = getattr(record, kind)
    newest = worker.newest or world.lacks("token at record")
    if not (newest and state in (W.SENDING, W.UNKNOWN) and worker.kind != UNDONE):
        holds = outcome == "delivered" and worker.kind != UNDONE and state != W.DELIVERED
        return Move(step, record._replace(held=True) if holds else record)
    applied = _apply(record, kind, outcome, world)
    effect = _growth(kind, world) if outcome == "delivered" else NOTHING
    known = getattr(applied, kind) != W.UNKNOWN
    return Move(step, _settle(applied, world, known=known), effect=effect)


def _apply(record: Record, kind: str, outcome: str, world: World) -> Record:
    if kind == UNDO:
        record = _lease_ends(record)._replace(look=record.look if record.look.startswith("old") else "")
    if outcome == "delivered":
        return _deliver(record, kind, world)
    if outcome == "unknown" or record.unsure:
        return _lose(record, kind, world)
    if outcome == "refused":
        return _failed(record, kind, "refuse")
    waiting = record._replace(**{kind: delivery_goes(record, kind, "wait")})
    verb = "resend" if kind == WRITE else "retry_retraction"
    if waiting.draft in DRAFT.edge(verb).sources:
        return waiting._replace(draft=draft_goes(waiting, verb))
    return waiting


def _deliver(record: Record, kind: str, world: World) -> Record:
    changes: dict[str, object] = {kind: delivery_goes(record, kind, "deliver"), "held": False}
    if kind == WRITE:
        changes |= {"draft": draft_goes(record, "deliver"), "newer": False, "unsure": False}
    elif not world.readable and record.draft == T.RETRACTING:
        changes["draft"] = draft_goes(record, "lose_retraction")
    return record._replace(**changes)


def _growth(kind: str, world: World) -> int:
    if not world.exclusive:
        return NOTHING
    return GREW_BY_WRITE if kind == WRITE else GREW


def _lose(record: Record, kind: str, world: World) -> Record:
    """Says that nobody knows; what was left to a person is looked at once more."""
    absent = record.absent
    if absent == SETTLED:
        absent = SETTLED + 1 if world.readable else NEVER
    if getattr(record, kind) != W.SENDING:
        return record._replace(absent=absent)
    lost = {kind: delivery_goes(record, kind, "lose")}
    draft = draft_goes(record, "lose" if kind == WRITE else "lose_retraction")
    return record._replace(**lost, draft=draft, absent=absent)


def _settle(record: Record, world: World, *, known: bool) -> Record:
    """Moves the dispatch claim with the outcome of the newest attempt."""
    if record.claim == C.SENDING:
        keeps = not known and world.exclusive and not world.lacks("an exclusive target waits for the outcome")
        return record._replace(claim=claim_goes(record, "lose" if keeps else "settle"))
    if record.claim == C.UNCERTAIN and known:
        return record._replace(claim=claim_goes(record, "clear"))
    needless = record.purpose == AGAIN and getattr(record, record.open_kind) == W.DELIVERED
    if record.claim == C.RESERVED and needless:
        return record._replace(claim=claim_goes(record, "release"))
    return record


# Looking at the remote


def _reconciler(record: Record, world: World) -> Iterator[Move]:
    if not world.readable:
        return
    if record.draft == T.SUBMITTED and record.there:
        yield Move(("confirm",), record._replace(draft=draft_goes(record, "confirm")))
    if record.look:
        yield from _hand_in(record, record._replace(look=""), record.look, world, ("hand_in", record.look))
    for seen, needs in _sights(record, world):
        if not record.look:
            yield Move(("look", seen), record._replace(look=seen), needs=needs)
        for move in _hand_in(record, record, seen, world, ("look_and_hand_in", seen)):
            yield move._replace(needs=needs)


def _sights(record: Record, world: World) -> Iterator[tuple[str, int]]:
    """What a look that begins now may see, as far as it can move anything."""
    if record.open_kind == WRITE:
        asks = record.held or (record.write == W.UNKNOWN and record.absent != SETTLED)
        if asks and record.there:
            yield "found", ANYTHING
        elif asks and record.age >= ENDED and record.write == W.UNKNOWN:
            if record.absent != ONCE:
                yield ("absent again" if record.absent >= LONG_AGO else "absent"), ANYTHING
        return
    unproven = record.undo == W.DELIVERED and record.draft in (T.RETRACTING, T.RETRACTION_UNKNOWN)
    if record.age == SURE and (record.undo == W.UNKNOWN or record.held or unproven):
        if record.there:
            yield "still", ANYTHING
        elif world.exclusive:
            yield "gone", NONE_THERE
            yield "another", ANOTHER_THERE
        else:
            yield "gone", ANYTHING


def _hand_in(record: Record, left: Record, seen: str, world: World, step: tuple[str, ...]) -> Iterator[Move]:
    if seen == "found":
        if record.write == W.DELIVERED:
            yield Move(step, left)
        else:
            yield Move(step, _settle(_deliver(left, WRITE, world), world, known=True), effect=_growth(WRITE, world))
    elif seen in ("absent", "absent again"):
        yield Move(step, _absent(left, seen, world))
    else:
        yield _read_back(record, left, seen, world, step)


def _absent(record: Record, seen: str, world: World) -> Record:
    if record.write != W.UNKNOWN:
        return record
    if seen == "absent":
        return record._replace(absent=max(record.absent, ONCE))
    if record.held:
        return record
    if world.idempotent:
        return _send_again(record, world)
    return record._replace(absent=SETTLED)


def _read_back(record: Record, left: Record, seen: str, world: World, step: tuple[str, ...]) -> Move:
    """A read-back speaks of one retraction; of an earlier one it says nothing that counts."""
    what = seen.removeprefix("old ")
    if what != seen:
        return Move(step, left)
    accepted = record.undo == W.DELIVERED and record.draft in (T.RETRACTING, T.RETRACTION_UNKNOWN)
    if not (accepted or record.undo == W.UNKNOWN or record.held):
        return Move(step, left)
    if what in ("gone", "another"):
        return _gone(left, world, step)
    return Move(step, _still_there(left, world))


def _gone(record: Record, world: World, step: tuple[str, ...]) -> Move:
    effect = NOTHING
    if record.undo != W.DELIVERED:
        record = _deliver(record, UNDO, world)
        effect = _growth(UNDO, world)
    settled = _settle(record, world, known=True)
    return Move(step, settled._replace(draft=draft_goes(settled, "verify_gone")), effect=effect)


def _still_there(record: Record, world: World) -> Record:
    if record.held:
        return record._replace(held=False)
    if record.undo == W.UNKNOWN:
        return _settle(_failed(record, UNDO, "refuse")._replace(unsure=False), world, known=True)
    return record._replace(draft=draft_goes(record, "fail_retraction"))


__all__ = ["Move", "go", "moves", "offers", "starters", "suffers"]
