"""Workers that are stopped (SIGSTOP), thought dead, and wake (SIGCONT) when their lease is over."""

from typing import Any

import pytest

from approvals.models import Delivery, Draft, Observation
from tests.cast import Story
from tests.fire.scenes import (
    attempts_of,
    dispatcher,
    item,
    lease_ends,
    lease_is_over,
    look,
    send,
    stands,
    tidy,
    until_done,
)
from tests.support import stations
from tests.support.ledger import Ledger

BEFORE_THE_FIRST_BYTE = [stations.BEGUN, stations.CONNECTED]


def due_now(draft: Draft) -> None:
    """Ends the back-off before a resend without waiting."""
    delivery = Delivery.objects.get(draft=draft)
    assert delivery.next_attempt_at is not None
    Delivery.objects.filter(draft=draft).update(next_attempt_at=delivery.created_at)


def late_results(draft: Draft) -> list[tuple[int, str]]:
    """Gives the attempt and the answer of each receipt that came too late to count."""
    late = Observation.objects.filter(delivery__draft=draft, kind=Observation.Kind.LATE_RESULT)
    return list(late.values_list("attempt_number", "answer"))


@pytest.mark.slow
def test_a_worker_that_only_reserved_can_do_nothing_once_another_took_over(
    shop: Story, ledger: Ledger, patient: dict[str, str]
) -> None:
    draft = item(shop)
    with dispatcher(patient, station=stations.RESERVED) as zombie:
        zombie.at_its_station()
        lease_is_over(draft)
        with dispatcher(patient) as heir:
            assert heir.counted() == {"delivered": 1}
        zombie.wake()
        assert zombie.counted() == {"stopped": 1}
    assert len(ledger.asked) == 1
    assert stands(draft) == ("submitted", "delivered", "idle")


@pytest.mark.slow
def test_a_worker_cannot_send_under_the_reservation_of_another(
    shop: Story, ledger: Ledger, patient: dict[str, str]
) -> None:
    draft = item(shop)
    with dispatcher(patient, station=stations.RESERVED) as zombie:
        zombie.at_its_station()
        lease_is_over(draft)
        with dispatcher(patient, station=stations.RESERVED) as heir:
            heir.at_its_station()
            zombie.wake()
            assert zombie.counted() == {"stopped": 1}
            assert stands(draft) == ("approved", "", "reserved")
            heir.wake()
            assert heir.counted() == {"delivered": 1}
    assert len(ledger.asked) == 1


@pytest.mark.slow
def test_a_worker_whose_reservation_lapsed_sends_nothing_even_if_nobody_took_over(
    shop: Story, ledger: Ledger, patient: dict[str, str]
) -> None:
    draft = item(shop)
    with dispatcher(patient, station=stations.RESERVED) as zombie:
        zombie.at_its_station()
        lease_is_over(draft)
        zombie.wake()
        assert zombie.counted() == {"stopped": 1}
    assert ledger.asked == []
    assert stands(draft) == ("approved", "", "idle")


@pytest.mark.slow
@pytest.mark.parametrize("station", BEFORE_THE_FIRST_BYTE)
def test_a_worker_that_wakes_after_its_lease_lets_no_byte_leave(
    shop: Story, ledger: Ledger, hasty: dict[str, str], station: str
) -> None:
    draft = item(shop)
    with dispatcher(hasty, station=station) as zombie:
        zombie.at_its_station()
        lease_ends(draft)
        zombie.wake()
        assert zombie.counted() == {"not_sent": 1}
    assert ledger.asked == []
    assert stands(draft) == ("submitting", "waiting", "idle")


@pytest.mark.slow
def test_that_nothing_left_is_believed_even_after_the_sweeper_guessed(
    shop: Story, ledger: Ledger, hasty: dict[str, str]
) -> None:
    draft = item(shop)
    with dispatcher(hasty, station=stations.CONNECTED) as zombie:
        zombie.at_its_station()
        lease_ends(draft)
        assert tidy() == {"unknown": 1}
        zombie.wake()
        assert zombie.counted() == {"not_sent": 1}
    assert ledger.asked == []
    assert stands(draft) == ("submitting", "waiting", "idle")


