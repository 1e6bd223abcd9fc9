"""Delivery pages in a real browser: the keyboard through a record, undo, folds that stay, nothing lost to a poll."""

import copy
import re

import pytest
from django.conf import settings
from playwright.sync_api import expect

from approvals.domain.states import DraftState as T
from approvals.models import Delivery
from approvals.services import readings
from tests.cast import CONFIG
from tests.services import states
from tests.support.chromium import loop_set_aside
from tests.web.browser import log_in

pytestmark = pytest.mark.browser

RECORD = "Record what happened…"


def built(story, state):
    with loop_set_aside():
        return states.build(story, state)


def tab_to(page, name):
    """Presses Tab until the control of this name has focus."""
    for _ in range(60):
        page.keyboard.press("Tab")
        told = page.evaluate("document.activeElement.name || document.activeElement.textContent.trim()")
        if told == name:
            return
    raise AssertionError(f"the keyboard does not reach {name}")


def test_the_keyboard_alone_records_what_happened(lasting_story, page):
    draft = built(lasting_story, T.DELIVERY_UNKNOWN)
    lasting_story.clock.advance(seconds=settings.REVIEWROOM_LEASE_SECONDS + settings.REVIEWROOM_ABSENT_GRACE_SECONDS)
    log_in(page, "max", to=f"/drafts/{draft.pk}/")
    tab_to(page, RECORD)
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/resolve$"))
    tab_to(page, "outcome")
    page.keyboard.press("ArrowDown")
    expect(page.get_by_label("It is not there")).to_be_checked()
    tab_to(page, "evidence")
    page.keyboard.type("I looked at the desk: no such ticket.")
    tab_to(page, "Record it")
    page.keyboard.press("Enter")
    expect(page.locator("#done")).to_be_focused()
    expect(page.locator(".badge-failed")).to_be_visible()
    assert lasting_story.again(draft).reason.startswith("I looked at the desk")


def test_a_record_needs_a_choice_and_evidence_before_it_leaves(lasting_story, page):
    draft = built(lasting_story, T.DELIVERY_UNKNOWN)
    log_in(page, "max", to=f"/drafts/{draft.pk}/resolve")
    expect(page.get_by_label("It is not there")).to_be_disabled()
    page.get_by_role("button", name="Record it").click()
    assert page.locator("input[name=outcome]:invalid").count() > 0
    assert lasting_story.again(draft).state == T.DELIVERY_UNKNOWN


def test_a_look_is_asked_for_by_one_press_and_spoken(lasting_story, page):
    draft = built(lasting_story, T.DELIVERY_UNKNOWN)
    Delivery.objects.filter(draft=draft).update(next_check_at=None)
    log_in(page, "max", to=f"/drafts/{draft.pk}/")
    page.get_by_role("button", name="Check the remote now").click()
    expect(page.locator("#done")).to_be_focused()
    expect(page.locator("#live")).to_contain_text("A worker looks at the remote")
    assert Delivery.objects.get(draft=draft).next_check_at is not None


def test_a_retraction_is_asked_for_with_its_reason(lasting_story, page):
    with loop_set_aside():
        draft = states.published(lasting_story)
    log_in(page, "ben", to=f"/drafts/{draft.pk}/")
    page.get_by_text("Retract…").click()
    page.get_by_label("Why it is taken back").fill("Wrong shop.")
    page.get_by_role("button", name="Retract", exact=True).click()
    expect(page.locator(".badge-retracting")).to_be_visible()
    expect(page.locator("#done")).to_be_focused()
    assert lasting_story.again(draft).reason == "Wrong shop."


def poll(page):
    with page.expect_response(re.compile("/delivery")):
        pass


def test_a_poll_leaves_an_open_form_and_open_evidence_alone(lasting_story, page):
    draft = built(lasting_story, T.SUBMITTING)
    log_in(page, "max", to=f"/drafts/{draft.pk}/")
    page.get_by_text("Cancel the delivery…").click()
    page.get_by_label("Reason").fill("Half a rea")
    page.get_by_text("Evidence of line 1").click()
    poll(page)
    poll(page)
    expect(page.get_by_label("Reason")).to_have_value("Half a rea")
    assert page.locator("details.evidence[open]").count() == 1


