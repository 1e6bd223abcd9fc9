"""Problem documents: their form, every code, and what a conflict carries."""

import json
from uuid import uuid4

import pytest
from django.db import OperationalError

from approvals.api import problems
from approvals.domain import errors
from approvals.domain.gate import Verdict
from approvals.models import AuditEvent, Channel, Draft, OutboxEvent, Room
from approvals.services import propose as proposing
from approvals.services.revoke import revoke

pytestmark = pytest.mark.django_db

ROUTELESS = {"stale_view", "dispatch_claim_held", "rate_limited"}
"""Codes no call of this version answers; the table maps them all the same."""


def refused(answer, status, code):
    problem = answer.json()
    assert answer["Content-Type"] == "application/problem+json"
    assert (answer.status_code, problem["status"], problem["code"]) == (status, status, code)
    return problem


def subclasses(kind):
    return {kind, *(found for child in kind.__subclasses__() for found in subclasses(child))}


@pytest.mark.parametrize("kind", sorted(subclasses(errors.Refusal), key=lambda kind: kind.__name__))
def test_every_refusal_has_a_status(rf, kind):
    answer = problems.of_refusal(rf.get("/v1/me"), kind())
    assert 400 <= answer.status_code < 600


def test_a_problem_says_what_happened_in_the_form_of_rfc_9457(api):
    problem = refused(api.get("/v1/drafts/1"), 404, "not_found")
    assert set(problem) == {"type", "title", "status", "detail", "code"}
    assert problem["type"] == "urn:reviewroom:problem:not_found"


@pytest.mark.parametrize("path", ["/v1", "/v1/", "/v1/nothing", "/v1/drafts/", "/v1/drafts/x", "/v1/approvals/7"])
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_an_unknown_address_is_not_found(api, path, method):
    refused(api.call(method, path), 404, "not_found")


def test_an_id_beyond_every_database_is_not_found(api):
    refused(api.get(f"/v1/drafts/{10**30}"), 404, "not_found")


@pytest.mark.parametrize("number", [2**53, 10**30])
def test_a_verb_on_an_id_beyond_every_database_is_refused_and_recorded(api, number):
    refused(api.post(f"/v1/drafts/{number}/withdraw", {"reason": "x"}), 404, "not_found")
    assert AuditEvent.objects.filter(outcome="refused").count() == 1


@pytest.mark.parametrize("query", ["room=%00", "channel=%00"])
def test_what_no_database_stores_finds_nothing(api, query):
    answer = api.get(f"/v1/drafts?{query}")
    assert answer.status_code in (200, 404)
    assert not answer.json().get("items")


def test_a_wrong_method_names_the_right_ones(api):
    answer = api.call("DELETE", "/v1/drafts")
    refused(answer, 405, "method_not_allowed")
    assert answer["Allow"] == "GET, POST, HEAD"


def test_an_action_address_cannot_be_read(api):
    draft = api.propose().json()
    refused(api.get(f"/v1/drafts/{draft['id']}/withdraw"), 405, "method_not_allowed")


def test_a_fault_of_ours_is_a_problem_document_and_logged(api, monkeypatch, caplog):
    monkeypatch.setattr("approvals.api.views.whoami.caller.of", lambda request: 1 / 0)
    problem = refused(api.get("/v1/me", X_Request_Id="abc"), 500, "internal_error")
    assert "division" not in problem["detail"]
    ours = [record for record in caplog.records if record.name == "approvals.api.envelope"]
    assert [record.correlation_id for record in ours] == ["abc"]


def test_a_database_that_is_away_is_unavailable(api, monkeypatch):
    def away(**_):
        raise OperationalError("gone")

    monkeypatch.setattr(proposing, "propose", away)
    answer = api.propose()
    refused(answer, 503, "unavailable")
    assert answer["Retry-After"] == "30"


def test_walls_that_do_not_stand_make_deciding_unavailable(api, monkeypatch):
    draft = api.propose().json()
    monkeypatch.setattr("approvals.models.walls.problems", lambda connection: ["A wall is missing."])
    refused(api.decide(draft, by="ben"), 503, "unavailable")


