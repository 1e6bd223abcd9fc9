"""Who may call what: every (route, person). Strangers are told that there is nothing."""

import pytest
from django.db import transaction

from approvals.api.app import api as ninja
from tests.api.conftest import TICKET
from tests.api.situations import RESOLVE

pytestmark = pytest.mark.django_db

PEOPLE = ("ada", "reply-bot", "ben", "max", "vic", "dee", None)
ANYBODY = (200, 200, 200, 200, 200, 200, 401)
MEMBERS = (200, 200, 200, 200, 200, 404, 401)
REASON = {"reason": "Because."}

READS = {
    "/v1/me": ANYBODY,
    "/v1/rooms": ANYBODY,
    "/v1/drafts": ANYBODY,
    "/v1/rooms/{slug}/channels": MEMBERS,
    "/v1/drafts/{draft_id}": MEMBERS,
    "/v1/drafts/{draft_id}/revisions/{number}": MEMBERS,
    "/v1/drafts/{draft_id}/revisions/{number}/canonical": MEMBERS,
    "/v1/drafts/{draft_id}/events": MEMBERS,
    "/v1/approvals/{approval_id}": MEMBERS,
    "/v1/approvals/{approval_id}/claim": MEMBERS,
    "/v1/exports/audit": (422, 422, 422, 422, 422, 422, 401),  # needs to be told what; see tests/audit
    "/v1/exports/audit/manifest": (422, 422, 422, 422, 422, 422, 401),
    "/v1/events": (501, 501, 501, 501, 501, 501, 401),
}
# Columns: ada (author), reply-bot (another agent of hers), ben (reviewer), max (operator), vic (viewer), dee, nobody.
WRITES = {
    "POST /v1/drafts": (TICKET, (201, 201, 403, 403, 403, 404, 401)),
    "PUT /v1/drafts/{draft_id}": ({"payload": {"summary": "x"}}, (200, 403, 200, 403, 403, 404, 401)),
    "POST /v1/drafts/{draft_id}/submit": (None, (200, 403, 200, 403, 403, 404, 401)),
    "POST /v1/drafts/{draft_id}/withdraw": (REASON, (200, 403, 403, 200, 403, 404, 401)),
    "POST /v1/drafts/{draft_id}/dispatch": (None, (403, 403, 409, 409, 403, 404, 401)),
    "POST /v1/drafts/{draft_id}/cancel": (REASON, (409, 403, 409, 409, 403, 404, 401)),
    "POST /v1/drafts/{draft_id}/retry": (None, (403, 403, 403, 409, 403, 404, 401)),
    "POST /v1/drafts/{draft_id}/retract": (REASON, (403, 403, 409, 409, 403, 404, 401)),
    "POST /v1/approvals/{approval_id}/decisions": ("decision", (403, 403, 200, 403, 403, 404, 401)),
    "POST /v1/approvals/{approval_id}/decisions/take-back": (None, (403, 403, 409, 403, 403, 404, 401)),
    "POST /v1/approvals/{approval_id}/revoke": (REASON, (403, 403, 200, 200, 403, 404, 401)),
    "POST /v1/channels/{room}/{slug}/pause": (REASON, (403, 403, 403, 200, 403, 404, 401)),
    "POST /v1/channels/{room}/{slug}/resume": (None, (403, 403, 403, 200, 403, 404, 401)),
    "POST /v1/rooms/{slug}/pause": (REASON, (403, 403, 403, 200, 403, 404, 401)),
    "POST /v1/rooms/{slug}/resume": (None, (403, 403, 403, 200, 403, 404, 401)),
}
ALLOWED = {
    "POST /v1/drafts": "ada",
    "PUT /v1/drafts/{draft_id}": "ada",
    "POST /v1/drafts/{draft_id}/submit": "ada",
    "POST /v1/drafts/{draft_id}/withdraw": "ada",
    "POST /v1/drafts/{draft_id}/dispatch": "ben",
    "POST /v1/drafts/{draft_id}/cancel": "ada",
    "POST /v1/drafts/{draft_id}/retry": "max",
    "POST /v1/drafts/{draft_id}/retract": "ben",
    "POST /v1/approvals/{approval_id}/decisions": "ben",
    "POST /v1/approvals/{approval_id}/decisions/take-back": "ben",
    "POST /v1/approvals/{approval_id}/revoke": "ben",
    "POST /v1/channels/{room}/{slug}/pause": "max",
    "POST /v1/channels/{room}/{slug}/resume": "max",
    "POST /v1/rooms/{slug}/pause": "max",
    "POST /v1/rooms/{slug}/resume": "max",
}


