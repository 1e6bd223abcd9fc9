"""Deciding in the browser: exactly what was shown, once, and no text is ever lost."""

import pytest
from django.core import signing

from approvals.domain.gate import Verdict
from approvals.domain.states import DraftState
from approvals.models import AuditEvent, Decision, Draft
from approvals.services.revise import Changes, revise
from approvals.services.revoke import revoke
from tests.services import states

EVERY_VERDICT = ("approve", "request_changes", "reject")


def edit(story, draft, words="Other words"):
    changes = Changes(payload={"summary": words})
    version = story.again(draft).version
    revise(actor=story.actor("ada"), clock=story.clock, draft_id=draft.pk, version=version, changes=changes)


def count():
    return Decision.objects.count()


@pytest.mark.parametrize(
    ("verdict", "state"), [("approve", "in_review"), ("request_changes", "changes_requested"), ("reject", "rejected")]
)
@pytest.mark.parametrize("htmx", [False, True])
def test_a_verdict_is_recorded_on_what_was_shown(story, browse, verdict, state, htmx):
    draft = story.propose()
    answer = browse("ben").press(draft, verdict, comment="Said.", htmx=htmx)
    assert answer.status_code == (200 if htmx else 302)
    decision = Decision.objects.get()
    assert (decision.verdict, decision.comment, decision.version) == (verdict, "Said.", 1)
    assert decision.shown_at == story.clock.now
    assert story.again(draft).state == state


def test_the_redirect_leads_to_a_page_that_says_what_was_recorded(story, browse):
    draft, tab = story.propose(), browse("ben")
    answer = tab.press(draft)
    page = tab.client.get(answer.url)
    assert page.content.decode().count("<strong>You approved revision 1") == 1


def test_by_htmx_the_item_comes_back_with_focus_and_words(story, browse):
    page = browse("ben").press(story.propose(), htmx=True).content.decode()
    assert page.lstrip().startswith('<div id="item">')
    assert "data-focus" in page
    assert 'data-announce="You approved revision 1' in page
    assert "<html" not in page


def test_by_htmx_the_counts_in_the_nav_come_along(story, browse):
    story.propose(payload={"summary": "1"})
    page = browse("ben").press(story.propose(payload={"summary": "2"}), htmx=True).content.decode()
    assert '<span class="nav-count" id="turn" hx-swap-oob="true">1</span>' in page
    assert '<span class="nav-count" id="turn-facilities" hx-swap-oob="true">1</span>' in page


def test_after_a_decision_the_next_item_is_named(story, browse):
    first = story.propose(title="First", payload={"summary": "1"})
    story.propose(title="Second", payload={"summary": "2"})
    assert "Next: Second" in browse("ben").press(first, htmx=True).content.decode()


@pytest.mark.parametrize("htmx", [False, True])
def test_the_same_press_twice_counts_once(story, browse, htmx):
    draft, tab = story.propose(), browse("ben")
    form = tab.form(draft)
    tab.press(draft, form=form)
    again = tab.press(draft, form=form, htmx=htmx)
    assert again.status_code == (200 if htmx else 302)
    assert count() == 1


def test_the_press_that_completes_the_threshold_answers_twice_alike(story, browse):
    draft, tab = story.propose(), browse("cleo")
    story.decide(draft, "ben")
    form = tab.form(draft)
    tab.press(draft, form=form)
    states.send(story)
    assert "recorded at 12:00:00 UTC already" in tab.press(draft, form=form, htmx=True).content.decode()
    assert count() == 2


@pytest.mark.parametrize("verdict", EVERY_VERDICT)
@pytest.mark.parametrize("htmx", [False, True])
def test_an_older_revision_is_not_decided_on(story, browse, verdict, htmx):
    draft, tab = story.propose(), browse("ben")
    form = tab.form(draft)
    edit(story, draft)
    answer = tab.press(draft, verdict, form=form, comment="Fine with me.", htmx=htmx)
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "This draft changed while you were reading. Your decision was not recorded." in page
    assert "Revision 2" in page
    assert "Fine with me." in page
    assert count() == 0
    assert AuditEvent.objects.filter(outcome="refused", draft=draft).exists()


