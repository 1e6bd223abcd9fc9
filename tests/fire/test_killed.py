"""A worker killed in the middle of a send: nothing is sent twice, nothing is shown as what it is not, nothing stays."""

import pytest

from approvals.models import Delivery
from tests.cast import Story
from tests.fire.scenes import attempts_of, dispatcher, item, lease_is_over, look, send, stands, tidy, until_done
from tests.support import stations
from tests.support.ledger import Ledger


@pytest.mark.slow
def test_what_a_worker_only_reserved_is_sent_once_by_the_next(
    shop: Story, ledger: Ledger, patient: dict[str, str]
) -> None:
    draft = item(shop)
    with dispatcher(patient, station=stations.RESERVED) as worker:
        worker.at_its_station().kill()
    assert stands(draft) == ("approved", "", "reserved")
    assert send() == {}
    lease_is_over(draft)
    assert send() == {"delivered": 1}
    assert len(ledger.asked) == 1


@pytest.mark.slow
@pytest.mark.parametrize("station", [stations.BEGUN, stations.CONNECTED])
def test_what_may_have_left_is_unknown_until_it_is_looked_up(
    shop: Story, ledger: Ledger, patient: dict[str, str], station: str
) -> None:
    draft = item(shop)
    with dispatcher(patient, station=station) as worker:
        worker.at_its_station().kill()
    assert stands(draft) == ("submitting", "sending", "sending")
    lease_is_over(draft)
    assert send() == {}
    assert tidy() == {"unknown": 1}
    assert look() == {"absent": 1}
    assert stands(draft) == ("delivery_unknown", "unknown", "idle")
    assert shop.approval(draft).state == "consumed"
    assert ledger.asked == []


@pytest.mark.slow
@pytest.mark.parametrize("step", ["stored", stations.ANSWERED])
def test_what_the_remote_stored_is_found_and_never_sent_again(
    shop: Story, ledger: Ledger, patient: dict[str, str], step: str
) -> None:
    draft = item(shop)
    _killed(shop, ledger, patient, step)
    assert stands(draft) == ("submitting", "sending", "sending")
    lease_is_over(draft)
    assert tidy() == {"unknown": 1}
    assert stands(draft) == ("delivery_unknown", "unknown", "idle")
    assert send() == {}
    assert look() == {"found": 1}
    assert stands(draft) == ("submitted", "delivered", "idle")
    assert len(ledger.asked) == 1


@pytest.mark.slow
def test_an_exclusive_target_stays_taken_until_the_outcome_is_known(
    shop: Story, ledger: Ledger, patient: dict[str, str]
) -> None:
    first, second = (item(shop, "prices/1") for _ in range(2))
    _killed(shop, ledger, patient, "stored")
    lease_is_over(first)
    assert tidy() == {"unknown": 1}
    assert send() == {}
    assert stands(first) == ("delivery_unknown", "unknown", "uncertain")
    assert look() == {"found": 1}
    assert stands(first)[0] == "submitted"
    assert stands(second)[0] == "in_review"  # approved for what stood there before
    assert len(ledger.asked) == 1


@pytest.mark.slow
def test_a_receiver_that_dedupes_gets_it_again_and_keeps_it_once(
    shop: Story, ledger: Ledger, patient: dict[str, str]
) -> None:
    ledger.dedupes = True
    draft = item(shop, "stock/1")
    _killed(shop, ledger, patient, "stored")
    lease_is_over(draft)
    assert tidy() == {"unknown": 1}
    Delivery.objects.filter(draft=draft).update(next_attempt_at=shop.clock())
    assert send() == {"delivered": 1}
    assert attempts_of(draft) == [(1, ""), (2, "delivered")]
    assert len(ledger.asked) == 2
    assert len(ledger.effects) == 1
    assert len({posted.body for posted in ledger.asked}) == 1


def _killed(shop: Story, ledger: Ledger, environment: dict[str, str], step: str) -> None:
    """Has a worker killed after the remote's act: before its answer, or before a note of it."""
    if step == stations.ANSWERED:
        with dispatcher(environment, station=step) as worker:
            worker.at_its_station().kill()
        return
    ledger.answering.close()
    with dispatcher(environment) as worker:
        until_done(lambda: ledger.effects)
        worker.kill()
    ledger.answering.open()
