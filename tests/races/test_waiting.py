"""What waits for somebody else's transaction decides by what is true afterwards."""

import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from datetime import datetime, timedelta

import pytest
from django.db import connection

from approvals.domain.errors import Conflict, Consumed, IdempotencyInProgress, IdempotencyMismatch
from approvals.domain.gate import Cause
from approvals.models import Approval, Delivery, Draft, OutboxEvent
from approvals.services import begin, decide, revise
from approvals.services.decide import Shown
from approvals.services.door import Key
from approvals.services.idempotency import Replay
from approvals.services.propose import Proposal, propose
from approvals.services.revise import Changes
from approvals.workers import dispatch
from tests.cast import Story
from tests.races.threads import WAIT_SECONDS, Waiter, aside, holding_the_lock, in_thread
from tests.support.remote import DELIVERED, FakeConnector
from tests.workers.beats import REVIEW, reserve

POSTGRESQL_ONLY = "SQLite has one writer at a time: the second waits before its transaction begins"
QUICK_SECONDS = 2.0


def only_on_postgresql() -> None:
    if connection.vendor != "postgresql":
        pytest.skip(POSTGRESQL_ONLY)


class Pausing:
    """A clock that holds up whoever asks it for the `at`th time, with all their locks, until it is let go."""

    def __init__(self, clock: Callable[[], datetime], at: int) -> None:
        self._clock, self._left = clock, at
        self.reached, self.go_on = threading.Event(), threading.Event()

    def __call__(self) -> datetime:
        self._left -= 1
        if self._left == 0:
            self.reached.set()
            self.go_on.wait(WAIT_SECONDS)
        return self._clock()


@pytest.mark.parametrize("row", [Draft, Approval])
def test_a_begin_that_waits_for_a_lock_beyond_the_end_of_its_approval_sends_nothing(
    lasting_story: Story, row: type
) -> None:
    story = lasting_story
    draft = story.approved()
    approval = story.approval(draft)
    story.clock.now = approval.expires_at - timedelta(seconds=5)
    hold = reserve(story, draft)
    waiter = Waiter(lambda: begin.begin(actor=story.worker, clock=story.clock, hold=hold))
    key = draft.pk if row is Draft else approval.pk
    with ExitStack() as stack, holding_the_lock(row, key):
        found = stack.enter_context(aside(waiter))
        waiter.waits()
        story.clock.advance(seconds=5)
    assert found.result().has(Cause.EXPIRED)
    assert in_thread(lambda: (Delivery.objects.count(), OutboxEvent.objects.filter(event_class="use").count())) == (
        0,
        0,
    )
    assert story.remote.sent == []


def test_an_approver_who_waited_while_the_draft_was_moved_elsewhere_hears_of_a_conflict(lasting_story: Story) -> None:
    story = lasting_story
    draft = story.propose(resource=REVIEW)
    approval = story.approval(draft)
    clock = Pausing(story.clock, at=2)
    changes = Changes(resource="locations/9/reviews/8")
    approve = Waiter(
        lambda: decide.decide(
            actor=story.actor("ben"),
            clock=story.clock,
            shown=Shown(approval.pk, approval.version, approval.digest),
            verdict=decide.Verdict.APPROVE,
        )
    )
    edit = lambda: revise.revise(  # noqa: E731
        actor=story.actor("ada"), clock=clock, draft_id=draft.pk, version=1, changes=changes
    )
    with aside(edit):
        assert clock.reached.wait(WAIT_SECONDS)
        with aside(approve) as found:
            approve.waits()
            clock.go_on.set()
    assert isinstance(found.result(), Conflict)
    assert story.approval(draft).decisions.count() == 0


# A remote that hangs


