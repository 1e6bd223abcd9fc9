"""The lists: whose turn it is, in which order, and what a newcomer is told."""

import copy

import pytest

from approvals.domain.gate import Verdict
from approvals.domain.states import DraftState
from approvals.models import Room
from approvals.selectors import queue as reads
from approvals.services.pause import pause_room
from approvals.services.revise import Changes, revise
from tests.cast import CONFIG
from tests.services import states


def titles(response):
    return [row.title for row in response.context["page"].rows]


def test_the_inbox_lists_what_this_person_can_decide(story, browse):
    story.propose(title="Mine to decide")
    assert titles(browse("ben").client.get("/")) == ["Mine to decide"]


@pytest.mark.parametrize("name", ["ada", "vic", "max", "dee", "reply-bot"])
def test_the_inbox_of_others_does_not(story, browse, name):
    story.propose("reply-bot", title="For reviewers")
    assert titles(browse(name).client.get("/")) == []


def test_an_author_is_not_asked_to_decide_on_their_own(story, browse):
    draft = story.propose(title="Edited by ben")
    changes = Changes(payload={"summary": "Better"})
    revise(actor=story.actor("ben"), clock=story.clock, draft_id=draft.pk, version=1, changes=changes)
    assert titles(browse("ben").client.get("/")) == []
    assert titles(browse("cleo").client.get("/")) == ["Edited by ben"]


def test_what_was_decided_leaves_the_inbox_and_comes_back_when_edited(story, browse):
    draft = story.propose(title="Twice")
    story.decide(draft, "ben")
    assert titles(browse("ben").client.get("/")) == []
    changes = Changes(payload={"summary": "Other"})
    revise(actor=story.actor("ada"), clock=story.clock, draft_id=draft.pk, version=1, changes=changes)
    assert titles(browse("ben").client.get("/")) == ["Twice"]


def test_an_expired_item_is_nobodys_turn(story, browse):
    story.propose()
    story.clock.advance(days=8)
    assert titles(browse("ben").client.get("/")) == []


def test_changes_that_were_requested_are_the_authors_turn(story, browse):
    draft = story.propose("reply-bot", title="Rework me")
    story.decide(draft, "ben", Verdict.REQUEST_CHANGES, "The floor is missing.")
    assert titles(browse("ada").client.get("/")) == ["Rework me"]


def test_an_unknown_delivery_is_the_operators_turn(story, browse):
    states.build(story, DraftState.DELIVERY_UNKNOWN)
    response = browse("max").client.get("/")
    assert [row.state for row in response.context["page"].rows] == ["delivery_unknown"]
    assert "Delivery unknown" in response.content.decode()


@pytest.mark.parametrize(("name", "expected"), [("ben", ["By hand"]), ("max", ["By hand"]), ("ada", []), ("vic", [])])
def test_what_waits_for_a_press_is_the_turn_of_whoever_may_press(story, browse, name, expected):
    document = copy.deepcopy(CONFIG)
    document["rooms"][0]["policy"]["dispatch"] = "manual"
    story.configure(document)
    story.approved(title="By hand")
    assert titles(browse(name).client.get("/")) == expected


def test_soonest_expiry_comes_first(story, browse):
    story.propose(title="First", payload={"summary": "1"})
    story.clock.advance(hours=1)
    story.propose(title="Second", payload={"summary": "2"})
    assert titles(browse("ben").client.get("/")) == ["First", "Second"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("?show=in_review", ["Open"]),
        ("?show=approved", ["Done"]),
        ("?show=all", ["Open", "Done"]),
        ("?show=x", ["Open"]),
    ],
)
def test_filters_are_plain_links(story, browse, query, expected):
    story.propose(title="Open", payload={"summary": "1"})
    story.approved(title="Done", payload={"summary": "2"})
    assert titles(browse("ben").client.get(f"/{query}")) == expected


def test_a_room_lists_only_its_own_and_answers_strangers_with_404(story, browse):
    story.propose(title="Here")
    assert titles(browse("vic").client.get("/rooms/facilities/")) == ["Here"]
    assert browse("dee").client.get("/rooms/facilities/").status_code == 404
    assert browse("ben").client.get("/rooms/nowhere/").status_code == 404


def test_pages_go_on_where_the_last_one_ended(story, browse, monkeypatch):
    monkeypatch.setattr(reads, "PAGE", 2)
    for number in range(5):
        story.propose(title=f"Item {number}", payload={"summary": str(number)})
    client, url, seen = browse("ben").client, "/", []
    while url:
        response = client.get(url)
        seen += titles(response)
        url = response.context["page"].next_url
    assert seen == [f"Item {number}" for number in range(5)]


@pytest.mark.parametrize("cursor", ["", "x", "1.2", "1.2.3.4", "9" * 400 + ".1.1", "1.-99999999999999999999.1"])
def test_a_broken_cursor_starts_at_the_beginning(story, browse, cursor):
    story.propose(title="There")
    assert browse("ben").client.get("/", {"after": cursor}).status_code == 200


def test_the_number_of_queries_does_not_grow_with_the_rows(story, browse, django_assert_max_num_queries):
    tab = browse("ben")
    for number in range(12):
        draft = story.propose(title=f"Item {number}", payload={"summary": str(number)})
        story.decide(draft, "cleo")
    with django_assert_max_num_queries(26):
        assert len(titles(tab.client.get("/"))) == 12


def test_a_row_says_where_it_writes_who_wrote_it_and_how_far_it_is(story, browse):
    draft = story.propose("reply-bot", title="Lift")
    story.decide(draft, "cleo")
    row = browse("ben").client.get("/").context["page"].rows[0]
    assert (row.place, row.place_exact) == ("Facilities tracker", "facilities · issue")
    assert (row.author.name, row.author_note, row.version) == ("reply-bot", "for ada", 1)
    assert (row.progress.counted, row.progress.required, row.expiry.words) == (1, 2, "7 d")


def test_a_newcomer_is_told_what_to_click_first(story, browse):
    draft = story.propose(title="The lift")
    page = browse("ben").client.get("/").content.decode()
    assert "Start here" in page
    assert f'href="/drafts/{draft.pk}/"' in page
    browse("ben").press(draft)
    assert "Start here" not in browse("ben").client.get("/").content.decode()


def test_a_proposer_with_an_empty_inbox_is_led_to_a_new_draft(story, browse):
    page = browse("ada").client.get("/").content.decode()
    assert "Nothing needs you" in page
    assert 'href="/drafts/new"' in page


def test_somebody_without_a_room_is_told_so(story, browse):
    assert "You are in no room yet" in browse("dee").client.get("/").content.decode()


def test_a_paused_room_is_said_so(story, browse):
    reason = "The token is being changed."
    pause_room(actor=story.actor("max"), clock=story.clock, room=Room.objects.get(), reason=reason)
    assert "The token is being changed." in browse("ben").client.get("/").content.decode()
