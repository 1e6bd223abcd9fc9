"""Two identical posts about a delivery: one effect, one answer, with and without an Idempotency-Key."""

import threading

import pytest

from approvals.models import AuditEvent, IdempotencyKey, Membership
from tests.api.conftest import Api, at_once
from tests.api.situations import CANCEL, RESOLVE, SITUATIONS

pytestmark = pytest.mark.django_db
ONCE = (CANCEL, RESOLVE)
"""Calls whose second post finds nothing left to do; the others answer that it is done."""


@pytest.fixture(params=SITUATIONS)
def case(request):
    return SITUATIONS[request.param]


def done(case):
    return AuditEvent.objects.filter(action=case.event, outcome="success").count()


def test_the_same_request_again_has_one_effect_and_one_answer(api, story, case):
    path = case.path(case.build(story))
    first, second = (api.post(path, case.body, by=case.by, Idempotency_Key="k1") for _ in range(2))
    assert (first.status_code, second.status_code, done(case)) == (200, 200, 1)
    assert (second.json(), second["Idempotency-Replayed"]) == (first.json(), "true")


def test_another_body_under_the_same_key_is_refused(api, story, case):
    path = case.path(case.build(story))
    api.post(path, case.body, by=case.by, Idempotency_Key="k1")
    other = api.post(path, {**(case.body or {}), "reason": "Another."}, by=case.by, Idempotency_Key="k1")
    assert other.status_code == 422
    assert done(case) == 1


def test_a_refused_first_call_leaves_no_key(api, story, case):
    path = case.path(case.build(story))
    refused = api.post(path, case.body, by="vic", Idempotency_Key="k1")
    assert (refused.status_code, IdempotencyKey.objects.count()) == (403, 0)


def test_a_replay_asks_again_who_may(api, story, case):
    path = case.path(case.build(story))
    api.post(path, case.body, by=case.by, Idempotency_Key="k1")
    Membership.objects.filter(user__username=case.by).update(is_reviewer=False, is_operator=False, is_viewer=True)
    assert api.post(path, case.body, by=case.by, Idempotency_Key="k1").status_code == 403


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("key", ["k1", None])
def test_two_at_the_same_instant_have_one_effect(lasting_api, lasting_story, case, key):
    path, token = case.path(case.build(lasting_story)), lasting_api.token(case.by)
    barrier = threading.Barrier(2)

    def call():
        sent = {"Authorization": f"Bearer {token}"} | ({"Idempotency_Key": key} if key else {})
        barrier.wait()
        return Api(lasting_story).post(path, case.body, by=None, **sent)

    statuses = sorted(answer.status_code for answer in at_once([call, call]))
    told_once = key is None and case.route in ONCE
    assert (statuses, done(case)) == ([200, 409] if told_once else [200, 200], 1)