class Hanging:
    """A remote that does not answer until it is told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked, self.answer = threading.Event(), threading.Event()
        asked, wait = self.asked, self.answer

        async def send(self: FakeConnector, job: object, deadline: object) -> object:
            asked.set()
            wait.wait(WAIT_SECONDS)
            return DELIVERED

        monkeypatch.setattr(FakeConnector, "send", send)


def idle_in_transaction() -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%%' AND datname = %s",
            [connection.settings_dict["NAME"]],
        )
        return int(cursor.fetchone()[0])


def test_a_hanging_remote_holds_up_nobody(lasting_story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    story, remote = lasting_story, Hanging(monkeypatch)
    hung = story.approved()
    other = story.propose(payload={"summary": "Another"})
    with aside(lambda: dispatch.run(concurrency=1, clock=story.clock, batch_size=1)):
        assert remote.asked.wait(WAIT_SECONDS)
        began = time.monotonic()
        story.decide(other, "ben")
        with pytest.raises(Consumed):
            revise.revise(
                actor=story.actor("ada"),
                clock=story.clock,
                draft_id=hung.pk,
                version=1,
                changes=Changes(payload={"summary": "Edited"}),
            )
        took = time.monotonic() - began
        remote.answer.set()
    assert took < QUICK_SECONDS
    assert story.again(hung).state == "submitted"


def test_nothing_is_idle_in_a_transaction_while_a_remote_hangs(
    lasting_story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    only_on_postgresql()
    story, remote = lasting_story, Hanging(monkeypatch)
    story.approved()
    with aside(lambda: dispatch.run(concurrency=1, clock=story.clock)):
        assert remote.asked.wait(WAIT_SECONDS)
        found = idle_in_transaction()
        remote.answer.set()
    assert found == 0


# An Idempotency-Key whose first request is still running


def proposing(story: Story, clock: Callable[[], datetime], body: str = "a" * 64) -> Callable[[], Draft]:
    ada = story.actor("ada")
    proposal = Proposal(channel="tickets", operation="ticket.create", payload={"summary": "The lift is stuck"})
    key = Key(ada.person_id, "key-1", body)
    return lambda: propose(actor=ada, clock=clock, room_slug="facilities", proposal=proposal, key=key)


def replayed(call: Callable[[], object]) -> object:
    try:
        return call()
    except Replay as replay:
        return replay


def test_a_second_request_waits_for_the_first_and_gets_its_draft(lasting_story: Story) -> None:
    story = lasting_story
    clock = Pausing(story.clock, at=1)
    second = Waiter(lambda: replayed(proposing(story, story.clock)))
    with aside(proposing(story, clock)) as first:
        assert clock.reached.wait(WAIT_SECONDS)
        with aside(second) as found:
            second.waits()
            clock.go_on.set()
    assert isinstance(found.result(), Replay)
    assert found.result().subject == f"draft:{first.result().pk}"
    assert Draft.objects.count() == 1


def test_a_second_request_is_told_when_the_first_takes_too_long(lasting_story: Story) -> None:
    only_on_postgresql()
    story = lasting_story
    clock = Pausing(story.clock, at=1)
    with aside(proposing(story, clock)) as first:
        assert clock.reached.wait(WAIT_SECONDS)
        second = in_thread(lambda: replayed(proposing(story, story.clock)))
        clock.go_on.set()
    assert isinstance(second, IdempotencyInProgress)
    assert isinstance(first.result(), Draft)
    assert Draft.objects.count() == 1


def test_another_request_under_a_running_key_is_refused(lasting_story: Story) -> None:
    story = lasting_story
    clock = Pausing(story.clock, at=1)
    other = Waiter(proposing(story, story.clock, body="b" * 64))
    with aside(proposing(story, clock)):
        assert clock.reached.wait(WAIT_SECONDS)
        with aside(other) as found:
            other.waits()
            clock.go_on.set()
    assert isinstance(found.result(), IdempotencyMismatch)


def test_a_first_request_that_fails_leaves_the_key_to_the_second(lasting_story: Story) -> None:
    story = lasting_story

    def failing() -> datetime:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        proposing(story, failing)()
    assert isinstance(proposing(story, story.clock)(), Draft)
