"""The page of one draft: everything the digest covers is on it, and nothing invisible is emitted."""

import hashlib
import re

import pytest

from approvals.domain.states import DraftState
from approvals.models import AuditEvent, Draft
from approvals.services import rendering
from approvals.services.revise import Changes, revise
from tests.services import states
from tests.support.remote import DIFFERS

EVERY_STATE = list(states.BUILD)
TABS = ("content", "changes", "bytes", "history")
ZERO_WIDTH, OVERRIDE, POP = "\u200b", "\u202e", "\u202c"
HIDDEN = f"refund{ZERO_WIDTH} you, code {OVERRIDE}02PIZ{POP} now"


def text_of(response):
    return response.content.decode()


@pytest.mark.parametrize("state", EVERY_STATE)
def test_every_state_has_a_page_that_names_it(story, browse, state):
    draft = states.build(story, state)
    page = text_of(browse("max").open(draft))
    assert f"badge-{state}" in page
    assert 'id="plate-title"' in page


@pytest.mark.parametrize("state", EVERY_STATE)
def test_every_tab_opens_in_every_state(story, browse, state):
    draft, tab = states.build(story, state), browse("ben")
    for name in (*TABS, "delivery", "nonsense"):
        assert tab.open(draft, f"?tab={name}").status_code == 200


@pytest.mark.parametrize(
    ("state", "title"),
    [
        (DraftState.IN_REVIEW, "Will be written to"),
        (DraftState.APPROVED, "Will be written to"),
        (DraftState.SUBMITTING, "Will be written to"),
        (DraftState.DELIVERY_UNKNOWN, "May have been written to"),
        (DraftState.SUBMITTED, "Written to"),
        (DraftState.CONFIRMED, "Written to"),
        (DraftState.FAILED, "Was not written to"),
        (DraftState.REVOKED, "Was not written to"),
    ],
)
def test_the_plate_changes_its_title_with_the_truth(story, browse, state, title):
    page = browse("max").open(states.build(story, state)).context["page"]
    assert page.plate.title == title


@pytest.mark.parametrize("name", ["ada", "ben", "max", "vic"])
def test_members_see_it_and_strangers_get_404(story, browse, name):
    draft = story.propose()
    assert browse(name).open(draft).status_code == 200
    assert browse("dee").open(draft).status_code == 404
    assert browse(name).client.get("/drafts/999999/").status_code == 404


def test_every_value_stands_whole_on_the_content_tab(story, browse):
    payload = {
        "summary": "x" * 20_000,
        "deep": {"list": [1.5, None, {"flag": True}], "none": {}},
        "lines": "\n" * 5_000 + "end",
    }
    page = text_of(browse("ben").open(story.propose(payload=payload)))
    assert "x" * 20_000 in page
    assert "\n" * 5_000 + "end" in page
    for value in ("1.5", "null", "true", "{}", "text, 5,003 characters, 5,001 lines"):
        assert value in page


@pytest.mark.parametrize("tab", TABS)
def test_what_cannot_be_seen_is_marked_and_never_emitted(story, browse, tab):
    draft = story.propose(payload={"summary": HIDDEN, f"k{ZERO_WIDTH}ey": "x"}, title=f"T{OVERRIDE}itle", note=HIDDEN)
    page = text_of(browse("ben").open(draft, f"?tab={tab}"))
    assert not re.search("[\u200b\u202a-\u202e\u2066-\u2069\ufeff]", page)
    if tab != "history":
        assert "ZWSP" in page
        assert "hidden character: right-to-left override" in page


def test_a_link_to_a_mixed_script_host_shows_its_punycode(story, browse):
    page = text_of(browse("ben").open(story.propose(payload={"summary": "See https://раypal.com/login"})))
    assert "xn--" in page


def test_hidden_characters_have_to_be_acknowledged_before_approving(story, browse):
    page = text_of(browse("ben").open(story.propose(payload={"summary": HIDDEN})))
    assert re.search(r'<input type="checkbox" name="seen_hidden"[^>]* required', page)
    assert page.count("formnovalidate") == 2


def test_context_and_note_stand_apart(story, browse):
    draft = story.propose(note="Twice asked.", context={"review": "2 of 5 stars"})
    page = text_of(browse("ben").open(draft))
    assert page.count("Not part of what you approve.") == 2


@pytest.mark.parametrize(("tab", "shown"), [("content", True), ("changes", True), ("bytes", True), ("history", False)])
def test_the_decision_form_is_only_where_all_of_the_content_is(story, browse, tab, shown):
    draft = story.propose()
    page = text_of(browse("ben").open(draft, f"?tab={tab}"))
    assert ('name="view_token"' in page) is shown


def test_the_changes_tab_holds_the_unchanged_fields_in_full(story, browse):
    draft = story.propose(payload={"summary": "Old words", "same": "unchanged value"})
    edited = _revise(story, draft, {"summary": "New words", "same": "unchanged value"})
    page = text_of(browse("ben").open(edited, "?tab=changes"))
    assert "<del>Old</del><ins>New</ins> words" in page
    assert "1 field unchanged: same" in page
    assert "unchanged value" in page
    assert "Destination unchanged" in page


@pytest.mark.parametrize("after", ["word ", "word\t", "word\n", "word\u00a0"])
def test_a_change_of_blanks_alone_is_seen(story, browse, after):
    edited = _revise(story, story.propose(payload={"summary": "word"}), {"summary": after})
    page = text_of(browse("ben").open(edited, "?tab=changes"))
    assert re.search(r"<ins>.*(ghost|escape).*</ins>", page, re.DOTALL)