@pytest.fixture
def places(api):
    """What the addresses stand for."""
    draft = api.propose().json()
    decision = {"verdict": "approve", "version": 1, "digest": draft["digest"]}
    names = {"draft_id": draft["id"], "number": 1, "approval_id": draft["approval"]["id"], "room": "facilities"}
    return names | {"decision": decision}


def filled(path, places):
    slug = "tickets" if "/channels/{room}" in path else "facilities"
    return path.format(slug=slug, **places)


def undone(call):
    """Makes a call and takes its effects back, so that everybody meets the same draft."""
    before = transaction.savepoint()
    answer = call()
    transaction.savepoint_rollback(before)
    return answer


@pytest.mark.parametrize("path", READS)
def test_who_may_read(api, places, path):
    found = tuple(api.get(filled(path, places), by=person).status_code for person in PEOPLE)
    assert dict(zip(PEOPLE, found, strict=True)) == dict(zip(PEOPLE, READS[path], strict=True))


@pytest.mark.parametrize("route", WRITES)
def test_who_may_write(api, places, route):
    method, path = route.split(" ")
    body, expected = WRITES[route]
    body = places[body] if isinstance(body, str) else body
    for person in PEOPLE[:-1]:
        api.get("/v1/me", by=person)  # makes the token
    found = {
        person: undone(lambda by=person: api.call(method, filled(path, places), body, by=by, If_Match="1")).status_code
        for person in PEOPLE
    }
    assert found == dict(zip(PEOPLE, expected, strict=True))


def test_a_stranger_and_a_wrong_id_get_the_same_answer(api, places):
    there = api.get(filled("/v1/drafts/{draft_id}", places), by="dee")
    nowhere = api.get("/v1/drafts/999", by="dee")
    assert there.json() == nowhere.json()


@pytest.mark.parametrize("route", ALLOWED)
def test_the_right_person_with_the_wrong_scope_is_forbidden(api, places, route):
    method, path = route.split(" ")
    body = WRITES[route][0]
    body = places[body] if isinstance(body, str) else body
    api.held[ALLOWED[route]] = api.token(ALLOWED[route], ["introspect"])
    answer = api.call(method, filled(path, places), body, by=ALLOWED[route], If_Match="1")
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")


def test_every_route_is_in_the_tables():
    routes = {
        f"{method.upper()} {path}" for path, calls in ninja.get_openapi_schema()["paths"].items() for method in calls
    }
    assert routes == {f"GET {path}" for path in READS} | set(WRITES) | {RESOLVE}


@pytest.mark.parametrize(
    "header", ["Bearer", "Bearer ", "Bearer wrong", "Basic YWRhOmFkYQ==", "rr_x", "Bearer é", "Bearer a b"]
)
def test_what_is_no_live_token_is_refused(api, header):
    assert api.get("/v1/me", by=None, Authorization=header).status_code == 401


def test_the_token_of_a_deactivated_user_is_refused(api, story):
    api.get("/v1/me", by="ben")
    story.user["ben"].is_active = False
    story.user["ben"].save()
    assert api.get("/v1/me", by="ben").status_code == 401


def test_a_session_is_no_token(api, story):
    api.client.force_login(story.user["ben"])
    assert api.get("/v1/me", by=None).status_code == 401


@pytest.mark.parametrize("route", [*(f"GET {path}" for path in READS if READS[path] == MEMBERS), *WRITES])
def test_a_superuser_has_no_more_rights_here(api, story, places, route):
    method, path = route.split(" ")
    body = WRITES[route][0] if route in WRITES else None
    body = places[body] if isinstance(body, str) else body
    story.user["dee"].is_superuser = story.user["dee"].is_staff = True
    story.user["dee"].save()
    assert api.call(method, filled(path, places), body, by="dee", If_Match="1").status_code == 404


def test_no_one_decides_on_their_own_draft_though_superuser_and_reviewer(api, story):
    draft = api.propose().json()
    story.user["ada"].is_superuser = True
    story.user["ada"].save()
    story.user["ada"].memberships.update(is_reviewer=True)
    api.held["ada"] = api.token("ada", ["review", "propose"])
    assert api.decide(draft, by="ada").json()["reason"] == "author"


def test_the_person_behind_an_agent_does_not_decide_either(api, story):
    draft = api.propose(by="reply-bot").json()
    story.user["ada"].memberships.update(is_reviewer=True)
    api.held["ada"] = api.token("ada", ["review"])
    assert api.decide(draft, by="ada").json()["reason"] == "author"


def test_who_is_acted_for_may_withdraw(api):
    draft = api.propose(by="reply-bot").json()
    assert api.post(f"/v1/drafts/{draft['id']}/withdraw", REASON, by="ada").status_code == 200
