"""Outboxes with many events, real drains as processes, and the reference receiver."""

import json
import os
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection

from approvals.models import Approval, OutboxEvent, SinkState
from approvals.models import clock as clocks
from approvals.models.clock import database_now
from tests.cast import Story
from tests.races.conftest import DATABASES_CLOCK
from tests.support.receiver import TOKEN, Receiver
from tests.support.workers import Worker

EVENTS = int(os.environ.get("REVIEWROOM_TEST_EVENTS", "300"))
"""How many events each fault test uses. 10,000 take minutes: REVIEWROOM_TEST_EVENTS=10000 pytest tests/outbox"""


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as started:
        yield started


@pytest.fixture
def live(lasting_story: Story, monkeypatch: pytest.MonkeyPatch) -> Story:
    """The committed story on the database's own clock, as other processes see it."""
    monkeypatch.setattr(clocks, "_read", DATABASES_CLOCK)
    lasting_story.clock = database_now  # type: ignore[assignment]
    return lasting_story


@pytest.fixture
def approvals(live: Story) -> list[Approval]:
    """Twenty approvals, without events of their own."""
    return [live.approval(live.propose(payload={"summary": f"Ticket {number}"})) for number in range(20)]


@pytest.fixture
def drains(process_environment: dict[str, str], receiver: Receiver, settings: Any) -> Callable[..., Worker]:
    """Gives a drain as a process, that posts to the receiver; so does a drain in this process."""
    settings.REVIEWROOM_ALLOW_PRIVATE_TARGETS = True
    settings.REVIEWROOM_AUDIT_SINK = receiver.url
    settings.REVIEWROOM_AUDIT_TOKEN = TOKEN
    environment = {
        **process_environment,
        "REVIEWROOM_ALLOW_PRIVATE_TARGETS": "true",
        "REVIEWROOM_AUDIT_SINK": receiver.url,
        "REVIEWROOM_AUDIT_TOKEN": TOKEN,
        "REVIEWROOM_LOG_FORMAT": "text",
    }

    def drain(*words: str, **arranged: Any) -> Worker:
        return Worker({**environment, **arranged}, "drain_outbox", "--format", "json", *words)

    return drain


def insert(approvals: list[Approval], count: int) -> list[OutboxEvent]:
    """Adds so many events, in turn to each approval, as `emit` would: with payloads that name them."""
    now = database_now()
    return OutboxEvent.objects.bulk_create(
        [_event(approvals[number % len(approvals)], number, now) for number in range(count)], batch_size=500
    )


def _event(approval: Approval, number: int, now: Any) -> OutboxEvent:
    event_id = uuid4()
    payload = {"event_id": str(event_id), "approval_id": str(approval.pk), "number": number, "text": "é" * 50}
    return OutboxEvent(
        event_id=event_id,
        event_class="use",
        approval=approval,
        payload=json.dumps(payload, ensure_ascii=False),
        created_at=now,
        next_attempt_at=now,
    )


def stored() -> list[tuple[str, str | None, str]]:
    """Gives what the receiver should have, as it compares it."""
    rows = OutboxEvent.objects.order_by("id").values_list("event_id", "approval_id", "payload")
    return [(str(event_id), str(approval) if approval else None, payload) for event_id, approval, payload in rows]


def leases_are_over() -> None:
    """Ends what a process that is dead still holds, without waiting a minute for it."""
    OutboxEvent.objects.filter(drained_at=None).update(claimed_by="", claimed_until=None)
    SinkState.objects.update(drained_by="", drained_until=None)


def all_is_due() -> None:
    """Ends the waits of what failed."""
    OutboxEvent.objects.filter(drained_at=None).update(next_attempt_at=database_now())


def undrained() -> int:
    return OutboxEvent.objects.filter(drained_at=None).count()


def cut_connections() -> int:
    """Ends every other connection to the database, as an operator or a fail-over would. Gives how many."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )
        return int(cursor.fetchone()[0])
