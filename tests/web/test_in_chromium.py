"""The cases only a real browser shows: swaps, focus, the live region, lost sessions, the back button, no script."""

import re
import time

import pytest
from playwright.sync_api import expect

from approvals.domain.states import DraftState
from approvals.models import Decision
from approvals.services.revise import Changes, revise
from tests.services import states
from tests.support.chromium import loop_set_aside
from tests.web.browser import focused, log_in

pytestmark = pytest.mark.browser


def edit(story, draft, words="Other words"):
    changes = Changes(payload={"summary": words})
    version = story.again(draft).version
    revise(actor=story.actor("ada"), clock=story.clock, draft_id=draft.pk, version=version, changes=changes)


def test_approving_swaps_the_item_moves_focus_and_speaks(lasting_story, page):
    draft = lasting_story.propose()
    log_in(page, "ben", to=f"/drafts/{draft.pk}/")
    page.evaluate("window.same = true")
    page.get_by_role("button", name="Approve revision 1").click()
    expect(page.locator("#done")).to_be_focused()
    expect(page.locator("#live")).to_contain_text("You approved revision 1")
    expect(page.locator("#turn")).to_have_text("0")
    assert page.evaluate("window.same")
    assert Decision.objects.get().reviewer.username == "ben"


def test_a_stale_approve_shows_the_conflict_within_two_seconds(lasting_story, page):
    draft = lasting_story.propose()
    log_in(page, "ben", to=f"/drafts/{draft.pk}/")
    edit(lasting_story, draft)
    page.get_by_label("Comment").fill("Good so far.")
    began = time.monotonic()
    page.get_by_role("button", name="Approve revision 1").click()
    page.get_by_text("Revision 2", exact=True).wait_for()
    assert time.monotonic() - began < 2
    assert focused(page).startswith("This draft changed while you were reading")
    expect(page.locator("#live")).to_contain_text("Your decision was not recorded")
    page.get_by_role("button", name="Review revision 2").click()
    expect(page.get_by_label("Comment")).to_have_value("Good so far.")
    assert not Decision.objects.exists()


def test_a_no_without_a_reason_says_so_beside_the_comment(lasting_story, page):
    draft = lasting_story.propose()
    log_in(page, "ben", to=f"/drafts/{draft.pk}/")
    page.get_by_role("button", name="Reject").click()
    expect(page.get_by_role("alert")).to_contain_text("Say why")
    assert not Decision.objects.exists()


def test_hidden_characters_hold_approve_but_not_the_others(lasting_story, page):
    draft = lasting_story.propose(payload={"summary": "a\u200bb"})
    log_in(page, "ben", to=f"/drafts/{draft.pk}/")
    page.get_by_role("button", name="Approve revision 1").click()
    assert page.locator("input[name=seen_hidden]:invalid").count() == 1
    assert not Decision.objects.exists()
    page.get_by_label("I have seen the 1 hidden character").check()
    page.get_by_role("button", name="Approve revision 1").click()
    expect(page.locator("#done")).to_be_visible()


def test_a_double_click_counts_once(lasting_story, page):
    draft = lasting_story.propose()
    log_in(page, "ben", to=f"/drafts/{draft.pk}/")
    page.get_by_role("button", name="Approve revision 1").dblclick()
    expect(page.locator("#done")).to_be_visible()
    assert Decision.objects.count() == 1


def test_an_expired_session_leads_through_the_log_in_back_to_the_page_with_the_comment(lasting_story, page):
    draft = lasting_story.propose()
    log_in(page, "ben", to=f"/drafts/{draft.pk}/")
    page.get_by_label("Comment").fill("Typed before the session ended.")
    page.context.clear_cookies(name="sessionid")
    page.get_by_role("button", name="Approve revision 1").click()
    page.wait_for_url(re.compile("/accounts/login/"))
    assert page.locator("#item").count() == 0
    log_in(page, "ben", to=f"/drafts/{draft.pk}/")
    expect(page.get_by_label("Comment")).to_have_value("Typed before the session ended.")
    assert not Decision.objects.exists()


def test_a_new_log_in_elsewhere_makes_the_old_page_say_so(lasting_story, page):
    draft = lasting_story.propose()
    log_in(page, "ben", to=f"/drafts/{draft.pk}/")
    page.get_by_label("Comment").fill("Typed meanwhile.")
    other = page.context.new_page()
    other.goto("/")
    other.get_by_role("button", name="Sign out").click()
    log_in(other, "ben")
    page.get_by_role("button", name="Approve revision 1").click()
    expect(page.get_by_role("alert")).to_contain_text("older than your sign-in")
    expect(page.get_by_label("Comment")).to_have_value("Typed meanwhile.")
    page.get_by_role("link", name="Load the page again").click()
    expect(page.get_by_label("Comment")).to_have_value("Typed meanwhile.")
    page.get_by_role("button", name="Approve revision 1").click()
    expect(page.locator("#done")).to_be_visible()


