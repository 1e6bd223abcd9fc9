"""What the tests of this folder do over and over: propose, look where things stand, let time pass."""

from datetime import timedelta
from typing import Any

from django.db.models import F

from approvals.models import Attempt, Delivery, DispatchClaim, Draft
from approvals.models.clock import database_now
from approvals.workers import dispatch, reconcile, sweep
from tests.cast import Story
from tests.support.processes import until
from tests.support.workers import LONGEST_SECONDS, Worker

ONCE = ("dispatch_approved", "--once", "--concurrency", "1", "--format", "json")


def item(story: Story, resource: str = "shelves/1", **more: Any) -> Draft:
    """Gives an approved item for a target; its channel is the resource's first part."""
    where = {"channel": resource.partition("/")[0], "resource": resource, "operation": "item.create"}
    return story.approved(**where, payload={"name": "Key"}, **more)


def dispatcher(environment: dict[str, str], *words: str, **arranged: Any) -> Worker:
    """Gives one beat of the real dispatcher, for one target after the other."""
    return Worker(environment, *ONCE, *words, **arranged)


def send() -> dict[str, int]:
    """Has this process dispatch what is due, as one worker more."""
    return dict(dispatch.run(concurrency=1))


def tidy() -> dict[str, int]:
    return dict(sweep.run())


def look() -> dict[str, int]:
    """Has this process look up and read back what is due; what it reads of targets for reviewers is left out."""
    found = reconcile.run(concurrency=1)
    return {word: number for word, number in found.items() if not word.startswith("target_")}


def until_done(true: Any) -> Any:
    return until(true, seconds=LONGEST_SECONDS)


def claim_of(draft: Draft) -> DispatchClaim:
    return DispatchClaim.objects.get(target_id=draft.target_id)


def attempts_of(draft: Draft) -> list[tuple[int, str]]:
    """Gives number and outcome of each attempt; an open one has none."""
    return list(Attempt.objects.filter(delivery__draft=draft).order_by("number").values_list("number", "outcome"))


def stands(draft: Draft) -> tuple[str, str, str]:
    """Gives the states of a draft, its write ("" before there is one) and its target's dispatch claim."""
    delivery = Delivery.objects.filter(draft=draft).first()
    return Draft.objects.get(pk=draft.pk).state, delivery.state if delivery else "", claim_of(draft).state


def lease_is_over(draft: Draft) -> None:
    """Ends the lease on a draft's target without waiting: for where nobody is left who would notice."""
    DispatchClaim.objects.filter(target_id=draft.target_id).update(lease_until=F("changed_at") - timedelta(seconds=1))


def lease_ends(draft: Draft) -> None:
    """Waits until the lease on a draft's target is over, by the clock that decides."""
    lease_until = claim_of(draft).lease_until
    assert lease_until is not None
    until_done(lambda: lease_until <= database_now())
