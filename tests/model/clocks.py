"""Time, as far as a guard can see it: it may pass at any moment, and what it ends stays ended."""

from collections.abc import Iterator

from tests.model.outcomes import end_lease
from tests.model.record import ARMED, BEGUN, ENDED, LIVE, LONG_AGO, ONCE, SURE, C, Record, T, W, World
from tests.model.steps import Move, is_covered


def time(record: Record, world: World) -> Iterator[Move]:
    if is_covered(record) and not record.expired:
        yield Move(("approval_time_passes",), record._replace(expired=True))
    if record.claim == C.RESERVED and not record.over:
        yield Move(("reservation_time_passes",), record._replace(over=True))
    if not _matters(record):
        return
    if record.age == LIVE:
        yield Move(("lease_time_passes",), end_lease(record))
    elif (record.age == ENDED or record.absent == ONCE) and _is_quiet(record, world):
        absent = LONG_AGO if record.absent == ONCE else record.absent
        yield Move(("grace_passes",), record._replace(age=SURE, absent=absent))


def starters(record: Record) -> int:
    """Counts the workers that may still start their first byte under a live lease."""
    if record.age != LIVE:
        return 0
    return sum(worker.phase in (BEGUN, ARMED) and worker.newest for worker in record.workers)


def _matters(record: Record) -> bool:
    """True while somebody may still ask how old the newest attempt is."""
    unproven = record.undo == W.DELIVERED and record.draft in (T.RETRACTING, T.RETRACTION_UNKNOWN)
    is_open = getattr(record, record.open_kind) in (W.SENDING, W.UNKNOWN)
    return is_open or record.held or unproven or starters(record) > 0


def _is_quiet(record: Record, world: World) -> bool:
    """The timing assumption: within the grace every worker that had looked at its clock has written or died, and the
    network has delivered or lost what it held."""
    is_armed = any(worker.phase == ARMED for worker in record.workers)
    return not world.timely or not (is_armed or record.in_flight)