def test_the_exact_bytes_are_shown_hashed_and_downloadable(story, browse):
    draft, tab = story.propose(payload={"summary": "Zoë\n" + HIDDEN}), browse("ben")
    answer = tab.client.get(f"/drafts/{draft.pk}/revisions/1.json")
    digest = draft.revisions.get().digest
    assert "sha256:" + hashlib.sha256(answer.content).hexdigest() == digest
    assert answer["Content-Disposition"] == f'attachment; filename="rr-{draft.pk}-r1.json"'
    page = tab.open(draft, "?tab=bytes").context["page"]
    assert page.body.matches
    assert page.body.request.body == rendering.request_of(story.approval(draft)).body.decode()


def test_the_bytes_as_hex(story, browse):
    page = text_of(browse("ben").open(story.propose(), "?tab=bytes&as=hex"))
    assert "7b 22 6f 70 65 72 61 74 69 6f 6e 22 3a" in page


def test_a_missing_revision_is_404(story, browse):
    draft = story.propose()
    assert browse("ben").client.get(f"/drafts/{draft.pk}/revisions/2.json").status_code == 404
    assert browse("dee").client.get(f"/drafts/{draft.pk}/revisions/1.json").status_code == 404


@pytest.mark.parametrize("state", EVERY_STATE)
def test_the_history_has_a_sentence_for_every_event(story, browse, state):
    draft = states.build(story, state)
    history = browse("ben").open(draft, "?tab=history").context["page"].body
    assert len(history.events) == AuditEvent.objects.filter(draft=draft).count()
    assert not [event for event in history.events if "{" in event.text or "–" in event.text]


def test_the_rail_says_why_somebody_cannot_decide(story, browse):
    draft = story.propose("reply-bot")
    why = {name: browse(name).open(draft).context["page"].rail.why_not for name in ("ada", "vic", "ben")}
    assert why["ada"].startswith("You wrote part of this")
    assert why["vic"].startswith("You can read this")
    assert why["ben"] == ""


def test_the_rail_lists_void_decisions_apart(story, browse):
    draft = story.propose()
    story.decide(draft, "cleo")
    edited = _revise(story, draft, {"summary": "Other"})
    said = browse("ben").open(edited).context["page"].rail.said
    assert [(entry.name, entry.is_void) for entry in said] == [("cleo", True)]


def test_the_button_says_what_pressing_it_will_cause(story, browse):
    draft = story.propose()
    form = browse("ben").open(draft).context["page"].rail.form
    assert form.consequence == "After yours, 1 approval is still missing. Any edit voids it."
    story.decide(draft, "cleo")
    form = browse("ben").open(draft).context["page"].rail.form
    assert form.consequence.startswith("Yours is the last approval needed: these ")


def test_an_item_past_its_time_is_shown_as_expired(story, browse):
    draft = story.propose()
    story.clock.now = story.approval(draft).expires_at
    page = browse("ben").open(draft).context["page"]
    assert page.state == "expired"
    assert page.rail.form is None


@pytest.mark.parametrize("state", EVERY_STATE)
def test_looking_changes_nothing(story, browse, state):
    draft = states.build(story, state)
    before = (Draft.objects.get(pk=draft.pk).seq, AuditEvent.objects.count())
    for tab in TABS:
        browse("max").open(draft, f"?tab={tab}")
        browse("max").client.head(f"/drafts/{draft.pk}/?tab={tab}")
    assert (Draft.objects.get(pk=draft.pk).seq, AuditEvent.objects.count()) == before


def test_the_delivery_polls_only_while_something_moves(story, browse):
    moving = states.build(story, DraftState.APPROVED)
    assert 'hx-trigger="every 2s"' in text_of(browse("ben").open(moving))
    settled = states.build(story, DraftState.CONFIRMED)
    assert 'hx-trigger="every 2s"' not in text_of(browse("ben").open(settled))


def test_a_read_back_that_differs_is_said_and_at_rest(story, browse):
    story.remote.verifications.append(DIFFERS)
    draft = states.build(story, DraftState.SUBMITTED)
    states.read_back(story)
    page = text_of(browse("ben").open(draft))
    assert page.count("Read back: it differs from what was approved") == 2
    assert "not been read back" not in page
    assert "hx-trigger" not in page


def test_a_polled_delivery_is_a_fragment_until_the_state_changes(story, browse):
    draft, tab = states.build(story, DraftState.APPROVED), browse("ben")
    url = tab.open(draft).context["page"].body.poll_url
    same = tab.client.get(url, headers={"HX-Request": "true"})
    assert text_of(same).lstrip().startswith('<div class="stack" id="delivery"')
    states.send(story)
    moved = tab.client.get(url, headers={"HX-Request": "true"})
    assert moved["HX-Retarget"] == "#item"


def test_news_stay_silent_until_something_happened(story, browse):
    draft, tab = story.propose(), browse("ben")
    url = f"/drafts/{draft.pk}/news?version=1&seq={story.again(draft).seq}"
    assert tab.client.get(url).status_code == 204
    _revise(story, draft, {"summary": "Other"})
    told = tab.client.get(url)
    assert "Revision 2 exists" in text_of(told)
    assert "data-stale" in text_of(told)


def test_an_altered_revision_says_so_in_red(story, browse, monkeypatch):
    draft = story.propose()
    monkeypatch.setattr("approvals.web.cards.canonical.digest_of", lambda canonical: "sha256:" + "0" * 64)
    assert "does not match revision 1" in text_of(browse("ben").open(draft, "?tab=bytes"))


def _revise(story, draft, payload):
    version = story.again(draft).version
    revise(
        actor=story.actor("ada"),
        clock=story.clock,
        draft_id=draft.pk,
        version=version,
        changes=Changes(payload=payload),
    )
    return story.again(draft)
