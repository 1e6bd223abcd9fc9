"""Idempotency-Key: one effect however often it is sent, and no way round authorisation."""

import json
import threading
from datetime import timedelta

import pytest
from django.db import connection, transaction

from approvals.models import AuditEvent, Draft, IdempotencyKey, Membership, User
from tests.api.conftest import TICKET, Api, at_once

pytestmark = pytest.mark.django_db


def propose(api, key="k1", by="ada", **changes):
    return api.post("/v1/drafts", TICKET | changes, by=by, Idempotency_Key=key)


def test_the_same_request_again_is_the_same_draft(api):
    first, second = propose(api), propose(api)
    assert (second.status_code, second["Location"]) == (201, first["Location"])
    assert (first.has_header("Idempotency-Replayed"), second["Idempotency-Replayed"]) == (False, "true")
    assert Draft.objects.count() == 1


def test_a_replay_answers_what_is_current(api):
    first = propose(api).json()
    api.put(first["links"]["self"], {"payload": {"summary": "Both"}}, If_Match='"1"')
    assert propose(api).json()["version"] == 2


def test_another_body_under_the_same_key_is_refused(api):
    propose(api)
    answer = propose(api, payload={"summary": "Another"})
    assert (answer.status_code, answer.json()["code"]) == (422, "idempotency_mismatch")


def test_one_blank_more_is_another_body(api):
    propose(api)
    answer = api.post("/v1/drafts", b" " + json.dumps(TICKET).encode(), Idempotency_Key="k1")
    assert answer.json()["code"] == "idempotency_mismatch"


def test_another_address_under_the_same_key_is_refused(api):
    one, other = api.propose().json(), api.propose().json()
    api.post(f"/v1/drafts/{one['id']}/withdraw", {"reason": "Mistake"}, Idempotency_Key="k1")
    answer = api.post(f"/v1/drafts/{other['id']}/withdraw", {"reason": "Mistake"}, Idempotency_Key="k1")
    assert answer.json()["code"] == "idempotency_mismatch"


def test_keys_belong_to_their_user(api):
    assert propose(api).json()["id"] != propose(api, by="reply-bot").json()["id"]


def test_a_failed_first_call_leaves_no_key(api):
    assert propose(api, payload={"text": "no summary"}).status_code == 422
    assert not IdempotencyKey.objects.exists()
    assert propose(api).status_code == 201


def test_a_key_is_forgotten_after_a_day(api, story):
    first = propose(api).json()
    story.clock.advance(hours=24)
    assert propose(api).json()["id"] != first["id"]


def test_a_key_is_kept_until_then(api, story):
    first = propose(api).json()
    story.clock.now += timedelta(hours=24) - timedelta(seconds=1)
    assert propose(api).json()["id"] == first["id"]


def test_a_replay_asks_again_who_may(api):
    propose(api)
    Membership.objects.filter(user__username="ada").update(is_proposer=False, is_viewer=True)
    answer = propose(api)
    assert (answer.status_code, answer.json()["code"]) == (403, "not_eligible")
    assert AuditEvent.objects.filter(action="propose.refused").exists()


def test_a_replay_tells_nothing_to_who_left_the_room(api):
    propose(api)
    Membership.objects.filter(user__username="ada").delete()
    assert propose(api).status_code == 404


def test_a_replay_needs_the_scope_too(api):
    propose(api)
    api.held["ada"] = api.token("ada", ["introspect"])
    assert propose(api).json()["code"] == "forbidden"


def test_a_replay_is_refused_to_a_deactivated_user(api):
    propose(api)
    User.objects.filter(username="ada").update(is_active=False)
    assert propose(api).status_code == 401


@pytest.mark.parametrize("key", ["", "a b", "é", "x" * 201, "a\tb"])
def test_odd_keys_are_refused(api, key):
    assert propose(api, key=key).status_code == 422
    assert not Draft.objects.exists()


def test_a_dry_run_uses_no_key(api):
    assert api.post("/v1/drafts?dry_run=1", TICKET, Idempotency_Key="k1").status_code == 200
    assert propose(api).status_code == 201


def test_a_decision_is_replayed_with_itself(api):
    draft = api.propose().json()
    path = f"/v1/approvals/{draft['approval']['id']}/decisions"
    body = {"verdict": "approve", "version": 1, "digest": draft["digest"]}
    first = api.post(path, body, by="ben", Idempotency_Key="k1")
    second = api.post(path, body, by="ben", Idempotency_Key="k1")
    assert second["Idempotency-Replayed"] == "true"
    assert second.json() == first.json()


@pytest.mark.parametrize(
    ("path", "by", "body"),
    [
        ("/v1/drafts/{id}/withdraw", "ada", {"reason": "Mistake"}),
        ("/v1/approvals/{approval}/revoke", "ben", {"reason": "Mistake"}),
        ("/v1/approvals/{approval}/decisions/take-back", "ben", None),
    ],
)
def test_every_deciding_call_is_replayed(api, path, by, body):
    draft = api.propose().json()
    api.decide(draft, by="ben")
    path = path.format(id=draft["id"], approval=draft["approval"]["id"])
    first = api.post(path, body, by=by, Idempotency_Key="k1")
    second = api.post(path, body, by=by, Idempotency_Key="k1")
    assert (first.status_code, second.status_code, second["Idempotency-Replayed"]) == (200, 200, "true")
    assert second.json() == first.json()


@pytest.mark.django_db(transaction=True)
def test_two_at_once_make_one_draft(lasting_api):
    token, barrier = lasting_api.token("ada"), threading.Barrier(2)

    def call():
        barrier.wait()
        return propose_with(lasting_api, token)

    answers = at_once([call, call])
    assert [answer.status_code for answer in answers] == [201, 201]
    assert Draft.objects.count() == 1


def propose_with(api, token):
    return Api(api.story).post("/v1/drafts", TICKET, by=None, Authorization=f"Bearer {token}", Idempotency_Key="k1")


@pytest.mark.django_db(transaction=True)
def test_whoever_waits_longer_than_two_seconds_for_the_first_is_told_so(lasting_api):
    if connection.vendor != "postgresql":
        pytest.skip("on SQLite the second writer waits for the whole transaction of the first")
    token = lasting_api.token("ada")
    with transaction.atomic():
        IdempotencyKey.objects.create(
            user=lasting_api.story.user["ada"], key="k1", request_hash="x", created_at=lasting_api.story.clock()
        )
        answer = at_once([lambda: propose_with(lasting_api, token)])[0]
    assert (answer.status_code, answer.json()["code"]) == (409, "idempotency_in_progress")
