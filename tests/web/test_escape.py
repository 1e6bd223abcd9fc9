"""Whatever somebody writes, pages show it as text."""

import pytest

from approvals.domain.gate import Verdict
from tests.web.conftest import HTMX

SCRIPT = "<script>alert(1)</script>"
IMAGE = '"><img src=x onerror=alert(1)>'


def assert_harmless(text):
    assert SCRIPT not in text
    assert "<img" not in text


@pytest.mark.parametrize("path", ["", "?tab=changes", "?tab=bytes", "?tab=history"])
def test_everything_on_an_item_is_text(story, browse, path):
    draft = story.propose(payload={"summary": SCRIPT, IMAGE: IMAGE}, title=SCRIPT, note=IMAGE, context={SCRIPT: IMAGE})
    story.decide(draft, "ben", Verdict.REQUEST_CHANGES, comment=SCRIPT + IMAGE)
    assert_harmless(browse("ben").open(draft, path).content.decode())
    assert_harmless(browse("ada").client.get("/").content.decode())
    assert_harmless(browse("ada").client.get(f"/drafts/{draft.pk}/edit").content.decode())


def test_everything_on_a_conflict_is_text(story, browse):
    draft, tab = story.propose(payload={"summary": SCRIPT}, title=IMAGE), browse("ben")
    answer = tab.press(draft, comment=SCRIPT + IMAGE, digest="sha256:" + "0" * 64)
    assert answer.status_code == 409
    assert_harmless(answer.content.decode())


@pytest.mark.parametrize("headers", [{}, HTMX])
def test_a_reason_is_text(story, browse, headers):
    draft, tab = story.propose(), browse("ada")
    tab.client.post(f"/drafts/{draft.pk}/withdraw", {"reason": SCRIPT + IMAGE}, headers=headers)
    assert_harmless(tab.open(draft).content.decode())
    assert_harmless(tab.open(draft, "?tab=history").content.decode())
    assert_harmless(tab.client.get("/?show=all").content.decode())


def test_a_name_that_was_tried_is_text(story, client):
    answer = client.post("/accounts/login/", {"username": IMAGE, "password": SCRIPT})
    assert_harmless(answer.content.decode())
