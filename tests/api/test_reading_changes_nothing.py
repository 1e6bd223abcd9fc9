"""GET and HEAD change nothing, and the contract can be read by anybody."""

import pytest
from django.apps import apps

from approvals.models import Draft
from tests.services import states

pytestmark = pytest.mark.django_db

PATHS = [
    "/v1/me",
    "/v1/rooms",
    "/v1/rooms/facilities/channels",
    "/v1/drafts",
    "/v1/drafts/{draft}",
    "/v1/drafts/{draft}?wait=0",
    "/v1/drafts/{draft}/revisions/1",
    "/v1/drafts/{draft}/revisions/1/canonical",
    "/v1/drafts/{draft}/events",
    "/v1/approvals/{approval}",
    "/v1/approvals/{approval}/claim",
    "/v1/events",
]
PUBLIC = ["/v1/openapi.json", "/v1/docs", "/.well-known/jwks.json", "/v1/nothing"]


def snapshot():
    counts = {model._meta.label: model.objects.count() for model in apps.get_app_config("approvals").get_models()}
    return counts, list(Draft.objects.order_by("id").values_list("id", "state", "version", "seq", "updated_at"))


@pytest.mark.parametrize("state", ["draft", "in_review", "delivery_unknown", "retraction_unknown"])
def test_no_read_moves_anything(api, story, state):
    draft = states.build(story, state)
    places = {"draft": draft.pk, "approval": draft.approval_id or "00000000-0000-0000-0000-000000000000"}
    people = ("ada", "ben", "max", "dee")
    for person in people:
        api.get("/v1/me", by=person)  # makes the token
    before = snapshot()
    for path in PATHS:
        for person in people:
            api.get(path.format(**places), by=person)
        api.call("HEAD", path.format(**places), by="ada")
    assert snapshot() == before


@pytest.mark.parametrize("path", PUBLIC)
def test_what_is_public_moves_nothing(api, path):
    api.propose()
    before = snapshot()
    assert api.get(path, by=None).status_code == api.call("HEAD", path, by=None).status_code
    assert snapshot() == before


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize(
    "path",
    [
        "/v1/drafts/{draft}/submit",
        "/v1/drafts/{draft}/withdraw",
        "/v1/drafts/{draft}/dispatch",
        "/v1/drafts/{draft}/cancel",
        "/v1/drafts/{draft}/retry",
        "/v1/drafts/{draft}/retract",
        "/v1/deliveries/{approval}/resolve",
        "/v1/approvals/{approval}/decisions",
        "/v1/approvals/{approval}/decisions/take-back",
        "/v1/approvals/{approval}/revoke",
        "/v1/rooms/facilities/pause",
        "/v1/channels/facilities/tickets/pause",
    ],
)
def test_action_addresses_answer_405_to_reading(api, path, method):
    draft = api.propose().json()
    before = snapshot()
    answer = api.call(method, path.format(draft=draft["id"], approval=draft["approval"]["id"]), by="ada")
    assert answer.status_code == 405
    assert snapshot() == before


@pytest.mark.parametrize("by", ["ada", "ben", "max"])
def test_no_call_moves_an_unapproved_draft_forward(api, by):
    draft = api.propose().json()
    for call in ("dispatch", "submit", "retry", "cancel", "retract"):
        api.post(f"/v1/drafts/{draft['id']}/{call}", {"reason": "x"} if call in ("cancel", "retract") else None, by=by)
    assert api.get(draft["links"]["self"]).json()["state"] == "in_review"


def test_the_contract_describes_the_bodies(api):
    schema = api.get("/v1/openapi.json", by=None).json()
    body = schema["components"]["schemas"]["ProposeBody"]
    assert body["required"] == ["room", "channel", "operation", "payload"]
    assert body["additionalProperties"] is False


def test_the_contract_tells_the_headers(api):
    paths = api.get("/v1/openapi.json", by=None).json()["paths"]
    told = {header["name"] for header in paths["/v1/drafts"]["post"]["parameters"] if header["in"] == "header"}
    assert told == {"Idempotency-Key"}


def test_the_contract_names_no_operation_twice(api):
    schema = api.get("/v1/openapi.json", by=None).json()
    names = [call["operationId"] for calls in schema["paths"].values() for call in calls.values()]
    assert len(names) == len(set(names))


def test_the_page_of_calls_asks_nothing_of_others(api):
    page = api.get("/v1/docs", by=None).content.decode()
    assert "http:" not in page
    assert "https:" not in page
    assert "<script" not in page


def test_the_page_of_calls_lists_them_all(api):
    page = api.get("/v1/docs", by=None).content.decode()
    paths = api.get("/v1/openapi.json", by=None).json()["paths"]
    assert [path for path in paths if path not in page] == []


def test_answers_are_stored_by_no_cache(api):
    draft = api.propose().json()
    assert api.get(draft["links"]["approval"])["Cache-Control"] == "no-store"
