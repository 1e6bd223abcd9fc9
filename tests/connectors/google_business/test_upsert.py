"""Writing a reply: what Google's answers to the upsert mean."""

import json
from datetime import UTC, datetime

import pytest

from approvals.connectors.conformance import Reply, Verb
from tests.connectors.google_business.standin import error, quota

NOW = "2026-11-30T12:00:00Z"


def test_a_reply_is_written(send, job, storefront):
    receipt = send(job)
    assert (receipt.outcome, receipt.remote_id) == ("delivered", f"{storefront.name}/reply")
    assert storefront.reply["comment"] == job.binding.payload["comment"]


def test_a_second_send_leaves_the_same_reply(send, job, storefront):
    assert [send(job).outcome for _ in range(2)] == ["delivered"] * 2
    assert storefront.effects == 1


def test_blanks_that_google_takes_off_are_no_other_reply(send, google, storefront):
    storefront.trims = True
    job = google.job("two\r\nlines")
    assert send(job).outcome == "delivered"


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"updateTime": NOW},
        {"comment": 4, "updateTime": NOW},
        {"comment": "Something else.", "updateTime": NOW},
        ["comment"],
        {"error": {"code": 500}},
    ],
)
def test_a_success_about_something_else_is_unknown(send, job, storefront, document):
    storefront.says[Verb.SEND] = [Reply(200, document)]
    assert send(job).outcome == "unknown"


@pytest.mark.parametrize("time", [{}, {"updateTime": "soon"}, {"updateTime": "2026-11-30T12:00:00"}])
def test_an_echo_of_what_was_sent_is_unknown(send, job, storefront, time):
    storefront.says[Verb.SEND] = [Reply(200, {**job.binding.payload, **time})]
    assert send(job).outcome == "unknown"


@pytest.mark.parametrize("status", [201, 202, 204])
def test_another_success_than_google_documents_is_unknown(send, job, storefront, status):
    document = None if status == 204 else {**job.binding.payload, "updateTime": NOW}
    storefront.says[Verb.SEND] = [Reply(status, document)]
    assert send(job).outcome == "unknown"


def test_a_deleted_review_is_refused_in_googles_words(send, job, storefront):
    storefront.has_review = False
    receipt = send(job)
    assert (receipt.outcome, receipt.pause) == ("refused", False)
    assert "Requested entity was not found." in receipt.reason


def test_what_google_finds_too_long_is_refused(send, job, storefront):
    storefront.says[Verb.SEND] = [error(400, "Request contains an invalid argument.")]
    assert send(job).outcome == "refused"


def test_no_permission_pauses(send, job, storefront):
    storefront.says[Verb.SEND] = [error(403, "The caller does not have permission.")]
    receipt = send(job)
    assert (receipt.outcome, receipt.pause) == ("not_sent", True)


QUOTA = {
    "429": quota(),
    "403 with the status": quota(403),
    "403 rateLimitExceeded": error(
        403, "Slow down.", errors=[{"domain": "usageLimits", "reason": "rateLimitExceeded"}]
    ),
    "403 userRateLimitExceeded": error(403, "Slow down.", errors=[{"reason": "userRateLimitExceeded"}]),
    "403 quotaExceeded": error(403, "No more today.", errors=[{"reason": "quotaExceeded"}]),
    "403 dailyLimitExceeded": error(403, "No more today.", errors=[{"reason": "dailyLimitExceeded"}]),
    "403 by ErrorInfo": error(403, "Slow down.", details=[{"reason": "RATE_LIMIT_EXCEEDED"}]),
}


@pytest.mark.parametrize("answer", QUOTA.values(), ids=QUOTA.keys())
def test_a_quota_that_is_used_up_waits_and_pauses_nothing(send, job, storefront, answer):
    storefront.says[Verb.SEND] = [answer]
    receipt = send(job)
    assert (receipt.outcome, receipt.pause, storefront.effects) == ("not_sent", False, 0)


WAITS = {
    "Retry-After": (quota(headers={"Retry-After": "17"}), 17.0),
    "Retry-After of a 403": (quota(403, headers={"Retry-After": "17"}), 17.0),
    "RetryInfo": (quota(details=[{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "12.5s"}]), 12.5),
    "an endless RetryInfo": (quota(details=[{"retryDelay": "999999999s"}]), 3600.0),
    "an unreadable RetryInfo": (quota(details=[{"retryDelay": "soon"}, 4, {"retryDelay": None}]), None),
    "nothing": (quota(), None),
}


@pytest.mark.parametrize(("answer", "seconds"), WAITS.values(), ids=WAITS.keys())
def test_the_time_google_asks_for_is_kept(send, job, storefront, answer, seconds):
    storefront.says[Verb.SEND] = [answer]
    assert send(job).retry_after_seconds == seconds


def test_a_quota_answer_of_a_broken_server_stays_unknown(send, job, storefront):
    storefront.says[Verb.SEND] = [error(503, "Quota?", word="RESOURCE_EXHAUSTED")]
    assert send(job).outcome == "unknown"


def test_googles_words_show_no_token(send, job, storefront, tokens):
    send(job)
    storefront.says[Verb.SEND] = [error(400, f"Bad token {tokens.issued[0]} for {tokens.refresh_token}.")]
    receipt = send(job)
    shown = receipt.reason + json.dumps(receipt.evidence)
    assert tokens.issued[0] not in shown
    assert tokens.refresh_token not in shown


def test_the_body_that_goes_out_is_the_approved_slice(send, job, storefront):
    send(job)
    assert storefront.asked[-1].body == job.binding.payload_bytes == job.request.body


def test_a_reply_written_at_a_distant_time_is_still_ours(send, job, storefront):
    """The time is Google's; ours may be wrong."""
    shown = {**job.binding.payload, "updateTime": datetime(2001, 1, 1, tzinfo=UTC).isoformat()}
    storefront.says[Verb.SEND] = [Reply(200, shown)]
    assert send(job).outcome == "delivered"
