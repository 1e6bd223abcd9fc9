"""The one clock, and how times compare in the database."""

import time
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection

from approvals.models import Approval
from approvals.models import clock as clocks
from approvals.models.clock import database_now
from tests.models.rows import LATER, change

pytestmark = pytest.mark.broken_on_purpose

SECOND, TICK = timedelta(seconds=1), timedelta(microseconds=1)
WHOLE = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)
BROKEN = datetime(2026, 11, 30, 12, 0, 0, 500_000, tzinfo=UTC)


def test_the_clock_gives_an_aware_time_in_utc(db):
    assert database_now().tzinfo is UTC


def test_the_clock_is_of_today(db):
    assert abs(database_now() - datetime.now(UTC)) < timedelta(minutes=1)


def test_the_clock_moves_inside_a_transaction(db):
    """Measured: PostgreSQL's now() stands still there, so an approval that expired behind a lock would still count."""
    assert connection.in_atomic_block
    before = database_now()
    time.sleep(0.005)
    assert database_now() > before


def test_the_transactions_own_time_stands_still(only_on_postgresql):
    with connection.cursor() as cursor:
        cursor.execute("SELECT now()")
        before = cursor.fetchone()
        time.sleep(0.005)
        cursor.execute("SELECT now()")
        assert cursor.fetchone() == before


def test_sqlite_tells_milliseconds(only_on_sqlite):
    assert database_now().microsecond % 1000 == 0


def test_tests_replace_the_clock_in_one_place(clock):
    clock.advance(hours=1)
    assert clocks.database_now() == clock.now == WHOLE + timedelta(hours=1)


@pytest.mark.parametrize("moment", [WHOLE, BROKEN], ids=["whole", "broken"])
@pytest.mark.parametrize(
    ("step", "later"),
    [(-SECOND, False), (-TICK, False), (0 * TICK, False), (TICK, True), (SECOND, True)],
    ids=["second-before", "tick-before", "equal", "tick-after", "second-after"],
)
def test_a_time_is_later_only_when_it_is(rows, moment, step, later):
    """SQLite compares text, where a whole second has no fraction: 12:00:00 beside 12:00:00.000001."""
    change(rows["Approval"], expires_at=moment + step)
    assert Approval.objects.filter(expires_at__gt=moment).exists() is later


@pytest.mark.parametrize("moment", [WHOLE, BROKEN], ids=["whole", "broken"])
@pytest.mark.parametrize("step", [-SECOND, -TICK, 0 * TICK, TICK, SECOND], ids=str)
def test_a_time_has_passed_exactly_when_it_is_not_later(rows, moment, step):
    change(rows["Approval"], expires_at=moment + step)
    later = Approval.objects.filter(expires_at__gt=moment).exists()
    assert Approval.objects.filter(expires_at__lte=moment).exists() is not later


@pytest.mark.parametrize("moment", [WHOLE, BROKEN, LATER], ids=str)
def test_a_time_comes_back_as_it_went_in(rows, moment):
    change(rows["Approval"], expires_at=moment)
    assert Approval.objects.get().expires_at == moment
