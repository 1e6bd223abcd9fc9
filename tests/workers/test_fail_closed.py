"""Everything that must stop a send, and what a connector that breaks may do."""

from typing import Any

import pytest
from django.db import OperationalError, connection

from approvals.connectors.base import Deadline, Job, Receipt
from approvals.domain.errors import Unavailable
from approvals.models import Attempt, AuditEvent, Delivery, Draft, Installation, walls
from approvals.services import record
from approvals.workers import dispatch
from tests.cast import Story
from tests.support.remote import NOT_SENT, FakeConnector
from tests.workers.beats import attempt_of, delivery_of, go, look, made_unknown, reserve, send, stands


def broken(*_: object, **__: object) -> Any:
    raise RuntimeError("not today")


async def broken_call(*_: object) -> Any:
    raise RuntimeError("not today")


def nothing_happened(story: Story, draft: Draft) -> bool:
    spent = Delivery.objects.exists() or story.approval(draft).state != "approved"
    return not spent and not story.remote.sent


# The database


def test_a_copy_of_the_database_sends_nothing(story: Story, settings: Any) -> None:
    draft = story.approved()
    settings.REVIEWROOM_INSTANCE = "staging"
    with pytest.raises(Unavailable, match="belongs to"):
        send(story)
    assert nothing_happened(story, draft)


def test_a_database_taken_away_between_reservation_and_gate_sends_nothing(story: Story, settings: Any) -> None:
    draft = story.approved()
    hold = reserve(story, draft)
    settings.REVIEWROOM_INSTANCE = "staging"
    with pytest.raises(Unavailable):
        go(story, hold)
    assert nothing_happened(story, draft)


def test_a_copy_sends_nothing_again_either(story: Story, settings: Any) -> None:
    draft = story.approved()
    story.remote.receipts.append(NOT_SENT)
    send(story)
    story.clock.advance(seconds=5)
    hold = reserve(story, draft)
    settings.REVIEWROOM_INSTANCE = "staging"
    with pytest.raises(Unavailable):
        go(story, hold)
    assert stands(draft)[:2] == ("submitting", "waiting")


def test_a_database_that_says_nothing_about_itself_sends_nothing(story: Story) -> None:
    draft = story.approved()
    Installation.objects.all().delete()
    with pytest.raises(Unavailable):
        send(story)
    assert nothing_happened(story, draft)


def test_without_its_walls_a_database_sends_nothing(story: Story) -> None:
    draft = story.approved()
    walls.drop(connection)
    with pytest.raises(Unavailable, match="walls"):
        send(story)
    assert nothing_happened(story, draft)


def test_walls_that_fall_between_reservation_and_gate_stop_the_send(story: Story) -> None:
    draft = story.approved()
    hold = reserve(story, draft)
    walls.drop(connection)
    with pytest.raises(Unavailable, match="walls"):
        go(story, hold)
    assert nothing_happened(story, draft)


def test_a_refused_begin_of_a_copy_is_on_record(story: Story, settings: Any) -> None:
    draft = story.approved()
    hold = reserve(story, draft)
    settings.REVIEWROOM_INSTANCE = "staging"
    with pytest.raises(Unavailable):
        go(story, hold)
    refused = AuditEvent.objects.get(draft=draft, outcome="refused")
    assert (refused.actor, refused.action) == ("system:dispatch_approved", "work.refused")


# The connector


