"""Recording what happened: who may, what is asked, what is refused, and that no typed word is lost."""

import pytest
from django.conf import settings

from approvals.domain.states import DraftState as T
from approvals.models import Delivery, Membership, Observation
from tests.services import states
from tests.web.conftest import HTMX, Forms

HOSTILE = "<img src=x onerror=alert(1)> \u202eseen"


def form(tab, draft):
    text = tab.client.get(f"/drafts/{draft.pk}/resolve").content.decode()
    return Forms(text).found[f"/drafts/{draft.pk}/resolve"]


def record(tab, draft, **data):
    fields = {**form(tab, draft), "outcome": "delivered", "evidence": "I saw it.", **data}
    return tab.client.post(f"/drafts/{draft.pk}/resolve", fields)


def page_of(tab, draft):
    return tab.client.get(f"/drafts/{draft.pk}/resolve").context["page"]


def later(story):
    """Lets the horizon of whatever may still be on its way pass."""
    story.clock.advance(seconds=settings.REVIEWROOM_LEASE_SECONDS + settings.REVIEWROOM_ABSENT_GRACE_SECONDS)


def test_nothing_is_chosen_before_somebody_chooses(story, browse):
    draft = states.build(story, T.DELIVERY_UNKNOWN)
    shown = page_of(browse("max"), draft).form
    assert [(choice.value, choice.is_chosen) for choice in shown.choices] == [
        ("delivered", False),
        ("not_delivered", False),
    ]


def test_everything_known_stands_beside_the_form(story, browse):
    draft = states.build(story, T.DELIVERY_UNKNOWN)
    states.read_back(story)
    shown = page_of(browse("max"), draft)
    assert [line.kind for line in shown.delivery.attempts] == ["Send", "Look-up"]
    assert shown.plate.title == "May have been written to"


def test_what_was_found_is_recorded_with_evidence_and_id(story, browse):
    draft = states.build(story, T.DELIVERY_UNKNOWN)
    assert record(browse("max"), draft, remote_id="issue42").status_code == 302
    assert story.again(draft).state == T.SUBMITTED
    assert Delivery.objects.get(draft=draft).remote_id == "issue42"


def test_the_attempts_show_who_recorded_what(story, browse):
    draft, tab = states.build(story, T.DELIVERY_UNKNOWN), browse("max")
    record(tab, draft, evidence=HOSTILE)
    answer = tab.open(draft)
    line = answer.context["page"].body.attempts[-1]
    assert (line.kind, line.outcome) == ("By a person", "Recorded: it is there, by max")
    page = answer.content.decode()
    assert "<img src=x" not in page
    assert "\u202e" not in page


def test_not_delivered_opens_only_after_the_horizon(story, browse):
    draft, tab = states.build(story, T.DELIVERY_UNKNOWN), browse("max")
    early = page_of(tab, draft).form.choices[1]
    assert early.is_disabled
    assert early.hint.startswith("Only from 12:0")
    later(story)
    assert not page_of(tab, draft).form.choices[1].is_disabled


def test_the_server_decides_whatever_the_form_let_through(story, browse):
    draft, tab = states.build(story, T.DELIVERY_UNKNOWN), browse("max")
    answer = record(tab, draft, outcome="not_delivered", evidence="Not there, I looked.")
    assert answer.status_code == 409
    assert "Not there, I looked." in answer.content.decode()
    assert "may still arrive until" in answer.content.decode()
    assert story.again(draft).state == T.DELIVERY_UNKNOWN
    later(story)
    assert record(tab, draft, outcome="not_delivered").status_code == 302
    assert story.again(draft).state == T.FAILED


@pytest.mark.parametrize(
    ("wrong", "field"),
    [({"outcome": ""}, "outcome"), ({"evidence": " "}, "evidence"), ({"remote_id": ".."}, "remote-id")],
)
def test_a_fault_is_marked_and_the_rest_stays(story, browse, wrong, field):
    draft, tab = states.build(story, T.DELIVERY_UNKNOWN), browse("max")
    answer = record(tab, draft, **{"evidence": "I saw it.", "remote_id": "issue42", **wrong})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert f'id="{field}-fault"' in page
    kept = answer.context["page"].form
    assert (kept.evidence.value, kept.remote_id.value) == (
        wrong.get("evidence", "I saw it."),
        wrong.get("remote_id", "issue42"),
    )
    assert not Observation.objects.filter(kind="resolution").exists()


@pytest.mark.parametrize("name", ["ada", "ben", "vic"])
def test_only_operators_get_the_page(story, browse, name):
    draft, tab = states.build(story, T.DELIVERY_UNKNOWN), browse(name)
    assert tab.client.get(f"/drafts/{draft.pk}/resolve").status_code == 403
    data = {"delivery": str(Delivery.objects.get(draft=draft).pk), "outcome": "delivered", "evidence": "x"}
    assert tab.client.post(f"/drafts/{draft.pk}/resolve", data).status_code == 403
    assert story.again(draft).state == T.DELIVERY_UNKNOWN


