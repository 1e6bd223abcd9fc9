"""Writing proposals: what a form sends is what is stored, and what was typed is never lost."""

import json

import pytest
from django.http import QueryDict
from hypothesis import given
from hypothesis import strategies as st

from approvals.domain import visible
from approvals.domain.states import DraftState
from approvals.models import Draft
from approvals.services import rendering
from approvals.services.revise import Changes, revise
from approvals.web import writing
from tests.services import states
from tests.web.conftest import Forms

NEW = "/drafts/new"
TICKET = {"room": "facilities", "channel": "tickets", "operation": "ticket.create"}
EVIL = "a\u200bb\u202ec\rd"


def payload_of(draft):
    return rendering.binding_of(draft.revisions.get(number=Draft.objects.get(pk=draft.pk).version)).payload


def edit_form(tab, draft, query=""):
    page = tab.client.get(f"/drafts/{draft.pk}/edit{query}").content.decode()
    return Forms(page).found[f"/drafts/{draft.pk}/edit"]


def save(tab, draft, form, **changed):
    """Sends a form as a browser does: with CRLF."""
    sent = {name: value.replace("\n", "\r\n") for name, value in {**form, **changed}.items()}
    data = QueryDict(mutable=True)
    for name, value in sent.items():
        data.appendlist(name, value)
    names = [name.removeprefix("value:") for name in form if name.startswith("value:")]
    if names:
        data.setlist("field", names)
    return tab.client.post(
        f"/drafts/{draft.pk}/edit", data.urlencode(), content_type="application/x-www-form-urlencoded"
    )


def test_the_choice_lists_every_operation_this_person_may_propose(story, browse):
    page = browse("ada").client.get(NEW).content.decode()
    assert "Create ticket" in page
    assert "Upsert reply" in page
    assert "Create ticket" not in browse("ben").client.get(NEW).content.decode()


def test_a_new_draft_is_proposed_and_reviewed(story, browse):
    data = {
        **TICKET,
        "mode": "json",
        "payload": '{"summary": "Lift"}',
        "title": "The lift",
        "note": "Twice.\r\nReally.",
    }
    answer = browse("ada").client.post(NEW, data)
    draft = Draft.objects.get()
    assert answer.url == f"/drafts/{draft.pk}/"
    assert (draft.state, draft.title, draft.note) == (DraftState.IN_REVIEW, "The lift", "Twice.\nReally.")


def test_one_form_posted_twice_makes_one_draft(story, browse):
    tab = browse("ada")
    form = Forms(tab.client.get(NEW, TICKET).content.decode()).found[NEW]
    data = {**form, "mode": "json", "payload": '{"summary": "Lift"}'}
    first, second = tab.client.post(NEW, data), tab.client.post(NEW, data)
    assert first.url == second.url == f"/drafts/{Draft.objects.get().pk}/"


def test_other_words_in_the_same_form_are_another_draft(story, browse):
    tab = browse("ada")
    form = Forms(tab.client.get(NEW, TICKET).content.decode()).found[NEW]
    for summary in ("Lift", "Stairs"):
        tab.client.post(NEW, {**form, "mode": "json", "payload": f'{{"summary": "{summary}"}}'})
    assert Draft.objects.count() == 2


def test_a_new_draft_can_be_kept(story, browse):
    browse("ada").client.post(NEW, {**TICKET, "mode": "json", "payload": '{"summary": "x"}', "submit": "no"})
    assert Draft.objects.get().state == DraftState.DRAFT


def test_the_form_has_a_field_for_what_the_schema_requires(story, browse):
    page = browse("ada").client.get(NEW, TICKET).content.decode()
    assert 'name="value:summary"' in page
    data = {**TICKET, "mode": "fields", "field": "summary", "value:summary": "Two\r\nlines "}
    browse("ada").client.post(NEW, data)
    assert payload_of(Draft.objects.get()) == {"summary": "Two\nlines "}


def test_a_pattern_asks_for_its_resource(story, browse):
    reply = {"room": "facilities", "channel": "replies", "operation": "reply.upsert", "mode": "json"}
    bad = browse("ada").client.post(NEW, {**reply, "payload": '{"comment": "Thanks"}', "resource": "nonsense"})
    assert bad.status_code == 422
    assert 'id="resource-fault"' in bad.content.decode()
    assert "Thanks" in bad.content.decode()
    good = browse("ada").client.post(NEW, {**reply, "payload": "{}", "resource": "locations/1/reviews/2"})
    assert good.status_code == 302


@pytest.mark.parametrize(
    ("payload", "fault"),
    [
        ('{"summary": 1,\n "b": }', "Line 2, column 7"),
        ('{"summary": "x", "summary": "y"}', "summary"),
        ('{"summary": NaN}', "NaN"),
        ("[]", "JSON object"),
        ("", "JSON"),
        ('{"other": "x"}', "summary"),
        ('{"summary": "' + "x" * 300_000 + '"}', "262,144"),
        ("[" * 10_000, "deep"),
    ],
)
def test_a_fault_is_said_at_the_payload_and_the_text_stays(story, browse, payload, fault):
    answer = browse("ada").client.post(NEW, {**TICKET, "mode": "json", "payload": payload, "title": "Kept title"})
    page = answer.content.decode()
    assert answer.status_code in (413, 422)
    assert fault in page
    assert 'id="payload-fault"' in page
    assert Forms(page).found[NEW]["payload"] == payload
    assert "Kept title" in page
    assert not Draft.objects.exists()


