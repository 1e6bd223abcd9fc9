"""Corrections: a new draft for the same object at the remote, with links both ways and every refusal said."""

import copy

import pytest

from approvals.connectors.base import Capability
from approvals.domain.states import DraftState as T
from approvals.models import Draft
from approvals.services import rendering
from tests.cast import CONFIG
from tests.services import states
from tests.support.remote import REFUSED, FakeConnector
from tests.web.conftest import Forms

FORM = "/drafts/new"


@pytest.fixture
def published(story):
    return states.published(story)


def opened(tab, draft):
    return tab.client.get(f"{FORM}?corrects={draft.pk}")


def form_of(tab, draft):
    return Forms(opened(tab, draft).content.decode()).found[FORM]


def propose(tab, draft, **changed):
    fields = {**form_of(tab, draft), "submit": "yes", **changed}
    return tab.client.post(FORM, fields)


def test_the_form_is_filled_with_what_was_published(story, browse, published):
    fields = form_of(browse("ada"), published)
    assert fields["value:comment"] == "Thank you"
    assert (fields["corrects"], fields["channel"], fields["resource"]) == (
        str(published.pk),
        "replies",
        states.REVIEW,
    )


def test_the_form_names_the_object_that_is_replaced(story, browse, published):
    page = opened(browse("ada"), published).context["page"]
    assert page.plate.replaces == "issue42"
    assert page.heading == f"Correct {published.reference}"
    assert published.title in page.notices[0].title


def test_a_correction_is_a_draft_that_names_what_it_corrects(story, browse, published):
    answer = propose(browse("ada"), published, **{"value:comment": "Thank you very much"})
    made = Draft.objects.latest("pk")
    assert answer.url == f"/drafts/{made.pk}/"
    assert (made.corrects_id, made.state, made.target_id) == (published.pk, T.IN_REVIEW, published.target_id)
    assert rendering.binding_of(made.revisions.get()).corrects.remote_id == "issue42"


def test_its_page_leads_back_and_names_the_object(story, browse, published):
    propose(browse("ada"), published, **{"value:comment": "Thank you very much"})
    answer = browse("ben").open(Draft.objects.latest("pk"))
    page = answer.context["page"]
    assert (page.corrects.url, page.corrects.label) == (f"/drafts/{published.pk}/", published.reference)
    assert page.plate.replaces == "issue42"
    assert "Its id is part of what is approved." in answer.content.decode()


def test_the_original_leads_to_an_open_correction(story, browse, published):
    tab = browse("ada")
    propose(tab, published, **{"value:comment": "Thank you very much"})
    made = Draft.objects.latest("pk")
    card = tab.open(published).context["page"].settle
    assert [(note.text, note.url) for note in card.notes] == [
        (f"{made.reference} corrects it already.", f"/drafts/{made.pk}/")
    ]
    assert card.links == ()


def test_the_original_says_by_what_it_was_corrected(story, browse, published):
    propose(browse("ada"), published, **{"value:comment": "Thank you very much"})
    made = Draft.objects.latest("pk")
    story.decide(made, "ben")
    story.decide(made, "cleo")
    states.send(story)
    page = browse("ben").open(published).context["page"]
    assert [(notice.title, notice.url) for notice in page.notices] == [
        (f"Corrected by {made.reference}", f"/drafts/{made.pk}/")
    ]
    assert page.says == f"Corrected by {made.reference}"
    assert page.plate.title == "Was written to, replaced since at"


def test_a_second_correction_is_refused_and_the_text_stays(story, browse, published):
    tab = browse("ada")
    late = {**form_of(tab, published), "submit": "yes", "value:comment": "Second <b>text</b>"}
    propose(tab, published, **{"value:comment": "First text"})
    answer = tab.client.post(FORM, late)
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "Second &lt;b&gt;text&lt;/b&gt;" in page
    assert 'name="corrects"' in page
    assert "corrects" in answer.context["page"].notices[0].text


def test_a_channel_that_cannot_correct_offers_none_and_refuses_one(story, browse):
    draft = states.build(story, T.CONFIRMED)
    tab = browse("ada")
    assert tab.open(draft).context["page"].settle is None
    answer = propose(tab, draft)
    assert answer.status_code == 409
    assert "cannot replace" in answer.content.decode()


def test_another_operation_of_the_channel_may_be_what_corrects(story, browse, monkeypatch):
    document = copy.deepcopy(CONFIG)
    document["rooms"][0]["channels"][1]["operations"]["reply.amend"] = {}
    story.configure(document)
    draft, tab = states.published(story), browse("ada")
    can = FakeConnector.capabilities

    def only_amend(self, settings, operation):
        found = can(self, settings, operation)
        return found if operation == "reply.amend" else found - {Capability.CORRECT}

    monkeypatch.setattr(FakeConnector, "capabilities", only_amend)
    link = tab.open(draft).context["page"].settle.links[0]
    assert link.url == f"/drafts/new?corrects={draft.pk}&operation=reply.amend"
    fields = {**Forms(tab.client.get(link.url).content.decode()).found[FORM], "submit": "yes"}
    assert tab.client.post(FORM, fields).status_code == 302
    made = Draft.objects.latest("pk")
    assert (made.operation, made.corrects_id) == ("reply.amend", draft.pk)


def test_strangers_and_reviewers_cannot_open_the_form(story, browse, published):
    assert opened(browse("dee"), published).status_code == 404
    assert opened(browse("ben"), published).status_code == 403


def test_a_failed_draft_is_copied(story, browse):
    draft = states.build(story, T.FAILED)
    links = browse("ada").open(draft).context["page"].links
    assert [link.url for link in links] == [f"/drafts/new?copy={draft.pk}"]


def test_the_copy_of_a_failed_correction_corrects_the_same_draft(story, browse, published):
    tab = browse("ada")
    propose(tab, published, **{"value:comment": "Thank you very much"})
    made = Draft.objects.latest("pk")
    story.decide(made, "ben")
    story.decide(made, "cleo")
    story.remote.receipts = [REFUSED]
    states.send(story)
    link = tab.open(made).context["page"].links[0]
    fields = Forms(tab.client.get(link.url).content.decode()).found[FORM]
    assert (fields["corrects"], fields["value:comment"]) == (str(published.pk), "Thank you very much")


def new(tab, **changed):
    page = tab.client.get(f"{FORM}?room=facilities&channel=tickets&operation=ticket.create").content.decode()
    fields = {**Forms(page).found[FORM], "submit": "yes", "value:summary": "The lift", **changed}
    return tab.client.post(FORM, fields)


def test_a_time_before_which_nothing_is_sent_is_read_as_utc(story, browse):
    new(browse("ada"), not_before="2026-12-02T09:30")
    assert Draft.objects.get().not_before.isoformat() == "2026-12-02T09:30:00+00:00"


@pytest.mark.parametrize("wrong", ["tomorrow", "2030-01-01T00:00", "2026-13-01T00:00"])
def test_a_time_that_cannot_be_is_marked_and_kept(story, browse, wrong):
    answer = new(browse("ada"), not_before=wrong)
    assert answer.status_code == 422
    assert answer.context["page"].form.not_before.value == wrong
    assert 'id="not-before-fault"' in answer.content.decode()
    assert not Draft.objects.exists()