def test_strangers_learn_nothing(story, browse):
    draft = states.build(story, T.DELIVERY_UNKNOWN)
    assert browse("dee").client.get(f"/drafts/{draft.pk}/resolve").status_code == 404


@pytest.fixture
def operating_author(story):
    """Makes ada an operator too: of what she wrote she must not be the witness."""
    Membership.objects.filter(user=story.user["ada"]).update(is_operator=True)
    return states.build(story, T.DELIVERY_UNKNOWN)


def test_an_author_sees_why_somebody_else_has_to(story, browse, operating_author):
    tab = browse("ada")
    shown = page_of(tab, operating_author)
    assert shown.form is None
    assert "You wrote this draft" in shown.notices[0].text
    notes = [note.text for note in tab.open(operating_author).context["page"].settle.notes]
    assert any("another operator" in note for note in notes)


def test_an_authors_words_come_back_with_the_refusal(story, browse, operating_author):
    delivery = Delivery.objects.get(draft=operating_author)
    data = {"delivery": str(delivery.pk), "outcome": "delivered", "evidence": "I am sure of it."}
    answer = browse("ada").client.post(f"/drafts/{operating_author.pk}/resolve", data)
    assert answer.status_code == 403
    assert "I am sure of it." in answer.content.decode()
    assert story.again(operating_author).state == T.DELIVERY_UNKNOWN


def test_a_settled_draft_has_nothing_to_record(story, browse):
    draft = states.build(story, T.CONFIRMED)
    answer = browse("max").client.get(f"/drafts/{draft.pk}/resolve")
    assert answer.url == f"/drafts/{draft.pk}/"


def test_what_was_settled_meanwhile_is_a_conflict_that_keeps_the_evidence(story, browse):
    draft, tab = states.build(story, T.DELIVERY_UNKNOWN), browse("max")
    open_form = form(tab, draft)
    record(tab, draft, evidence="First.")
    data = {**open_form, "outcome": "delivered", "evidence": "Second, seen by me."}
    answer = tab.client.post(f"/drafts/{draft.pk}/resolve", data)
    assert answer.status_code == 409
    assert "Second, seen by me." in answer.content.decode()


def test_the_same_form_twice_records_once(story, browse):
    draft, tab = states.build(story, T.DELIVERY_UNKNOWN), browse("max")
    data = {**form(tab, draft), "outcome": "delivered", "evidence": "I saw it."}
    for _ in range(2):
        assert tab.client.post(f"/drafts/{draft.pk}/resolve", data).status_code == 302
    assert Observation.objects.filter(kind="resolution").count() == 1


def test_a_delivery_of_another_draft_is_not_settled(story, browse):
    draft, tab = states.build(story, T.DELIVERY_UNKNOWN), browse("max")
    other = states.build(story, T.CONFIRMED)
    data = {"delivery": str(Delivery.objects.get(draft=draft).pk), "outcome": "delivered", "evidence": "x"}
    assert tab.client.post(f"/drafts/{other.pk}/resolve", data).status_code == 404
    assert story.again(draft).state == T.DELIVERY_UNKNOWN


@pytest.mark.parametrize(
    ("outcome", "state", "says"),
    [
        ("delivered", T.RETRACTED, "Recorded by a person: it is gone"),
        ("not_delivered", T.RETRACTION_FAILED, "Still public: it could not be undone"),
    ],
)
def test_of_a_retraction_the_words_are_about_being_gone(story, browse, outcome, state, says):
    draft, tab = states.build(story, T.RETRACTION_UNKNOWN), browse("max")
    assert [choice.label for choice in page_of(tab, draft).form.choices] == ["It is gone", "It is still there"]
    later(story)
    record(tab, draft, outcome=outcome)
    page = tab.open(draft).context["page"]
    assert (page.state, page.says) == (state, says)


def test_an_expired_session_keeps_the_evidence(story, browse):
    draft, tab = states.build(story, T.DELIVERY_UNKNOWN), browse("max")
    data = {**form(tab, draft), "outcome": "delivered", "evidence": "Typed before."}
    tab.client.logout()
    tab.client.post(f"/drafts/{draft.pk}/resolve", data)
    tab.client.post("/accounts/login/", {"username": "max", "password": "correct horse battery staple"})
    assert form(tab, draft)["evidence"] == "Typed before."


def test_looking_at_the_form_changes_nothing(story, browse):
    draft, tab = states.build(story, T.DELIVERY_UNKNOWN), browse("max")
    before = story.again(draft).seq
    tab.client.get(f"/drafts/{draft.pk}/resolve", headers=HTMX)
    tab.client.head(f"/drafts/{draft.pk}/resolve")
    assert story.again(draft).seq == before
