"""Brings a draft into each state by lawful steps only: services, and workers against the scripted remote."""

from collections.abc import Callable

from django.conf import settings

from approvals.domain.actor import system
from approvals.domain.gate import Verdict
from approvals.domain.states import DraftState as T
from approvals.models import Draft
from approvals.services.expire import expire
from approvals.services.retract import retract
from approvals.services.revoke import revoke
from approvals.workers import dispatch, reconcile
from tests.cast import Story
from tests.support.remote import ACCEPTED, GONE, NOT_SENT, REFUSED, UNKNOWN, Receipt, Verification

REVIEW = "locations/9/reviews/7"


def send(story: Story) -> dict[str, int]:
    """Lets the dispatcher do all that is due."""
    return dict(dispatch.run(concurrency=1, clock=story.clock))


def read_back(story: Story) -> dict[str, int]:
    """Lets the reconciler do all that is due."""
    return dict(reconcile.run(concurrency=1, clock=story.clock))


def rest(story: Story) -> dict[str, int]:
    """Lets the horizon of whatever is in flight pass, then reads back."""
    story.clock.advance(seconds=settings.REVIEWROOM_LEASE_SECONDS + settings.REVIEWROOM_ABSENT_GRACE_SECONDS)
    return read_back(story)


def published(story: Story) -> Draft:
    """Gives a confirmed reply on the one channel of the cast that can retract and correct."""
    draft = story.approved(resource=REVIEW)
    story.remote.receipts = []
    send(story)
    read_back(story)
    return draft


def _draft(story: Story) -> Draft:
    return story.propose(submit=False)


def _in_review(story: Story) -> Draft:
    """One of two approvals given: one more completes it."""
    draft = story.propose()
    story.decide(draft, "ben")
    return draft


def _decided(verdict: Verdict) -> Callable[[Story], Draft]:
    def build(story: Story) -> Draft:
        draft = story.propose()
        story.decide(draft, "ben", verdict)
        return draft

    return build


def _expired(story: Story) -> Draft:
    draft = story.propose()
    story.clock.now = story.approval(draft).expires_at
    assert expire(approval_id=story.approval(draft).pk, actor=system("sweep_expired"), clock=story.clock)
    return draft


def _revoked(story: Story) -> Draft:
    draft = story.propose()
    approval_id = story.approval(draft).pk
    revoke(actor=story.actor("ben"), clock=story.clock, approval_id=approval_id, reason="Not now.")
    return draft


def _sent(receipt: Receipt | None = None) -> Callable[[Story], Draft]:
    def build(story: Story) -> Draft:
        draft = story.approved()
        story.remote.receipts = [receipt] if receipt else []
        send(story)
        return draft

    return build


def _confirmed(story: Story) -> Draft:
    draft = _sent()(story)
    read_back(story)
    return draft


def _retracting(story: Story) -> Draft:
    """A published reply whose undoing waits for its first attempt."""
    draft = published(story)
    retract(actor=story.actor("ben"), clock=story.clock, draft_id=draft.pk, reason="Wrong shop.")
    return draft


def _undone(receipt: Receipt, *seen: Verification) -> Callable[[Story], Draft]:
    def build(story: Story) -> Draft:
        draft = _retracting(story)
        story.remote.retractions = [receipt]
        story.remote.verifications = list(seen)
        send(story)
        if seen:
            rest(story)
        return draft

    return build


BUILD: dict[T, Callable[[Story], Draft]] = {
    T.DRAFT: _draft,
    T.IN_REVIEW: _in_review,
    T.CHANGES_REQUESTED: _decided(Verdict.REQUEST_CHANGES),
    T.APPROVED: Story.approved,
    T.REJECTED: _decided(Verdict.REJECT),
    T.EXPIRED: _expired,
    T.REVOKED: _revoked,
    T.SUBMITTING: _sent(NOT_SENT),
    T.SUBMITTED: _sent(),
    T.CONFIRMED: _confirmed,
    T.DELIVERY_UNKNOWN: _sent(UNKNOWN),
    T.FAILED: _sent(REFUSED),
    T.RETRACTING: _retracting,
    T.RETRACTED: _undone(ACCEPTED, GONE),
    T.RETRACTION_UNKNOWN: _undone(UNKNOWN),
    T.RETRACTION_FAILED: _undone(REFUSED),
}


def build(story: Story, state: T) -> Draft:
    """Gives a draft in `state`, fetched anew."""
    draft = story.again(BUILD[state](story))
    assert draft.state == state
    return draft
