"""A smaller run of the model, and every promise broken on purpose: leave a guard out, and the promise notices."""

from functools import cache

import pytest

from approvals.domain.combinations import TABLE
from tests.model.explore import Graph
from tests.model.properties import (
    ALONE,
    AUTHORITY,
    COMBINATIONS,
    EVIDENCE,
    FAILURE,
    NEEDS,
    ONE_WRITE,
    RETRACTION,
    promised,
)
from tests.model.record import C, IllegalMoveError, Record, World, claim_goes, combination
from tests.model.steps import REMOVED_ANOTHERS, REPLACED_LATER
from tests.model.told import way
from tests.model.worlds import DUPLICATE, OVERWRITING

PLAIN = World(drafts=1)
RESENT = World(remote="dedupe", readable=False, drafts=1)
REPLY = World(exclusive=True, remote="upsert", drafts=1)
TICKETS = World(retracts=False)
REPLIES = World(exclusive=True, remote="upsert", retracts=False)
TWO_REPLIES = World(exclusive=True, remote="upsert")
UNREADABLE_REPLY = World(exclusive=True, remote="upsert", readable=False, drafts=1)
SMALL = (PLAIN, RESENT, REPLY, UNREADABLE_REPLY, TICKETS, REPLIES)

BROKEN = [
    ("a live approval at begin", PLAIN, AUTHORITY),
    ("an unexpired approval at resume", PLAIN, AUTHORITY),
    ("a token at record", PLAIN, FAILURE),
    ("a look at the clock before the first byte", PLAIN, ONE_WRITE),
    ("two absences, far enough apart", PLAIN, ONE_WRITE),
    ("proven absence before sending again", PLAIN, ONE_WRITE),
    ("no resend on a guess", PLAIN, ONE_WRITE),
    ("a no speaks only for its own attempt", RESENT, FAILURE),
    ("no word while an attempt is under way", RESENT, ALONE),
    ("a lease that ended before the sweep", TICKETS, ALONE),
    ("an exclusive target waits for the outcome", REPLIES, REPLACED_LATER),
    ("an exclusive target waits for the outcome", REPLIES, COMBINATIONS),
    ("a read-back speaks of its own retraction", REPLY, COMBINATIONS),
    ("only the newest write is undone", TWO_REPLIES, REMOVED_ANOTHERS),
    ("nobody calls it gone while it may still act", TWO_REPLIES, REMOVED_ANOTHERS),
    ("what stands may be another draft's", TWO_REPLIES, RETRACTION),
]


@cache
def explored(world: World) -> Graph:
    return Graph(world).explore()


@pytest.mark.parametrize("world", SMALL, ids=str)
def test_every_promise_holds(world: World) -> None:
    graph = explored(world)
    assert {promise: list(way(graph.way_to(state))) for promise, state in graph.broken.items()} == {}


@pytest.mark.parametrize("world", [REPLY, REPLIES], ids=str)
def test_where_the_remote_dedupes_and_can_be_asked_no_person_is_needed_to_come_to_rest(world: World) -> None:
    assert explored(world).restless() == []


def test_a_remote_that_cannot_be_asked_does_need_a_person() -> None:
    assert explored(UNREADABLE_REPLY).restless()


@pytest.mark.parametrize(("guard", "world", "promise"), BROKEN, ids=lambda value: str(value)[:48])
def test_a_guard_left_out_breaks_its_promise(guard: str, world: World, promise: str) -> None:
    assert promise in promised(world)
    graph = Graph(world.without(guard), frozenset({promise})).explore(until=promise)
    assert promise in graph.broken


def test_every_row_of_the_table_is_reached() -> None:
    found = {
        combination(record, exclusive=graph.world.exclusive)
        for graph in map(explored, SMALL)
        for record in graph.records
    }
    assert [row for row in TABLE if not any(row.allows(item) for item in found)] == []


def test_a_remote_that_cannot_tell_a_repeat_may_get_a_duplicate_if_a_worker_sleeps_past_the_grace() -> None:
    graph = Graph(DUPLICATE).explore(until=ONE_WRITE)
    steps = [shown.name[0] for shown in graph.way_to(graph.broken[ONE_WRITE])]
    assert steps.index("look_at_clock") < steps.index("grace_passes") < steps.index("send")


def test_on_an_exclusive_target_it_may_overwrite_what_was_written_since() -> None:
    graph = Graph(OVERWRITING).explore(until=REPLACED_LATER)
    *_, last = graph.way_to(graph.broken[REPLACED_LATER])
    assert last.name[0] == "act"


def test_a_remote_that_dedupes_gets_none_however_long_a_worker_sleeps() -> None:
    graph = explored(World(remote="dedupe", timely=False, retracts=False, drafts=1))
    assert ONE_WRITE not in graph.broken
    assert FAILURE in graph.broken  # but what failed may arrive after all


def test_a_move_that_is_not_in_the_tables_raises() -> None:
    with pytest.raises(IllegalMoveError):
        claim_goes(Record(claim=C.UNCERTAIN), "send")


def test_every_promise_says_what_it_needs() -> None:
    assert {COMBINATIONS, AUTHORITY, ALONE, EVIDENCE, RETRACTION, REMOVED_ANOTHERS} < set(NEEDS)
