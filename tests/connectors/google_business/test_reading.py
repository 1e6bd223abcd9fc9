"""Look-up, read-back and reading: whose reply stands there, and is it published?"""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from approvals.connectors.conformance import Reply, Verb
from tests.connectors.google_business.standin import error, quota

BEGUN = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.fixture
def unknown(job):
    """A delivery whose outcome nobody knows."""
    return replace(job, begun_at=BEGUN)


def test_the_approved_reply_is_found(ask, unknown, storefront):
    storefront.write(unknown.binding.payload["comment"])
    found = ask("lookup", unknown)
    assert (found.sighting, found.remote_id) == ("found", f"{storefront.name}/reply")


def test_an_approved_reply_that_google_holds_back_is_found(ask, unknown, storefront):
    storefront.moderation = "REJECTED"
    storefront.write(unknown.binding.payload["comment"])
    assert ask("lookup", unknown).sighting == "found"


def test_no_reply_is_absent(ask, unknown):
    assert ask("lookup", unknown).sighting == "absent"


@pytest.mark.parametrize(
    ("seconds", "sighting"), [(-86400, "absent"), (-121, "absent"), (-120, "unknown"), (0, "unknown"), (60, "unknown")]
)
def test_another_reply_is_absence_only_if_it_is_clearly_older(ask, unknown, storefront, seconds, sighting):
    storefront.write("Another text.", BEGUN + timedelta(seconds=seconds))
    found = ask("lookup", unknown)
    assert (found.sighting, found.remote_id) == (sighting, None)


def test_another_reply_that_may_be_newer_asks_for_a_person(ask, unknown, storefront):
    storefront.write("Another text.", BEGUN + timedelta(seconds=5))
    assert "overwrite" in ask("lookup", unknown).reason


def test_another_reply_is_unknown_where_nothing_says_when_we_began(ask, unknown, storefront):
    storefront.write("Another text.", BEGUN - timedelta(days=9))
    assert ask("lookup", replace(unknown, begun_at=None)).sighting == "unknown"


@pytest.mark.parametrize("time", [None, "yesterday", "2020-11-30T12:00:00", 4])
def test_another_reply_is_unknown_where_its_time_cannot_be_read(ask, unknown, storefront, time):
    storefront.write("Another text.")["updateTime"] = time
    assert ask("lookup", unknown).sighting == "unknown"


def test_a_time_in_nanoseconds_is_read(ask, unknown, storefront):
    storefront.write("Another text.")["updateTime"] = "2026-11-01T10:00:00.123456789Z"
    assert ask("lookup", unknown).sighting == "absent"


def test_a_deleted_review_holds_no_reply(ask, unknown, storefront):
    storefront.has_review = False
    assert ask("lookup", unknown).sighting == "absent"


ALIEN = {
    "nothing": Reply(200, {}),
    "a list": Reply(200, []),
    "a reply instead of a review": Reply(200, {"comment": "x", "updateTime": "2026-11-30T12:00:00Z"}),
    "another review": Reply(200, {"name": "accounts/1042/locations/77/reviews/other"}),
    "the same review of another place": Reply(200, {"name": "accounts/1042/locations/77/photos/AbFvOqk-_3="}),
    "a name that is none": Reply(200, {"name": 4}),
    "HTML": Reply(200, "<html>Welcome</html>"),
    "a 404 that is not Google's": Reply(404, "<html>Not found</html>"),
    "a 404 of another kind": error(404, "No such method.", word="UNIMPLEMENTED"),
    "NOT_FOUND with another status": error(500, "Hm.", word="NOT_FOUND"),
    "another success": Reply(206, {"name": "accounts/1042/locations/77/reviews/AbFvOqk-_3="}),
    "a quota": quota(),
    "no permission": error(403, "The caller does not have permission."),
}


@pytest.mark.parametrize("answer", ALIEN.values(), ids=ALIEN.keys())
@pytest.mark.parametrize(
    ("verb", "field", "value"),
    [("lookup", "sighting", "unknown"), ("verify", "match", "unknown"), ("read", "known", False)],
)
def test_an_answer_that_is_not_this_review_says_nothing(ask, unknown, storefront, answer, verb, field, value):
    storefront.says[Verb.READ] = [answer]
    assert getattr(ask(verb, unknown), field) == value