def test_the_request_id_comes_back(api):
    assert api.get("/v1/me", X_Request_Id="caller-17")["X-Request-Id"] == "caller-17"


@pytest.mark.parametrize("odd", ["", "a b", "x" * 65, "é", "<script>"])
def test_an_odd_request_id_is_replaced(api, odd):
    assert len(api.get("/v1/me", X_Request_Id=odd)["X-Request-Id"]) == 32


def test_an_unknown_address_gets_a_request_id_too(api):
    assert api.get("/v1/nothing", X_Request_Id="caller-17")["X-Request-Id"] == "caller-17"


def test_stale_revision_shows_what_is_current(api):
    first = api.propose().json()
    second = api.put(first["links"]["self"], {"payload": {"summary": "Both lifts"}}, If_Match='"1"').json()
    stale = second | {"version": 1, "digest": first["digest"]}
    problem = refused(api.decide(stale, by="ben"), 409, "stale_revision")
    assert problem["current"] == {
        "draft": second["id"],
        "version": 2,
        "digest": second["digest"],
        "state": "in_review",
        "approval": second["approval"]["id"],
        "link": second["links"]["self"],
    }


def test_superseded_links_the_successor(api):
    first = api.propose().json()
    second = api.put(first["links"]["self"], {"payload": {"summary": "Both lifts"}}, If_Match='"1"').json()
    problem = refused(api.decide(first, by="ben"), 409, "superseded")
    successor = second["approval"]["id"]
    assert problem["successor"] == {"approval": successor, "link": f"/v1/approvals/{successor}"}


def test_already_decided(api):
    draft = api.propose().json()
    api.decide(draft, by="ben")
    refused(api.decide(draft, by="ben", verdict="reject"), 409, "already_decided")


def test_revoked(api, story):
    draft = api.propose().json()
    api.post(f"/v1/approvals/{draft['approval']['id']}/revoke", {"reason": "No."}, by="ben")
    refused(api.decide(draft, by="cleo"), 409, "revoked")


def test_expired_at_the_very_second(api, story):
    draft = api.propose().json()
    story.clock.advance(days=7)
    problem = refused(api.decide(draft, by="ben"), 409, "expired")
    assert problem["current"]["state"] == "expired"


def test_target_changed_leads_to_the_approval_on_the_new_ground(api, story):
    draft = api.propose().json()
    story.remote.flavour = "2"
    problem = refused(api.decide(draft, by="ben"), 409, "target_changed")
    assert problem["current"]["approval"] != draft["approval"]["id"]
    assert api.decide(draft | {"approval": {"id": problem["current"]["approval"]}}, by="ben").status_code == 200


def test_an_approval_that_ended_with_version_and_digest_unchanged_links_the_live_one(api, story):
    draft = api.propose().json()
    api.post(f"/v1/approvals/{draft['approval']['id']}/revoke", {"reason": "Wait."}, by="ben")
    again = api.post(f"/v1/drafts/{draft['id']}/submit").json()
    problem = refused(api.decide(draft, by="ben"), 409, "revoked")
    assert problem["current"]["approval"] == again["approval"]["id"] != draft["approval"]["id"]


def test_consumed_once_sending_has_begun(api, submitted):
    refused(
        api.post(f"/v1/approvals/{submitted['approval']['id']}/revoke", {"reason": "No."}, by="ben"), 409, "consumed"
    )


def test_wrong_state(api):
    draft = api.propose().json()
    problem = refused(api.post(f"/v1/drafts/{draft['id']}/dispatch", by="ben"), 409, "wrong_state")
    assert draft["reference"] in problem["detail"]


def test_open_draft_exists_names_the_other(api):
    first = api.propose().json()
    Room.objects.update(policy={"one_open_draft": True})
    problem = refused(api.propose(payload={"summary": "Another"}), 409, "open_draft_exists")
    assert problem["other"] == {"draft": first["id"], "link": first["links"]["self"]}


