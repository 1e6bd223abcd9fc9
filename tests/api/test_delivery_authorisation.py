"""Who may act on a delivery: every call x everybody, each in a situation in which the right person succeeds.

Everybody holds a token with all the scopes they can have, so that only who they are decides.
"""

import pytest
from django.db import transaction

from approvals.models import Membership
from approvals.permissions import PEOPLE_SCOPES, SCOPES
from tests.api.situations import CANCEL, RESOLVE, RETRACT, RETRY, SITUATIONS

pytestmark = pytest.mark.django_db

# Columns as in PEOPLE; author and person acted for are two drafts' ada: one of her own, one of her agent's.
PEOPLE = ("author", "acted for", "agent", "reviewer", "operator", "viewer", "stranger", "superuser", "nobody")
EXPECTED = {
    CANCEL: (200, 403, 200, 200, 200, 403, 404, 404, 401),
    RETRY: (403, 403, 403, 403, 200, 403, 404, 404, 401),
    RETRACT: (403, 403, 403, 200, 200, 403, 404, 404, 401),
    RESOLVE: (403, 403, 403, 403, 200, 403, 404, 404, 401),
}
NAMES = {
    "author": "ada",
    "acted for": "ada",
    "agent": "reply-bot",
    "reviewer": "ben",
    "operator": "max",
    "viewer": "vic",
    "stranger": "dee",
    "superuser": "dee",
    "nobody": None,
}
OF_THE_AGENT = ("acted for", "agent")
RIGHT_SCOPES = {
    CANCEL: {"propose", "review", "operate"},
    RETRY: {"operate"},
    RETRACT: {"review", "operate"},
    RESOLVE: {"operate"},
}


@pytest.fixture
def everything(api):
    """Tokens with every scope their holder can have."""
    for name in set(NAMES.values()) - {None}:
        agent = api.story.user[name].is_agent
        api.held[name] = api.token(name, [scope for scope in SCOPES if not (agent and scope in PEOPLE_SCOPES)])
    return api


def built_for(story, person, case):
    """Gives the draft of the situation: the agent's, where the agent or the person behind it asks."""
    draft = case.build(story)
    if person in OF_THE_AGENT:
        type(draft).objects.filter(pk=draft.pk).update(author=story.user["reply-bot"], acts_for=story.user["ada"])
    return draft


def status_for(api, person, route):
    """Makes the call as somebody and takes everything back."""
    case, before = SITUATIONS[route], transaction.savepoint()
    draft = built_for(api.story, person, case)
    if person == "superuser":
        type(api.story.user["dee"]).objects.filter(username="dee").update(is_superuser=True, is_staff=True)
    status = api.post(case.path(draft), case.body, by=NAMES[person]).status_code
    transaction.savepoint_rollback(before)
    return status


@pytest.mark.parametrize("person", PEOPLE)
@pytest.mark.parametrize("route", SITUATIONS)
def test_who_may(everything, route, person):
    expected = dict(zip(PEOPLE, EXPECTED[route], strict=True))
    assert status_for(everything, person, route) == expected[person]


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("route", SITUATIONS)
def test_the_scope_of_the_token_is_asked_too(api, story, route, scope):
    """As somebody with every role, so that nothing but the scope decides."""
    case = SITUATIONS[route]
    draft = case.build(story)
    Membership.objects.filter(user__username="max").update(is_reviewer=True, is_proposer=True)
    api.held["max"] = api.token("max", [scope])
    answer = api.post(case.path(draft), case.body, by="max")
    assert answer.status_code == (200 if scope in RIGHT_SCOPES[route] else 403)


@pytest.mark.parametrize("route", SITUATIONS)
def test_the_answer_to_who_may_not_is_the_same_whatever_the_state(api, story, route):
    """Standing is asked before state, so nobody learns from a conflict what they may not see."""
    case = SITUATIONS[route]
    draft = case.build(story)
    api.post(case.path(draft), case.body, by=case.by)
    answer = api.post(case.path(draft), case.body, by="vic")
    assert (answer.status_code, "current" in answer.json()) == (403, False)


@pytest.mark.parametrize("route", SITUATIONS)
def test_who_left_the_room_is_a_stranger(everything, story, route):
    case = SITUATIONS[route]
    draft = case.build(story)
    Membership.objects.filter(user__username=case.by).delete()
    assert everything.post(case.path(draft), case.body, by=case.by).status_code == 404


@pytest.mark.parametrize("person", PEOPLE[:-1])
@pytest.mark.parametrize("route", [*SITUATIONS, "POST /v1/drafts/{draft_id}/dispatch"])
def test_nobody_moves_an_unapproved_draft_forward(everything, story, route, person):
    draft = story.propose()
    case = SITUATIONS.get(route, SITUATIONS[CANCEL])
    path = route.removeprefix("POST ").format(draft_id=draft.pk, delivery_id=story.approval(draft).write_id)
    assert everything.post(path, case.body, by=NAMES[person]).status_code >= 400
    assert (story.again(draft).state, story.remote.sent) == ("in_review", [])
