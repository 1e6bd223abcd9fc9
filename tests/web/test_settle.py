"""What may be done about a delivery: who is offered what in which state, and what a press does."""

import copy

import pytest
from django.utils import timezone

from approvals.domain.states import DraftState as T
from approvals.models import Delivery
from approvals.services.propose import Proposal, propose
from approvals.services.retract import retract
from tests.cast import CONFIG
from tests.services import states
from tests.support.remote import ABSENT, ACCEPTED, DIFFERS, EQUAL, NOT_SENT, REFUSED, UNKNOWN
from tests.web.conftest import HTMX

HOSTILE = "<script>alert(1)</script> \u202eback"


def shown(tab, draft, query=""):
    return tab.open(draft, query).context["page"].settle


def offers(tab, draft):
    """Gives the verbs and links of the card, in their order."""
    card = shown(tab, draft)
    return [*(step.verb for step in card.steps), *(link.label for link in card.links)] if card else []


def notes(tab, draft):
    card = shown(tab, draft)
    return [note.text for note in card.notes] if card else []


def post(tab, draft, verb, *, htmx=False, **data):
    return tab.client.post(f"/drafts/{draft.pk}/{verb}", data, headers=HTMX if htmx else {})


def absent(story):
    """A ticket whose answer was lost and that two look-ups, far enough apart, did not find."""
    draft = states.build(story, T.DELIVERY_UNKNOWN)
    story.remote.lookups = [ABSENT, ABSENT]
    states.rest(story)
    states.rest(story)
    return story.again(draft)


RECORD = "Record what happened…"


@pytest.mark.parametrize(
    ("state", "name", "expected"),
    [
        (T.SUBMITTING, "max", ["cancel"]),
        (T.SUBMITTING, "ben", ["cancel"]),
        (T.SUBMITTING, "ada", ["cancel"]),
        (T.SUBMITTING, "vic", []),
        (T.DELIVERY_UNKNOWN, "max", ["look_again", RECORD]),
        (T.DELIVERY_UNKNOWN, "ben", []),
        (T.FAILED, "max", ["retry"]),
        (T.FAILED, "ben", []),
        (T.SUBMITTED, "max", ["look_again"]),
        (T.SUBMITTED, "vic", []),
        (T.CONFIRMED, "ada", []),
        (T.RETRACTING, "max", ["cancel"]),
        (T.RETRACTING, "ada", ["cancel"]),
        (T.RETRACTING, "vic", []),
        (T.RETRACTION_UNKNOWN, "max", ["look_again", RECORD]),
        (T.RETRACTION_UNKNOWN, "ben", []),
        (T.RETRACTION_FAILED, "max", ["retry"]),
        (T.RETRACTION_FAILED, "ben", []),
        (T.RETRACTED, "max", []),
        (T.APPROVED, "max", []),
        (T.IN_REVIEW, "max", []),
    ],
)
def test_a_role_is_offered_in_a_state_only_what_would_work(story, browse, state, name, expected):
    assert offers(browse(name), states.build(story, state)) == expected


@pytest.mark.parametrize(
    ("name", "expected"), [("max", ["retract"]), ("ben", ["retract"]), ("ada", ["Correct it…"]), ("vic", [])]
)
def test_a_published_reply_can_be_retracted_and_corrected(story, browse, name, expected):
    assert offers(browse(name), states.published(story)) == expected


def test_a_channel_that_cannot_retract_gives_the_reason_and_no_button(story, browse):
    draft, tab = states.build(story, T.CONFIRMED), browse("ben")
    assert offers(tab, draft) == []
    assert notes(tab, draft) == ["This channel has no way to take back what it published."]


@pytest.mark.parametrize("state", [T.DELIVERY_UNKNOWN, T.FAILED, T.RETRACTION_FAILED, T.RETRACTION_UNKNOWN])
def test_whoever_cannot_settle_it_is_told_who_can(story, browse, state):
    assert notes(browse("vic"), states.build(story, state)) == ["An operator of this room can settle it."]


def test_send_again_is_offered_only_for_what_is_proven_absent(story, browse):
    assert offers(browse("max"), absent(story)) == ["look_again", "retry", RECORD]


def test_only_one_button_is_primary(story, browse):
    card = shown(browse("max"), absent(story))
    assert [step.verb for step in card.steps if step.is_primary] == ["retry"]


@pytest.mark.parametrize("build", [absent, lambda story: states.build(story, T.FAILED)])
def test_what_the_approval_no_longer_covers_is_not_offered_again(story, browse, build):
    draft = build(story)
    story.clock.now = story.approval(draft).expires_at
    tab = browse("max")
    assert "retry" not in offers(tab, draft)
    assert any("time was over" in note for note in notes(tab, draft))