@pytest.mark.parametrize("reply", [{}, {"comment": None}, "text", []])
def test_a_reply_without_its_text_says_nothing(ask, unknown, storefront, reply):
    storefront.says[Verb.READ] = [Reply(200, {"name": storefront.name, "reviewReply": reply})]
    assert ask("lookup", unknown).sighting == "unknown"


def test_the_approved_reply_reads_back_equal(ask, job, storefront):
    storefront.write(job.binding.payload["comment"])
    assert ask("verify", job).match == "equal"


@pytest.mark.parametrize("change", [str.strip, lambda text: f" {text}\n", lambda text: text.replace("\n", "\r\n")])
def test_line_ends_and_outer_blanks_read_back_equal(ask, job, storefront, change):
    storefront.write(change(job.binding.payload["comment"]))
    assert ask("verify", job).match == "equal"


def test_a_rewritten_blank_is_told(ask, job, storefront):
    storefront.write(job.binding.payload["comment"] + "\n")
    assert "blanks" in ask("verify", job).reason


@pytest.mark.parametrize(
    "change",
    [str.upper, lambda text: text.replace(", ", ",  "), lambda text: text.replace("é", "e\u0301"), lambda _: "?"],
)
def test_another_text_reads_back_as_another(ask, job, storefront, change):
    storefront.write(change(job.binding.payload["comment"]))
    assert ask("verify", job).match == "differs"


def test_a_reply_that_google_rejected_is_not_what_was_approved(ask, job, storefront):
    storefront.moderation = "REJECTED"
    storefront.write(job.binding.payload["comment"])["policyViolation"] = "PROFANITY"
    seen = ask("verify", job)
    assert (seen.match, "PROFANITY" in seen.reason) == ("differs", True)


def test_a_reply_that_google_is_still_checking_is_not_confirmed_yet(ask, job, storefront):
    storefront.moderation = "PENDING"
    storefront.write(job.binding.payload["comment"])
    assert ask("verify", job).match == "unknown"


@pytest.mark.parametrize("state", ["APPROVED", "REVIEW_REPLY_STATE_UNSPECIFIED", "LATER_ADDITION", 4])
def test_a_reply_in_any_other_state_is_confirmed(ask, job, storefront, state):
    storefront.moderation = state
    storefront.write(job.binding.payload["comment"])
    assert ask("verify", job).match == "equal"


@pytest.mark.parametrize("state", ["PENDING", "REJECTED"])
def test_a_reply_that_was_to_be_deleted_is_there_whether_published_or_not(ask, job, storefront, state):
    storefront.moderation = state
    storefront.write(job.binding.payload["comment"])
    assert ask("verify", replace(job, retraction_id=uuid4())).match == "equal"


def test_no_reply_reads_back_gone(ask, job):
    assert ask("verify", job).match == "gone"


def test_a_deleted_review_reads_back_gone(ask, job, storefront):
    storefront.has_review = False
    assert ask("verify", job).match == "gone"


def test_the_reply_of_somebody_else_is_shown_with_its_time(ask, job, storefront):
    storefront.write("Written in a browser.", BEGUN)
    seen = ask("read", job)
    assert (seen.known, seen.content) == (True, {"comment": "Written in a browser."})
    assert "2026-11-30 12:00:00 UTC" in seen.reason


def test_a_review_without_reply_is_known_to_have_none(ask, job):
    seen = ask("read", job)
    assert (seen.known, seen.content) == (True, None)


def test_a_deleted_review_is_known_to_hold_nothing(ask, job, storefront):
    storefront.has_review = False
    seen = ask("read", job)
    assert (seen.known, seen.content) == (True, None)


def test_a_reading_shows_no_token(ask, job, storefront, tokens):
    ask("read", job)
    storefront.write(f"Somebody pasted {tokens.issued[0]} here.")
    seen = ask("read", job)
    assert tokens.issued[0] not in json.dumps([seen.content, seen.evidence])
