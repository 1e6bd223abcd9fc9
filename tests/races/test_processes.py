"""Two real workers and one real remote: what leaves, leaves once."""

from datetime import timedelta

import pytest
from django.db.models import F

from approvals.models import Delivery, DispatchClaim, Draft
from approvals.workers import dispatch, reconcile, sweep
from tests.cast import Story
from tests.support.http_server import Items
from tests.support.processes import beat, side_by_side, until

AHEAD = """
import time
from datetime import timedelta
from django.utils import timezone
from approvals.workers import sweep
real_time, real_now = time.time, timezone.now
time.time = lambda: real_time() + 600
timezone.now = lambda: real_now() + timedelta(minutes=10)
run_alone = beat.run
beat.run = lambda **options: sweep.run() + run_alone(**options)
"""


def item(story: Story, name: str = "Key") -> Draft:
    return story.approved(channel="items", operation="item.create", payload={"name": name, "price": 1.0})


def lease_runs_out(draft: Draft) -> None:
    """Lets the time of a lease pass without waiting for it."""
    DispatchClaim.objects.filter(target_id=draft.target_id).update(lease_until=F("changed_at") - timedelta(seconds=1))


def states(draft: Draft) -> tuple[str, str]:
    return Draft.objects.get(pk=draft.pk).state, Delivery.objects.get(draft_id=draft.pk).state


@pytest.mark.slow
def test_two_workers_race_for_one_write_and_one_of_them_sends_it(
    shop: Story, items: Items, elsewhere: dict[str, str]
) -> None:
    draft = item(shop)
    first, second = (beat("dispatch", elsewhere) for _ in range(2))
    with side_by_side(first, second):
        counts = [first.counts(), second.counts()]
    assert sum(found.get("delivered", 0) for found in counts) == 1
    assert len(items.made) == 1
    assert states(draft) == ("submitted", "delivered")


@pytest.mark.slow
def test_two_workers_share_a_queue_and_nothing_is_sent_twice(
    shop: Story, items: Items, elsewhere: dict[str, str]
) -> None:
    drafts = [item(shop, f"Key {number}") for number in range(6)]
    first, second = (beat("dispatch", elsewhere) for _ in range(2))
    with side_by_side(first, second):
        first.counts()
        second.counts()
    dispatch.run(concurrency=1)
    assert len(items.made) == len({posted.key for posted in items.made}) == 6
    assert {states(draft) for draft in drafts} == {("submitted", "delivered")}


def test_the_remote_gets_the_approved_bytes(shop: Story, items: Items) -> None:
    draft = item(shop, "Schlüssel")
    dispatch.run(concurrency=1)
    assert items.made[0].body == '{"name":"Schlüssel","price":1}'.encode()
    assert items.made[0].headers["reviewroom-digest"] == shop.approval(draft).digest


@pytest.mark.slow
def test_what_a_killed_worker_leaves_is_looked_up_and_never_sent_again(
    shop: Story, items: Items, elsewhere: dict[str, str]
) -> None:
    draft = item(shop)
    items.answering.close()
    with beat("dispatch", elsewhere) as worker:
        worker.wait_for("ready").go()
        until(lambda: items.made)
        worker.kill()  # after the remote's act, before a note of it
    items.answering.open()
    assert states(draft) == ("submitting", "sending")
    assert shop.approval(draft).state == "consumed"
    assert dict(dispatch.run(concurrency=1)) == dict(sweep.run()) == {}
    lease_runs_out(draft)
    assert dict(dispatch.run(concurrency=1)) == {}
    assert dict(sweep.run()) == {"unknown": 1}
    assert dict(dispatch.run(concurrency=1)) == {}
    assert states(draft) == ("delivery_unknown", "unknown")
    assert dict(reconcile.run(concurrency=1)) == {"found": 1}
    assert states(draft) == ("submitted", "delivered")
    assert len(items.made) == 1


@pytest.mark.slow
def test_a_worker_whose_clock_is_ahead_steals_no_live_lease(
    shop: Story, items: Items, elsewhere: dict[str, str]
) -> None:
    draft = item(shop)
    items.answering.close()
    with beat("dispatch", elsewhere) as worker, beat("dispatch", elsewhere, prelude=AHEAD) as thief:
        worker.wait_for("ready").go()
        until(lambda: items.made)
        thief.wait_for("ready").go()
        assert thief.counts() == {}
        items.answering.open()
        assert worker.counts() == {"delivered": 1}
    assert states(draft) == ("submitted", "delivered")
    assert len(items.made) == 1