@pytest.mark.parametrize("status", [404, 500, 502])
def test_a_whole_error_page_never_replaces_the_item(lasting_story, page, status):
    draft = lasting_story.propose()
    log_in(page, "ben", to=f"/drafts/{draft.pk}/")
    page.get_by_label("Comment").fill("Still here.")
    body = "<!doctype html><html><body><h1>Bad gateway</h1></body></html>"
    page.route(
        f"**/drafts/{draft.pk}/", lambda route: route.fulfill(status=status, content_type="text/html", body=body)
    )
    page.get_by_role("button", name="Approve revision 1").click()
    expect(page.get_by_role("alert")).to_contain_text(f"The server could not answer ({status})")
    expect(page.get_by_label("Comment")).to_have_value("Still here.")
    assert page.get_by_text("Bad gateway").count() == 0


def test_a_lost_connection_is_said_and_the_button_works_again(lasting_story, page):
    draft = lasting_story.propose()
    log_in(page, "ben", to=f"/drafts/{draft.pk}/")
    page.route(f"**/drafts/{draft.pk}/", lambda route: route.abort())
    page.get_by_role("button", name="Approve revision 1").click()
    expect(page.get_by_role("alert")).to_contain_text("The server was not reached")
    page.unroute(f"**/drafts/{draft.pk}/")
    page.get_by_role("button", name="Approve revision 1").click()
    expect(page.locator("#done")).to_be_visible()


def test_typing_goes_on_while_news_arrive(lasting_story, page):
    draft = lasting_story.propose()
    log_in(page, "ben", to=f"/drafts/{draft.pk}/")
    comment = page.get_by_label("Comment")
    comment.fill("Half a sent")
    comment.evaluate("area => area.setSelectionRange(4, 4)")
    ask = (
        "htmx.ajax('GET', document.getElementById('news').getAttribute('hx-get'), {target: '#news', swap: 'innerHTML'})"
    )
    for _ in range(3):
        page.evaluate(ask)
    edit(lasting_story, draft)
    page.evaluate(ask)
    expect(page.get_by_text("Revision 2 exists", exact=True)).to_be_visible()
    expect(comment).to_have_value("Half a sent")
    expect(comment).to_be_focused()
    assert comment.evaluate("area => area.selectionStart") == 4
    expect(page.get_by_role("button", name="Approve revision 1")).to_be_disabled()


def test_a_delivery_moves_on_by_itself(lasting_story, page):
    draft = lasting_story.approved()
    log_in(page, "ben", to=f"/drafts/{draft.pk}/")
    expect(page.get_by_text("Will be written to")).to_be_visible()
    with loop_set_aside():
        states.send(lasting_story)
        states.read_back(lasting_story)
    expect(page.get_by_text("Written to", exact=True)).to_be_visible(timeout=10_000)
    expect(page.locator(".badge-confirmed")).to_be_visible()
    expect(page.locator("#live")).to_contain_text("Confirmed", timeout=15_000)


def test_a_moving_delivery_leaves_a_reason_that_is_being_typed(lasting_story, page):
    draft = lasting_story.approved()
    log_in(page, "ben", to=f"/drafts/{draft.pk}/")
    page.get_by_text("Revoke…").click()
    page.get_by_label("Reason").fill("Because")
    with loop_set_aside():
        states.send(lasting_story)
    with page.expect_response(re.compile("/delivery")):
        pass
    expect(page.get_by_label("Reason")).to_have_value("Because")


def test_back_after_a_decision_asks_the_server_again(lasting_story, page):
    draft = lasting_story.propose()
    log_in(page, "ben", to=f"/drafts/{draft.pk}/")
    page.get_by_role("button", name="Approve revision 1").click()
    expect(page.locator("#done")).to_be_visible()
    page.get_by_role("link", name="Everything").click()
    page.go_back()
    expect(page.get_by_role("button", name="Take your decision back")).to_be_visible()
    expect(page.get_by_role("button", name="Approve revision 1")).to_have_count(0)


def test_back_after_signing_out_shows_nothing_and_nothing_is_stored(lasting_story, page):
    draft = lasting_story.propose(payload={"summary": "A private sentence"})
    log_in(page, "ben", to=f"/drafts/{draft.pk}/")
    page.get_by_label("Comment").fill("Private too")
    stored = page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}])")
    assert "rivate" not in stored
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url(re.compile("/accounts/login/"))
    page.go_back()
    page.wait_for_url(re.compile("/accounts/login/"))
    assert page.get_by_text("A private sentence").count() == 0


