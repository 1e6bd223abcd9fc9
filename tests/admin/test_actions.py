import pytest
from django.urls import reverse

from approvals.domain.states import DraftState
from approvals.models import AuditEvent, Delivery, Membership, OutboxEvent
from approvals.workers import dispatch
from tests.admin.conftest import logged_in, messages, rows
from tests.services import states

APPROVALS = reverse("admin:approvals_approval_changelist")
DRAFTS = reverse("admin:approvals_draft_changelist")


def act(site, page, action, *picked, **more):
    return site.post(page, {"action": action, "_selected_action": [str(row.pk) for row in picked], **more}, follow=True)


def test_an_action_asks_for_the_reason_first(story, site):
    draft = story.approved()
    page = act(site, APPROVALS, "revoke", story.approval(draft))
    assert ('name="reason"' in page.content.decode(), story.again(draft).state) == (True, "approved")


def test_revoking_takes_the_approval_away(story, site):
    draft = story.approved()
    act(site, APPROVALS, "revoke", story.approval(draft), reason="The lift works again.")
    assert (story.again(draft).state, story.again(draft).reason) == ("revoked", "The lift works again.")


def test_revoking_is_told_to_the_sink(story, site):
    act(site, APPROVALS, "revoke", story.approval(story.approved()), reason="No.")
    assert OutboxEvent.objects.filter(event_class="revocation").count() == 1


def test_withdrawing_takes_the_draft_off_the_table(story, site):
    draft = story.propose()
    act(site, DRAFTS, "withdraw", draft, reason="Proposed twice.")
    assert story.again(draft).state == "revoked"


def test_history_names_the_person_and_the_admin_site(story, site):
    draft = story.propose()
    act(site, DRAFTS, "withdraw", draft, reason="Proposed twice.")
    event = AuditEvent.objects.get(draft=draft, action="draft.withdrawn")
    assert (event.actor, '"via":"admin"' in event.body) == ("person:max", True)


def test_several_at_once_each_stand_for_themselves(story, site):
    sent, open_ = story.approved(), story.propose(payload={"summary": "Another"})
    dispatch.run(concurrency=1, clock=story.clock)
    told = messages(act(site, DRAFTS, "withdraw", sent, open_, reason="Tidying up."))
    assert [("done" in line) for line in sorted(told)] == [False, True]


def test_what_was_sent_stays_sent(story, site):
    draft = story.approved()
    dispatch.run(concurrency=1, clock=story.clock)
    told = messages(act(site, APPROVALS, "revoke", story.approval(draft), reason="Too late."))
    assert ("Retract" in told[0], story.again(draft).state) == (True, "submitted")


@pytest.mark.parametrize("reason", ["", "   ", "x" * 1001])
def test_a_missing_or_endless_reason_is_refused_at_the_field(story, site, reason):
    draft = story.approved()
    page = act(site, APPROVALS, "revoke", story.approval(draft), reason=reason).content.decode()
    assert ("errorlist" in page, story.again(draft).state) == (True, "approved")


def test_an_endless_reason_is_kept_on_the_page(story, site):
    page = act(site, APPROVALS, "revoke", story.approval(story.approved()), reason="y" * 1001)
    assert "y" * 1001 in page.content.decode()


def test_staff_without_a_role_may_not(story, staff):
    draft = story.approved()
    act(logged_in(staff), APPROVALS, "revoke", story.approval(draft), reason="I may not.")
    assert story.again(draft).state == "approved"


@pytest.mark.parametrize(
    "action",
    [
        "approve",
        "decide",
        "dispatch",
        "submit",
        "consume",
        "begin",
        "delete_selected",
        "retry",
        "resolve",
    ],
)
def test_no_action_moves_an_unapproved_draft_forward(story, site, action):
    draft = story.propose()
    before = rows()
    act(site, APPROVALS, action, story.approval(draft), reason="Please.")
    act(site, DRAFTS, action, draft, reason="Please.")
    assert rows() == before


@pytest.mark.parametrize("action", ["cancel", "retract"])
def test_nothing_is_taken_back_of_what_was_never_sent(story, site, action):
    draft = story.approved()
    before = (draft.state, draft.seq, story.approval(draft).state)
    told = messages(act(site, DRAFTS, action, draft, reason="Please."))
    assert ("done" in told[0], (story.again(draft).state, story.again(draft).seq, story.approval(draft).state)) == (
        False,
        before,
    )


TAKING_BACK = {
    "cancel": (DraftState.SUBMITTING, "failed", "delivery.cancelled"),
    "retract": (None, "retracting", "retraction.requested"),
}


def built(story, state):
    return states.build(story, state) if state else states.published(story)


@pytest.mark.parametrize("action", TAKING_BACK)
def test_an_operator_takes_back_through_the_service(story, site, action):
    state, after, event = TAKING_BACK[action]
    draft = built(story, state)
    act(site, DRAFTS, action, draft, reason="Wrong shop.")
    found = AuditEvent.objects.get(draft=draft, action=event)
    assert (story.again(draft).state, found.actor, '"via":"admin"' in found.body) == (after, "person:max", True)


@pytest.mark.parametrize("action", TAKING_BACK)
def test_taking_back_asks_for_the_reason_first(story, site, action):
    state, _, _ = TAKING_BACK[action]
    draft = built(story, state)
    before = story.again(draft).state
    page = act(site, DRAFTS, action, draft)
    assert ('name="reason"' in page.content.decode(), story.again(draft).state) == (True, before)


@pytest.mark.parametrize("action", TAKING_BACK)
def test_a_superuser_without_a_role_in_the_room_does_not_take_back(story, site, action):
    state, _, _ = TAKING_BACK[action]
    draft = built(story, state)
    before = story.again(draft).state
    Membership.objects.filter(user__username="max").delete()
    told = messages(act(site, DRAFTS, action, draft, reason="I may not."))
    assert (story.again(draft).state, "Only these may do this" in told[0]) == (before, True)


def test_what_cannot_be_retracted_is_told_with_its_reason(story, site):
    told = messages(act(site, DRAFTS, "retract", states.build(story, DraftState.CONFIRMED), reason="Wrong."))
    assert "no way to take back" in told[0]


def test_retracting_twice_at_once_is_one_retraction(story, site):
    draft = states.published(story)
    act(site, DRAFTS, "retract", draft, draft, reason="Wrong shop.")
    act(site, DRAFTS, "retract", draft, reason="Wrong shop.")
    assert Delivery.objects.filter(draft=draft, kind="retract").count() == 1