def test_two_edits_later_it_is_still_refused(story, browse):
    draft, tab = story.propose(), browse("ben")
    form = tab.form(draft)
    edit(story, draft, "2")
    second = tab.form(draft)
    edit(story, draft, "3")
    assert tab.press(draft, form=form).status_code == 409
    assert tab.press(draft, form=second).status_code == 409
    assert count() == 0


def test_the_conflict_shows_both_sides_and_the_difference(story, browse):
    draft, tab = story.propose(payload={"summary": "within 30 days"}), browse("ben")
    form = tab.form(draft)
    story.clock.advance(seconds=38)
    edit(story, draft, "within 14 days")
    page = tab.press(draft, form=form).content.decode()
    assert "You saw" in page
    assert "<del>30</del><ins>14</ins>" in page
    assert "Revision 2 had replaced it 0 s earlier, by ada." in page
    assert "approve anyway" not in page.lower()


def test_by_htmx_the_conflict_takes_the_items_place_as_an_alert(story, browse):
    draft, tab = story.propose(), browse("ben")
    form = tab.form(draft)
    edit(story, draft)
    answer = tab.press(draft, form=form, htmx=True)
    assert answer["HX-Retarget"] == "#item"
    assert 'role="alert"' in answer.content.decode()
    assert 'role="alert"' not in tab.press(draft, form=form).content.decode()


def test_the_comment_goes_along_to_the_current_revision(story, browse):
    draft, tab = story.propose(), browse("ben")
    form = tab.form(draft)
    edit(story, draft)
    tab.press(draft, form=form, comment="Kept words\r\nin two lines")
    answer = tab.client.post(f"/drafts/{draft.pk}/keep-comment", {"comment": "Kept words,\r\nchanged"})
    assert answer.status_code == 302
    assert tab.form(draft)["comment"] == "Kept words,\nchanged"
    assert count() == 0
    tab.press(draft, comment="Now.")
    assert tab.open(draft).content.decode().count("Kept words") == 0


@pytest.mark.parametrize("field", ["version", "digest", "approval", "view_token"])
@pytest.mark.parametrize("value", [None, "", "0", "nonsense", "9" * 5000, "\x00"])
def test_without_everything_that_was_shown_nothing_is_decided(story, browse, field, value):
    answer = browse("ben").press(story.propose(), comment="Mine.", **{field: value})
    assert answer.status_code == 409
    assert "Mine." in answer.content.decode()
    assert count() == 0


def test_a_digest_of_another_revision_is_refused(story, browse):
    draft, tab = story.propose(), browse("ben")
    old = tab.form(draft)
    edit(story, draft)
    assert tab.press(draft, digest=old["digest"]).status_code == 409
    assert count() == 0


def test_a_short_digest_is_no_digest(story, browse):
    draft, tab = story.propose(), browse("ben")
    form = tab.form(draft)
    assert tab.press(draft, form=form, digest=form["digest"][:11]).status_code == 409


def test_somebody_elses_view_counts_for_nobody(story, browse):
    draft = story.propose()
    theirs = browse("cleo").form(draft)
    assert browse("ben").press(draft, form=theirs).status_code == 409
    assert count() == 0


def test_a_page_that_was_open_for_too_long_is_shown_again(story, browse, monkeypatch):
    draft, tab = story.propose(), browse("ben")
    form = tab.form(draft)
    real = signing.time.time
    monkeypatch.setattr(signing.time, "time", lambda: real() + 12 * 3600 + 1)
    answer = tab.press(draft, form=form, comment="Slow, but careful.")
    assert answer.status_code == 409
    assert "This page was open for too long" in answer.content.decode()
    assert tab.press(draft, comment="Slow, but careful.").status_code == 302


def test_an_approval_of_another_draft_is_refused(story, browse):
    one, other = story.propose(payload={"summary": "1"}), story.propose(payload={"summary": "2"})
    tab = browse("ben")
    assert tab.press(one, form=tab.form(other)).status_code == 409
    assert count() == 0