def test_leaving_an_unsaved_text_asks_first(lasting_story, page):
    draft = lasting_story.propose()
    log_in(page, "ada", to=f"/drafts/{draft.pk}/edit")
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
    page.get_by_label("summary").fill("Not saved")
    page.get_by_role("link", name="Cancel").click()
    page.wait_for_timeout(100)
    assert asked == ["beforeunload"]
    page.get_by_role("button", name="Save and ask again").click()
    page.wait_for_url(re.compile(f"/drafts/{draft.pk}/$"))
    assert lasting_story.again(draft).version == 2


def test_the_digest_can_be_copied(lasting_story, page):
    draft = lasting_story.propose()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    log_in(page, "ben", to=f"/drafts/{draft.pk}/")
    page.get_by_role("button", name="Copy sha256").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert f"sha256:{page.evaluate('navigator.clipboard.readText()')}" == draft.revisions.get().digest


def test_everything_works_without_script(lasting_story, browser, live_server):
    context = browser.new_context(base_url=live_server.url, java_script_enabled=False)
    page = context.new_page()
    draft = lasting_story.propose()
    log_in(page, "ben", to=f"/drafts/{draft.pk}/")
    for tab in ("Changes", "Exact bytes", "History", "Content"):
        page.get_by_role("link", name=re.compile(f"^{tab}")).click()
        expect(page.get_by_role("link", name=re.compile(f"^{tab}"))).to_have_attribute("aria-current", "page")
    assert page.get_by_role("button", name="Copy sha256").count() == 0
    page.get_by_role("button", name="Approve revision 1").click()
    expect(page.locator("#done")).to_contain_text("You approved revision 1")
    page.get_by_role("button", name="Take your decision back").click()
    edit(lasting_story, draft)
    page.get_by_role("link", name="Your turn").first.click()
    page.get_by_role("link", name="Report the lift").click()
    expect(page.get_by_role("button", name="Approve revision 2")).to_be_visible()
    context.close()


def test_the_menu_opens_on_phones_without_script(lasting_story, browser, live_server):
    context = browser.new_context(base_url=live_server.url, java_script_enabled=False)
    page = context.new_page()
    page.set_viewport_size({"width": 390, "height": 844})
    log_in(page, "ben")
    nav = page.get_by_role("navigation", name="Review Room")
    expect(nav).to_be_hidden()
    page.get_by_role("button", name="Menu").click()
    expect(nav).to_be_visible()
    nav.get_by_role("link", name="Facilities tickets").click()
    page.wait_for_url(re.compile("/rooms/facilities/"))
    context.close()


def test_the_dock_jumps_to_the_decision_and_does_not_approve(lasting_story, page):
    draft = lasting_story.propose(payload={"summary": "line\n" * 200})
    page.set_viewport_size({"width": 390, "height": 844})
    log_in(page, "ben", to=f"/drafts/{draft.pk}/")
    page.get_by_role("link", name="Go to decision").click()
    expect(page.get_by_role("button", name="Approve revision 1")).to_be_in_viewport()
    assert not Decision.objects.exists()


def test_the_keyboard_reaches_everything_in_reading_order(lasting_story, page):
    draft = lasting_story.propose()
    log_in(page, "ben", to=f"/drafts/{draft.pk}/")
    page.keyboard.press("Tab")
    assert focused(page) == "Skip to the content"
    page.keyboard.press("Enter")
    seen = []
    for _ in range(20):
        page.keyboard.press("Tab")
        seen.append(page.evaluate("document.activeElement.name || document.activeElement.textContent.trim()"))
    order = [name for name in seen if name in ("Content", "History 3", "comment", "verdict")]
    assert order[0] == "Content"
    assert order.index("comment") < order.index("verdict")


def test_no_request_leaves_the_house(lasting_story, page, live_server):
    draft = lasting_story.propose()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    log_in(page, "ben", to=f"/drafts/{draft.pk}/")
    page.get_by_role("button", name="Approve revision 1").click()
    expect(page.locator("#done")).to_be_visible()
    assert [url for url in asked if not url.startswith(live_server.url)] == []


def test_a_person_who_sees_states_sees_the_same_words_everywhere(lasting_story, page):
    with loop_set_aside():
        draft = states.build(lasting_story, DraftState.DELIVERY_UNKNOWN)
    log_in(page, "max")
    expect(page.locator(".badge-delivery_unknown")).to_have_text("Delivery unknown")
    page.goto(f"/drafts/{draft.pk}/")
    expect(page.locator(".badge-delivery_unknown")).to_have_text("Delivery unknown")
    expect(page.get_by_text("May have been written to")).to_be_visible()
