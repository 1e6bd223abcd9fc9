"""The other verbs: one post each, a reason where authority is taken away, offered only where they work."""

import copy

import pytest

from approvals.domain.states import DraftState
from tests.cast import CONFIG
from tests.services import states

VERBS = (
    *("submit", "withdraw", "revoke", "dispatch", "take-back", "keep-comment"),
    *("retract", "retry", "cancel", "look-again", "read-target"),
)


def offered(tab, draft):
    return [action.verb for action in tab.open(draft).context["page"].actions]


@pytest.mark.parametrize(
    ("state", "name", "expected"),
    [
        (DraftState.DRAFT, "ada", ["submit", "withdraw"]),
        (DraftState.DRAFT, "ben", ["submit"]),
        (DraftState.IN_REVIEW, "ada", ["withdraw"]),
        (DraftState.IN_REVIEW, "ben", ["revoke"]),
        (DraftState.IN_REVIEW, "max", ["revoke", "withdraw"]),
        (DraftState.IN_REVIEW, "vic", []),
        (DraftState.REJECTED, "ada", ["submit", "withdraw"]),
        (DraftState.CONFIRMED, "ben", []),
    ],
)
def test_only_what_would_work_is_offered(story, browse, state, name, expected):
    assert offered(browse(name), states.build(story, state)) == expected


def post(tab, draft, verb, htmx=False, **data):
    return tab.client.post(f"/drafts/{draft.pk}/{verb}", data, headers={"HX-Request": "true"} if htmx else {})


@pytest.mark.parametrize("htmx", [False, True])
def test_a_draft_is_submitted(story, browse, htmx):
    draft = states.build(story, DraftState.DRAFT)
    assert post(browse("ada"), draft, "submit", htmx, version=1).status_code == (200 if htmx else 302)
    assert story.again(draft).state == DraftState.IN_REVIEW


@pytest.mark.parametrize("version", ["", "2", "x"])
def test_a_submit_names_the_version_it_saw(story, browse, version):
    draft = states.build(story, DraftState.DRAFT)
    assert post(browse("ada"), draft, "submit", version=version).status_code == 409


@pytest.mark.parametrize("htmx", [False, True])
def test_a_draft_is_withdrawn_with_a_reason(story, browse, htmx):
    draft = story.propose()
    assert post(browse("ada"), draft, "withdraw", htmx, reason="Wrong floor.").status_code == (200 if htmx else 302)
    assert (story.again(draft).state, story.again(draft).reason) == (DraftState.REVOKED, "Wrong floor.")


@pytest.mark.parametrize("reason", ["", " ", "x" * 1001])
def test_a_bad_reason_comes_back_with_the_form_open(story, browse, reason):
    draft = story.propose()
    answer = post(browse("ada"), draft, "withdraw", reason=reason)
    assert answer.status_code == 422
    assert 'data-verb="withdraw" open' in answer.content.decode()
    assert story.again(draft).state == DraftState.IN_REVIEW


def test_an_approval_is_revoked(story, browse):
    draft = story.approved()
    data = {"approval": story.approval(draft).pk, "reason": "Not today."}
    assert post(browse("ben"), draft, "revoke", **data).status_code == 302
    assert story.again(draft).state == DraftState.REVOKED


def test_revoking_after_sending_began_is_a_conflict_that_keeps_the_reason(story, browse):
    draft = states.build(story, DraftState.SUBMITTED)
    answer = post(browse("ben"), draft, "revoke", approval=story.approval(draft).pk, reason="Too late?")
    assert answer.status_code == 409
    assert "Too late?" in answer.content.decode()


def test_an_approval_of_another_draft_is_not_revoked(story, browse):
    one, other = story.propose(payload={"summary": "1"}), story.propose(payload={"summary": "2"})
    answer = post(browse("ben"), one, "revoke", approval=story.approval(other).pk, reason="x")
    assert answer.status_code == 409
    assert story.again(other).state == DraftState.IN_REVIEW


def test_a_manual_room_waits_for_a_press(story, browse):
    document = copy.deepcopy(CONFIG)
    document["rooms"][0]["policy"]["dispatch"] = "manual"
    story.configure(document)
    draft = story.approved()
    assert "dispatch" in offered(browse("ben"), draft)
    assert post(browse("ben"), draft, "dispatch").status_code == 302
    states.send(story)
    assert story.again(draft).state == DraftState.SUBMITTED


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_answers_405_to_everything_but_a_post(story, browse, verb):
    draft = story.propose()
    for method in ("get", "head", "put", "delete"):
        assert getattr(browse("max").client, method)(f"/drafts/{draft.pk}/{verb}").status_code == 405


@pytest.mark.parametrize("verb", VERBS)
def test_strangers_get_404_from_every_verb(story, browse, verb):
    draft = story.propose()
    data = {"version": 1, "reason": "x", "approval": story.approval(draft).pk}
    assert post(browse("dee"), draft, verb, **data).status_code == 404
    assert story.again(draft).state == DraftState.IN_REVIEW
