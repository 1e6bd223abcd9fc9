"""Cancel, retry, retract and resolve: what they answer, and what they refuse."""

from uuid import uuid4

import pytest

from approvals.domain.states import DraftState
from approvals.models import Delivery
from approvals.services import outcomes, retract
from tests.api.situations import CANCEL, RESOLVE, RETRACT, RETRY, SEEN, SITUATIONS
from tests.services import states
from tests.support.remote import ABSENT, EQUAL

pytestmark = pytest.mark.django_db

ABSENT_BODY = {"outcome": "not_delivered", "evidence": "Searched for it."}


@pytest.fixture
def do(api):
    """Makes one of the calls about a draft, as whoever may."""

    def call(route, draft, body=None, **more):
        wanted = SITUATIONS[route]
        return api.post(wanted.path(draft), wanted.body if body is None else body, by=more.pop("by", wanted.by), **more)

    return call


def build(story, state):
    return states.build(story, state)


def refused(answer, code, state):
    problem = answer.json()
    assert (answer.status_code, problem["code"], problem["current"]["state"]) == (409, code, state)
    return problem


@pytest.mark.parametrize("route", SITUATIONS)
def test_each_call_answers_the_draft_in_its_new_state(api, story, route):
    case = SITUATIONS[route]
    draft = case.build(story)
    answer = api.post(case.path(draft), case.body, by=case.by)
    assert (answer.status_code, answer.json()["state"]) == (200, case.state)
    assert answer.json() == api.get(f"/v1/drafts/{draft.pk}").json()


@pytest.mark.parametrize("route", SITUATIONS)
def test_each_call_moves_the_etag(api, story, route):
    case = SITUATIONS[route]
    draft = case.build(story)
    before = api.get(f"/v1/drafts/{draft.pk}")["ETag"]
    assert api.post(case.path(draft), case.body, by=case.by)["ETag"] != before


@pytest.mark.parametrize("route", SITUATIONS)
def test_each_call_refuses_an_unknown_field_and_does_nothing(api, story, route):
    case = SITUATIONS[route]
    draft = case.build(story)
    before = story.again(draft).seq
    answer = api.post(case.path(draft), {**(case.body or {}), "force": True}, by=case.by)
    assert (answer.status_code, answer.json()["pointer"], story.again(draft).seq) == (422, "/force", before)


@pytest.mark.parametrize("route", SITUATIONS)
def test_a_dry_run_that_a_call_does_not_have_is_refused_and_not_done(api, story, route):
    case = SITUATIONS[route]
    draft = case.build(story)
    before = story.again(draft).state
    answer = api.post(case.path(draft) + "?dry_run=1", case.body, by=case.by)
    assert (answer.status_code, story.again(draft).state) == (422, before)


@pytest.mark.parametrize(
    ("route", "body", "pointer"),
    [
        (CANCEL, {}, "/reason"),
        (CANCEL, {"reason": " "}, "/reason"),
        (CANCEL, {"reason": 7}, "/reason"),
        (RETRACT, {}, "/reason"),
        (RETRACT, {"reason": "x" * 1001}, "/reason"),
        (RETRACT, {"reason": None}, "/reason"),
        (RESOLVE, SEEN | {"outcome": "unknown"}, "/outcome"),
        (RESOLVE, SEEN | {"evidence": ""}, "/evidence"),
        (RESOLVE, {"outcome": "delivered"}, "/evidence"),
        (RESOLVE, SEEN | {"remote_id": ".."}, "/remote_id"),
        (RESOLVE, SEEN | {"remote_id": 7}, "/remote_id"),
    ],
)
def test_a_body_that_does_not_say_what_it_must_is_refused_at_its_place(story, do, route, body, pointer):
    draft = SITUATIONS[route].build(story)
    before = story.again(draft).seq
    answer = do(route, draft, body)
    assert (answer.status_code, answer.json()["pointer"], story.again(draft).seq) == (422, pointer, before)


@pytest.mark.parametrize(
    ("route", "state", "code"),
    [
        (CANCEL, DraftState.CONFIRMED, "wrong_state"),
        (CANCEL, DraftState.APPROVED, "wrong_state"),
        (RETRY, DraftState.CONFIRMED, "wrong_state"),
        (RETRY, DraftState.DELIVERY_UNKNOWN, "wrong_state"),
        (RETRY, DraftState.RETRACTION_UNKNOWN, "wrong_state"),
        (RETRACT, DraftState.CONFIRMED, "unsupported"),
        (RETRACT, DraftState.APPROVED, "wrong_state"),
        (RETRACT, DraftState.FAILED, "wrong_state"),
        (RETRACT, DraftState.RETRACTED, "wrong_state"),
        (RETRACT, DraftState.RETRACTION_FAILED, "wrong_state"),
        (RESOLVE, DraftState.CONFIRMED, "wrong_state"),
        (RESOLVE, DraftState.FAILED, "wrong_state"),
    ],
)
def test_the_wrong_moment_is_a_conflict_that_says_what_is_current(story, do, route, state, code):
    refused(do(route, build(story, state)), code, state)


