"""Deciding by HTTP: on exactly what was shown, once per person."""

import pytest

from approvals.domain.gate import Verdict
from approvals.models import Decision, OutboxEvent
from tests.api.conftest import Api, at_once

pytestmark = pytest.mark.django_db


def test_a_decision_is_answered_with_itself_and_the_draft(api):
    answer = api.decide(api.propose().json(), by="ben", comment="Fine.")
    decided = answer.json()
    assert (answer.status_code, decided["recorded"], decided["decision"]["comment"]) == (200, True, "Fine.")
    assert decided["approval"]["approvals_counted"] == 1


def test_two_approvals_approve(api):
    draft = api.propose().json()
    api.decide(draft, by="ben")
    assert api.decide(draft, by="cleo").json()["state"] == "approved"


@pytest.mark.parametrize(("verdict", "state"), [("reject", "rejected"), ("request_changes", "changes_requested")])
def test_one_no_is_enough(api, verdict, state):
    assert api.decide(api.propose().json(), by="ben", verdict=verdict).json()["state"] == state


@pytest.mark.parametrize("verdict", ["approve", "reject", "request_changes"])
def test_a_stale_decision_is_not_counted(api, verdict):
    first = api.propose().json()
    second = api.put(first["links"]["self"], {"payload": {"summary": "Both"}}, If_Match='"1"').json()
    answer = api.decide(first, by="ben", verdict=verdict)
    assert (answer.status_code, answer.json()["current"]["digest"]) == (409, second["digest"])
    assert not Decision.objects.exists()


@pytest.mark.parametrize("mix", ["version", "digest"])
def test_the_version_of_one_with_the_digest_of_another_is_stale(api, mix):
    first = api.propose().json()
    second = api.put(first["links"]["self"], {"payload": {"summary": "Both"}}, If_Match='"1"').json()
    answer = api.decide(second | {mix: first[mix]}, by="ben")
    assert (answer.status_code, answer.json()["code"]) == (409, "stale_revision")


@pytest.mark.parametrize("missing", ["version", "digest", "verdict"])
def test_nothing_is_ever_taken_as_the_latest(api, missing):
    draft = api.propose().json()
    body = {"verdict": "approve", "version": 1, "digest": draft["digest"]}
    del body[missing]
    answer = api.post(f"/v1/approvals/{draft['approval']['id']}/decisions", body, by="ben")
    assert (answer.status_code, answer.json()["pointer"]) == (422, f"/{missing}")


def test_a_shortened_digest_is_not_the_digest(api):
    draft = api.propose().json()
    assert api.decide(draft | {"digest": draft["digest"][:12]}, by="ben").status_code == 409


@pytest.mark.parametrize("verdict", ["taken_back", "APPROVE", "", 1, None])
def test_other_verdicts_are_refused(api, verdict):
    assert api.decide(api.propose().json(), by="ben", verdict=verdict).json()["pointer"] == "/verdict"


def test_a_double_click_answers_the_recorded_decision(api):
    draft = api.propose().json()
    first = api.decide(draft, by="ben", comment="Fine.").json()
    again = api.decide(draft, by="ben").json()
    assert (again["recorded"], again["decision"]) == (False, first["decision"])


def test_the_press_that_completed_the_threshold_may_be_repeated(api):
    draft = api.propose().json()
    api.decide(draft, by="ben")
    api.decide(draft, by="cleo")
    again = api.decide(draft, by="cleo")
    assert (again.status_code, again.json()["recorded"]) == (200, False)
    assert OutboxEvent.objects.filter(event_class="issuance").count() == 1


def test_a_person_counts_once_by_web_and_api(api, story):
    draft = story.propose()
    story.decide(draft, "ben", Verdict.APPROVE)
    document = api.get(f"/v1/drafts/{draft.pk}").json()
    assert api.decide(document, by="ben").json()["approval"]["approvals_counted"] == 1
    assert Decision.objects.count() == 1


def test_taking_back_an_approval_returns_the_draft_to_review(api):
    draft = api.propose().json()
    api.decide(draft, by="ben")
    api.decide(draft, by="cleo")
    answer = api.post(f"/v1/approvals/{draft['approval']['id']}/decisions/take-back", by="ben")
    assert answer.json()["state"] == "in_review"
    assert answer.json()["approval"]["approvals_counted"] == 0
    assert [decision["verdict"] for decision in answer.json()["decisions"]] == ["approve", "approve", "taken_back"]


def test_revoke_needs_no_version(api):
    draft = api.propose().json()
    answer = api.post(f"/v1/approvals/{draft['approval']['id']}/revoke", {"reason": "Not now."}, by="ben")
    assert (answer.json()["state"], answer.json()["reason"]) == ("revoked", "Not now.")


@pytest.mark.django_db(transaction=True)
def test_ten_presses_at_once_are_one_decision(lasting_api):
    draft, token = lasting_api.propose().json(), lasting_api.token("ben")
    body = {"verdict": "approve", "version": 1, "digest": draft["digest"]}
    path = f"/v1/approvals/{draft['approval']['id']}/decisions"

    def press():
        return Api(lasting_api.story).post(path, body, by=None, Authorization=f"Bearer {token}")

    assert {answer.status_code for answer in at_once([press] * 10)} == {200}
    assert Decision.objects.count() == 1
    assert lasting_api.get(draft["links"]["self"]).json()["approval"]["approvals_counted"] == 1
