"""Workers that are asked to end (SIGTERM): what is in hand is finished and recorded, nothing more is taken."""

import pytest

from approvals.models import Delivery, DispatchClaim, Draft
from tests.cast import Story
from tests.fire.scenes import attempts_of, dispatcher, item, stands, until_done
from tests.support import stations
from tests.support.ledger import Ledger
from tests.support.workers import Worker

COMMANDS = [
    ("dispatch_approved", "--once"),
    ("dispatch_approved", "--forever"),
    ("run_worker", "--forever"),
]


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_the_send_in_hand_is_recorded_and_the_next_is_left(
    shop: Story, ledger: Ledger, patient: dict[str, str], command: tuple[str, ...]
) -> None:
    first, second = (item(shop) for _ in range(2))
    with Worker(patient, *command, "--concurrency", "1", "--format", "json", station=stations.ANSWERED) as worker:
        worker.at_its_station().ask_to_end()
        worker.wake()
        worker.ends_with(0)
    assert attempts_of(first) == [(1, "delivered")]
    assert stands(second) == ("approved", "", "idle")
    assert len(ledger.asked) == 1


@pytest.mark.slow
def test_what_is_reserved_when_the_word_comes_is_not_left_behind(
    shop: Story, ledger: Ledger, patient: dict[str, str]
) -> None:
    draft = item(shop)
    with dispatcher(patient, station=stations.RESERVED) as worker:
        worker.at_its_station().ask_to_end()
        worker.wake()
        worker.ends_with(0)
    assert stands(draft) == ("submitted", "delivered", "idle")


@pytest.mark.slow
def test_no_further_target_is_taken_once_the_word_is_given(
    shop: Story, ledger: Ledger, patient: dict[str, str]
) -> None:
    drafts = [item(shop, f"shelves/{number}") for number in range(6)]
    ledger.answering.close()
    with Worker(patient, "run_worker", "--forever", "--concurrency", "2", "--format", "json") as worker:
        until_done(lambda: len(ledger.effects) == 2)
        worker.stop()
        worker.ask_to_end()
        worker.wake()
        ledger.answering.open()
        worker.ends_with(0)
    assert len(ledger.asked) == 2
    assert sorted(Delivery.objects.values_list("state", flat=True)) == ["delivered", "delivered"]
    assert set(DispatchClaim.objects.values_list("state", flat=True)) == {"idle"}
    assert Draft.objects.filter(pk__in=[draft.pk for draft in drafts], state="approved").count() == 4


@pytest.mark.slow
@pytest.mark.parametrize("command", ["dispatch_approved", "run_worker"])
def test_a_worker_with_nothing_to_do_ends_at_once(shop: Story, patient: dict[str, str], command: str) -> None:
    with Worker(patient, command, "--forever") as worker:
        worker.complains("Working until SIGTERM")
        worker.ask_to_end()
        worker.ends_with(0)
