"""What arrives late: a look-up for a delivery that a receipt has settled, and a record that needs many tries."""

import pytest

from approvals.domain.actor import system
from approvals.domain.errors import Unavailable
from approvals.services import checks, reconcile, record
from approvals.workers import dispatch
from tests.cast import Story
from tests.support.remote import ABSENT, REFUSED
from tests.workers.beats import LEASE_SECONDS, begun, delivery_of, stands, tidy


def test_an_absence_says_nothing_about_what_was_refused_meanwhile(story: Story) -> None:
    draft = story.approved()
    sending = begun(story, draft)
    story.clock.advance(seconds=LEASE_SECONDS)
    tidy(story)
    worker = system("reconcile_deliveries")
    check = checks.begin_check(actor=worker, clock=story.clock, delivery_id=delivery_of(draft).pk)
    token = sending.hold.token
    record.record(actor=worker, clock=story.clock, attempt_id=sending.attempt_id, token=token, receipt=REFUSED)
    reconcile.record_lookup(actor=worker, clock=story.clock, check=check, found=ABSENT)
    assert stands(draft) == ("failed", "refused", "idle")
    assert delivery_of(draft).next_check_at is None
    assert story.again(draft).reason == REFUSED.reason


def test_a_receipt_is_recorded_although_the_door_gave_up_once(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    draft = story.approved()
    real, tries = record.record, iter([Unavailable("Too many others.")])

    def first_unavailable(**kwargs):
        for error in tries:
            raise error
        return real(**kwargs)

    monkeypatch.setattr(record, "record", first_unavailable)
    assert dict(dispatch.run(concurrency=1, clock=story.clock)) == {"delivered": 1}
    assert story.again(draft).state == "submitted"
