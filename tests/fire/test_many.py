"""Several real workers on one host: everything is sent once, targets side by side, each target one at a time."""

import copy
from contextlib import ExitStack
from typing import Any

import pytest

from approvals.models import Delivery, DispatchClaim, Draft
from approvals.services.propose import Proposal, propose
from tests.cast import Story
from tests.fire.conftest import channel, document
from tests.fire.scenes import dispatcher, item, stands, until_done
from tests.support.ledger import Ledger
from tests.support.workers import Worker, add

TARGETS = [f"shelves/{number}" for number in range(4)]


def all_sent_once(ledger: Ledger, number: int) -> None:
    assert len(ledger.asked) == len(set(ledger.keys)) == len(ledger.effects) == number
    assert set(Delivery.objects.values_list("state", flat=True)) == {"delivered"}
    assert set(DispatchClaim.objects.values_list("state", flat=True)) == {"idle"}


@pytest.mark.slow
def test_two_workers_send_forty_approvals_over_four_targets(
    shop: Story, ledger: Ledger, patient: dict[str, str]
) -> None:
    for number in range(40):
        item(shop, TARGETS[number % 4])
    ledger.answering.close()
    words = ("dispatch_approved", "--once", "--batch-size", "400", "--concurrency", "2", "--format", "json")
    with Worker(patient, *words) as first, Worker(patient, *words) as second:
        until_done(lambda: sum(ledger.in_flight.values()) == 4)
        assert dict(ledger.in_flight) == dict.fromkeys(TARGETS, 1)
        ledger.answering.open()
        counts = add((first.counted(), second.counted()))
    assert counts["delivered"] == 40
    assert set(ledger.most_at_once.values()) == {1}
    all_sent_once(ledger, 40)


@pytest.mark.slow
def test_three_whole_workers_share_the_work_and_end_under_load(
    shop: Story, ledger: Ledger, patient: dict[str, str]
) -> None:
    drafts = [item(shop, TARGETS[number % 4]) for number in range(16)]
    with ExitStack() as stack:
        workers = [stack.enter_context(Worker(patient, "run_worker", "--forever", "--format", "json")) for _ in "123"]
        until_done(lambda: len(ledger.effects) >= 8)
        for worker in workers:
            worker.ask_to_end()
        assert [worker.ends() for worker in workers] == [0, 0, 0]
        told = add(report["counts"] for worker in workers for report in worker.reports())
    sent = len(ledger.effects)
    assert told["delivered"] == sent
    assert set(ledger.most_at_once.values()) == {1}
    all_sent_once(ledger, sent)
    left = Draft.objects.filter(pk__in=[draft.pk for draft in drafts], state="approved")
    assert left.count() == len(drafts) - sent


@pytest.mark.slow
def test_one_target_is_written_to_in_order_of_age(shop: Story, ledger: Ledger, patient: dict[str, str]) -> None:
    drafts = [item(shop) for _ in range(5)]
    with dispatcher(patient) as worker:
        assert worker.counted() == {"delivered": 5}
    assert ledger.keys == [str(Delivery.objects.get(draft=draft).pk) for draft in drafts]


@pytest.mark.slow
def test_a_room_with_one_item_does_not_wait_for_a_room_with_many(
    shop: Story, ledger: Ledger, patient: dict[str, str]
) -> None:
    _open_second_room(shop, ledger)
    for number in range(12):
        item(shop, f"shelves/{number}")
    late = _approved_in_second_room(shop)
    with dispatcher(patient, "--batch-size", "4") as worker:
        assert worker.counted() == {"delivered": 4}
    assert stands(late)[0] == "submitted"
    assert "annex/1" in ledger.targets[:2]


@pytest.mark.slow
def test_a_target_that_hangs_holds_up_nobody_else(shop: Story, ledger: Ledger, patient: dict[str, str]) -> None:
    hanging = item(shop, "shelves/slow")
    others = [item(shop) for _ in range(4)]
    ledger.slow = {"shelves/slow"}
    ledger.arriving.close()
    words = ("dispatch_approved", "--once", "--concurrency", "2", "--format", "json")
    with Worker(patient, *words) as worker:
        until_done(lambda: {stands(draft)[0] for draft in others} == {"submitted"})
        assert stands(hanging) == ("submitting", "sending", "sending")
        late = item(shop, "shelves/late")
        until_done(lambda: stands(late)[0] == "submitted")
        ledger.arriving.open()
        assert worker.counted() == {"delivered": 6}


@pytest.mark.slow
def test_counts_are_one_line_of_json_and_the_exit_code_says_whether_anybody_is_needed(
    shop: Story, patient: dict[str, str]
) -> None:
    for number in range(3):
        item(shop, f"shelves/{number}")
    with Worker(patient, "dispatch_approved", "--format", "json") as worker:
        worker.ends_with(0)
        assert worker.reports() == [{"command": "dispatch_approved", "counts": {"delivered": 3}, "waiting": {}}]
        assert worker.output.count("\n") == 1
        assert worker.complaints == ""


@pytest.mark.slow
def test_an_unknown_outcome_is_counted_and_asks_for_somebody(
    shop: Story, ledger: Ledger, hasty: dict[str, str]
) -> None:
    item(shop)
    ledger.answering.close()
    with Worker(hasty, "dispatch_approved", "--format", "json") as worker:
        worker.ends_with(3)
        assert worker.reports() == [
            {"command": "dispatch_approved", "counts": {"unknown": 1}, "waiting": {"unknown": 1}}
        ]


def _open_second_room(shop: Story, ledger: Ledger) -> None:
    wanted = document(ledger.url)
    room: dict[str, Any] = copy.deepcopy(wanted["rooms"][0])
    annex = channel("annex", ledger.url, concurrency="append", asked=True)
    room |= {"slug": "annex", "name": "The annex", "channels": [{**annex, "account": "annex"}]}
    wanted["rooms"].append(room)
    shop.configure(wanted)


def _approved_in_second_room(shop: Story) -> Draft:
    proposal = Proposal(
        channel="annex", resource="annex/1", operation="item.create", payload={"name": "Key"}, title="One key"
    )
    draft = propose(actor=shop.actor("ada"), clock=shop.clock, room_slug="annex", proposal=proposal)
    shop.decide(draft, "ben")
    shop.decide(draft, "cleo")
    return shop.again(draft)
