"""The workers' beats as single steps, and where a draft stands after them."""

import copy
from typing import Any

from approvals.connectors.base import Receipt
from approvals.models import Attempt, Delivery, DispatchClaim, Draft
from approvals.services import holding, record
from approvals.services.begin import begin, resume
from approvals.services.begin_retract import begin_retract
from approvals.services.give_up import give_up
from approvals.services.holding import Hold
from approvals.services.opening import Begun
from approvals.services.record import Recorded
from approvals.workers import dispatch, reconcile, sweep
from tests.cast import CONFIG, Story
from tests.support.remote import UNKNOWN

REVIEW = "locations/9/reviews/7"
LEASE_SECONDS = 60
GRACE_SECONDS = 120


def send(story: Story, **options: Any) -> dict[str, int]:
    return dict(dispatch.run(concurrency=1, clock=story.clock, **options))


def look(story: Story) -> dict[str, int]:
    """Lets the reconciler do what is due and gives what it saw of deliveries, not of the targets it read besides."""
    counts = reconcile.run(concurrency=1, clock=story.clock)
    return {word: count for word, count in counts.items() if not word.startswith("target_")}


def tidy(story: Story) -> dict[str, int]:
    return dict(sweep.run(clock=story.clock))


def proposed_on(story: Story, channel: str) -> Draft:
    """Gives an approved draft on `tickets` (append) or `replies` (exclusive)."""
    return story.approved(resource=REVIEW) if channel == "replies" else story.approved()


def delivery_of(draft: Draft) -> Delivery:
    return Delivery.objects.get(draft_id=draft.pk)


def claim_of(draft: Draft) -> DispatchClaim:
    return DispatchClaim.objects.get(target_id=draft.target_id)


def attempt_of(draft: Draft, number: int = 1) -> Attempt:
    return Attempt.objects.get(delivery__draft_id=draft.pk, number=number)


def stands(draft: Draft) -> tuple[str, str, str]:
    """Gives the states of a draft, its write and its target's dispatch claim."""
    return Draft.objects.get(pk=draft.pk).state, delivery_of(draft).state, claim_of(draft).state


def seconds_until(story: Story, moment: Any) -> float:
    return (moment - story.clock.now).total_seconds()


def reserve(story: Story, draft: Draft, owner: str = "one") -> Hold:
    hold = holding.reserve(actor=story.worker, clock=story.clock, target_id=draft.target_id, owner=owner)
    assert hold is not None
    return hold


def go(story: Story, hold: Hold) -> Any:
    """Puts a reservation before its gate: gives what `begin` or `resume` says."""
    gates = {"begin": begin, "resume": resume, "begin_retract": begin_retract}
    return gates[hold.gate](actor=story.worker, clock=story.clock, hold=hold)


def stop(story: Story, hold: Hold, answer: Any) -> None:
    give_up(actor=story.worker, clock=story.clock, hold=hold, answer=answer)


def begun(story: Story, draft: Draft) -> Begun:
    """Opens an attempt and leaves it there, as a worker that was killed in the middle of a send does."""
    found = go(story, reserve(story, draft))
    assert isinstance(found, Begun)
    return found


def hand_in(story: Story, attempt: Begun, receipt: Receipt) -> Recorded:
    """Records a receipt, however late it is."""
    return hand_in_for(story, Attempt.objects.get(pk=attempt.attempt_id), receipt)


def hand_in_for(story: Story, attempt: Attempt, receipt: Receipt) -> Recorded:
    return record.record(
        actor=story.worker, clock=story.clock, attempt_id=attempt.pk, token=attempt.token, receipt=receipt
    )


def made_unknown(story: Story, draft: Draft) -> Draft:
    """Sends a draft to a remote that never answers."""
    story.remote.receipts.append(UNKNOWN)
    send(story)
    return story.again(draft)


def proven_absent(story: Story) -> None:
    """Looks twice, as far apart as a proof of absence needs; the remote's answers come from its script."""
    story.clock.advance(seconds=LEASE_SECONDS + 1)
    look(story)
    story.clock.advance(seconds=GRACE_SECONDS)
    look(story)


def change_channel(story: Story, slug: str, **changes: Any) -> None:
    """Applies the cast's configuration with one channel changed."""
    document = copy.deepcopy(CONFIG)
    channel = next(item for item in document["rooms"][0]["channels"] if item["slug"] == slug)
    channel.update(changes)
    story.configure(document)


def deduping_tickets(story: Story) -> None:
    """Makes `tickets` a receiver that dedupes and cannot be asked: the one that is sent to again by itself."""
    change_channel(story, "tickets", idempotent=True, config={"capabilities": []})
