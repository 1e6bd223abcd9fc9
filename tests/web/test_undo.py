"""The undo window: an approved draft says when it goes out, and who may still stop it does so by one press."""

import copy
from datetime import timedelta

import pytest

from approvals.domain.states import DraftState as T
from tests.cast import CONFIG
from tests.services import states
from tests.web.conftest import HTMX, Forms


@pytest.fixture
def delayed(story):
    """Approved, to be sent in ten seconds."""
    document = copy.deepcopy(CONFIG)
    document["rooms"][0]["policy"]["dispatch_delay"] = "10s"
    story.configure(document)
    return story.approved(resource=states.REVIEW)


def undo_of(tab, draft):
    return tab.open(draft).context["page"].undo


@pytest.mark.parametrize(
    ("name", "verb"), [("ben", "take_back"), ("cleo", "take_back"), ("max", "revoke"), ("ada", "withdraw")]
)
def test_undo_is_the_lightest_verb_a_person_has(story, browse, delayed, name, verb):
    shown = undo_of(browse(name), delayed)
    assert (shown.step.verb, shown.step.label, shown.left, shown.seconds) == (verb, "Undo", "10 s", 10)


def test_whoever_has_no_way_back_is_told_who_has(story, browse, delayed):
    shown = undo_of(browse("vic"), delayed)
    assert shown.step is None
    assert "can still stop it" in shown.text


def test_a_reviewer_who_did_not_approve_revokes(story, browse, delayed):
    tab = browse("ben")
    tab.client.post(f"/drafts/{delayed.pk}/take-back", {"approval": story.approval(delayed).pk})
    story.decide(delayed, "ben")
    story.decide(delayed, "cleo")
    assert undo_of(tab, delayed).step.verb == "take_back"


def test_what_undo_does_stands_on_the_page_once(story, browse, delayed):
    page = browse("ben").open(delayed).context["page"]
    assert page.rail.take_back is None
    page = browse("ada").open(delayed).context["page"]
    assert "withdraw" not in [action.verb for action in page.actions]


@pytest.mark.parametrize("htmx", [False, True])
@pytest.mark.parametrize(("name", "state"), [("ben", T.IN_REVIEW), ("max", T.REVOKED), ("ada", T.REVOKED)])
def test_a_press_of_undo_stops_it(story, browse, delayed, name, state, htmx):
    tab = browse(name)
    step = undo_of(tab, delayed).step
    fields = Forms(tab.open(delayed).content.decode()).found[step.url]
    answer = tab.client.post(step.url, {**fields, "reason": "Wrong day."}, headers=HTMX if htmx else {})
    assert answer.status_code == (200 if htmx else 302)
    assert story.again(delayed).state == state
    story.clock.advance(seconds=30)
    states.send(story)
    assert story.remote.sent == []


def test_a_reason_that_is_missing_comes_back_with_undo_open(story, browse, delayed):
    answer = browse("ada").client.post(f"/drafts/{delayed.pk}/withdraw", {"reason": " "})
    assert answer.status_code == 422
    assert answer.context["page"].undo.step.is_open
    assert "Give a reason." in answer.context["page"].undo.step.fault


def test_the_window_closes_with_the_time(story, browse, delayed):
    story.clock.advance(seconds=10)
    page = browse("ben").open(delayed).context["page"]
    assert page.undo is None
    assert page.rail.take_back is not None


@pytest.mark.parametrize("htmx", [False, True])
def test_after_it_was_sent_undo_answers_with_the_conflict_that_offers_retract(story, browse, delayed, htmx):
    tab = browse("ben")
    approval = story.approval(delayed).pk
    story.clock.advance(seconds=11)
    states.send(story)
    answer = tab.client.post(f"/drafts/{delayed.pk}/take-back", {"approval": approval}, headers=HTMX if htmx else {})
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "Sending has begun. It can no longer be taken back." in page
    assert f"/drafts/{delayed.pk}/?tab=delivery&amp;open=retract#settle" in page


def test_the_conflict_offers_no_retract_to_whoever_cannot(story, browse, delayed):
    story.clock.advance(seconds=11)
    states.send(story)
    answer = browse("ada").client.post(f"/drafts/{delayed.pk}/withdraw", {"reason": "Too late?"})
    assert answer.status_code == 409
    assert "Too late?" in answer.content.decode()
    assert "Retract it instead" not in answer.content.decode()


def test_a_day_that_is_waited_for_is_shown_and_not_counted_down(story, browse):
    draft = story.approved(not_before=story.clock.now + timedelta(days=2))
    answer = browse("ben").open(draft)
    shown = answer.context["page"].undo
    assert (shown.left, shown.seconds) == ("2 d", None)
    assert answer.context["page"].not_before == draft.not_before
    assert "Not before" in answer.content.decode()
    assert "data-countdown" not in answer.content.decode()


def test_the_countdown_is_no_live_region(story, browse, delayed):
    page = browse("ben").open(delayed).content.decode()
    card = page[page.index('class="card undo"') : page.index('id="revision-title"')]
    assert "data-countdown" in card
    assert "aria-live" not in card
    assert "role=" not in card
