"""Many writers at once, with workers running: nothing is lost, nobody is told that the database is busy."""

import threading
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import pytest

from approvals.domain.actor import system
from approvals.domain.errors import WrongState
from approvals.models import AuditChain, AuditEvent, Draft, OutboxEvent
from approvals.services import audit, revise
from approvals.services.revise import Changes
from approvals.workers import dispatch, drain
from tests.cast import Story
from tests.races.threads import aside, together
from tests.workers.test_drain import ScriptedSink

WRITERS = 8
DRAFTS_EACH = 2


def keep_running(stop: threading.Event, beat: Callable[[], Any]) -> Callable[[], None]:
    def loop() -> None:
        while not stop.is_set():
            beat()

    return loop


def write(story: Story, writer: int) -> list[Draft]:
    """Proposes, edits twice and has approved: what one busy person does."""
    done = []
    for number in range(DRAFTS_EACH):
        draft = story.propose(payload={"summary": f"{writer}.{number}"})
        for version in (1, 2):
            changes = Changes(payload={"summary": f"{writer}.{number} edit {version}"})
            revise.revise(
                actor=story.actor("ada"), clock=story.clock, draft_id=draft.pk, version=version, changes=changes
            )
        story.decide(draft, "ben")
        story.decide(draft, "cleo")
        done.append(draft)
    return done


@pytest.mark.slow
def test_eight_writers_and_the_workers_lose_nothing(lasting_story: Story) -> None:
    story, stop, sink = lasting_story, threading.Event(), ScriptedSink()
    sending = keep_running(stop, lambda: dispatch.run(concurrency=1, clock=story.clock))
    draining = keep_running(stop, lambda: drain.run(clock=story.clock, sink=sink))
    with ExitStack() as stack:
        workers = [stack.enter_context(aside(worker)) for worker in (sending, draining)]
        stack.callback(stop.set)
        found = together(*(lambda writer=writer: write(story, writer) for writer in range(WRITERS)))
    assert [worker.result() for worker in workers] == [None, None]
    drafts = [story.again(draft) for drafts in found for draft in drafts]
    assert len(drafts) == WRITERS * DRAFTS_EACH
    assert {draft.version for draft in drafts} == {3}
    dispatch.run(concurrency=1, clock=story.clock)
    drain.run(clock=story.clock, sink=sink)
    assert {story.again(draft).state for draft in drafts} == {"submitted"}
    assert len({job.delivery_id for job in story.remote.sent}) == len(story.remote.sent) == len(drafts)
    assert not OutboxEvent.objects.filter(drained_at=None).exists()


def test_a_beat_of_several_threads_sends_each_draft_once(lasting_story: Story) -> None:
    story = lasting_story
    for number in range(6):
        story.approved(resource=f"locations/1/reviews/{number}")
    assert dict(dispatch.run(concurrency=4, clock=story.clock)) == {"delivered": 6}
    assert len({job.delivery_id for job in story.remote.sent}) == len(story.remote.sent) == 6


@pytest.mark.slow
def test_sixteen_writers_of_one_chain_leave_it_whole(lasting_story: Story) -> None:
    story, each = lasting_story, 6
    draft = story.propose()

    def refuse(writer: int) -> None:
        for number in range(each):
            refusal = WrongState(str(number))
            audit.record_refusal(actor=system(f"writer-{writer}"), verb="begin", refusal=refusal, draft_id=draft.pk)

    together(*(lambda writer=writer: refuse(writer) for writer in range(16)))
    chain = AuditChain.objects.get(key=audit.draft_chain(draft.pk))
    links = list(AuditEvent.objects.filter(chain=chain).order_by("seq"))
    assert [link.seq for link in links] == list(range(1, chain.seq + 1))
    assert [link.prev_hash for link in links[1:]] == [link.hash for link in links[:-1]]
    assert chain.head == links[-1].hash
    assert AuditEvent.objects.filter(outcome="refused").count() == 16 * each
