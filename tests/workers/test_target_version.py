"""A target's version counts the writes to it: once for each, whichever way it became known, and only if exclusive."""

from collections.abc import Callable

import pytest

from approvals.models import Draft, Target
from approvals.services import checks, reconcile
from tests.cast import Story
from tests.support.remote import DELIVERED, FOUND, NOT_SENT, REFUSED, UNKNOWN
from tests.workers.beats import (
    LEASE_SECONDS,
    begun,
    delivery_of,
    hand_in,
    look,
    made_unknown,
    proposed_on,
    send,
    tidy,
)


def by_receipt(story: Story, draft: Draft) -> None:
    send(story)


def by_a_receipt_after_the_sweeper(story: Story, draft: Draft) -> None:
    attempt = begun(story, draft)
    story.clock.advance(seconds=LEASE_SECONDS)
    tidy(story)
    hand_in(story, attempt, DELIVERED)


def by_look_up(story: Story, draft: Draft) -> None:
    made_unknown(story, draft)
    story.remote.lookups.append(FOUND)
    look(story)


def by_held_evidence(story: Story, draft: Draft) -> None:
    attempt = begun(story, draft)
    hand_in(story, attempt, NOT_SENT)
    hand_in(story, attempt, DELIVERED)
    story.remote.lookups.append(FOUND)
    look(story)


def by_receipt_and_two_look_ups(story: Story, draft: Draft) -> None:
    made_unknown(story, draft)
    delivery_id = delivery_of(draft).pk
    slow = checks.begin_check(actor=story.worker, clock=story.clock, delivery_id=delivery_id)
    assert slow is not None
    story.clock.advance(seconds=LEASE_SECONDS)
    story.remote.lookups.append(FOUND)
    look(story)
    reconcile.record_lookup(actor=story.worker, clock=story.clock, check=slow, found=FOUND)


PATHS = [by_receipt, by_a_receipt_after_the_sweeper, by_look_up, by_held_evidence, by_receipt_and_two_look_ups]
Path = Callable[[Story, Draft], None]


@pytest.mark.parametrize("path", PATHS)
def test_a_delivered_write_counts_once(story: Story, path: Path) -> None:
    draft = proposed_on(story, "replies")
    path(story, draft)
    assert story.again(draft).state == "submitted"
    assert Target.objects.get(pk=draft.target_id).version == 2


@pytest.mark.parametrize("path", PATHS)
def test_a_write_that_overwrites_nothing_does_not_count(story: Story, path: Path) -> None:
    draft = proposed_on(story, "tickets")
    path(story, draft)
    assert story.again(draft).state == "submitted"
    assert Target.objects.get(pk=draft.target_id).version == 1


@pytest.mark.parametrize("receipt", [REFUSED, NOT_SENT, UNKNOWN], ids=lambda receipt: receipt.outcome)
def test_only_what_was_delivered_counts(story: Story, receipt: object) -> None:
    draft = proposed_on(story, "replies")
    story.remote.receipts.append(receipt)  # type: ignore[arg-type]
    send(story)
    assert Target.objects.get(pk=draft.target_id).version == 1


@pytest.mark.parametrize("path", [by_receipt, by_look_up])
def test_a_counted_write_sends_the_targets_other_drafts_back_to_review(story: Story, path: Path) -> None:
    draft = proposed_on(story, "replies")
    story.clock.advance(seconds=1)
    pending, approved = story.propose(resource=draft.target.resource), proposed_on(story, "replies")
    old = {story.approval(pending).pk, story.approval(approved).pk}
    path(story, draft)
    for other in (pending, approved):
        fresh = story.approval(other)
        assert (story.again(other).state, fresh.state, fresh.target_version) == ("in_review", "pending", 2)
        assert fresh.pk not in old
