"""Every page and state in Chromium: axe finds nothing in light or dark, and nothing scrolls sideways."""

import copy

import pytest

from approvals.connectors.base import Reading
from approvals.domain.states import DraftState
from approvals.models import Channel, Membership
from approvals.services import pause
from approvals.services.revise import Changes, revise
from tests.cast import CONFIG
from tests.services import states
from tests.support.chromium import loop_set_aside
from tests.web.browser import faults, log_in, overflows

pytestmark = pytest.mark.browser

HIDDEN = "Refund\u200b you, code \u202e02PIZ\u202c, see https://раypal.com/x  "
NESTED = {"summary": HIDDEN, "count": 12, "deep": {"list": [1, {"long": "word " * 200}], "none": {}}}


def look(tab, path, *, status=200):
    """Gives everything that is wrong with one page, in both themes and at every width."""
    page = tab.context.new_page()
    wrong = _reports(page, path, status)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        wrong += [f"{scheme} {fault}" for fault in faults(page)]
    wrong += [f"scrolls sideways at {width}" for width in overflows(page)]
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 390, "height": 844})
    wrong += [f"phone {fault}" for fault in faults(page)]
    page.close()
    return wrong


def _reports(page, path, status):
    """Gives what the browser itself complains of; axe comes later, for it writes inline styles while it looks."""
    found = []

    def hear(message):
        if message.type in ("error", "warning") and "Failed to load resource" not in message.text:
            found.append(message.text)

    page.on("console", hear)
    page.on("pageerror", lambda error: found.append(str(error)))
    assert page.goto(path).status == status
    page.remove_listener("console", hear)
    return found


def revised(story, draft, payload):
    changes = Changes(payload=payload)
    version = story.again(draft).version
    revise(actor=story.actor("ada"), clock=story.clock, draft_id=draft.pk, version=version, changes=changes)
    return story.again(draft)


def test_the_log_in(lasting_story, page):
    assert look(page, "/accounts/login/") == []
    page.goto("/accounts/login/")
    page.get_by_label("User name").fill("ben")
    page.get_by_label("Password").fill("wrong")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("alert").wait_for()
    assert faults(page) == []


@pytest.mark.parametrize("name", ["ben", "ada", "dee"])
def test_the_lists(lasting_story, page, name):
    lasting_story.propose("reply-bot", title="A long title " * 12, payload={"summary": HIDDEN})
    lasting_story.approved(payload={"summary": "2"}, resource=f"locations/{'9' * 200}/reviews/1")
    log_in(page, name)
    assert look(page, "/") == []
    assert look(page, "/?show=all") == []


@pytest.mark.parametrize("state", [state for state in states.BUILD if state != DraftState.IN_REVIEW])
def test_an_item_in_each_state(lasting_story, page, state):
    with loop_set_aside():
        draft = states.build(lasting_story, state)
    log_in(page, "max")
    assert look(page, f"/drafts/{draft.pk}/") == []


@pytest.mark.parametrize("tab", ["content", "changes", "bytes", "bytes&as=hex", "history"])
def test_an_item_in_review_with_awkward_content(lasting_story, page, tab):
    draft = lasting_story.propose(payload={"summary": "Before"}, note="A note.", context={"review": "2 of 5 stars"})
    draft = revised(lasting_story, draft, NESTED)
    lasting_story.decide(draft, "cleo", comment="Good.")
    log_in(page, "ben")
    assert look(page, f"/drafts/{draft.pk}/?tab={tab}") == []


def test_the_forms(lasting_story, page):
    draft = lasting_story.propose(payload={"summary": "x", "count": 1, "flag": True})
    log_in(page, "ada")
    assert look(page, "/drafts/new") == []
    assert look(page, "/drafts/new?room=facilities&channel=replies&operation=reply.upsert") == []
    assert look(page, f"/drafts/{draft.pk}/edit") == []
    assert look(page, f"/drafts/{draft.pk}/edit?as=json") == []


@pytest.mark.parametrize("name", ["max", "ada"])
def test_recording_what_happened(lasting_story, page, name):
    with loop_set_aside():
        draft = states.build(lasting_story, DraftState.DELIVERY_UNKNOWN)
    Membership.objects.filter(user=lasting_story.user["ada"]).update(is_operator=True)
    log_in(page, name)
    assert look(page, f"/drafts/{draft.pk}/resolve") == []


def test_recording_what_happened_with_a_fault(lasting_story, page):
    with loop_set_aside():
        draft = states.build(lasting_story, DraftState.RETRACTION_UNKNOWN)
    log_in(page, "max", to=f"/drafts/{draft.pk}/resolve")
    page.get_by_label("It is gone").check()
    page.get_by_label("Evidence").fill(" ")
    page.get_by_role("button", name="Record it").click()
    page.locator("#evidence-fault").wait_for()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        assert faults(page) == []


