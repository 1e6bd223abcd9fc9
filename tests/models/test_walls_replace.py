"""SQLite's `OR REPLACE` deletes whatever stands in the way, and without recursive_triggers no trigger sees it."""

import sqlite3
from collections.abc import Iterator

import pytest
from django.db import IntegrityError, connection

from approvals.models.walls import FROZEN, IMMUTABLE, MACHINE_OF
from tests.models.rows import Rows, change, insert_like, key, table

pytestmark = pytest.mark.broken_on_purpose

GUARDED = sorted({*MACHINE_OF, *IMMUTABLE, *FROZEN})
# What makes a new row stand in the way of an old one beside its number: the unique columns, none of them changed.
APART = {"Approval": {"id": "0" * 32}, "Delivery": {"id": "0" * 32}}
UNIQUE = [model for model in GUARDED if model not in ("Draft", "Observation")]


@pytest.fixture
def plain(only_on_sqlite: None) -> Iterator[None]:
    """The connection as any other program opens it: without recursive_triggers."""
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA recursive_triggers = OFF")
        assert cursor.execute("PRAGMA recursive_triggers").fetchone() == (0,)
    yield
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA recursive_triggers = ON")


@pytest.mark.parametrize("model", GUARDED)
def test_a_row_is_not_replaced_under_its_number(rows, model, plain):
    row = rows[model]
    with pytest.raises(IntegrityError, match="such a row exists and is not replaced"):
        insert_like(row, verb="INSERT OR REPLACE", **{row._meta.pk.name: row.pk})


@pytest.mark.parametrize("model", UNIQUE)
def test_a_row_is_not_replaced_by_what_must_be_unique(rows, model, plain):
    row = rows[model]
    with pytest.raises(IntegrityError, match="such a row exists and is not replaced"):
        insert_like(row, verb="INSERT OR REPLACE", **APART.get(model, {}))


@pytest.mark.parametrize("model", GUARDED)
def test_a_row_is_not_replaced_with_recursive_triggers_either(rows, model, only_on_sqlite):
    row = rows[model]
    with pytest.raises(IntegrityError):
        insert_like(row, verb="INSERT OR REPLACE", **{row._meta.pk.name: row.pk})


def test_an_open_retraction_is_not_replaced_by_another(rows, plain):
    rows.delivery(kind="retract", state="waiting")
    write = rows["Delivery"]
    with pytest.raises(IntegrityError, match="such a row exists and is not replaced"):
        insert_like(write, verb="INSERT OR REPLACE", id="0" * 32, kind="retract", state="waiting")


def test_the_next_retraction_after_a_delivered_one_is_no_replacement(rows, plain):
    change(rows.delivery(kind="retract"), state="delivered")
    assert insert_like(rows["Delivery"], verb="INSERT OR REPLACE", id="0" * 32, kind="retract", state="waiting") == 1


@pytest.mark.parametrize(
    ("model", "column"), [("Approval", "delivery"), ("Draft", "approval"), ("DispatchClaim", "target")]
)
def test_an_update_does_not_replace_another_row(rows, model, column, plain):
    """`UPDATE OR REPLACE` to the value of a unique column that another row holds would delete that row."""
    holder, taker = rows[model], Rows()[model]
    value = {"Approval": "Delivery", "Draft": "Approval", "DispatchClaim": "Target"}[model]
    change(holder, **{column: rows[value].pk})
    with pytest.raises(IntegrityError, match="wall: "):
        change(taker, verb="UPDATE OR REPLACE", **{column: rows[value].pk})


@pytest.mark.parametrize("verb", ["UPDATE OR IGNORE", "UPDATE OR REPLACE", "UPDATE OR FAIL", "UPDATE OR ROLLBACK"])
def test_no_way_of_resolving_conflicts_passes_a_wall(rows, verb, only_on_sqlite):
    with pytest.raises(IntegrityError, match="history does not change"):
        change(rows["Decision"], verb=verb, comment="never said")


@pytest.mark.parametrize("model", ["Decision", "AuditEvent", "OutboxEvent", "Approval"])
def test_another_program_does_not_replace_a_row(transactional_db, model, only_on_sqlite):
    row = Rows()[model]
    other = sqlite3.connect(connection.settings_dict["NAME"])
    try:
        with pytest.raises(sqlite3.IntegrityError, match="such a row exists and is not replaced"):
            other.execute(f"INSERT OR REPLACE INTO {table(row)} SELECT * FROM {table(row)}")
        assert other.execute(f"SELECT COUNT({key(row)}) FROM {table(row)}").fetchone() == (1,)
    finally:
        other.close()


def test_another_program_does_not_delete_a_decision(transactional_db, only_on_sqlite):
    Rows()["Decision"]
    other = sqlite3.connect(connection.settings_dict["NAME"])
    try:
        with pytest.raises(sqlite3.IntegrityError, match="history does not go away"):
            other.execute("DELETE FROM approvals_decision")
    finally:
        other.close()
