"""Many at once: sixteen writers leave whole chains, and two workers make one heartbeat that counts everything once."""

import threading
from collections import Counter
from pathlib import Path

import pytest
from django.db import connection, transaction
from django.db.models import Count

from approvals.domain.actor import system
from approvals.models import AuditChain, AuditEvent, Heartbeat, OutboxEvent
from approvals.models.clock import database_now
from approvals.services import audit, verify
from approvals.workers import heartbeat
from tests.audit.conftest import Verify, beat, event, kinds, lift_walls
from tests.cast import Story
from tests.races.threads import aside, together

WRITERS, EACH = 16, 50


def append(chain: str, writer: int, number: int) -> None:
    with transaction.atomic():
        audit.append(chain=chain, actor=system(f"writer-{writer}"), action=f"did.{number}", now=database_now())


@pytest.mark.slow
@pytest.mark.broken_on_purpose
def test_sixteen_writers_times_fifty_then_damage(lasting_story: Story, sink: Path, verify: Verify) -> None:
    """C29 as a whole: intact; an altered row is named; the deleted last row is noticed against the sink."""

    def write(writer: int) -> None:
        for number in range(EACH):
            append("system", writer, number)

    together(*(lambda writer=writer: write(writer) for writer in range(WRITERS)))
    chain = AuditChain.objects.get(key="system")
    written = AuditEvent.objects.filter(chain=chain, action__startswith="did.").values_list("actor", "action")
    assert Counter(written) == {
        (f"system:writer-{writer}", f"did.{number}"): 1 for writer in range(WRITERS) for number in range(EACH)
    }
    beat(lasting_story, sink)
    assert verify("--checkpoints", sink) == []
    lift_walls()
    row = event("system", 400)
    AuditEvent.objects.filter(pk=row.pk).update(outcome="refused")
    assert kinds(verify())[0] == ("altered", "system", 400)
    AuditEvent.objects.filter(pk=row.pk).update(outcome=row.outcome)
    event("system", chain.seq).delete()
    AuditChain.objects.filter(pk=chain.pk).update(seq=chain.seq - 1, head=event("system", chain.seq - 1).hash)
    assert kinds(verify("--checkpoints", sink))[0] == ("cut tail", "system", chain.seq)


def test_sixteen_writers_begin_the_same_chain(lasting_story: Story) -> None:
    together(*(lambda writer=writer: append("room:999", writer, 0) for writer in range(WRITERS)))
    assert AuditChain.objects.get(key="room:999").seq == WRITERS
    assert list(verify.problems()) == []


def test_a_verification_while_others_write_finds_nothing(lasting_story: Story) -> None:
    stop = threading.Event()

    def write() -> None:
        while not stop.is_set():
            append("system", 0, 0)

    with aside(write):
        found = [problem for _ in range(3) for problem in verify.problems()]
        stop.set()
    assert found == []


@pytest.mark.parametrize("is_first", [True, False])
def test_workers_at_the_same_moment_make_one_heartbeat(lasting_story: Story, is_first: bool) -> None:
    story = lasting_story
    story.approved()
    if not is_first:
        heartbeat.run(clock=story.clock)
        story.clock.advance(seconds=300)
    before = Heartbeat.objects.count()
    together(*(lambda: heartbeat.run(clock=story.clock) for _ in range(4)))
    assert Heartbeat.objects.count() == before + 1
    counted = OutboxEvent.objects.exclude(counted_in=None).values_list("event_class").annotate(number=Count("pk"))
    assert dict(counted) == ({"issuance": 1} if is_first else {"issuance": 1, "heartbeat": 1})


def test_a_lower_number_that_commits_later_is_counted_by_the_next(lasting_story: Story) -> None:
    """Never lost and never twice, though a higher number was counted before."""
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has one writer at a time: numbers commit in order")
    story, began, go = lasting_story, threading.Event(), threading.Event()
    slow, fast = story.propose(payload={"summary": "slow"}), story.propose(payload={"summary": "fast"})
    story.decide(slow, "ben")
    story.decide(fast, "ben")

    def late() -> None:
        with transaction.atomic():
            OutboxEvent.objects.create(
                event_id="0" * 32,
                event_class="revocation",
                approval=story.approval(slow),
                payload="{}",
                created_at=story.clock.now,
                next_attempt_at=story.clock.now,
            )
            began.set()
            assert go.wait(60)

    with aside(late):
        assert began.wait(60)
        story.decide(fast, "cleo")
        heartbeat.run(clock=story.clock)
        go.set()
    early = OutboxEvent.objects.get(event_class="revocation")
    assert early.pk < OutboxEvent.objects.get(event_class="issuance").pk
    assert early.counted_in is None
    story.clock.advance(seconds=300)
    heartbeat.run(clock=story.clock)
    assert dict(OutboxEvent.objects.exclude(event_class="heartbeat").values_list("event_class", "counted_in")) == {
        "issuance": 1,
        "revocation": 2,
    }
    OutboxEvent.objects.update(drained_at=story.clock.now)
