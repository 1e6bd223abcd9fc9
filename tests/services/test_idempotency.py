"""Idempotency-Keys: the same request twice has one effect; a failed one leaves nothing behind."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from django.db import connection, transaction

from approvals.domain import errors
from approvals.domain.gate import Verdict
from approvals.models import Decision, Draft, IdempotencyKey
from approvals.models.clock import database_now
from approvals.services import idempotency
from approvals.services.decide import decide
from approvals.services.idempotency import Key, Replay
from approvals.services.propose import Proposal, propose
from approvals.services.revoke import withdraw
from tests.cast import Story
from tests.services import variations
from tests.services.record import refusals
from tests.services.test_decide import shown


def key(story: Story, by: str = "ada", **more: Any) -> Key:
    return replace(Key(story.user[by].pk, "key-1", "a" * 64, 201), **more)


def again(story: Story, key: Key, by: str = "ada", payload: Any = None) -> Draft:
    wanted = Proposal("tickets", "ticket.create", payload or {"summary": "x"})
    return propose(actor=story.actor(by), clock=story.clock, room_slug="facilities", proposal=wanted, key=key)


def test_the_second_call_is_told_what_the_first_was_about(story: Story) -> None:
    draft = again(story, key(story))
    with pytest.raises(Replay) as replay:
        again(story, key(story))
    assert (replay.value.subject, replay.value.status) == (f"draft:{draft.pk}", 201)
    assert Draft.objects.count() == 1
    assert refusals() == []


def test_another_request_with_the_same_key_is_refused(story: Story) -> None:
    again(story, key(story))
    with pytest.raises(errors.IdempotencyMismatch):
        again(story, key(story, request_hash="b" * 64))
    assert Draft.objects.count() == 1


def test_a_failed_call_is_not_replayed(story: Story) -> None:
    for _ in range(2):
        with pytest.raises(errors.InvalidPayload):
            again(story, key(story), payload={"wrong": 1})
    assert not IdempotencyKey.objects.exists()
    assert again(story, key(story)).state == "in_review"


def test_keys_belong_to_their_user(story: Story) -> None:
    again(story, key(story))
    again(story, key(story, by="reply-bot"), by="reply-bot")
    assert Draft.objects.count() == 2


def test_another_key_is_another_request(story: Story) -> None:
    again(story, key(story))
    again(story, key(story, key="key-2"))
    assert Draft.objects.count() == 2


def test_a_key_is_kept_for_a_day(story: Story) -> None:
    again(story, key(story))
    story.clock.advance(hours=24, seconds=-1)
    with pytest.raises(Replay):
        again(story, key(story))
    story.clock.advance(seconds=1)
    again(story, key(story))
    assert Draft.objects.count() == 2


def test_a_dry_run_uses_no_key(story: Story) -> None:
    wanted = Proposal("tickets", "ticket.create", {"summary": "x"})
    ada, used = story.actor("ada"), key(story)
    propose(actor=ada, clock=story.clock, room_slug="facilities", proposal=wanted, key=used, dry_run=True)
    assert again(story, used).state == "in_review"


def test_a_decision_with_a_key_is_recorded_once(story: Story) -> None:
    draft = story.propose()
    call = {"actor": story.actor("ben"), "clock": story.clock, "shown": shown(story, draft), "key": key(story, "ben")}
    decide(verdict=Verdict.APPROVE, **call)
    with pytest.raises(Replay):
        decide(verdict=Verdict.APPROVE, **call)
    assert Decision.objects.count() == 1


def test_a_replay_is_answered_whatever_the_state_is_by_now(story: Story) -> None:
    draft = again(story, key(story))
    withdraw(actor=story.actor("ada"), clock=story.clock, draft_id=draft.pk, reason="x")
    story.configure(variations.without_channel("tickets"))
    with pytest.raises(Replay):
        again(story, key(story))


@contextmanager
def _first_call_running(used: Key) -> Iterator[threading.Event]:
    """Another connection that has taken the key and commits when told to."""
    taken, finish = threading.Event(), threading.Event()

    def first() -> None:
        try:
            with transaction.atomic():
                stored = idempotency.take(used, now=database_now())
                idempotency.fill(stored, subject="draft:7")
                taken.set()
                assert finish.wait(20)
        finally:
            connection.close()

    worker = threading.Thread(target=first)
    worker.start()
    try:
        assert taken.wait(20)
        yield finish
    finally:
        finish.set()
        worker.join(20)


def test_a_second_call_waits_for_the_first(lasting_story: Story) -> None:
    used = key(lasting_story)
    with _first_call_running(used) as finish:
        threading.Timer(0.3, finish.set).start()
        with pytest.raises(Replay) as replay:
            again(lasting_story, used)
    assert replay.value.subject == "draft:7"
    assert not Draft.objects.exists()


def test_a_second_call_waits_no_longer_than_two_seconds_where_the_database_can_tell(lasting_story: Story) -> None:
    """SQLite has one writer at a time: there every second write waits, with or without a key."""
    used = key(lasting_story)
    told = errors.IdempotencyInProgress if connection.vendor == "postgresql" else Replay
    with _first_call_running(used) as finish:
        threading.Timer(2.5, finish.set).start()
        with pytest.raises(told):
            again(lasting_story, used)
    assert not Draft.objects.exists()