def test_duplicate_names_the_other(api):
    first = api.propose().json()
    Room.objects.update(policy={"duplicates": "refuse"})
    problem = refused(api.propose(), 409, "duplicate")
    assert problem["other"]["draft"] == problem["current"]["draft"] == first["id"]


def test_a_conflict_without_a_draft_carries_an_empty_current(rf):
    refusal = errors.OpenDraftExists()  # the other draft is in a room that is not the caller's
    answer = problems.of_refusal(rf.post("/v1/drafts"), refusal)
    assert (answer.status_code, set(json.loads(answer.content)["current"].values())) == (409, {None})


def test_paused(api, story):
    Channel.objects.update(policy={"dispatch": "manual"})
    draft = story.approved()
    api.post("/v1/rooms/facilities/pause", {"reason": "Audit"}, by="max")
    refused(api.post(f"/v1/drafts/{draft.pk}/dispatch", by="ben"), 409, "paused")


def test_not_eligible_says_why(api):
    draft = api.propose().json()
    assert refused(api.decide(draft, by="max"), 403, "forbidden")
    api.held["ada"] = api.token("ada", ["propose", "review"])
    assert refused(api.decide(draft, by="ada"), 403, "not_eligible")["reason"] == "role"


def test_an_author_who_reviews_is_not_eligible(api):
    draft = api.propose().json()
    api.put(draft["links"]["self"], {"payload": {"summary": "Mine"}}, by="ben", If_Match='"1"')
    current = api.get(draft["links"]["self"]).json()
    assert refused(api.decide(current, by="ben"), 403, "not_eligible")["reason"] == "author"


def test_precondition_required(api):
    draft = api.propose().json()
    refused(api.put(draft["links"]["self"], {"note": "x"}), 428, "precondition_required")


def test_unauthenticated_says_how_to_authenticate(api):
    answer = api.get("/v1/me", by=None)
    refused(answer, 401, "unauthenticated")
    assert answer["WWW-Authenticate"].startswith("Bearer")


def test_forbidden_names_the_scope(api):
    assert "propose" in refused(api.propose(by="vic"), 403, "forbidden")["detail"]


def test_an_unknown_approval_is_not_found(api):
    refused(api.get(f"/v1/approvals/{uuid4()}"), 404, "not_found")


def test_a_refused_conflict_changes_nothing(api, story):
    draft = api.propose().json()
    before = Draft.objects.values("state", "version", "seq").get()
    api.decide(draft | {"version": 2}, by="ben")
    assert Draft.objects.values("state", "version", "seq").get() == before
    assert not OutboxEvent.objects.exists()


def test_every_code_is_told_by_some_test_or_has_no_route():
    """Keeps the table honest: a code that is added needs a case, here or in its call's own tests."""
    tested = {
        "stale_revision",
        "superseded",
        "already_decided",
        "revoked",
        "expired",
        "target_changed",
        "consumed",
        "wrong_state",
        "open_draft_exists",
        "duplicate",
        "unsupported",
        "not_eligible",
        "precondition_required",
        "unauthenticated",
        "forbidden",
        "not_found",
        "unavailable",
        "paused",
        "invalid_payload",
        "too_large",
        "idempotency_mismatch",
        "idempotency_in_progress",
    }
    assert tested | ROUTELESS == set(problems.STATUS)


def test_taking_authority_away_is_never_stale(api, story):
    draft = api.propose().json()
    api.decide(draft, by="ben")
    api.put(draft["links"]["self"], {"note": "x", "payload": {"summary": "Both"}}, If_Match='"1"')
    current = api.get(draft["links"]["self"]).json()
    assert api.post(f"/v1/approvals/{current['approval']['id']}/revoke", {"reason": "No."}, by="ben").status_code == 200


def test_taking_back_an_ended_approval_answers_its_own_conflict(api, story):
    draft = story.propose()
    story.decide(draft, "ben", Verdict.APPROVE)
    approval = story.approval(draft)
    revoke(actor=story.actor("cleo"), clock=story.clock, approval_id=approval.pk, reason="No.")
    refused(api.post(f"/v1/approvals/{approval.pk}/decisions/take-back", by="ben"), 409, "revoked")
