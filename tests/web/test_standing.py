"""What stands at a target now: shown beside a draft, never as part of it, and never as newer than it is."""

import copy

import pytest

from approvals.connectors.base import Reading
from approvals.domain.states import DraftState as T
from approvals.models import TargetReading
from tests.cast import CONFIG
from tests.services import states
from tests.web.conftest import HTMX

HERE = Reading(True, "The review has this reply.", {"comment": "Hello <b>you</b>\u200b", "updateTime": "12:00"})
NOTHING = Reading(True, "The review has no reply.")
SILENT = Reading(False, "The remote answered 503.")


def reply(story, **more):
    return story.propose(resource=states.REVIEW, **more)


def read(story, *readings):
    story.remote.readings = list(readings)
    states.read_back(story)


def card(tab, draft):
    return tab.open(draft).context["page"].standing


def test_what_was_read_is_shown_field_by_field(story, browse):
    draft = reply(story)
    read(story, HERE)
    answer = browse("ben").open(draft)
    assert [field.steps for field in answer.context["page"].standing.fields] == [("comment",), ("updateTime",)]
    page = answer.content.decode()
    assert "Hello &lt;b&gt;you&lt;/b&gt;" in page
    assert "\u200b" not in page
    assert "hidden character: zero width space" in page


def test_it_is_said_to_be_no_part_of_what_is_approved(story, browse):
    draft = reply(story)
    read(story, HERE)
    assert card(browse("ben"), draft).about == "Not part of what you approve."


def test_it_is_not_what_the_digest_or_the_warning_covers(story, browse):
    draft = reply(story)
    read(story, HERE)
    assert "seen_hidden" not in browse("ben").open(draft).content.decode()


@pytest.mark.parametrize(
    ("reading", "said"),
    [(NOTHING, "The review has no reply."), (SILENT, "It could not be read: The remote answered 503.")],
)
def test_nothing_there_and_not_readable_are_different_words(story, browse, reading, said):
    draft = reply(story)
    read(story, reading)
    assert card(browse("ben"), draft).said == said


def test_a_failed_reading_never_makes_an_older_one_look_new(story, browse):
    draft, tab = reply(story), browse("ben")
    read(story, HERE)
    tab.client.post(f"/drafts/{draft.pk}/read-target")
    read(story, SILENT)
    shown = card(tab, draft)
    assert shown.caution == "This was read before that."
    assert shown.fields


def test_a_reading_from_before_the_last_write_says_so(story, browse):
    draft = reply(story)
    read(story, HERE)
    target = draft.target
    target.version += 1
    target.save()
    assert card(browse("ben"), draft).caution == "This was read before the last write."


def test_channels_that_only_add_have_no_such_card(story, browse):
    assert card(browse("ben"), story.propose()) is None


def test_a_connector_that_cannot_read_says_so_without_a_button(story, browse, monkeypatch):
    draft = reply(story)
    monkeypatch.setattr("approvals.services.rendering.can_read", lambda config: False)
    answer = browse("ben").open(draft)
    assert "cannot read what stands at a target" in answer.context["page"].standing.said
    assert "read-target" not in answer.content.decode()


@pytest.mark.parametrize("name", ["ada", "ben", "max", "vic"])
@pytest.mark.parametrize("htmx", [False, True])
def test_whoever_may_read_the_draft_may_have_it_read_again(story, browse, name, htmx):
    draft, tab = reply(story), browse(name)
    read(story, HERE)
    answer = tab.client.post(f"/drafts/{draft.pk}/read-target", headers=HTMX if htmx else {})
    assert answer.status_code == (200 if htmx else 302)
    assert TargetReading.objects.get(target=draft.target).next_read_at is not None
    assert card(tab, draft).is_due


def test_the_card_asks_by_itself_only_while_a_reading_is_due(story, browse):
    draft, tab = reply(story), browse("ben")
    url = f"/drafts/{draft.pk}/standing"
    assert f'hx-get="{url}"' in tab.open(draft).content.decode()
    read(story, HERE)
    answer = tab.client.get(url, headers=HTMX)
    assert answer.content.decode().lstrip().startswith('<section class="aside-box standing"')
    assert "hx-get" not in answer.content.decode()
    assert tab.client.get(url).url == f"/drafts/{draft.pk}/"
    assert browse("dee").client.get(url, headers=HTMX).status_code == 404


def test_only_fields_that_both_have_are_compared(story, browse):
    draft = reply(story, payload={"comment": "Hello you", "tone": "warm"})
    read(story, Reading(True, "", {"comment": "Hello", "updateTime": "12:00"}))
    shown = card(browse("ben"), draft)
    assert [change.steps for change in shown.differences] == [("comment",)]


def test_the_same_text_is_said_to_be_the_same(story, browse):
    draft = reply(story, payload={"comment": "Hello"})
    read(story, Reading(True, "", {"comment": "Hello", "updateTime": "12:00"}))
    assert card(browse("ben"), draft).is_equal


def test_other_fields_are_not_compared(story, browse):
    draft = reply(story)
    read(story, Reading(True, "", {"text": "Hello"}))
    shown = card(browse("ben"), draft)
    assert (shown.compares, shown.differences) == (False, [])


@pytest.fixture
def moved(story):
    """The second of two drafts for one review, sent back because the first was published."""
    first = story.approved(resource=states.REVIEW, payload={"comment": "Monday"}, title="The first <i>one</i>")
    second = reply(story, payload={"comment": "Tuesday"})
    story.decide(second, "ben")
    states.send(story)
    read(story, Reading(True, "", {"comment": "Monday"}))
    return first, story.again(second)


def test_a_draft_sent_back_by_a_moved_target_says_what_moved_it(story, browse, moved):
    first, second = moved
    answer = browse("cleo").open(second)
    notice = answer.context["page"].notices[0]
    assert notice.title == "The target moved, so it is in review again"
    assert f"{first.reference} wrote there" in notice.text
    assert notice.url == f"/drafts/{first.pk}/"
    assert "The first &lt;i&gt;one&lt;/i&gt;" in answer.content.decode()


def test_and_shows_the_way_from_there_to_the_draft(story, browse, moved):
    page = browse("cleo").open(moved[1]).content.decode()
    assert "<del>Monday</del><ins>Tuesday</ins>" in page
    assert 'compare" open' in page


def test_what_another_room_wrote_there_stays_theirs(story, browse, moved):
    first, second = moved
    document = copy.deepcopy(CONFIG)
    document["rooms"].append({**document["rooms"][0], "slug": "other", "name": "Other", "channels": []})
    story.configure(document)
    room = type(first.room).objects.get(slug="other")
    type(first).objects.filter(pk=first.pk).update(room=room)
    notice = browse("cleo").open(second).context["page"].notices[0]
    assert "A draft of another room wrote there" in notice.text
    assert (notice.url, notice.link) == ("", "")


def test_after_sending_it_stands_below_what_may_be_done(story, browse):
    draft = story.approved(resource=states.REVIEW)
    states.send(story)
    page = browse("max").open(draft).context["page"]
    assert page.state == T.SUBMITTED
    assert not page.standing_first
    assert "proves nothing" in page.standing.about
