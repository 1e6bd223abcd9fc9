"""Copies of a database: a staging machine with workers, and a restore from before a send. Nothing goes out twice."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from approvals.models import Attempt, DispatchClaim, Draft
from approvals.models.clock import database_now
from approvals.services import verify
from tests.cast import Story
from tests.fire.scenes import attempts_of, dispatcher, item, lease_is_over, look, send, stands, tidy, until_done
from tests.support import stations
from tests.support.copies import Copy, copied
from tests.support.ledger import Ledger
from tests.support.workers import Worker

RESOURCES = ["shelves/1", "stock/1", "prices/1"]


@pytest.fixture
def drafts(shop: Story) -> list[Draft]:
    """One approved draft for each kind of target, in the database before it is copied."""
    return [item(shop, resource) for resource in RESOURCES]


@pytest.fixture
def copy(drafts: list[Draft], tmp_path: Path) -> Iterator[Copy]:
    """A copy made before anything was sent."""
    with copied(tmp_path) as made:
        yield made
        with made.instead():
            assert list(verify.problems()) == []


@pytest.fixture
def original_sent(copy: Copy, ledger: Ledger) -> None:
    """After the copy the original sent everything."""
    assert send() == {"delivered": 3}
    assert len(ledger.effects) == 3


def on(copy: Copy, environment: dict[str, str], **more: str) -> dict[str, str]:
    return {**environment, "REVIEWROOM_DATABASE_URL": copy.url, **more}


def adopt(environment: dict[str, str]) -> str:
    with Worker(environment, "adopt_database", "--yes") as command:
        command.ends_with(0)
        return command.output


@pytest.mark.slow
def test_workers_on_a_staging_copy_send_nothing(
    copy: Copy, patient: dict[str, str], ledger: Ledger, drafts: list[Draft]
) -> None:
    with Worker(on(copy, patient, REVIEWROOM_INSTANCE="staging"), "dispatch_approved") as worker:
        worker.ends_with(1)
        assert "This database belongs to tests and this installation is staging" in worker.complaints
    with copy.instead():
        assert {stands(draft) for draft in drafts} == {("approved", "", "idle")}
        assert set(DispatchClaim.objects.values_list("epoch", flat=True)) == {0}
    assert ledger.asked == []


@pytest.mark.slow
def test_workers_that_run_on_a_staging_copy_keep_refusing(
    copy: Copy, patient: dict[str, str], ledger: Ledger, drafts: list[Draft]
) -> None:
    with Worker(on(copy, patient, REVIEWROOM_INSTANCE="staging"), "run_worker", "--forever") as worker:
        worker.complains("so nothing is sent: a copy would send a second time")
        worker.ask_to_end()
        worker.ends_with(0)
    assert ledger.asked == []


@pytest.mark.slow
@pytest.mark.usefixtures("original_sent")
@pytest.mark.parametrize("instance", ["tests", "the-new-one"])
def test_a_restored_database_finds_what_the_original_sent(
    copy: Copy, patient: dict[str, str], ledger: Ledger, drafts: list[Draft], settings: Any, instance: str
) -> None:
    ledger.dedupes = True
    restored = on(copy, patient, REVIEWROOM_INSTANCE=instance)
    settings.REVIEWROOM_INSTANCE = instance
    assert "2 looked up" in adopt(restored)
    with Worker(restored, "dispatch_approved", "--format", "json") as worker:
        assert worker.counted() == {"unknown": 3}
    assert len(ledger.asked) == 3
    shelf, stock, price = drafts
    with copy.instead():
        assert look() == {"found": 2}
        assert stands(shelf) == stands(price) == ("submitted", "delivered", "idle")
        assert stands(stock)[:2] == ("delivery_unknown", "unknown")
    assert len(ledger.effects) == 3


@pytest.mark.slow
@pytest.mark.usefixtures("original_sent")
def test_a_restored_database_that_is_not_adopted_sends_nothing_under_another_name(
    copy: Copy, patient: dict[str, str], ledger: Ledger
) -> None:
    with Worker(on(copy, patient, REVIEWROOM_INSTANCE="the-new-one"), "run_worker", "--once") as worker:
        worker.ends_with(1)
        assert "adopt_database" in worker.complaints
    assert len(ledger.asked) == 3


@pytest.mark.slow
def test_what_the_original_never_sent_is_unknown_until_it_is_proven_absent_and_then_waits_or_goes(
    copy: Copy, hasty: dict[str, str], ledger: Ledger, drafts: list[Draft], settings: Any
) -> None:
    settings.REVIEWROOM_ABSENT_GRACE_SECONDS = 0  # how long absence must last is not what this is about
    restored = on(copy, hasty)
    adopt(restored)
    shelf, _, price = drafts
    with copy.instead():
        assert send() == {"unknown": 3}
        assert ledger.asked == []
        _until_the_leases_of_the_attempts_end(shelf, price)
        for _ in range(3):
            look()
        assert send()["delivered"] >= 1
        assert stands(price) == ("submitted", "delivered", "idle")
        assert attempts_of(price) == [(1, "unknown"), (2, "delivered")]
        assert stands(shelf) == ("delivery_unknown", "unknown", "idle")  # this remote cannot tell a repeat


@pytest.mark.slow
def test_a_copy_from_the_middle_of_a_send_settles_it_by_looking(
    shop: Story, patient: dict[str, str], ledger: Ledger, tmp_path: Path
) -> None:
    draft = item(shop)
    with dispatcher(patient, station=stations.BEGUN) as worker:
        worker.at_its_station().kill()
    with copied(tmp_path) as copy:
        restored = on(copy, patient)
        assert "1 were under way" in adopt(restored)
        with copy.instead():
            assert send() == {}
            lease_is_over(draft)
            assert tidy() == {"unknown": 1}
            assert look() == {"absent": 1}
            assert stands(draft) == ("delivery_unknown", "unknown", "idle")
    assert ledger.asked == []


def _until_the_leases_of_the_attempts_end(*drafts: Draft) -> None:
    last = max(Attempt.objects.filter(delivery__draft__in=drafts).values_list("lease_until", flat=True))
    until_done(lambda: last < database_now())