def test_cancelling_a_retraction_says_that_its_object_is_still_public(story, do):
    document = do(CANCEL, build(story, DraftState.RETRACTING)).json()
    assert (document["state"], document["retraction"]["state"], document["delivery"]["state"]) == (
        "retraction_failed",
        "cancelled",
        "delivered",
    )


def test_an_author_may_cancel_what_waits(story, do):
    assert do(CANCEL, build(story, DraftState.SUBMITTING), by="ada").status_code == 200


def test_a_retraction_that_failed_is_asked_for_again(story, do):
    document = do(RETRY, build(story, DraftState.RETRACTION_FAILED)).json()
    assert (document["state"], document["retraction"]["state"]) == ("retracting", "waiting")


def test_what_is_proven_absent_is_sent_again_by_a_person(story, do):
    draft = proven_absent(story)
    assert do(RETRY, draft).json()["state"] == "submitting"


def test_an_expired_approval_covers_no_further_send(story, do):
    draft = build(story, DraftState.FAILED)
    story.clock.now = story.approval(draft).expires_at
    refused(do(RETRY, draft), "expired", "failed")


def test_retracting_twice_asks_once(story, do):
    draft = states.published(story)
    answers = [do(RETRACT, draft), do(RETRACT, draft)]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert Delivery.objects.filter(draft=draft, kind="retract").count() == 1


def test_what_a_newer_write_replaced_is_not_retracted(story, do):
    draft = states.published(story)
    story.clock.advance(seconds=1)
    story.approved(resource=states.REVIEW, payload={"comment": "Newer"})
    states.send(story)
    refused(do(RETRACT, draft), "target_changed", "confirmed")


def test_the_retraction_shown_is_the_newest(api, story, do):
    draft = build(story, DraftState.RETRACTING)
    states.send(story)
    story.remote.verifications = [EQUAL]
    states.rest(story)
    first = api.get(f"/v1/drafts/{draft.pk}").json()
    second = do(RETRY, draft).json()
    assert (first["state"], first["retraction"]["state"]) == ("retraction_failed", "delivered")
    assert (second["retraction"]["id"] != first["retraction"]["id"], second["retraction"]["state"]) == (True, "waiting")


def test_resolve_takes_the_object_id_that_was_found(story, do):
    document = do(RESOLVE, build(story, DraftState.DELIVERY_UNKNOWN)).json()
    assert document["delivery"]["remote_id"] == "issue42"


def test_not_delivered_is_refused_while_a_stopped_worker_may_still_send(story, do):
    draft = build(story, DraftState.DELIVERY_UNKNOWN)
    assert "It may still arrive until" in refused(do(RESOLVE, draft, ABSENT_BODY), "wrong_state", draft.state)["detail"]


def test_not_delivered_counts_from_the_in_flight_horizon_on(story, do):
    draft = build(story, DraftState.DELIVERY_UNKNOWN)
    story.clock.now = outcomes.horizon(draft.deliveries.get())
    assert do(RESOLVE, draft, ABSENT_BODY).json()["state"] == "failed"


def test_delivered_of_a_retraction_means_gone(api, story):
    draft = build(story, DraftState.RETRACTION_UNKNOWN)
    path = f"/v1/deliveries/{retract.newest(draft).pk}/resolve"
    document = api.post(path, {"outcome": "delivered", "evidence": "The page is empty."}, by="max").json()
    assert (document["state"], document["retraction"]["verification"]) == ("retracted", "gone")


def test_whoever_wrote_it_does_not_say_what_became_of_it(story, api, do):
    draft = build(story, DraftState.DELIVERY_UNKNOWN)
    story.user["ada"].memberships.update(is_operator=True)
    api.held["ada"] = api.token("ada", ["operate"])
    answer = do(RESOLVE, draft, by="ada")
    assert (answer.status_code, answer.json()["reason"]) == (403, "author")


@pytest.mark.parametrize("by", ["max", "dee"])
def test_a_delivery_that_does_not_exist_is_not_found(api, by):
    assert api.post(f"/v1/deliveries/{uuid4()}/resolve", SEEN, by=by).status_code == 404


def test_a_stranger_cannot_tell_a_delivery_from_none(api, story):
    draft = build(story, DraftState.DELIVERY_UNKNOWN)
    there = api.post(SITUATIONS[RESOLVE].path(draft), SEEN, by="dee").json()
    assert there == api.post(f"/v1/deliveries/{uuid4()}/resolve", SEEN, by="dee").json()


def test_the_events_feed_is_the_one_call_that_is_not_there_yet(api):
    assert api.get("/v1/events").status_code == 501


def proven_absent(story):
    """Gives a draft whose ticket two look-ups far enough apart did not find."""
    draft = build(story, DraftState.DELIVERY_UNKNOWN)
    story.remote.lookups = [ABSENT, ABSENT]
    states.rest(story)
    states.rest(story)
    return draft
