"""Reading drafts: the document, its ETag, waiting for a change, and lists."""

import threading

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from approvals.api import waiting
from approvals.api.documents import DraftDocument
from approvals.domain.gate import Verdict
from approvals.models import Approval, Draft, Membership
from tests.services import states

pytestmark = pytest.mark.django_db


def test_a_draft_is_read_with_its_etag(api):
    draft = api.propose().json()
    answer = api.get(draft["links"]["self"])
    assert answer.json() == draft
    assert answer["ETag"] == f'"1.{Draft.objects.get().seq}"'


def test_a_decision_moves_the_etag_but_not_the_version(api):
    draft = api.propose().json()
    before = api.get(draft["links"]["self"])["ETag"]
    api.decide(draft, by="ben")
    after = api.get(draft["links"]["self"])["ETag"]
    assert before != after
    assert before.split(".")[0] == after.split(".")[0]


@pytest.mark.parametrize("form", ["{}", "W/{}", "*"])
def test_an_unchanged_draft_is_304(api, form):
    draft = api.propose()
    answer = api.get(draft.json()["links"]["self"], If_None_Match=form.format(draft["ETag"]))
    assert (answer.status_code, answer.content, answer["ETag"]) == (304, b"", draft["ETag"])


def test_a_changed_draft_is_answered_whole(api):
    draft = api.propose()
    api.decide(draft.json(), by="ben")
    assert api.get(draft.json()["links"]["self"], If_None_Match=draft["ETag"]).status_code == 200


def test_head_is_get_without_the_body(api):
    draft = api.propose()
    answer = api.call("HEAD", draft.json()["links"]["self"])
    assert (answer.status_code, answer.content, answer["ETag"]) == (200, b"", draft["ETag"])


def test_decisions_are_listed_with_who_and_on_what(api):
    draft = api.propose().json()
    decided = api.decide(draft, by="ben", comment="Good.").json()
    assert decided["decisions"] == [
        {
            "reviewer": "ben",
            "verdict": "approve",
            "comment": "Good.",
            "version": 1,
            "decided_at": "2026-11-30T12:00:00.000000Z",
        }
    ]


def test_approvals_are_counted_anew(api):
    draft = api.propose().json()
    api.decide(draft, by="ben")
    Membership.objects.filter(user__username="ben").update(is_reviewer=False)
    read = api.get(draft["links"]["self"]).json()
    assert read["approval"]["approvals_counted"] == 0
    assert read["decisions"][0]["reviewer"] == "ben"


def test_an_approved_draft_says_when_it_may_go_out(api, story):
    draft = story.approved()
    assert api.get(f"/v1/drafts/{draft.pk}").json()["dispatch_at"] == "2026-11-30T12:00:00.000000Z"


def test_a_sent_draft_shows_its_delivery(submitted):
    assert submitted["state"] == "submitted"
    assert submitted["delivery"] | {"id": ""} == {
        "id": "",
        "state": "delivered",
        "remote_id": "issue42",
        "verification": None,
        "held_at": None,
    }
    assert (submitted["retraction"], submitted["dispatch_at"]) == (None, None)


@pytest.mark.parametrize("state", states.BUILD)
def test_a_draft_in_every_state_fits_the_documented_form(api, story, state):
    draft = states.build(story, state)
    answer = api.get(f"/v1/drafts/{draft.pk}")
    assert DraftDocument.model_validate_json(answer.content).state == state


def test_an_overdue_draft_reads_as_expired_and_is_written_down_so(api, story):
    draft = api.propose().json()
    story.clock.advance(days=7)
    assert api.get(draft["links"]["self"]).json()["state"] == "expired"
    assert (Draft.objects.get().state, Approval.objects.get().state) == ("expired", "expired")


def test_one_second_earlier_it_is_still_in_review(api, story):
    draft = api.propose().json()
    story.clock.advance(days=7, seconds=-1)
    assert api.get(draft["links"]["self"]).json()["state"] == "in_review"


def test_an_overdue_draft_is_news_to_a_reader_who_had_it(api, story):
    draft = api.propose()
    story.clock.advance(days=7)
    assert api.get(draft.json()["links"]["self"], If_None_Match=draft["ETag"]).json()["state"] == "expired"


def test_waiting_ends_with_the_change(api, monkeypatch):
    draft = api.propose()
    naps = []

    def nap(seconds):
        naps.append(seconds)
        if len(naps) == 2:
            api.decide(draft.json(), by="ben")

    monkeypatch.setattr(waiting, "pause", nap)
    answer = api.get(draft.json()["links"]["self"] + "?wait=30", If_None_Match=draft["ETag"])
    assert (answer.status_code, answer.json()["decisions"][0]["reviewer"]) == (200, "ben")
    assert naps == [0.3, 0.3]


def test_waiting_without_a_change_ends_in_304(api, monkeypatch):
    draft = api.propose()
    ticks = iter([0.0, 0.0, 0.5, 1.5])
    monkeypatch.setattr(waiting.time, "monotonic", lambda: next(ticks))
    monkeypatch.setattr(waiting, "pause", lambda seconds: None)
    answer = api.get(draft.json()["links"]["self"] + "?wait=1", If_None_Match=draft["ETag"])
    assert (answer.status_code, answer.has_header("Retry-After")) == (304, False)


