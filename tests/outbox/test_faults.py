"""Real drains, killed, cut off and lied to: nothing is lost, nothing overtakes, every repetition is the same bytes."""

from collections.abc import Callable

import pytest
from django.db import connection

from approvals.models import Approval
from approvals.workers import drain
from approvals.workers.drain.posting import MOST_UNNOTED
from tests.outbox.conftest import EVENTS, all_is_due, cut_connections, insert, leases_are_over, stored, undrained
from tests.support.processes import until
from tests.support.receiver import HANG, RESET, RESET_EARLY, TOO_LONG, TOO_SHORT, Arrival, Receiver, Trick
from tests.support.workers import LONGEST_SECONDS, Worker

CONNECTIONS = 8
Drains = Callable[..., Worker]

pytestmark = pytest.mark.slow


def drained() -> dict[str, int]:
    """Runs one drain to its end, in this process: it does the same and starts in no time."""
    return dict(drain.run(concurrency=CONNECTIONS))


def drained_to_the_end() -> None:
    """Drains until nothing waits any more, without waiting for back-off or for the leases of the dead."""
    for _ in range(100):
        leases_are_over()
        all_is_due()
        drained()
        if not undrained():
            return
    raise AssertionError(f"{undrained()} events are still waiting")


def arrived(receiver: Receiver, count: int) -> None:
    until(lambda: len(receiver.arrivals) >= count, seconds=LONGEST_SECONDS)


def test_everything_arrives_once_and_in_order(drains: Drains, receiver: Receiver, approvals: list[Approval]) -> None:
    insert(approvals, EVENTS)
    with drains("--concurrency", str(CONNECTIONS)) as worker:
        assert worker.counted() == {"drained": EVENTS}
    assert receiver.faults(stored()) == []
    assert len(receiver.arrivals) == EVENTS


def test_a_drain_killed_again_and_again(drains: Drains, receiver: Receiver, approvals: list[Approval]) -> None:
    """After the sink's answer and before its note, most likely: that is where it is nearly always."""
    insert(approvals, EVENTS)
    for part in (1, 2, 3):
        with drains("--concurrency", str(CONNECTIONS)) as worker:
            arrived(receiver, part * EVENTS // 5)
            worker.kill()
        leases_are_over()
    drained_to_the_end()
    assert receiver.faults(stored()) == []
    assert sum(receiver.repeats.values()) <= 3 * (MOST_UNNOTED + CONNECTIONS)


def test_a_drain_killed_while_the_sink_holds_its_answers_back(
    drains: Drains, receiver: Receiver, approvals: list[Approval]
) -> None:
    insert(approvals, EVENTS)
    receiver.answering.close()
    with drains("--concurrency", str(CONNECTIONS)) as worker:
        arrived(receiver, CONNECTIONS)
        worker.kill()
    receiver.answering.open()
    drained_to_the_end()
    assert receiver.faults(stored()) == []
    assert sum(receiver.repeats.values()) == CONNECTIONS


def test_a_drain_that_is_asked_to_end_repeats_nothing(
    drains: Drains, receiver: Receiver, approvals: list[Approval]
) -> None:
    insert(approvals, EVENTS)
    with drains("--concurrency", str(CONNECTIONS)) as worker:
        arrived(receiver, EVENTS // 4)
        worker.ask_to_end()
        worker.counted()
    drained()
    assert receiver.faults(stored()) == []
    assert (receiver.repeats, undrained()) == ({}, 0)


def test_the_database_cut_off_in_mid_batch(drains: Drains, receiver: Receiver, approvals: list[Approval]) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no connection to cut")
    insert(approvals, EVENTS)
    with drains("--concurrency", str(CONNECTIONS)) as worker:
        for part in (1, 2):
            arrived(receiver, part * EVENTS // 4)
            cut_connections()
        worker.ends()
    drained_to_the_end()
    assert receiver.faults(stored()) == []
    assert sum(receiver.repeats.values()) <= 2 * (MOST_UNNOTED + CONNECTIONS)


@pytest.mark.parametrize("trick", [RESET, RESET_EARLY, TOO_LONG, TOO_SHORT], ids=["reset", "early", "long", "short"])
def test_a_sink_that_breaks_off_or_lies_about_length(
    drains: Drains, receiver: Receiver, approvals: list[Approval], trick: Trick
) -> None:
    insert(approvals, EVENTS)
    receiver.fate = every(20, trick)
    drained_to_the_end()
    assert receiver.faults(stored()) == []


def test_a_sink_that_hangs(drains: Drains, receiver: Receiver, approvals: list[Approval]) -> None:
    """It kept the event and says nothing: the drain gives up after ten seconds, the other approvals go on."""
    insert(approvals, EVENTS)
    receiver.fate = lambda _, arrival: HANG if arrival.count == 5 else 200
    counted = drained()
    assert counted["postponed"] == 1
    drained_to_the_end()
    assert receiver.faults(stored()) == []
    assert sum(receiver.repeats.values()) == 1


def test_a_sink_that_is_down_in_between(drains: Drains, receiver: Receiver, approvals: list[Approval]) -> None:
    insert(approvals, EVENTS)
    receiver.fate = lambda _, arrival: 503 if EVENTS // 3 < arrival.count < EVENTS // 2 else 200
    drained_to_the_end()
    assert receiver.faults(stored()) == []


def test_several_drains_send_each_event_once_and_in_order(
    drains: Drains, receiver: Receiver, approvals: list[Approval]
) -> None:
    insert(approvals, EVENTS)
    with (
        drains("--concurrency", "4") as one,
        drains("--concurrency", "4") as two,
        drains("--concurrency", "4") as three,
    ):
        for worker in (one, two, three):
            worker.counted()
    drained_to_the_end()
    assert receiver.faults(stored()) == []
    assert receiver.repeats == {}


def every(number: int, trick: Trick) -> Callable[[Receiver, Arrival], int | Trick]:
    return lambda _, arrival: trick if arrival.count % number == 0 else 200
