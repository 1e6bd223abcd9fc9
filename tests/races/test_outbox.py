"""A process that dies around an event: the event is told later, or again as the same bytes, or never happened."""

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.models import F

from approvals.domain.actor import system
from approvals.models import Approval, Decision, OutboxEvent, SinkState
from approvals.models.clock import database_now
from approvals.services import outbox
from approvals.workers import drain
from tests.cast import Story
from tests.races.threads import WAIT_SECONDS, aside, holding_the_lock, together
from tests.support.http_server import Items
from tests.support.processes import Child, beat
from tests.workers.test_drain import ScriptedSink

DECIDE = """
from uuid import UUID
from approvals.domain.actor import Actor
from approvals.models.clock import database_now
from approvals.services.decide import Shown, Verdict, decide
user_id, approval, version, digest = json.loads(os.environ["RACE_GIVEN"])
shown = Shown(UUID(approval), version, digest)
actor = Actor(kind="person", name="cleo", via="api", user_id=user_id)
decide(actor=actor, clock=database_now, shown=shown, verdict=Verdict.APPROVE)
print("answered", flush=True)
sys.stdin.readline()
"""
DIES_BEFORE_ITS_NOTE = """
from approvals.services import draining
draining.mark_drained = lambda events, **_: events and (print("taken", flush=True), sys.stdin.readline())
"""


def leases_are_over() -> None:
    """Ends what a process that is dead still holds, without waiting for it."""
    OutboxEvent.objects.filter(claimed_until__isnull=False).update(claimed_until=F("created_at") - timedelta(seconds=1))
    SinkState.objects.update(drained_until=None)


@pytest.mark.slow
def test_an_approval_whose_server_died_after_its_answer_is_told_once(
    shop: Story, elsewhere: dict[str, str], items: Items
) -> None:
    draft = shop.propose(channel="items", operation="item.create", payload={"name": "Key"})
    shop.decide(draft, "ben")
    approval = shop.approval(draft)
    given = [shop.user["cleo"].pk, str(approval.pk), approval.version, approval.digest]
    with Child(DECIDE, elsewhere, given) as server:
        server.wait_for("answered").kill()
    sink = ScriptedSink()
    drain.run(sink=sink)
    drain.run(sink=sink)
    assert sink.told == ["issuance"]
    assert shop.again(draft).state == "approved"


@pytest.mark.slow
def test_a_drain_that_died_before_its_note_tells_the_same_bytes_again(
    shop: Story, items: Items, elsewhere: dict[str, str]
) -> None:
    shop.approved()
    with beat("drain", elsewhere, prelude=DIES_BEFORE_ITS_NOTE) as worker:
        worker.wait_for("ready").go()
        worker.wait_for("taken").kill()
    sink = ScriptedSink()
    assert dict(drain.run(sink=sink)) == {}
    leases_are_over()
    assert dict(drain.run(sink=sink)) == {"drained": 1}
    ((event_id, payload),) = sink.posted
    assert [(posted.key, posted.body) for posted in items.events] == [(str(event_id), payload)]


def test_an_approval_that_cannot_tell_is_not_given(live: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("the disk is full")

    draft = live.propose()
    live.decide(draft, "ben")
    monkeypatch.setattr(outbox, "emit", fail)
    with pytest.raises(RuntimeError):
        live.decide(draft, "cleo")
    assert live.again(draft).state == "in_review"
    assert Decision.objects.count() == 1
    assert not OutboxEvent.objects.exists()


def test_two_drains_hand_each_event_over_once(live: Story) -> None:
    for number in range(6):
        live.approved(payload={"summary": f"Ticket {number}"})
    sinks = [ScriptedSink(), ScriptedSink()]
    together(*(lambda sink=sink: drain.run(sink=sink) for sink in sinks))
    told = [event_id for sink in sinks for event_id, _ in sink.posted]
    assert len(told) == len(set(told)) == 6


def test_a_lower_number_that_commits_later_is_told_too(live: Story, on_postgresql_only: None) -> None:
    """And nothing of another approval waits for it: numbers are given out before they are visible to others."""
    late, early = (live.approval(live.propose(payload={"summary": name})) for name in ("Late", "Early"))
    inserted, may_commit = threading.Event(), threading.Event()

    def insert_slowly() -> None:
        with transaction.atomic():
            told.append(event_of(late))
            inserted.set()
            assert may_commit.wait(WAIT_SECONDS)

    told: list[OutboxEvent] = []
    sink = ScriptedSink()
    with aside(insert_slowly):
        assert inserted.wait(WAIT_SECONDS)
        higher = event_of(early)
        assert dict(drain.run(sink=sink)) == {"drained": 1}
        may_commit.set()
    assert dict(drain.run(sink=sink)) == {"drained": 1}
    assert told[0].pk < higher.pk
    assert [event_id for event_id, _ in sink.posted] == [higher.event_id, told[0].event_id]


def test_what_another_is_just_taking_is_neither_waited_for_nor_overtaken(live: Story, on_postgresql_only: None) -> None:
    approval = live.approval(live.propose())
    first, _ = event_of(approval), event_of(approval)
    other = event_of(live.approval(live.propose(payload={"summary": "Another"})))
    sink = ScriptedSink()
    with holding_the_lock(OutboxEvent, first.pk), aside(lambda: drain.run(sink=sink)) as found:
        assert dict(found.result(WAIT_SECONDS)) == {"drained": 1}
    assert [event_id for event_id, _ in sink.posted] == [other.event_id]


@pytest.fixture
def on_postgresql_only() -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has one writer at a time")


def event_of(approval: Approval) -> OutboxEvent:
    """Adds an event of an approval."""
    with transaction.atomic():
        event_class = OutboxEvent.EventClass.REVOCATION
        return outbox.emit(approval, event_class, actor=system("test"), now=database_now())