def test_waiting_ends_when_the_time_of_the_approval_runs_out(api, story, monkeypatch):
    draft = api.propose()
    monkeypatch.setattr(waiting, "pause", lambda seconds: story.clock.advance(days=7))
    answer = api.get(draft.json()["links"]["self"] + "?wait=30", If_None_Match=draft["ETag"])
    assert answer.json()["state"] == "expired"


def test_whoever_has_another_etag_does_not_wait(api, monkeypatch):
    draft = api.propose().json()
    monkeypatch.setattr(waiting, "pause", lambda seconds: pytest.fail("waited"))
    assert api.get(draft["links"]["self"] + "?wait=30", If_None_Match='"0.0"').status_code == 200


def test_when_all_places_are_taken_nobody_waits(api, monkeypatch):
    draft = api.propose()
    monkeypatch.setattr(waiting, "PLACES", threading.BoundedSemaphore(1))
    monkeypatch.setattr(waiting, "pause", lambda seconds: pytest.fail("waited"))
    waiting.PLACES.acquire()
    answer = api.get(draft.json()["links"]["self"] + "?wait=30", If_None_Match=draft["ETag"])
    assert (answer.status_code, answer["Retry-After"]) == (304, "5")


def test_a_place_is_given_back(api, monkeypatch):
    draft = api.propose()
    monkeypatch.setattr(waiting, "PLACES", threading.BoundedSemaphore(1))
    monkeypatch.setattr(waiting, "pause", lambda seconds: api.decide(draft.json(), by="ben"))
    api.get(draft.json()["links"]["self"] + "?wait=30", If_None_Match=draft["ETag"])
    assert waiting.PLACES.acquire(blocking=False)


def test_who_loses_the_room_while_waiting_learns_nothing(api, monkeypatch):
    draft = api.propose()

    def nap(seconds):
        api.decide(draft.json(), by="ben")
        Membership.objects.filter(user__username="ada").delete()

    monkeypatch.setattr(waiting, "pause", nap)
    assert api.get(draft.json()["links"]["self"] + "?wait=30", If_None_Match=draft["ETag"]).status_code == 404


@pytest.mark.parametrize("wait", ["-1", "61", "x"])
def test_waiting_has_bounds(api, wait):
    draft = api.propose().json()
    answer = api.get(f"{draft['links']['self']}?wait={wait}")
    assert (answer.status_code, answer.json()["parameter"]) == (422, "wait")


def test_the_list_is_newest_first_and_in_pages(api):
    drafts = [api.propose().json()["id"] for _ in range(5)]
    first = api.get("/v1/drafts?limit=3").json()
    second = api.get(f"/v1/drafts?limit=3&cursor={first['next_cursor']}").json()
    assert [item["id"] for item in first["items"] + second["items"]] == drafts[::-1]
    assert second["next_cursor"] is None


def test_a_page_is_not_moved_by_what_comes_in(api):
    drafts = [api.propose().json()["id"] for _ in range(3)]
    first = api.get("/v1/drafts?limit=2").json()
    api.propose()
    second = api.get(f"/v1/drafts?limit=2&cursor={first['next_cursor']}").json()
    assert [item["id"] for item in second["items"]] == [drafts[0]]


def test_items_of_the_list_are_whole_drafts(api):
    draft = api.propose().json()
    assert api.get("/v1/drafts").json()["items"] == [draft]


def test_the_list_is_narrowed_by_state_and_channel(api):
    one = api.propose(submit=False).json()
    api.propose()
    assert [item["id"] for item in api.get("/v1/drafts?state=draft&channel=tickets").json()["items"]] == [one["id"]]
    assert api.get("/v1/drafts?state=draft&channel=replies").json()["items"] == []


@pytest.mark.parametrize(("state", "count"), [("expired", 1), ("in_review", 0)])
def test_the_list_goes_by_the_clock_and_writes_nothing(api, story, state, count):
    api.propose()
    story.clock.advance(days=7)
    items = api.get(f"/v1/drafts?state={state}").json()["items"]
    assert [item["state"] for item in items] == ["expired"] * count
    assert Draft.objects.get().state == "in_review"


def test_a_stranger_lists_nothing(api):
    api.propose()
    assert api.get("/v1/drafts", by="dee").json()["items"] == []


def test_a_stranger_is_not_told_of_the_room(api):
    assert api.get("/v1/drafts?room=facilities", by="dee").status_code == 404


@pytest.mark.parametrize(
    "query",
    ["limit=0", "limit=101", "limit=x", "state=done", "cursor=abc", "cursor=MQ", "order=due", "rooms=facilities"],
)
def test_odd_queries_are_refused(api, query):
    assert api.get(f"/v1/drafts?{query}").json()["code"] == "invalid_payload"


def test_a_cursor_of_another_list_is_refused(api):
    draft = api.propose().json()
    cursor = api.get(f"{draft['links']['events']}?limit=1").json()["next_cursor"]
    assert api.get(f"/v1/drafts?cursor={cursor}").status_code == 422


def queries_of(api, path):
    with CaptureQueriesContext(connection) as caught:
        assert api.get(path).status_code == 200
    return len(caught)


def test_a_longer_list_asks_no_more_questions(api, story):
    for number in range(3):
        story.decide(story.propose(payload={"summary": str(number)}), "ben", Verdict.APPROVE)
    api.get("/v1/me")  # makes the token
    short = queries_of(api, "/v1/drafts?limit=1")
    assert (short, queries_of(api, "/v1/drafts?limit=3")) == (10, 10)
