"""The remote and the network, and what somebody sees who looks."""

from collections.abc import Iterator

from tests.model.outcomes import found, gone, settle, still_there, wait
from tests.model.record import (
    ENDED,
    LONG_AGO,
    ONCE,
    SETTLED,
    SURE,
    UNDO,
    WRITE,
    Record,
    T,
    W,
    World,
    draft_goes,
)
from tests.model.steps import (
    ANOTHER_THERE,
    ANYTHING,
    NONE_THERE,
    NOT_UNDER_WAY,
    NOTHING,
    PLACED,
    REMOVED,
    UNDER_WAY,
    Move,
)


def act(record: Record, kind: str, world: World) -> tuple[Record, int]:
    """Lets the remote do what a request asks; gives what that does to the other draft."""
    if kind != WRITE:
        return record._replace(there=False), REMOVED if world.exclusive else NOTHING
    if (world.remote == "dedupe" and record.written) or (world.remote == "upsert" and record.there):
        return record, NOTHING
    written = min(record.written + 1, 2)
    return record._replace(written=written, there=True), PLACED if world.exclusive else NOTHING


def network(record: Record, world: World) -> Iterator[Move]:
    """What is still on its way, and nobody waits for it, acts late or never."""
    for kind, column, count in (
        (WRITE, "late_writes", record.late_writes),
        (UNDO, "late_undos", record.late_undos),
    ):
        if count:
            left = record._replace(**{column: count - 1})
            acted, effect = act(left, kind, world)
            yield Move(("late_act", kind), acted, effect=effect)
            yield Move(("late_miss", kind), left)


def reconciler(record: Record, world: World) -> Iterator[Move]:
    """Looks, and hands in what was seen: at once, or while somebody else looks and hands in first."""
    if not world.readable:
        return
    if record.draft == T.SUBMITTED and record.there:
        yield Move(("confirm",), record._replace(draft=draft_goes(record, "confirm")))
    if record.look:
        yield from _handed_in_later(record._replace(look=""), record.look, world)
    for seen, needs in _sights(record, world):
        if not record.look:
            yield Move(("look", seen), record._replace(look=seen), needs=needs)
        if seen != "another":
            yield _handed_in(record, seen, world, ("look_and_hand_in", seen))._replace(needs=needs)


def _handed_in_later(record: Record, seen: str, world: World) -> Iterator[Move]:
    """Of another draft's write it depends on whether that is known by now, under way, or neither."""
    step = ("hand_in", seen)
    if seen != "another" or not _is_unproven(record):
        yield _handed_in(record, seen, world, step)
    elif record.newer and not world.lacks("what stands may be another draft's"):
        yield gone(record, world, step)
    else:
        waits = not world.lacks("what stands may be another draft's")
        yield Move(step, record if waits else still_there(record, world), needs=UNDER_WAY)
        yield Move(step, still_there(record, world), needs=NOT_UNDER_WAY)


def _sights(record: Record, world: World) -> Iterator[tuple[str, int]]:
    """What a look that begins now may see, as far as it can move anything; a remote may also fail to answer."""
    if record.open_kind == WRITE:
        asks = record.held or (record.write == W.UNKNOWN and record.absent != SETTLED)
        if asks and record.there:
            yield "found", ANYTHING
        elif asks and record.age >= ENDED and record.write == W.UNKNOWN and record.absent != ONCE:
            yield ("absent again" if record.absent >= LONG_AGO else "absent"), ANYTHING
        return
    if record.age == SURE and _is_unproven(record):
        if record.there:
            yield "still", ANYTHING
        elif world.exclusive:
            yield "gone", NONE_THERE
            yield "another", ANOTHER_THERE
        else:
            yield "gone", ANYTHING


def _is_unproven(record: Record) -> bool:
    if record.undo == W.DELIVERED:
        return record.draft in (T.RETRACTING, T.RETRACTION_UNKNOWN)
    return record.undo == W.UNKNOWN or (record.held and record.undo != W.SENDING)


def _handed_in(record: Record, seen: str, world: World, step: tuple[str, ...]) -> Move:
    if seen == "found":
        settled = record.write in (W.DELIVERED, W.SENDING)
        return Move(step, record) if settled else found(record, world, step)
    if seen in ("absent", "absent again"):
        return Move(step, _absent(record, seen, world))
    return _read_back(record, seen, world, step)


def _absent(record: Record, seen: str, world: World) -> Record:
    if record.write != W.UNKNOWN:
        return record
    if seen == "absent" and not world.lacks("two absences, far enough apart"):
        return record._replace(absent=max(record.absent, ONCE))
    if record.held:
        return record
    if world.idempotent:
        return settle(wait(record, WRITE), world, known=True)
    return record._replace(absent=SETTLED)


def _read_back(record: Record, seen: str, world: World, step: tuple[str, ...]) -> Move:
    """A read-back of an earlier retraction says nothing about the newest."""
    if seen.startswith("old"):
        return Move(
            step, _mistaken(record, seen) if world.lacks("a read-back speaks of its own retraction") else record
        )
    if not _is_unproven(record):
        return Move(step, record)
    return gone(record, world, step) if seen == "gone" else Move(step, still_there(record, world))


def _mistaken(record: Record, seen: str) -> Record:
    """Only where the guard is left out: what was seen of an earlier retraction moves the draft of the newest."""
    if record.draft not in (T.RETRACTING, T.RETRACTION_UNKNOWN):
        return record
    return record._replace(draft=draft_goes(record, "fail_retraction" if seen == "old still" else "verify_gone"))
