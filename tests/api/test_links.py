"""Links: what a draft's own state allows now, and no more."""

import pytest

from approvals.domain.states import DraftState as T
from approvals.models import Channel
from approvals.services import retract
from tests.api.test_deliveries import proven_absent
from tests.services import states

pytestmark = pytest.mark.django_db

VERBS = {"submit", "withdraw", "decisions", "revoke", "dispatch", "cancel", "retry", "retract", "resolve"}
OFFERED = {
    T.DRAFT: {"submit", "withdraw"},
    T.IN_REVIEW: {"withdraw", "decisions", "revoke"},
    T.CHANGES_REQUESTED: {"submit", "withdraw"},
    T.APPROVED: {"withdraw", "revoke"},
    T.REJECTED: {"submit", "withdraw"},
    T.EXPIRED: {"submit", "withdraw"},
    T.REVOKED: {"submit"},
    T.SUBMITTING: {"cancel"},
    T.SUBMITTED: set(),
    T.CONFIRMED: set(),
    T.DELIVERY_UNKNOWN: {"resolve"},
    T.FAILED: {"retry"},
    T.RETRACTING: {"cancel"},
    T.RETRACTED: set(),
    T.RETRACTION_UNKNOWN: {"resolve"},
    T.RETRACTION_FAILED: {"retry"},
}


def links(api, draft):
    return api.get(f"/v1/drafts/{draft.pk}").json()["links"]


def offered(api, draft):
    return VERBS & set(links(api, draft))


@pytest.mark.parametrize("state", T)
def test_every_state_offers_what_it_allows(api, story, state):
    assert offered(api, states.build(story, state)) == OFFERED[state]


def test_a_list_offers_the_same(api, story):
    draft = states.build(story, T.RETRACTION_FAILED)
    assert api.get("/v1/drafts").json()["items"][0]["links"] == links(api, draft)


def test_what_was_published_may_be_retracted_where_the_connector_can(api, story):
    assert offered(api, states.published(story)) == {"retract"}


def test_an_object_nobody_can_name_is_not_offered_for_retraction(api, story):
    draft = states.published(story)
    draft.deliveries.update(remote_id="")
    assert offered(api, draft) == set()


def test_manual_dispatch_is_offered_until_somebody_pressed(api, story):
    Channel.objects.update(policy={"dispatch": "manual"})
    draft = story.approved()
    assert "dispatch" in offered(api, draft)
    api.post(links(api, draft)["dispatch"], by="ben")
    assert "dispatch" not in offered(api, draft)


def test_what_is_proven_absent_may_be_sent_again(api, story):
    assert offered(api, proven_absent(story)) == {"resolve", "retry"}


def test_what_is_past_its_time_is_not_sent_again(api, story):
    draft = states.build(story, T.FAILED)
    story.clock.now = story.approval(draft).expires_at
    assert offered(api, draft) == set()


def test_an_overdue_draft_offers_what_an_expired_one_does(api, story):
    draft = story.propose()
    story.clock.now = story.approval(draft).expires_at
    assert {"submit", "withdraw"} == VERBS & set(api.get("/v1/drafts").json()["items"][0]["links"])
    assert story.again(draft).state == "in_review"


@pytest.mark.parametrize("state", [T.FAILED, T.SUBMITTING, T.RETRACTING, T.RETRACTION_FAILED])
def test_a_held_delivery_is_settled_before_anything_else(api, story, state):
    draft = states.build(story, state)
    draft.deliveries.exclude(state="delivered").update(held_at=story.clock())
    assert offered(api, draft) == {"resolve"}


def test_resolve_leads_to_the_delivery_that_is_in_doubt(api, story):
    draft = states.build(story, T.RETRACTION_UNKNOWN)
    assert links(api, draft)["resolve"] == f"/v1/deliveries/{retract.newest(draft).pk}/resolve"


@pytest.mark.parametrize("state", T)
def test_no_link_leads_nowhere(api, story, state):
    """An empty body is refused for what it lacks, or does what it says; no address is unknown to the API."""
    draft = states.build(story, state)
    for name in offered(api, draft):
        assert api.post(links(api, draft)[name], {}, by="dee").json()["detail"] != "There is no such call."
        assert api.get(links(api, draft)[name], by="dee").status_code == 405
