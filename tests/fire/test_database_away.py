"""The database goes away between a send and the record of its answer: the answer is kept and recorded later."""

import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any
from urllib.parse import quote

import pytest
from django.db import connection

from approvals.services import verify
from tests.cast import Story
from tests.fire.scenes import attempts_of, dispatcher, item, lease_is_over, stands, tidy, until_done
from tests.support import postgres, stations
from tests.support.ledger import Ledger
from tests.support.postgres import FAST_SHUTDOWN, IMMEDIATE_SHUTDOWN, Restartable

CANNOT_RECORD = "cannot be recorded yet"


@pytest.fixture
def own_server(shop: Story) -> Iterator[Restartable]:
    """A server with the shop on it for one test alone: the one that all tests share cannot be stopped.

    This process uses it too until the test is over.
    """
    if connection.vendor != "postgresql":
        pytest.skip("SQLite is no server; its counterpart is a locked file")
    here = connection.settings_dict
    shared = here["HOST"]
    with postgres.restartable() as server:
        server.copy_from(shared, here["USER"], here["NAME"])
        connection.close()
        here["HOST"] = server.host
        yield server
        assert list(verify.problems()) == []
        connection.close()
        here["HOST"] = shared


def there(environment: dict[str, str], server: Restartable) -> dict[str, str]:
    """Gives the environment of a worker on a server of its own."""
    url = f"postgresql://postgres@/{connection.settings_dict['NAME']}?host={quote(server.host)}"
    return {**environment, "REVIEWROOM_DATABASE_URL": url}


@pytest.mark.slow
@pytest.mark.parametrize("how", [FAST_SHUTDOWN, IMMEDIATE_SHUTDOWN], ids=["fast", "immediate"])
def test_a_server_that_restarts_during_a_send_learns_its_outcome(
    shop: Story, own_server: Restartable, ledger: Ledger, patient: dict[str, str], how: signal.Signals
) -> None:
    draft = item(shop)
    ledger.answering.close()
    with dispatcher(there(patient, own_server)) as worker:
        until_done(lambda: ledger.effects)
        connection.close()
        own_server.stop(how)
        ledger.answering.open()
        worker.complains(CANNOT_RECORD)
        worker.ask_to_end()  # it does not, before the answer is recorded
        own_server.start()
        assert worker.counted() == {"delivered": 1}
    assert stands(draft) == ("submitted", "delivered", "idle")
    assert attempts_of(draft) == [(1, "delivered")]
    assert len(ledger.asked) == 1


@pytest.mark.slow
def test_a_server_that_can_only_be_read_for_a_while_learns_the_outcome(
    shop: Story, own_server: Restartable, ledger: Ledger, patient: dict[str, str]
) -> None:
    draft = item(shop)
    ledger.answering.close()
    with dispatcher(there(patient, own_server)) as worker:
        until_done(lambda: ledger.effects)
        own_server.allow_writing(False)
        ledger.answering.open()
        worker.complains(CANNOT_RECORD)
        own_server.allow_writing(True)
        assert worker.counted() == {"delivered": 1}
    assert stands(draft) == ("submitted", "delivered", "idle")
    assert attempts_of(draft) == [(1, "delivered")]


@pytest.mark.slow
def test_an_answer_recorded_after_the_server_was_long_away_outranks_the_sweeper(
    shop: Story, own_server: Restartable, ledger: Ledger, patient: dict[str, str]
) -> None:
    draft = item(shop)
    with dispatcher(there(patient, own_server), station=stations.ANSWERED) as worker:
        worker.at_its_station()
        connection.close()
        own_server.stop(IMMEDIATE_SHUTDOWN)
        worker.wake()
        worker.complains(CANNOT_RECORD)
        worker.stop()
        own_server.start()
        lease_is_over(draft)
        assert tidy() == {"unknown": 1}
        worker.wake()
        assert worker.counted() == {"delivered": 1}
    assert stands(draft) == ("submitted", "delivered", "idle")


@pytest.mark.slow
def test_authority_that_was_spent_before_a_crash_of_the_server_stays_spent(
    shop: Story, own_server: Restartable, ledger: Ledger, patient: dict[str, str]
) -> None:
    draft = item(shop)
    with dispatcher(there(patient, own_server), station=stations.BEGUN) as worker:
        worker.at_its_station()
        connection.close()
        own_server.stop(IMMEDIATE_SHUTDOWN)
        worker.kill()
        own_server.start()
    assert stands(draft) == ("submitting", "sending", "sending")
    assert shop.approval(draft).state == "consumed"
    assert ledger.asked == []


@pytest.mark.slow
def test_a_file_that_is_locked_for_longer_than_a_writer_waits_learns_the_outcome(
    shop: Story, ledger: Ledger, patient: dict[str, str]
) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL locks rows; its counterpart is a server that restarts")
    draft = item(shop)
    ledger.answering.close()
    with dispatcher(patient, busy=0) as worker, closing(_other_writer(connection.settings_dict)) as other:
        until_done(lambda: ledger.effects)
        other.execute("BEGIN IMMEDIATE")
        ledger.answering.open()
        worker.complains(CANNOT_RECORD)
        other.execute("ROLLBACK")
        assert worker.counted() == {"delivered": 1}
    assert stands(draft) == ("submitted", "delivered", "idle")
    assert attempts_of(draft) == [(1, "delivered")]
    assert len(ledger.asked) == 1


def _other_writer(settings: dict[str, Any]) -> sqlite3.Connection:
    return sqlite3.connect(settings["NAME"], timeout=30, isolation_level=None)
