"""Deleting a reply: only ours, and only while it stands there."""

import pytest

from approvals.connectors.base import Deadline
from approvals.connectors.conformance import Reply, Verb
from tests.connectors.google_business.standin import error, quota


@pytest.fixture
def written(send, job):
    send(job)
    return job


def deletions(storefront):
    return [asked.path for asked in storefront.asked if asked.method == "DELETE"]


def test_a_reply_is_deleted(ask, written, storefront):
    assert ask("retract", written).outcome == "delivered"
    assert storefront.reply is None


def test_a_reply_that_is_gone_needs_no_deletion(ask, written, storefront):
    storefront.reply = None
    assert ask("retract", written).outcome == "delivered"
    assert deletions(storefront) == []


def test_a_reply_that_goes_at_this_moment_is_gone(ask, written, storefront):
    storefront.says[Verb.RETRACT] = [error(404, "Requested entity was not found.")]
    assert ask("retract", written).outcome == "delivered"


def test_with_the_review_goes_its_reply(ask, written, storefront):
    storefront.has_review = False
    assert ask("retract", written).outcome == "delivered"


def test_the_reply_of_somebody_else_is_not_deleted(ask, written, storefront):
    storefront.write("Somebody else wrote this.")
    assert ask("retract", written).outcome == "refused"
    assert deletions(storefront) == []


def test_whatever_is_said_to_be_the_id_only_our_reply_is_deleted(ask, written, storefront):
    written.remote_id = "../../../reviews/other"
    ask("retract", written)
    assert deletions(storefront) == ["/v4/accounts/1042/locations/77/reviews/AbFvOqk-_3%3D/reply"]


def test_a_reading_that_fails_deletes_nothing(ask, written, storefront):
    storefront.says[Verb.READ] = [error(503, "Try again.")]
    receipt = ask("retract", written)
    assert (receipt.outcome, receipt.pause, deletions(storefront)) == ("not_sent", False, [])


def test_a_reading_that_is_not_understood_deletes_nothing(ask, written, storefront):
    storefront.says[Verb.READ] = [Reply(200, {})]
    assert ask("retract", written).outcome == "not_sent"
    assert deletions(storefront) == []


def test_a_reading_that_is_not_allowed_pauses(ask, written, storefront):
    storefront.says[Verb.READ] = [error(403, "The caller does not have permission.")]
    receipt = ask("retract", written)
    assert (receipt.outcome, receipt.pause) == ("not_sent", True)


def test_a_reading_that_is_refused_is_a_no(ask, written, storefront):
    """It would be refused for ever: better a person hears of it than that it waits."""
    storefront.says[Verb.READ] = [error(400, "Request contains an invalid argument.")]
    assert ask("retract", written).outcome == "refused"


@pytest.mark.parametrize("verb", [Verb.READ, Verb.RETRACT])
def test_a_quota_that_is_used_up_waits(ask, written, storefront, verb):
    storefront.says[verb] = [quota(403, headers={"Retry-After": "9"})]
    receipt = ask("retract", written)
    assert (receipt.outcome, receipt.pause, receipt.retry_after_seconds) == ("not_sent", False, 9.0)


def test_reading_and_deleting_share_one_deadline(connector, written, run, storefront):
    times = iter([0.0, 0.0, 0.0, 0.0, 6.0])
    deadline = Deadline(5.0, clock=lambda: next(times, 6.0))
    receipt = run(connector.retract(written, deadline))
    assert (receipt.outcome, deletions(storefront)) == ("not_sent", [])
