"""While a remote hangs, no transaction is open and no row is locked: everybody else works on."""

import sqlite3
from contextlib import closing
from typing import Any

import pytest
from django.db import connection

from tests.cast import Story
from tests.fire.scenes import item, stands, until_done
from tests.support.ledger import Ledger
from tests.support.workers import Worker


@pytest.mark.slow
def test_no_transaction_is_open_while_a_remote_hangs(shop: Story, ledger: Ledger, patient: dict[str, str]) -> None:
    drafts = [item(shop, f"shelves/{number}") for number in range(3)]
    ledger.answering.close()
    with Worker(patient, "dispatch_approved", "--concurrency", "3") as worker:
        until_done(lambda: sum(ledger.in_flight.values()) == 3)
        _nobody_is_in_a_transaction()
        assert {stands(draft) for draft in drafts} == {("submitting", "sending", "sending")}
        shop.decide(shop.propose(), "ben")  # people propose and decide meanwhile
        ledger.answering.open()
        worker.ends_with(0)


def _nobody_is_in_a_transaction() -> None:
    if connection.vendor == "postgresql":
        assert _in_transaction() == []
    else:
        _take_the_whole_file()


def _in_transaction() -> list[Any]:
    """Gives the other connections of this database that have a transaction open; `idle in transaction` is one."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT state, query FROM pg_stat_activity WHERE datname = current_database() "
            "AND pid <> pg_backend_pid() AND backend_type = 'client backend' AND xact_start IS NOT NULL"
        )
        return list(cursor.fetchall())


def _take_the_whole_file() -> None:
    """Writes without waiting for anybody, and finds nobody reading: a checkpoint that empties the log needs both."""
    with closing(sqlite3.connect(connection.settings_dict["NAME"], timeout=0, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("ROLLBACK")
        busy, *_ = other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        assert busy == 0
