"""What has happened stays: rows that never change, columns that never change, rows that never go away."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.apps import apps
from django.db import IntegrityError, connection, models, transaction

from approvals.models.walls import FROZEN, IMMUTABLE, MACHINE_OF, UNDELETABLE
from tests.models.rows import DIGEST, LATER, NOON, Rows, change, key, remove, run, table

pytestmark = pytest.mark.broken_on_purpose

IMMUTABLE_COLUMNS = [
    (name, field.name)
    for name in IMMUTABLE
    for field in apps.get_model("approvals", name)._meta.concrete_fields
    if not field.primary_key
]
FROZEN_COLUMNS = [(name, column) for name, columns in FROZEN.items() for column in columns.split() if column != "id"]
KEPT = sorted({*IMMUTABLE, *UNDELETABLE, *MACHINE_OF})
GUARDED = sorted({*MACHINE_OF, *IMMUTABLE, *FROZEN})
BOOKKEEPING = {
    "drained_at": NOON,
    "attempts": 2,
    "next_attempt_at": LATER,
    "last_error": "503",
    "parked_at": NOON,
    "claimed_by": "drain-1",
    "claimed_until": LATER,
}


def another(row: models.Model, name: str) -> Any:
    """Gives a value of the right kind that the column does not hold."""
    field: Any = row._meta.get_field(name)
    if field.is_relation:
        return Rows()[field.related_model.__name__].pk
    samples = {
        "UUIDField": uuid4(),
        "DateTimeField": LATER + timedelta(hours=1),
        "JSONField": {"other": 1},
        "BinaryField": b"[]",
        "BooleanField": True,
        "CharField": "another",
        "TextField": "another",
    }
    return samples.get(field.get_internal_type(), 77)


@pytest.mark.parametrize(("model", "column"), IMMUTABLE_COLUMNS)
def test_history_does_not_change_in_any_column(rows, model, column):
    with pytest.raises(IntegrityError, match="history does not change"):
        change(rows[model], **{column: another(rows[model], column)})


@pytest.mark.parametrize("model", IMMUTABLE)
def test_history_is_not_even_written_over_with_the_same(rows, model):
    with pytest.raises(IntegrityError, match="history does not change"):
        run(f"UPDATE {table(rows[model])} SET {key(rows[model])} = {key(rows[model])}")


@pytest.mark.parametrize("model", KEPT)
def test_a_row_of_the_record_is_not_deleted(rows, model):
    with pytest.raises(IntegrityError, match="history does not go away"):
        remove(rows[model])


@pytest.mark.parametrize("model", GUARDED)
def test_a_table_of_the_record_is_not_truncated(rows, model, only_on_postgresql):
    row = rows[model]
    run("SET CONSTRAINTS ALL IMMEDIATE")  # deferred ones would refuse a TRUNCATE by themselves
    with pytest.raises(IntegrityError, match="history does not go away"):
        run(f"TRUNCATE {table(row)} CASCADE")


@pytest.mark.parametrize(("model", "column"), FROZEN_COLUMNS)
def test_a_frozen_column_does_not_change(rows, model, column):
    with pytest.raises(IntegrityError, match="these columns do not change"):
        change(rows[model], **{column: another(rows[model], column)})


@pytest.mark.parametrize("column", ["approval"])
def test_a_frozen_column_is_not_emptied_either(rows, column):
    with pytest.raises(IntegrityError, match="these columns do not change"):
        change(rows["OutboxEvent"], **{column: None, "event_class": "heartbeat"})


@pytest.mark.parametrize("model", [name for name in FROZEN if name not in IMMUTABLE])
def test_a_frozen_column_may_be_written_with_what_it_holds(rows, model):
    row = rows[model]
    assert change(row, **{name: getattr(row, row._meta.get_field(name).attname) for name in FROZEN[model].split()}) == 1


@pytest.mark.parametrize("model", sorted({*MACHINE_OF, *FROZEN}))
def test_the_number_of_a_row_does_not_change(rows, model):
    """A row under another number would be the deletion of one and the forging of another."""
    row = rows[model]
    with pytest.raises(IntegrityError, match="do not change"):
        change(row, **{row._meta.pk.name: uuid4() if model in ("Approval", "Delivery") else 10**6})


def test_an_open_attempt_is_finished_once(rows):
    assert change(rows["Attempt"], finished_at=NOON, outcome="unknown") == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"outcome": "delivered"},
        {"finished_at": LATER},
        {"finished_at": None, "outcome": ""},
        {"reason": "better"},
        {"evidence": {"status": 200}},
        {"prepared": {"url": "x"}},
    ],
    ids=str,
)
def test_a_finished_attempt_does_not_change(rows, changes):
    change(rows["Attempt"], finished_at=NOON, outcome="unknown")
    with pytest.raises(IntegrityError, match="a finished attempt does not change"):
        change(rows["Attempt"], **changes)


@pytest.mark.parametrize("changes", [{"finished_at": NOON}, {"outcome": "unknown"}], ids=str)
def test_an_attempt_is_finished_together_with_its_outcome(rows, changes):
    with pytest.raises(IntegrityError):
        change(rows["Attempt"], **changes)


@pytest.mark.parametrize("column", BOOKKEEPING)
def test_the_drain_may_keep_its_books_on_an_event(rows, column):
    assert change(rows["OutboxEvent"], **{column: BOOKKEEPING[column]}) == 1


def test_a_heartbeat_may_count_an_event(rows):
    assert change(rows["OutboxEvent"], counted_in=rows["Heartbeat"].pk) == 1


def test_an_event_is_counted_once(rows):
    change(rows["OutboxEvent"], counted_in=rows["Heartbeat"].pk)
    for again in (None, 2):
        with pytest.raises(IntegrityError, match="an event is counted once"), transaction.atomic():
            change(rows["OutboxEvent"], counted_in=again)


def test_an_event_the_sink_does_not_know_is_not_deleted(rows):
    with pytest.raises(IntegrityError, match="the sink has not been told"):
        remove(rows["OutboxEvent"])


def test_a_parked_event_is_not_deleted(rows):
    change(rows["OutboxEvent"], parked_at=NOON)
    with pytest.raises(IntegrityError, match="the sink has not been told"):
        remove(rows["OutboxEvent"])


def test_an_event_the_sink_knows_may_be_deleted(rows):
    change(rows["OutboxEvent"], drained_at=NOON)
    assert remove(rows["OutboxEvent"]) == 1


@pytest.mark.parametrize(("event_class", "has_approval"), [("heartbeat", True), ("use", False)])
def test_only_a_heartbeat_is_about_no_approval(rows, event_class, has_approval):
    approval = rows["Approval"] if has_approval else None
    facts = {"payload": "{}", "created_at": NOON, "next_attempt_at": NOON}
    with pytest.raises(IntegrityError, match="only_a_heartbeat_has_no_approval"):
        type(rows["OutboxEvent"]).objects.create(event_id=uuid4(), event_class=event_class, approval=approval, **facts)


@pytest.mark.parametrize("model", ["Revision", "Decision", "AuditEvent", "Approval"])
def test_the_orm_meets_the_same_wall(rows, model):
    column = "hash" if model == "AuditEvent" else "digest"
    with pytest.raises(IntegrityError, match=r"do(es)? not change"):
        type(rows[model]).objects.update(**{column: DIGEST[:-7][:64]})


def test_a_wall_raises_the_error_of_a_broken_constraint(rows):
    """So that callers need to know one kind of refusal: SQLSTATE 23514 there, an aborted statement here."""
    with pytest.raises(IntegrityError) as caught:
        remove(rows["Revision"])
    cause: Any = caught.value.__cause__
    known = cause.sqlstate if connection.vendor == "postgresql" else cause.sqlite_errorname
    assert known == ("23514" if connection.vendor == "postgresql" else "SQLITE_CONSTRAINT_TRIGGER")


@pytest.mark.parametrize("model", sorted({*MACHINE_OF, *IMMUTABLE}))
def test_a_replica_role_does_not_pass_either(rows, model, only_on_postgresql):
    """`session_replication_role` turns ordinary triggers off; these are ENABLE ALWAYS."""
    row = rows[model]
    run("SET LOCAL session_replication_role = replica")
    with pytest.raises(IntegrityError, match="history does not go away"):
        remove(row)