def test_a_connector_that_breaks_before_sending_sent_nothing(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    draft = story.approved()
    monkeypatch.setattr(FakeConnector, "prepare", broken_call)
    assert send(story) == {"not_sent": 1}
    assert stands(draft) == ("submitting", "waiting", "idle")
    assert story.remote.sent == []


def test_a_connector_that_breaks_while_sending_leaves_it_unknown(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    draft = story.approved()
    monkeypatch.setattr(FakeConnector, "send", broken_call)
    assert send(story) == {"unknown": 1}
    assert stands(draft)[:2] == ("delivery_unknown", "unknown")
    assert attempt_of(draft).reason == "The connector failed while sending: RuntimeError."


@pytest.mark.parametrize("error", [RuntimeError, KeyError, AttributeError, ValueError, RecursionError])
def test_what_cannot_be_rendered_any_more_is_revoked(
    story: Story, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def fail(*_: object) -> Any:
        raise error("not today")

    draft = story.approved()
    monkeypatch.setattr(FakeConnector, "render", fail)
    assert send(story) == {"stopped": 1}
    assert (story.again(draft).state, story.approval(draft).state) == ("revoked", "revoked")
    assert story.again(draft).reason.startswith("integrity")


def test_what_cannot_be_rendered_holds_up_nobody_else(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    story.approved(payload={"summary": "Broken"})
    story.clock.advance(seconds=1)
    good = story.approved()
    render = FakeConnector.render

    def fail(self: FakeConnector, binding: Any, *rest: Any) -> Any:
        if binding.payload["summary"] == "Broken":
            raise RuntimeError("not today")
        return render(self, binding, *rest)

    monkeypatch.setattr(FakeConnector, "render", fail)
    send(story)
    send(story)
    assert story.again(good).state == "submitted"


def test_a_look_that_cannot_be_rendered_fails_loudly_and_comes_again(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    draft = made_unknown(story, story.approved())
    with monkeypatch.context() as patch:
        patch.setattr(FakeConnector, "render", broken)
        assert look(story) == {"failed": 1}
    assert stands(draft)[:2] == ("delivery_unknown", "unknown")
    story.clock.advance(minutes=2)
    assert look(story) == {"unknown": 1}


def test_a_receipt_from_prepare_ends_the_attempt(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    async def stop(self: FakeConnector, job: Job, deadline: Deadline) -> Receipt:
        return NOT_SENT

    draft = story.approved()
    monkeypatch.setattr(FakeConnector, "prepare", stop)
    assert send(story) == {"not_sent": 1}
    assert story.remote.sent == []
    assert attempt_of(draft).reason == NOT_SENT.reason


def with_links(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Makes the connector fetch a link before it posts, and keep one it has."""
    fetched: list[str] = []

    async def prepare(self: FakeConnector, job: Job, deadline: Deadline) -> dict[str, str]:
        if not job.prepared:
            fetched.append(f"link {len(fetched) + 1}")
        return job.prepared or {"url": fetched[-1]}

    monkeypatch.setattr(FakeConnector, "prepare", prepare)
    return fetched


def test_what_was_prepared_is_stored_before_the_first_byte(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    draft = story.approved()
    with_links(monkeypatch)
    monkeypatch.setattr(FakeConnector, "send", broken_call)
    send(story)
    assert attempt_of(draft).prepared == {"url": "link 1"}


def test_what_was_prepared_serves_the_next_attempt(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    story.approved()
    fetched = with_links(monkeypatch)
    story.remote.receipts.append(NOT_SENT)
    send(story)
    story.clock.advance(seconds=5)
    send(story)
    assert fetched == ["link 1"]
    assert story.remote.sent[1].prepared == {"url": "link 1"}


def test_what_was_used_up_is_prepared_anew(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    story.approved()
    fetched = with_links(monkeypatch)
    story.remote.receipts.append(Receipt(NOT_SENT.outcome, NOT_SENT.reason, spent=True))
    send(story)
    story.clock.advance(seconds=5)
    send(story)
    assert fetched == ["link 1", "link 2"]


def test_an_attempt_that_is_finished_by_another_is_not_sent(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    draft = story.approved()
    with_links(monkeypatch)
    monkeypatch.setattr(record, "keep_prepared", lambda **_: False)
    assert send(story) == {"not_sent": 1}
    assert story.remote.sent == []
    assert delivery_of(draft).state == "waiting"


# Recording


def test_a_receipt_is_recorded_however_long_the_database_is_away(
    lasting_story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = [OperationalError("gone"), OperationalError("still gone")]
    kept = record.record

    def flaky(**given: Any) -> Any:
        if away:
            raise away.pop()
        return kept(**given)

    draft = lasting_story.approved()
    monkeypatch.setattr(dispatch.record, "record", flaky)
    assert send(lasting_story) == {"delivered": 1}
    assert lasting_story.again(draft).state == "submitted"


def test_a_record_that_breaks_leaves_the_attempt_to_the_sweeper(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    draft = story.approved()
    monkeypatch.setattr(dispatch.record, "record", broken)
    assert send(story) == {"failed": 1}
    assert stands(draft) == ("submitting", "sending", "sending")
    assert Attempt.objects.get().finished_at is None
    assert len(story.remote.sent) == 1