def test_evidence_and_every_form_unfolded(lasting_story, page):
    with loop_set_aside():
        draft = states.published(lasting_story)
    log_in(page, "max", to=f"/drafts/{draft.pk}/")
    page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true })")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        assert faults(page) == []
    assert overflows(page) == []


def test_the_undo_window(lasting_story, page):
    document = copy.deepcopy(CONFIG)
    document["rooms"][0]["policy"]["dispatch_delay"] = "1h"
    lasting_story.configure(document)
    draft = lasting_story.approved()
    for name in ("ben", "ada"):
        log_in(page, name)
        assert look(page, f"/drafts/{draft.pk}/") == []
        page.context.clear_cookies()


def test_what_stands_there_beside_a_draft_that_came_back(lasting_story, page):
    draft = lasting_story.propose(resource=states.REVIEW, payload={"comment": "Tuesday \u200b"})
    lasting_story.decide(draft, "cleo")
    other = lasting_story.approved(resource=states.REVIEW, payload={"comment": "Monday"})
    lasting_story.remote.readings = [Reading(True, "", {"comment": HIDDEN, "list": ["word " * 100]})]
    with loop_set_aside():
        states.send(lasting_story)
        states.read_back(lasting_story)
    assert lasting_story.again(other).state == DraftState.CONFIRMED
    log_in(page, "ben")
    assert look(page, f"/drafts/{draft.pk}/") == []


def test_a_correction_and_its_form(lasting_story, page):
    with loop_set_aside():
        draft = states.published(lasting_story)
    log_in(page, "ada", to=f"/drafts/new?corrects={draft.pk}")
    assert look(page, f"/drafts/new?corrects={draft.pk}") == []
    page.get_by_label("comment").fill("Corrected")
    page.get_by_role("button", name="Submit for review").click()
    page.wait_for_url(lambda url: "/drafts/new" not in url)
    assert faults(page) == []
    assert look(page, f"/drafts/{draft.pk}/") == []


@pytest.mark.parametrize("name", ["max", "vic"])
def test_a_room_with_something_paused(lasting_story, page, name):
    channel = Channel.objects.get(slug="tickets")
    reason = f"The desk moves house. {HIDDEN}"
    pause.pause_channel(actor=lasting_story.actor("max"), clock=lasting_story.clock, channel=channel, reason=reason)
    log_in(page, name)
    assert look(page, "/rooms/facilities/") == []


def test_the_error_pages(lasting_story, page):
    draft = lasting_story.propose()
    log_in(page, "vic")
    assert look(page, "/nowhere", status=404) == []
    assert look(page, f"/drafts/{draft.pk}/edit", status=403) == []


def test_the_conflict_in_the_page_and_as_a_page(lasting_story, page):
    draft = lasting_story.propose()
    log_in(page, "ben", to=f"/drafts/{draft.pk}/")
    revised(lasting_story, draft, NESTED)
    page.get_by_label("Comment").fill("Fine with me.")
    page.get_by_role("button", name="Approve revision 1").click()
    page.get_by_role("heading", name="This draft changed while you were reading").wait_for()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        assert faults(page) == []
    assert overflows(page) == []


def test_an_edit_conflict(lasting_story, page):
    draft = lasting_story.propose()
    log_in(page, "ada", to=f"/drafts/{draft.pk}/edit")
    revised(lasting_story, draft, {"summary": "Theirs"})
    page.get_by_label("summary").fill("Mine")
    page.get_by_role("button", name="Save and ask again").click()
    page.get_by_role("heading", name="Somebody saved this draft").wait_for()
    assert faults(page) == []
    assert overflows(page) == []


def test_every_target_is_large_enough_for_a_thumb(lasting_story, page):
    draft = lasting_story.propose()
    log_in(page, "ben")
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"/drafts/{draft.pk}/")
    heights = "found => found.filter(e => e.checkVisibility()).map(e => e.getBoundingClientRect().height)"
    assert min(page.eval_on_selector_all(".button, .input, .tab", heights)) >= 36


def test_text_at_twice_its_size_loses_nothing(lasting_story, page):
    draft = lasting_story.propose(payload=NESTED)
    log_in(page, "ben")
    page.goto(f"/drafts/{draft.pk}/")
    page.set_viewport_size({"width": 1280, "height": 900})
    page.evaluate("document.documentElement.style.setProperty('font-size', '200%')")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_colours_of_the_system_keep_every_state_apart(lasting_story, page):
    with loop_set_aside():
        draft = states.build(lasting_story, DraftState.CONFIRMED)
    log_in(page, "ben")
    page.emulate_media(forced_colors="active")
    page.goto(f"/drafts/{draft.pk}/")
    border = "getComputedStyle(document.querySelector('.badge-confirmed')).borderTopWidth"
    assert page.evaluate(border) == "3px"