def test_a_held_delivery_offers_a_look_and_a_record_and_nothing_else(story, browse):
    draft = states.build(story, T.FAILED)
    Delivery.objects.filter(draft=draft).update(held_at=timezone.now())
    tab = browse("max")
    assert offers(tab, draft) == ["look_again", RECORD]
    assert "It cannot be sent again before the late evidence is settled." in notes(tab, draft)


def test_a_retraction_nobody_knows_about_is_not_asked_for_again(story, browse):
    draft = states.build(story, T.RETRACTION_UNKNOWN)
    assert any("before it is known" in note for note in notes(browse("max"), draft))


def test_a_channel_that_cannot_look_says_so(story, browse):
    document = copy.deepcopy(CONFIG)
    document["rooms"][0]["channels"][0]["config"] = {"capabilities": []}
    story.configure(document)
    draft, tab = states.build(story, T.DELIVERY_UNKNOWN), browse("max")
    assert offers(tab, draft) == [RECORD]
    assert any("cannot look it up" in note for note in notes(tab, draft))


@pytest.mark.parametrize("htmx", [False, True])
def test_a_reply_is_retracted_with_a_reason(story, browse, htmx):
    draft = states.published(story)
    assert post(browse("ben"), draft, "retract", htmx=htmx, reason="Wrong shop.").status_code == (200 if htmx else 302)
    assert (story.again(draft).state, story.again(draft).reason) == (T.RETRACTING, "Wrong shop.")


@pytest.mark.parametrize("reason", ["", " ", "x" * 1001])
def test_a_bad_reason_comes_back_with_the_form_open(story, browse, reason):
    draft = states.published(story)
    answer = post(browse("ben"), draft, "retract", reason=reason)
    page = answer.content.decode()
    assert answer.status_code == 422
    assert 'data-verb="retract" open' in page
    assert story.again(draft).state == T.CONFIRMED


def test_two_presses_of_retract_make_one_retraction(story, browse):
    draft, tab = states.published(story), browse("ben")
    for _ in range(2):
        assert post(tab, draft, "retract", reason="Wrong shop.").status_code == 302
    assert Delivery.objects.filter(draft=draft, kind="retract").count() == 1


def test_a_retract_that_comes_too_late_is_a_conflict_that_keeps_the_reason(story, browse):
    draft, tab = states.build(story, T.RETRACTED), browse("ben")
    answer = post(tab, draft, "retract", reason=HOSTILE)
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<script>alert" not in page
    assert "What you wrote, kept" in page


def test_retract_opens_by_its_address(story, browse):
    page = browse("ben").open(states.published(story), "?open=retract").content.decode()
    assert 'data-verb="retract" open' in page


@pytest.mark.parametrize("name", ["ada", "vic"])
def test_whoever_may_not_retract_is_refused(story, browse, name):
    draft = states.published(story)
    assert post(browse(name), draft, "retract", reason="No.").status_code == 403
    assert story.again(draft).state == T.CONFIRMED


@pytest.mark.parametrize("htmx", [False, True])
def test_a_failed_draft_is_tried_again(story, browse, htmx):
    draft = states.build(story, T.FAILED)
    post(browse("max"), draft, "retry", htmx=htmx)
    assert story.again(draft).state == T.SUBMITTING


def test_what_is_proven_absent_is_sent_again(story, browse):
    draft = absent(story)
    post(browse("max"), draft, "retry")
    states.send(story)
    assert (story.again(draft).state, len(story.remote.sent)) == (T.SUBMITTED, 2)


def test_what_is_not_proven_absent_is_not_sent_again(story, browse):
    draft = states.build(story, T.DELIVERY_UNKNOWN)
    answer = post(browse("max"), draft, "retry")
    assert answer.status_code == 409
    assert "not proven absent" in answer.content.decode()


def test_a_failed_retraction_is_asked_for_again(story, browse):
    draft = states.build(story, T.RETRACTION_FAILED)
    post(browse("max"), draft, "retry")
    assert story.again(draft).state == T.RETRACTING


def test_a_waiting_delivery_is_cancelled_with_a_reason(story, browse):
    draft = states.build(story, T.SUBMITTING)
    assert post(browse("ada"), draft, "cancel", reason="Not needed any more.").status_code == 302
    assert (story.again(draft).state, story.again(draft).reason) == (T.FAILED, "Not needed any more.")