@pytest.mark.parametrize("name", ["ben", "max", "vic"])
def test_only_proposers_propose(story, browse, name):
    assert browse(name).client.post(NEW, {**TICKET, "payload": '{"summary": "x"}'}).status_code == 403


def test_strangers_and_unknown_ways_get_404(story, browse):
    assert browse("dee").client.get(NEW, TICKET).status_code == 404
    for wrong in ({name: value} for name in ("room", "channel", "operation") for value in ("x", "", "\x00")):
        assert browse("ada").client.get(NEW, {**TICKET, **wrong}).status_code == 404


@pytest.mark.parametrize("mode", ["fields", "json"])
@pytest.mark.parametrize(
    "payload",
    [
        {"summary": "plain"},
        {"summary": "two\nlines\n", "count": 12, "urgent": True, "none": None, "trailing": "blank "},
        {"summary": "\n\nbegins with line ends"},
        {"summary": " <b>&amp;</b> \"quoted\" 'too' "},
        {"summary": EVIL, "nested": {"a": [1, {}]}},
        {"summary": "e\u0301 and \u00e9", "\u200bkey": "x"},
        {"summary": "", "a/b~c": "pointer", "line\nend": "x"},
    ],
)
def test_an_unchanged_save_changes_nothing(story, browse, payload, mode):
    draft, tab = story.propose(payload=payload), browse("ada")
    answer = save(tab, draft, edit_form(tab, draft, f"?as={mode}"))
    assert answer.status_code == 302
    assert story.again(draft).version == 1
    assert payload_of(draft) == payload


def test_a_change_makes_a_revision_and_voids_the_approvals(story, browse):
    draft, tab = story.propose(), browse("ada")
    story.decide(draft, "ben")
    save(tab, draft, edit_form(tab, draft), **{"value:summary": "Changed\nwords"})
    assert payload_of(draft) == {"summary": "Changed\nwords"}
    assert story.again(draft).version == 2
    assert story.approval(draft).decision_count == 0


def test_a_fault_in_an_edit_keeps_the_text(story, browse):
    draft, tab = story.propose(payload={"summary": "x", "count": 12}), browse("ada")
    answer = save(tab, draft, edit_form(tab, draft), **{"value:summary": "Typed", "value:count": "twelve"})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "Typed" in page
    assert "twelve" in page
    assert "Write true, false, null or a number here." in page


def test_the_second_of_two_editors_sees_both_texts(story, browse):
    draft, tab = story.propose(payload={"summary": "Within 30 days"}), browse("ada")
    form = edit_form(tab, draft)
    changes = Changes(payload={"summary": "Within 20 days"})
    revise(actor=story.actor("ben"), clock=story.clock, draft_id=draft.pk, version=1, changes=changes)
    answer = save(tab, draft, form, **{"value:summary": "Within 14 days"})
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "<del>20</del><ins>14</ins>" in page
    assert "Saved by ben" in page
    again = Forms(page).found[f"/drafts/{draft.pk}/edit"]
    assert again["value:summary"] == "Within 14 days"
    assert save(tab, draft, again).status_code == 302
    assert payload_of(draft) == {"summary": "Within 14 days"}
    assert story.again(draft).version == 3


def test_an_unreadable_text_survives_an_edit_conflict(story, browse):
    draft, tab = story.propose(), browse("ada")
    form = edit_form(tab, draft, "?as=json")
    revise(
        actor=story.actor("ben"),
        clock=story.clock,
        draft_id=draft.pk,
        version=1,
        changes=Changes(payload={"summary": "y"}),
    )
    answer = save(tab, draft, form, payload='{"summary": ')
    assert answer.status_code == 422
    assert "{&quot;summary&quot;: " in answer.content.decode()


@pytest.mark.parametrize(("name", "status"), [("ada", 200), ("ben", 200), ("vic", 403), ("dee", 404)])
def test_who_may_open_the_editor(story, browse, name, status):
    draft = story.propose()
    assert browse(name).client.get(f"/drafts/{draft.pk}/edit").status_code == status


def test_what_was_sent_is_not_edited_but_copied(story, browse):
    draft, tab = states.build(story, DraftState.FAILED), browse("ada")
    assert tab.client.get(f"/drafts/{draft.pk}/edit").status_code == 302
    page = tab.client.get(f"{NEW}?copy={draft.pk}").content.decode()
    assert "Copied from" in page
    assert "The lift is stuck" in page
    assert browse("dee").client.get(f"{NEW}?copy={draft.pk}").status_code == 404
    for nothing in ("999999999", "9" * 5000, "x", "-1", "\u0661"):
        assert tab.client.get(NEW, {"copy": nothing}).status_code in (200, 404)


def test_title_and_note_are_fixed_while_it_is_reviewed(story, browse):
    draft, tab = story.propose(), browse("ada")
    form = edit_form(tab, draft)
    save(tab, draft, form, title="Sneaked in")
    assert story.again(draft).title == "Report the lift"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=6), JSON, max_size=4))
def test_text_for_a_textarea_reads_back_equal_and_hides_nothing(payload):
    text = writing.as_text(payload)
    assert json.loads(text) == payload
    assert all(run.raw for run in visible.runs(text))
    assert "\r" not in text


@given(st.dictionaries(st.text(min_size=1, max_size=6), st.text(max_size=20) | st.booleans() | st.none(), max_size=4))
def test_fields_are_offered_only_where_they_give_everything_back(payload):
    form = writing.of_payload(payload, mode="fields")
    if form.mode == writing.FIELDS:
        assert form.payload() == payload
    else:
        assert json.loads(form.payload_text) == payload
