"""Workers whose wall clock is wrong: the database's clock decides, whatever theirs says."""

from datetime import timedelta

import pytest
from django.db.models import F

from approvals.models import Approval, Attempt
from approvals.models.clock import database_now
from tests.cast import Story
from tests.fire.scenes import claim_of, dispatcher, item, stands
from tests.support import stations
from tests.support.ledger import Ledger
from tests.support.workers import Worker

AHEAD, BEHIND = 600.0, -600.0


@pytest.mark.slow
@pytest.mark.parametrize(("skew", "station"), [(AHEAD, stations.RESERVED), (BEHIND, stations.CONNECTED)])
def test_a_live_lease_is_neither_stolen_nor_declared_over(
    shop: Story, ledger: Ledger, patient: dict[str, str], skew: float, station: str
) -> None:
    draft = item(shop)
    with dispatcher(patient, station=station) as holder:
        holder.at_its_station()
        epoch, standing = claim_of(draft).epoch, stands(draft)
        with Worker(patient, "run_worker", "--once", "--format", "json", skew=skew) as other:
            assert set(other.counted()) <= {"drained", "emitted"}
        assert (claim_of(draft).epoch, stands(draft)) == (epoch, standing)
        holder.wake()
        assert holder.counted() == {"delivered": 1}
    assert len(ledger.asked) == 1


@pytest.mark.slow
def test_a_worker_ahead_sends_nothing_before_its_time(shop: Story, ledger: Ledger, patient: dict[str, str]) -> None:
    draft = item(shop, not_before=database_now() + timedelta(minutes=5))
    with dispatcher(patient, skew=AHEAD) as worker:
        assert worker.counted() == {}
    assert stands(draft) == ("approved", "", "idle")
    assert ledger.asked == []


@pytest.mark.slow
def test_a_worker_ahead_expires_nothing_that_is_still_good(shop: Story, patient: dict[str, str]) -> None:
    draft = item(shop, not_before=database_now() + timedelta(hours=1))
    Approval.objects.filter(draft=draft).update(expires_at=database_now() + timedelta(minutes=5))
    with Worker(patient, "sweep_expired", "--format", "json", skew=AHEAD) as worker:
        assert worker.counted() == {}
    assert stands(draft)[0] == "approved"


@pytest.mark.slow
def test_a_worker_behind_sends_nothing_whose_time_has_run_out(
    shop: Story, ledger: Ledger, patient: dict[str, str]
) -> None:
    draft = item(shop)
    Approval.objects.filter(draft=draft).update(expires_at=F("dispatch_at"))
    with dispatcher(patient, skew=BEHIND) as worker:
        assert worker.counted() == {"stopped": 1}
    assert stands(draft) == ("expired", "", "idle")
    assert ledger.asked == []


@pytest.mark.slow
@pytest.mark.parametrize("skew", [AHEAD, BEHIND])
def test_what_is_due_goes_out_and_bears_the_databases_time(
    shop: Story, ledger: Ledger, patient: dict[str, str], skew: float
) -> None:
    draft = item(shop)
    earliest = database_now()
    with dispatcher(patient, skew=skew) as worker:
        assert worker.counted() == {"delivered": 1}
    attempt = Attempt.objects.get(delivery__draft=draft)
    assert earliest <= attempt.started_at <= attempt.finished_at <= database_now()