@pytest.mark.parametrize("verdict", ["reject", "request_changes"])
@pytest.mark.parametrize("comment", ["", "  \r\n"])
def test_a_no_needs_a_reason(story, browse, verdict, comment):
    answer = browse("ben").press(story.propose(), verdict, comment=comment)
    assert answer.status_code == 422
    assert "Say why" in answer.content.decode()
    assert count() == 0


@pytest.mark.parametrize("comment", ["x" * 10_001, "a\x00b"])
def test_a_comment_that_cannot_be_kept_comes_back_with_the_reason(story, browse, comment):
    answer = browse("ben").press(story.propose(), comment=comment)
    assert answer.status_code == 422
    assert "comment" in answer.content.decode()
    assert count() == 0


@pytest.mark.parametrize("verdict", ["", "taken_back", "Approve", "delete"])
def test_an_unknown_verdict_is_refused(story, browse, verdict):
    assert browse("ben").press(story.propose(), verdict).status_code == 422


@pytest.mark.parametrize("name", ["ada", "max", "vic", "reply-bot"])
def test_who_may_not_decide_is_refused_even_with_a_form(story, browse, name):
    draft = story.propose("reply-bot")
    form = browse("ben").form(draft)
    answer = browse(name).press(draft, form=form)
    assert answer.status_code in (403, 409)
    assert count() == 0


def test_a_stranger_learns_nothing_and_is_recorded(story, browse):
    draft = story.propose()
    form = browse("ben").form(draft)
    assert browse("dee").press(draft, form=form).status_code == 404
    assert not AuditEvent.objects.filter(draft=draft, actor="person:dee").exists()
    assert AuditEvent.objects.filter(actor="person:dee", outcome="refused").exists()


def test_an_ended_approval_leads_to_the_live_one(story, browse):
    draft, tab = story.propose(), browse("ben")
    form = tab.form(draft)
    approval = story.approval(draft)
    revoke(actor=story.actor("cleo"), clock=story.clock, approval_id=approval.pk, reason="Wrong floor.")
    page = tab.press(draft, form=form)
    assert page.status_code == 409
    assert "This approval was revoked" in page.content.decode()
    assert "Wrong floor." in page.content.decode()


def test_a_decision_at_the_very_end_is_too_late(story, browse):
    draft, tab = story.propose(), browse("ben")
    form = tab.form(draft)
    story.clock.now = story.approval(draft).expires_at
    page = tab.press(draft, form=form)
    assert page.status_code == 409
    assert "expired" in page.content.decode()
    assert Draft.objects.get(pk=draft.pk).state == DraftState.EXPIRED


def test_a_second_verdict_needs_the_first_to_be_taken_back(story, browse):
    draft, tab = story.propose(), browse("ben")
    form = tab.form(draft)
    tab.press(draft, form=form)
    page = tab.press(draft, "reject", form=form, comment="Changed my mind.")
    assert page.status_code == 409
    assert "You already decided on this" in page.content.decode()


@pytest.mark.parametrize("htmx", [False, True])
def test_a_decision_is_taken_back(story, browse, htmx):
    draft, tab = story.propose(), browse("ben")
    tab.press(draft)
    headers = {"HX-Request": "true"} if htmx else {}
    url, data = f"/drafts/{draft.pk}/take-back", {"approval": story.approval(draft).pk}
    assert tab.client.post(url, data, headers=headers).status_code == (200 if htmx else 302)
    assert Decision.objects.latest("id").verdict == Verdict.TAKEN_BACK
    assert tab.open(draft).context["page"].rail.form is not None


def test_once_sent_it_can_no_longer_be_taken_back(story, browse):
    draft = states.build(story, DraftState.SUBMITTED)
    data = {"approval": story.approval(draft).pk}
    page = browse("ben").client.post(f"/drafts/{draft.pk}/take-back", data)
    assert page.status_code == 409
    assert "Sending has begun" in page.content.decode()