def test_a_cancelled_retraction_leaves_it_public_and_says_so(story, browse):
    draft, tab = states.build(story, T.RETRACTING), browse("max")
    post(tab, draft, "cancel", reason="It may stay.")
    page = tab.open(draft).context["page"]
    assert page.state == T.RETRACTION_FAILED
    assert page.plate.title == "Written to, and still public at"


@pytest.mark.parametrize("state", [T.DELIVERY_UNKNOWN, T.SUBMITTED, T.RETRACTION_UNKNOWN])
def test_the_remote_is_looked_at_on_a_press(story, browse, state):
    draft = states.build(story, state)
    Delivery.objects.filter(draft=draft).update(next_check_at=None)
    assert post(browse("max"), draft, "look-again").status_code == 302
    assert Delivery.objects.filter(draft=draft, next_check_at__isnull=False).exists()


@pytest.mark.parametrize("state", [T.CONFIRMED, T.FAILED])
def test_a_look_where_nothing_is_in_doubt_is_a_conflict(story, browse, state):
    answer = post(browse("max"), states.build(story, state), "look-again")
    assert answer.status_code == 409
    assert "You pressed Check the remote now" in answer.content.decode()


def test_a_newer_write_takes_the_button_away_and_says_why(story, browse):
    draft = states.published(story)
    other = story.approved(resource=states.REVIEW, payload={"comment": "Another"})
    story.clock.advance(seconds=1)
    states.send(story)
    assert story.again(other).state == T.SUBMITTED
    tab = browse("ben")
    assert "retract" not in offers(tab, draft)
    assert any("newer write stands at the target" in note for note in notes(tab, draft))
    assert post(tab, draft, "retract", reason="x").status_code == 409


def test_no_key_leads_to_retract_or_record(story, browse):
    for draft in (states.published(story), states.build(story, T.DELIVERY_UNKNOWN)):
        assert "accesskey" not in browse("max").open(draft).content.decode()


def correct(story, draft, words="Thank you very much"):
    proposal = Proposal(
        channel="replies",
        operation="reply.upsert",
        resource=states.REVIEW,
        payload={"comment": words},
        corrects=draft.pk,
    )
    return propose(actor=story.actor("ada"), clock=story.clock, room_slug="facilities", proposal=proposal)


def test_a_corrected_draft_leads_to_its_correction_instead(story, browse):
    draft = states.published(story)
    newer = correct(story, draft)
    story.decide(newer, "ben")
    story.decide(newer, "cleo")
    states.send(story)
    tab = browse("ben")
    card = shown(tab, draft)
    assert (card.steps, card.links) == ((), ())
    assert [note.url for note in card.notes] == [f"/drafts/{newer.pk}/"]
    assert len(card.notes) == 1


RETRACTIONS = [
    (ACCEPTED, "Accepted by the remote, not seen to be gone yet", "Accepted by the remote, not seen to be gone"),
    (NOT_SENT, "Being undone at the remote", "Waits to be asked for again"),
    (UNKNOWN, "It may or may not still be there", "Retraction unknown"),
    (REFUSED, "Still public: it could not be undone", "Still public"),
]


@pytest.mark.parametrize(("receipt", "says", "branch"), RETRACTIONS)
def test_every_answer_to_a_retraction_is_said(story, browse, receipt, says, branch):
    draft = states.published(story)
    retract(actor=story.actor("ben"), clock=story.clock, draft_id=draft.pk, reason="Wrong shop.")
    story.remote.retractions = [receipt]
    states.send(story)
    page = browse("max").open(draft).context["page"]
    assert page.says == says
    assert page.body.lane.branch.title.startswith(branch)


@pytest.mark.parametrize("seen", [EQUAL, DIFFERS])
def test_accepted_yet_still_readable_is_no_success(story, browse, seen):
    draft = states.build(story, T.RETRACTING)
    story.remote.verifications = [seen]
    states.send(story)
    states.rest(story)
    page = browse("max").open(draft).context["page"]
    assert page.state == T.RETRACTION_FAILED
    assert page.body.lane.branch.title == "Still public, although the remote accepted it"
    assert page.plate.title == "Written to, and still public at"
    assert page.says.startswith("Still public")


def test_the_newest_of_several_retractions_is_shown(story, browse):
    draft = states.build(story, T.RETRACTING)
    story.remote.verifications = [EQUAL]
    states.send(story)
    states.rest(story)
    post(browse("max"), draft, "retry")
    page = browse("max").open(draft).context["page"]
    assert page.body.lane.branch.title == "Waits for a worker"