def delayed(story, seconds=3600):
    document = copy.deepcopy(CONFIG)
    document["rooms"][0]["policy"]["dispatch_delay"] = f"{seconds}s"
    story.configure(document)
    return story.approved(resource=states.REVIEW)


def test_the_time_before_sending_counts_down_in_silence(lasting_story, page):
    draft = delayed(lasting_story, seconds=40)
    log_in(page, "ben", to=f"/drafts/{draft.pk}/")
    count = page.locator("[data-countdown]")
    expect(count).not_to_have_text("40 s")
    assert count.evaluate("e => e.closest('[aria-live], [role=status], [role=alert], [role=timer]')") is None


def test_undo_takes_it_back(lasting_story, page):
    draft = delayed(lasting_story)
    log_in(page, "ben", to=f"/drafts/{draft.pk}/")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".badge-in_review")).to_be_visible()
    assert lasting_story.again(draft).state == T.IN_REVIEW


def test_undo_after_it_was_sent_leads_to_retract(lasting_story, page):
    draft = delayed(lasting_story)
    log_in(page, "ben", to=f"/drafts/{draft.pk}/?tab=content")
    lasting_story.clock.advance(seconds=3601)
    with loop_set_aside():
        states.send(lasting_story)
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("heading", name="Sending has begun.")).to_be_focused()
    page.get_by_role("link", name="Retract it instead").click()
    expect(page.get_by_label("Why it is taken back")).to_be_visible()


def test_a_reading_arrives_by_itself(lasting_story, page):
    draft = lasting_story.propose(resource=states.REVIEW)
    log_in(page, "ben", to=f"/drafts/{draft.pk}/")
    expect(page.locator("#standing")).to_contain_text("A worker is about to read it.")
    page.get_by_label("Comment").fill("Half a sent")
    lasting_story.remote.readings = [readings.Reading(True, "", {"comment": "What stands there"})]
    with loop_set_aside():
        states.read_back(lasting_story)
    expect(page.locator("#standing")).to_contain_text("What stands there", timeout=10_000)
    expect(page.locator("#standing .payload").first).to_contain_text("What stands there", timeout=10_000)
    expect(page.get_by_label("Comment")).to_have_value("Half a sent")


def test_all_of_it_works_without_script(lasting_story, browser, live_server):
    context = browser.new_context(base_url=live_server.url, java_script_enabled=False)
    page = context.new_page()
    with loop_set_aside():
        draft = states.published(lasting_story)
    log_in(page, "max", to=f"/drafts/{draft.pk}/")
    page.get_by_text("Evidence of line 1").click()
    log_in_as(page, "ben", f"/drafts/{draft.pk}/")
    page.get_by_text("Retract…").click()
    page.get_by_label("Why it is taken back").fill("Wrong shop.")
    page.get_by_role("button", name="Retract", exact=True).click()
    expect(page.locator(".badge-retracting")).to_be_visible()
    log_in_as(page, "max", f"/drafts/{draft.pk}/")
    page.get_by_text("Cancel the retraction…").click()
    page.get_by_label("Reason").fill("It may stay.")
    page.get_by_role("button", name="Cancel the retraction").click()
    expect(page.locator(".badge-retraction_failed")).to_be_visible()
    page.goto("/rooms/facilities/")
    page.get_by_text("Pause…").first.click()
    page.get_by_label("Reason").first.fill("Holidays.")
    page.get_by_role("button", name="Pause", exact=True).first.click()
    expect(page.locator("#sending")).to_contain_text("Holidays. Paused by max")
    page.get_by_role("button", name="Resume").click()
    expect(page.locator("#sending")).not_to_contain_text("Holidays.")
    context.close()


def log_in_as(page, name, to):
    """Changes the person in front of the browser."""
    page.context.clear_cookies()
    log_in(page, name, to=to)