@pytest.mark.slow
def test_a_worker_that_lost_its_send_to_another_adds_no_second_one(
    shop: Story, ledger: Ledger, hasty: dict[str, str], patient: dict[str, str]
) -> None:
    draft = item(shop, "stock/1")
    with dispatcher(hasty, station=stations.CONNECTED) as zombie:
        zombie.at_its_station()
        lease_ends(draft)
        tidy()
        due_now(draft)
        with dispatcher(patient) as heir:
            assert heir.counted() == {"delivered": 1}
        zombie.wake()
        assert zombie.counted() == {"not_sent": 1}
    assert len(ledger.asked) == 1
    assert late_results(draft) == [(1, "not_sent")]
    assert stands(draft) == ("submitted", "delivered", "idle")


@pytest.mark.slow
def test_an_exclusive_target_is_written_by_the_heir_alone(
    shop: Story, ledger: Ledger, hasty: dict[str, str], patient: dict[str, str], settings: Any
) -> None:
    settings.REVIEWROOM_ABSENT_GRACE_SECONDS = 0  # how long absence must last is not what this is about
    draft = item(shop, "prices/1")
    with dispatcher(hasty, station=stations.CONNECTED) as zombie:
        zombie.at_its_station()
        lease_ends(draft)
        tidy()
        assert send() == {}
        assert [look(), look()] == [{"absent": 1}, {"absent": 1}]
        with dispatcher(patient) as heir:
            assert heir.counted() == {"delivered": 1}
        zombie.wake()
        assert zombie.counted() == {"not_sent": 1}
    assert len(ledger.asked) == 1
    assert stands(draft) == ("submitted", "delivered", "idle")


@pytest.mark.slow
@pytest.mark.parametrize("resource", ["shelves/1", "prices/1"])
def test_a_receipt_outranks_the_sweepers_guess(
    shop: Story, ledger: Ledger, patient: dict[str, str], resource: str
) -> None:
    draft = item(shop, resource)
    with dispatcher(patient, station=stations.ANSWERED) as zombie:
        zombie.at_its_station()
        lease_is_over(draft)
        assert tidy() == {"unknown": 1}
        assert stands(draft)[0] == "delivery_unknown"
        zombie.wake()
        assert zombie.counted() == {"delivered": 1}
    assert len(ledger.asked) == 1
    assert attempts_of(draft) == [(1, "delivered")]
    assert stands(draft) == ("submitted", "delivered", "idle")


@pytest.mark.slow
def test_a_worker_stopped_while_the_remote_acts_calls_it_unknown_and_the_look_up_finds_it(
    shop: Story, ledger: Ledger, hasty: dict[str, str]
) -> None:
    draft = item(shop)
    ledger.arriving.close()
    with dispatcher(hasty) as zombie:
        until_done(lambda: ledger.asked)
        zombie.stop()
        ledger.arriving.open()
        lease_ends(draft)
        tidy()
        zombie.wake()
        assert zombie.counted() == {"unknown": 1}
    assert stands(draft) == ("delivery_unknown", "unknown", "idle")
    assert look() == {"found": 1}
    assert len(ledger.asked) == 1
    assert stands(draft) == ("submitted", "delivered", "idle")


@pytest.mark.slow
def test_the_receipt_of_an_older_attempt_is_kept_and_changes_nothing(
    shop: Story, ledger: Ledger, patient: dict[str, str]
) -> None:
    ledger.dedupes = True
    draft = item(shop, "stock/1")
    with dispatcher(patient, station=stations.ANSWERED) as zombie:
        zombie.at_its_station()
        lease_is_over(draft)
        tidy()
        due_now(draft)
        with dispatcher(patient) as heir:
            assert heir.counted() == {"delivered": 1}
        zombie.wake()
        assert zombie.counted() == {"delivered": 1}
    assert len(ledger.effects) == 1
    assert late_results(draft) == [(1, "delivered")]
    assert attempts_of(draft) == [(1, ""), (2, "delivered")]
    assert Delivery.objects.get(draft=draft).held_at is None


@pytest.mark.slow
def test_late_word_of_a_delivery_holds_what_is_being_sent_again(
    shop: Story, ledger: Ledger, patient: dict[str, str]
) -> None:
    ledger.dedupes = True
    draft = item(shop, "stock/1")
    with dispatcher(patient, station=stations.ANSWERED) as zombie:
        zombie.at_its_station()
        lease_is_over(draft)
        tidy()
        due_now(draft)
        with dispatcher(patient, station=stations.CONNECTED) as heir:
            heir.at_its_station().kill()
        zombie.wake()
        assert zombie.counted() == {"delivered": 1}
    assert late_results(draft) == [(1, "delivered")]
    assert Delivery.objects.get(draft=draft).held_at is not None
    assert stands(draft) == ("submitting", "sending", "sending")
