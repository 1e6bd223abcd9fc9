"""The story, told in Chromium: ada writes, ben approves, an edit voids it, both approve, it is sent and confirmed."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from approvals.models import Draft
from approvals.workers import dispatch, reconcile
from tests.cast import Story
from tests.support.chromium import loop_set_aside
from tests.web.browser import log_in

pytestmark = pytest.mark.browser


def tab_of(context: Any, name: str, url: str) -> Any:
    """Gives a browser of one person's own, logged in, at `url`."""
    person = context.browser.new_context(base_url=url)
    person.set_default_timeout(10_000)
    page = person.new_page()
    log_in(page, name)
    return page


def test_the_story(lasting_story: Story, context: Any, live_server: Any) -> None:
    ada, ben, cleo = (tab_of(context, name, live_server.url) for name in ("ada", "ben", "cleo"))

    ada.get_by_role("link", name="New draft").first.click()
    ada.get_by_role("link", name=re.compile("ticket.create|Create ticket")).click()
    ada.get_by_label(re.compile("^summary")).fill("The lift is stuck")
    ada.get_by_label(re.compile("^Title")).fill("Report the lift")
    ada.get_by_role("button", name=re.compile("review", re.IGNORECASE)).click()
    expect(ada.get_by_role("heading", name="Report the lift")).to_be_visible()
    draft = Draft.objects.get()

    ben.goto("/")
    ben.get_by_role("table").get_by_role("link", name="Report the lift").click()
    ben.get_by_role("button", name="Approve revision 1").click()
    expect(ben.locator("#done")).to_contain_text("You approved revision 1")

    ada.get_by_role("link", name=re.compile("^Edit")).click()
    ada.get_by_label(re.compile("^summary")).fill("The lift is stuck on floor 3")
    ada.get_by_role("button", name=re.compile("review|save", re.IGNORECASE)).first.click()
    expect(ada.get_by_text("Revision 2 of 2")).to_be_visible()

    for page in (ben, cleo):
        page.goto(f"/drafts/{draft.pk}/")
        page.get_by_role("button", name="Approve revision 2").click()
        expect(page.locator("#done")).to_contain_text("You approved revision 2")

    with loop_set_aside():
        dispatch.run(concurrency=1, clock=lasting_story.clock)
        reconcile.run(concurrency=1, clock=lasting_story.clock)
    cleo.goto(f"/drafts/{draft.pk}/")
    expect(cleo.get_by_text("Read back: it is there").first).to_be_visible()
    assert lasting_story.again(draft).state == "confirmed"
    assert [job.request.body for job in lasting_story.remote.sent] == [b'{"summary":"The lift is stuck on floor 3"}']
    for page in (ada, ben, cleo):
        page.context.close()
