"""POST /v1/drafts."""

import pytest

from approvals.domain.binding import digest_of
from approvals.models import Draft, Revision, Target
from tests.api.conftest import TICKET

pytestmark = pytest.mark.django_db


def test_propose_answers_201_with_the_draft_and_where_it_is(api):
    answer = api.propose()
    draft = answer.json()
    assert (answer.status_code, answer["Location"]) == (201, f"/v1/drafts/{draft['id']}")
    assert (draft["state"], draft["version"], draft["author"]) == ("in_review", 1, "ada")


def test_propose_answers_exactly_the_members_of_the_contract(api):
    assert set(api.propose().json()) == {
        "id",
        "reference",
        "room",
        "target",
        "operation",
        "title",
        "note",
        "context",
        "state",
        "reason",
        "version",
        "digest",
        "payload",
        "author",
        "acts_for",
        "not_before",
        "approval",
        "decisions",
        "dispatch_at",
        "delivery",
        "retraction",
        "corrects",
        "corrected_by",
        "links",
    }


def test_propose_without_submit_opens_no_approval(api):
    draft = api.propose(submit=False).json()
    assert (draft["state"], draft["approval"]) == ("draft", None)


def test_propose_on_a_pattern_channel_names_its_resource(api):
    draft = api.propose(
        channel="replies", operation="reply.upsert", payload={"comment": "Thanks"}, resource="locations/1/reviews/2"
    ).json()
    assert draft["target"] == {
        "channel": "replies",
        "connector": "fake",
        "account": "northwind",
        "resource": "locations/1/reviews/2",
        "version": 1,
    }


def test_an_agent_proposes_for_its_person(api):
    draft = api.propose(by="reply-bot").json()
    assert (draft["author"], draft["acts_for"]) == ("reply-bot", "ada")


def test_a_person_cannot_act_for_another(api):
    answer = api.propose(acts_for="ben")
    assert (answer.status_code, answer.json()["pointer"]) == (422, "/acts_for")


def test_an_agent_cannot_name_a_person_it_does_not_act_for(api):
    answer = api.propose(by="reply-bot", acts_for="ben")
    assert (answer.status_code, answer.json()["pointer"]) == (422, "/acts_for")


def test_a_bound_token_cannot_name_another_person(api):
    api.story.user["reply-bot"].acts_for.add(api.story.user["ben"])
    api.held["reply-bot"] = api.token("reply-bot", ["propose"], acts_for="ada")
    assert api.propose(by="reply-bot", acts_for="ben").status_code == 422
    assert api.propose(by="reply-bot").json()["acts_for"] == "ada"


def test_the_digest_is_that_of_the_canonical_bytes(api):
    draft = api.propose().json()
    assert draft["digest"] == digest_of(bytes(Revision.objects.get().canonical))


@pytest.mark.parametrize("place", ["/v1/drafts", "/v1/drafts?dry_run=0"])
def test_only_dry_run_1_is_a_dry_run(api, place):
    assert api.post(place, TICKET).status_code == 201


def test_a_dry_run_checks_and_keeps_nothing(api):
    answer = api.post("/v1/drafts?dry_run=1", TICKET)
    assert (answer.status_code, answer.json()["dry_run"]) == (200, True)
    assert not Draft.objects.exists()
    assert not Target.objects.exists()


def test_a_dry_run_gives_the_digest_the_draft_will_have(api):
    rehearsed = api.post("/v1/drafts?dry_run=1", TICKET).json()
    assert rehearsed["digest"] == api.propose().json()["digest"]


def test_a_dry_run_refuses_what_propose_would_refuse(api):
    answer = api.post("/v1/drafts?dry_run=1", TICKET | {"payload": {"text": "no summary"}})
    assert (answer.status_code, answer.json()["pointer"]) == (422, "/payload")


def test_a_dry_run_names_the_draft_with_the_same_bytes(api):
    draft = api.propose().json()
    assert api.post("/v1/drafts?dry_run=1", TICKET).json()["duplicate_of"] == draft["id"]


def test_a_dry_run_warns_of_what_the_eye_may_miss(api):
    payload = {"summary": "The lift\u200b is stuck"}
    warnings = api.post("/v1/drafts?dry_run=1", TICKET | {"payload": payload}).json()["warnings"]
    assert [warning["pointer"] for warning in warnings] == ["/payload/summary"]


def test_a_misspelt_dry_run_is_refused_and_not_carried_out(api):
    answer = api.post("/v1/drafts?dry-run=1", TICKET)
    assert answer.status_code == 422
    assert not Draft.objects.exists()


def test_not_before_is_answered_in_utc(api):
    draft = api.propose(not_before="2026-12-01T01:30:00-05:00").json()
    assert draft["not_before"] == "2026-12-01T06:30:00.000000Z"


def test_the_same_wall_time_at_two_offsets_is_an_hour_apart(api):
    early = api.propose(not_before="2026-12-01T01:30-04:00").json()
    late = api.propose(not_before="2026-12-01T01:30-05:00").json()
    assert (early["not_before"][:16], late["not_before"][:16]) == ("2026-12-01T05:30", "2026-12-01T06:30")


@pytest.mark.parametrize(
    "moment",
    [
        "2026-12-01T01:30:00",
        "2026-12-01",
        "tomorrow",
        "",
        "9999-12-31T23:59:59Z",
        "9999-12-31T23:59:59-14:00",
        "0001-01-01T00:00:00+14:00",
        "1970-01-01T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-12-01T24:30:00Z",
        "2026-12-01T00:00:60Z",
        "20261201T000000Z",
        "2026-W49-2T00:00Z",
        "２０２６-12-01T00:00:00Z",
    ],
)
def test_a_naive_or_absurd_not_before_is_refused(api, moment):
    answer = api.propose(not_before=moment)
    assert (answer.status_code, answer.json()["pointer"]) == (422, "/not_before")


def test_a_correction_of_what_the_connector_cannot_replace_is_unsupported(api):
    draft = api.propose().json()
    answer = api.propose(corrects=draft["id"])
    assert (answer.status_code, answer.json()["code"]) == (409, "unsupported")
