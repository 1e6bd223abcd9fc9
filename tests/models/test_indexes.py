"""The reads of workers and queues find their rows by the indexes made for them, with bound parameters as they run."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection

from approvals.models import AuditEvent, Draft, Observation, OutboxEvent, Revision
from approvals.models.drafts import ATTENTION_RANK
from approvals.selectors import outbox, work
from approvals.services import draining
from tests.models.rows import NOON

MONTH = timedelta(days=30)
QUEUE = ("queue_rank", "due_at", "id")

UNREAD = {
    "audit_of_draft",  # PostgreSQL's: SQLite has the row's number in every index
}


def case(index: str, read: Callable[[], Any]) -> Any:
    return pytest.param(index, read, id=index)


READS = [
    case("approval_due", lambda: work.due_approvals(NOON)),
    case("approval_expiry", lambda: work.expired_approvals(NOON, limit=20)),
    case("delivery_due", lambda: work.due_deliveries(NOON)),
    case("delivery_check_due", lambda: work.due_checks(NOON, limit=20)),
    case("outbox_undrained", lambda: draining.due(NOON)),
    case("outbox_due", lambda: draining.due(NOON)),
    case("outbox_parked", lambda: outbox.held()),
    case("outbox_parked", lambda: outbox.parked()),
    case("draft_queue", lambda: Draft.objects.filter(queue_rank__lt=ATTENTION_RANK).order_by(*QUEUE)[:20]),
    case("draft_room_queue", lambda: Draft.objects.filter(room_id=1, queue_rank=1).order_by(*QUEUE)[:20]),
    case("draft_room_newest", lambda: Draft.objects.filter(room_id=1).order_by("-id")[:20]),
    case("draft_target_state", lambda: Draft.objects.filter(target_id=1, state="in_review")),
    case("revision_digest", lambda: Revision.objects.filter(digest="sha256:a", created_at__gt=NOON - MONTH)),
    case("audit_actor_outcome", lambda: AuditEvent.objects.filter(actor="person:a", outcome="refused", at__gt=NOON)),
    case(
        "observation_of_delivery",
        lambda: Observation.objects.filter(delivery_id="0" * 32, kind="lookup").order_by("id"),
    ),
]


def plan(read: Callable[[], Any]) -> str:
    """Gives how SQLite would find the rows of a read, asked with the very statement and parameters it sends."""
    plans: list[str] = []

    def explained(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        execute(f"EXPLAIN QUERY PLAN {sql}", params, many, context)
        plans.extend(row[3] for row in context["cursor"].fetchall())
        return execute(sql, params, many, context)

    with connection.execute_wrapper(explained):
        list(read())
    return "\n".join(plans)


@pytest.mark.parametrize(("index", "read"), READS)
def test_a_read_uses_its_index(index, read, only_on_sqlite):
    assert re.search(rf"USING (COVERING )?INDEX {index}\b", plan(read))


@pytest.mark.parametrize(("index", "read"), READS)
def test_a_read_does_not_sort_what_its_index_has_in_order(index, read, only_on_sqlite):
    assert "TEMP B-TREE" not in plan(read)


def test_the_drain_does_not_read_what_is_drained(only_on_sqlite):
    assert "SCAN approvals_outboxevent\n" not in plan(lambda: draining.due(NOON))


def test_every_index_of_the_models_has_a_read(db):
    models = {Draft, Revision, AuditEvent, Observation, OutboxEvent, *(work.Approval, work.Delivery)}
    named = {index.name for model in models for index in model._meta.indexes}
    assert named - {read.id for read in READS} == UNREAD
