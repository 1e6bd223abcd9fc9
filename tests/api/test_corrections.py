"""Corrections: proposed by number or reference, and shown on both drafts."""

import pytest

from approvals.models import Draft
from tests.services import states
from tests.support.remote import REFUSED

pytestmark = pytest.mark.django_db


@pytest.fixture
def original(story):
    return states.published(story)


def reply(original, **changes):
    wanted = {"channel": "replies", "operation": "reply.upsert", "resource": states.REVIEW}
    return wanted | {"payload": {"comment": "Thank you, all of you"}, "corrects": original.pk} | changes


def publish(story, draft):
    """Lets everybody approve a correction, and the worker send it."""
    row = Draft.objects.get(pk=draft["id"])
    story.clock.advance(seconds=1)
    story.decide(row, "ben")
    story.decide(row, "cleo")
    states.send(story)


@pytest.mark.parametrize("form", ["{}", "RR-{}", "rr-{}"])
def test_a_correction_names_what_it_corrects_by_number_or_reference(api, original, form):
    answer = api.propose(**reply(original, corrects=form.format(original.pk)))
    assert (answer.status_code, answer.json()["corrects"]) == (201, original.pk)


def test_a_correction_links_the_draft_it_corrects(api, original):
    assert api.propose(**reply(original)).json()["links"]["corrects"] == f"/v1/drafts/{original.pk}"


@pytest.mark.parametrize("name", [True, 1.5, "", "lift", [7], 0, 999, "RR-999", str(10**30)])
def test_what_names_no_draft_of_the_room_is_refused(api, original, name):
    answer = api.propose(**reply(original, corrects=name))
    assert (answer.status_code, answer.json()["pointer"]) == (422, "/corrects")


def test_a_channel_that_cannot_replace_says_so(api, story):
    ticket = story.approved()
    states.send(story)
    answer = api.propose(corrects=ticket.pk)
    assert (answer.status_code, answer.json()["code"], answer.json()["current"]["draft"]) == (
        409,
        "unsupported",
        ticket.pk,
    )


def test_a_second_correction_at_a_time_is_refused_with_the_first(api, original):
    first = api.propose(**reply(original)).json()
    problem = api.propose(**reply(original, payload={"comment": "Thanks!"})).json()
    assert (problem["code"], problem["other"]["draft"]) == ("open_draft_exists", first["id"])


def test_the_original_is_corrected_once_the_correction_is_at_the_remote(api, story, original):
    correction = api.propose(**reply(original)).json()
    assert api.get(f"/v1/drafts/{original.pk}").json()["corrected_by"] is None
    publish(story, correction)
    document = api.get(f"/v1/drafts/{original.pk}").json()
    assert (document["corrected_by"], document["links"]["corrected_by"]) == (
        correction["id"],
        correction["links"]["self"],
    )


def test_a_correction_that_the_remote_refused_corrects_nothing(api, story, original):
    story.remote.receipts = [REFUSED]
    correction = api.propose(**reply(original)).json()
    publish(story, correction)
    assert api.get(correction["links"]["self"]).json()["state"] == "failed"
    assert api.get(f"/v1/drafts/{original.pk}").json()["corrected_by"] is None


def test_being_corrected_is_news_to_a_reader_of_the_original(api, story, original):
    correction = api.propose(**reply(original)).json()
    before = api.get(f"/v1/drafts/{original.pk}")["ETag"]
    publish(story, correction)
    assert api.get(f"/v1/drafts/{original.pk}", If_None_Match=before).status_code == 200


def test_a_corrected_draft_offers_no_retraction(api, story, original):
    publish(story, api.propose(**reply(original)).json())
    assert "retract" not in api.get(f"/v1/drafts/{original.pk}").json()["links"]
    refused = api.post(f"/v1/drafts/{original.pk}/retract", {"reason": "Wrong."}, by="ben").json()
    assert (refused["code"], "corrected it since" in refused["detail"]) == ("wrong_state", True)


def test_a_dry_run_of_a_correction_has_the_digest_it_will_have(api, original):
    rehearsed = api.post("/v1/drafts?dry_run=1", {"room": "facilities", **reply(original)}).json()
    real = api.propose(**reply(original)).json()
    assert (rehearsed["digest"], rehearsed["corrects"]) == (real["digest"], original.pk)


def test_a_dry_run_refuses_what_cannot_be_corrected(api, story):
    draft = story.approved(resource=states.REVIEW)
    answer = api.post("/v1/drafts?dry_run=1", {"room": "facilities", **reply(draft)})
    assert (answer.status_code, answer.json()["code"]) == (409, "wrong_state")
