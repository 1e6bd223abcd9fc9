"""Revisions, their exact bytes, and audit events; who acted is right whatever came before."""

import base64
import hashlib

import pytest

from approvals.domain.binding import digest_of
from approvals.models import AuditEvent, Revision
from tests.api.conftest import TICKET

pytestmark = pytest.mark.django_db


def test_the_exact_bytes_are_the_stored_ones(api):
    draft = api.propose(payload={"summary": "Grüße \U0001f600 </script>"}).json()
    answer = api.get(draft["links"]["canonical"])
    assert answer.content == bytes(Revision.objects.get().canonical)
    assert answer["Content-Type"] == "application/json"


def test_the_exact_bytes_come_with_their_digest(api):
    draft = api.propose().json()
    answer = api.get(draft["links"]["canonical"])
    expected = base64.b64encode(hashlib.sha256(answer.content).digest()).decode()
    assert answer["Repr-Digest"] == f"sha-256=:{expected}:"
    assert digest_of(answer.content) == draft["digest"]


def test_an_old_revision_stays_readable(api):
    draft = api.propose().json()
    api.put(draft["links"]["self"], {"payload": {"summary": "Both"}}, by="ben", If_Match='"1"')
    first, second = (api.get(f"/v1/drafts/{draft['id']}/revisions/{number}").json() for number in (1, 2))
    assert (first["author"], first["payload"]["summary"]) == ("ada", "The lift is stuck")
    assert (second["author"], second["payload"]["summary"]) == ("ben", "Both")


@pytest.mark.parametrize("number", [0, 2, 10**12])
def test_a_revision_that_is_not_there_is_not_found(api, number):
    draft = api.propose().json()
    assert api.get(f"/v1/drafts/{draft['id']}/revisions/{number}").status_code == 404


def test_events_tell_the_story_in_order(api):
    draft = api.propose().json()
    api.decide(draft, by="ben")
    items = api.get(draft["links"]["events"]).json()["items"]
    assert [item["action"] for item in items] == [
        "draft.proposed",
        "approval.opened",
        "draft.submitted",
        "decision.recorded",
    ]
    assert [item["seq"] for item in items] == [1, 2, 3, 4]


def test_events_come_in_pages(api):
    draft = api.propose().json()
    first = api.get(f"{draft['links']['events']}?limit=2").json()
    second = api.get(f"{draft['links']['events']}?limit=2&cursor={first['next_cursor']}").json()
    assert [item["seq"] for item in first["items"] + second["items"]] == [1, 2, 3]
    assert second["next_cursor"] is None


def test_events_hold_no_addresses(api):
    draft = api.propose().json()
    assert "127.0.0.1" not in api.get(draft["links"]["events"]).content.decode()


def test_events_carry_the_request_they_came_from(api):
    draft = api.post("/v1/drafts", TICKET, X_Request_Id="req-7").json()
    items = api.get(draft["links"]["events"]).json()["items"]
    assert {item["correlation_id"] for item in items} == {"req-7"}


def test_alternating_callers_are_never_mixed_up(api):
    for _ in range(3):
        draft = api.propose().json()
        api.decide(draft, by="ben")
        api.get("/v1/me", by=None)
        api.decide(draft, by="cleo")
    actors = AuditEvent.objects.filter(action="decision.recorded").order_by("id").values_list("actor", flat=True)
    assert list(actors) == ["person:ben", "person:cleo"] * 3


def test_an_agent_is_named_as_one(api):
    draft = api.propose(by="reply-bot").json()
    assert api.get(draft["links"]["events"]).json()["items"][0]["actor"] == "agent:reply-bot"


def refusals():
    refused = AuditEvent.objects.filter(outcome="refused").order_by("id")
    return list(refused.values_list("action", "actor", "chain__key"))


def test_four_refusals_leave_four_rows_though_each_was_rolled_back(api):
    draft = api.propose().json()
    chain = f"draft:{draft['id']}"
    api.decide(draft | {"version": 2}, by="ben")
    api.story.user["ada"].memberships.update(is_reviewer=True)
    api.held["ada"] = api.token("ada", ["propose", "review"])
    api.decide(draft, by="ada")
    api.decide(draft, by="vic")
    api.get("/v1/me", by=None, Authorization="Bearer wrong")
    assert refusals() == [
        ("decide.refused", "person:ben", chain),
        ("decide.refused", "person:ada", chain),
        ("decide.refused", "person:vic", chain),
        ("authenticate.refused", "anonymous:127.0.0.1", "system"),
    ]


def test_what_a_stranger_asks_for_stands_in_the_system_chain(api):
    draft = api.propose().json()
    api.post(f"/v1/drafts/{draft['id']}/withdraw", {"reason": "x"}, by="dee")
    assert refusals() == [("withdraw.refused", "person:dee", "system")]


def test_a_flood_of_wrong_tokens_is_not_recorded_for_ever(api):
    for _ in range(65):
        api.get("/v1/me", by=None, Authorization="Bearer wrong")
    assert len(refusals()) == 60
