"""Propose: what comes in is bound to canonical bytes, or refused with a pointer to the fault."""

import json
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

import pytest

from approvals.domain import errors
from approvals.domain.binding import MAX_DEPTH
from approvals.domain.states import OPEN_DRAFT, DraftState
from approvals.models import DispatchClaim, Draft, Revision, Target
from approvals.services.intent import same_bytes
from approvals.services.propose import Proposal, propose
from approvals.services.revoke import withdraw
from tests.cast import Story
from tests.services import states, variations
from tests.services.record import actions, refusals, rows


def canonical(draft: Draft) -> str:
    """The stored bytes, as the database gives them back."""
    return bytes(Revision.objects.get(draft=draft).canonical).decode()


def test_the_stored_bytes_say_all_that_would_be_done(story: Story) -> None:
    draft = story.propose(payload={"b": 1, "summary": "Grüße"})
    expected = (
        '{"operation":"ticket.create","payload":{"b":1,"summary":"Grüße"},"schema":"reviewroom.binding.v1",'
        '"target":{"account":"facilities","connector":"fake","resource":"issue"}}'
    )
    assert canonical(draft) == expected
    assert Revision.objects.get().digest == "sha256:" + sha256(expected.encode()).hexdigest()


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (1.0, "1"),
        (1, "1"),
        (-0.0, "0"),
        (0, "0"),
        (1e-7, "1e-7"),
        (0.00001, "0.00001"),
        ({"\ufb33": 1, "\U0001f600": 2}, '{"\U0001f600":2,"\ufb33":1}'),
        ("\u202e\u200b", '"\u202e\u200b"'),
    ],
)
def test_equal_values_are_equal_bytes(story: Story, value: Any, written: str) -> None:
    draft = story.propose(payload={"summary": "x", "v": value})
    assert f'"v":{written}}}' in canonical(draft)


def test_equal_values_have_equal_digests_and_other_forms_of_unicode_have_not(story: Story) -> None:
    for value in (1, 1.0, "caf\u00e9", "cafe\u0301"):
        story.propose(payload={"summary": "x", "v": value})
    one, integral, composed, decomposed = Revision.objects.order_by("id").values_list("digest", flat=True)
    assert one == integral
    assert composed != decomposed


@pytest.mark.parametrize("text", ["caf\u00e9", "cafe\u0301", "a\r\nb", "x\ufeff", "\u202eabc\u2066"])
def test_the_remote_gets_text_in_the_approved_form(story: Story, text: str) -> None:
    story.approved(payload={"summary": text})
    states.send(story)
    assert json.loads(story.remote.sent[0].request.body)["summary"] == text


def _nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("payload", "pointer"),
    [
        ({"summary": 1e20}, "/payload/summary"),
        ({"summary": "x", "n": [1e21]}, "/payload/n/0"),
        ({"summary": "x", "n": 2**53}, "/payload/n"),
        ({"summary": "\ud800"}, "/payload/summary"),
        ({"summary": "x", "n": float("nan")}, "/payload/n"),
        ({"summary": "x", "n": float("inf")}, "/payload/n"),
        ({"summary": "a\x00b"}, "/payload/summary"),
    ],
)
def test_what_would_not_survive_is_refused_and_leaves_no_row(story: Story, payload: Any, pointer: str) -> None:
    before = rows()
    with pytest.raises(errors.InvalidPayload) as refused:
        story.propose(payload=payload)
    assert refused.value.pointer == pointer
    assert rows() == before
    assert refusals() == [("propose.refused", "invalid_payload")]


@pytest.mark.parametrize(
    "payload", [{"\ud800": 1}, {"summary": _nested(MAX_DEPTH)}, {"summary": _nested(5000)}, [], "x", None]
)
def test_what_has_no_name_to_point_at_is_refused_all_the_same(story: Story, payload: Any) -> None:
    with pytest.raises(errors.InvalidPayload) as refused:
        story.propose(payload=payload)
    assert str(refused.value.pointer).startswith("/payload")
    assert not Draft.objects.exists()


def test_too_much_is_refused_and_never_cut(story: Story) -> None:
    with pytest.raises(errors.TooLarge):
        story.propose(payload={"summary": "x" * 256 * 1024})
    assert not Draft.objects.exists()


@pytest.mark.parametrize(
    ("wrong", "pointer"),
    [
        ({"channel": "nowhere"}, "/channel"),
        ({"channel": 7}, "/channel"),
        ({"operation": "ticket.delete"}, "/operation"),
        ({"operation": None}, "/operation"),
        ({"payload": {}}, "/payload"),
        ({"channel": "tickets", "operation": "ticket.create", "resource": "users"}, "/resource"),
        ({"resource": "locations/1"}, "/resource"),
        ({"resource": "locations/../reviews/1"}, "/resource"),
        ({"resource": "locations//reviews/1"}, "/resource"),
        ({"acts_for": "ada"}, "/acts_for"),
        ({"title": 7}, "/title"),
        ({"title": "x" * 201}, "/title"),
        ({"note": "\x00"}, "/note"),
        ({"context": {"n": float("nan")}}, "/context/n"),
    ],
)
def test_a_wrong_field_is_pointed_at(story: Story, wrong: dict[str, Any], pointer: str) -> None:
    before = rows()
    with pytest.raises(errors.InvalidPayload) as refused:
        story.propose(**wrong)
    assert refused.value.pointer == pointer
    assert rows() == before


def test_a_payload_that_does_not_fit_the_operation_is_pointed_at(story: Story) -> None:
    schema = {"type": "object", "properties": {"rooms": {"type": "array", "items": {"type": "integer"}}}}
    story.configure(variations.channel("tickets", operations={"ticket.create": {"schema": schema}}))
    with pytest.raises(errors.InvalidPayload) as refused:
        story.propose(payload={"rooms": [1, "two"]})
    assert refused.value.pointer == "/payload/rooms/1"


def test_a_title_is_made_of_the_action_where_none_is_given(story: Story) -> None:
    assert story.propose(title="").title == "ticket.create issue"


def test_a_draft_may_wait_for_its_author(story: Story) -> None:
    draft = story.propose(submit=False)
    assert (draft.state, draft.approval) == ("draft", None)
    assert actions(draft) == ["draft.proposed"]


def test_the_history_begins_with_the_proposal(story: Story) -> None:
    assert actions(story.propose()) == ["draft.proposed", "approval.opened", "draft.submitted"]


def _try(story: Story, payload: dict[str, Any]) -> Draft:
    wanted = Proposal("tickets", "ticket.create", payload)
    return propose(actor=story.actor("ada"), clock=story.clock, room_slug="facilities", proposal=wanted, dry_run=True)


def test_a_dry_run_keeps_nothing(story: Story) -> None:
    before = rows()
    assert _try(story, {"summary": "x"}).state == "in_review"
    assert rows() == before


def test_a_dry_run_checks_everything(story: Story) -> None:
    story.configure(variations.policy(duplicates="refuse"))
    story.propose(payload={"summary": "x"})
    with pytest.raises(errors.InvalidPayload):
        _try(story, {})
    with pytest.raises(errors.Duplicate):
        _try(story, {"summary": "x"})


def test_an_agent_acts_for_its_only_person_by_default(story: Story) -> None:
    draft = story.propose("reply-bot")
    assert (draft.author, draft.acts_for) == (story.user["reply-bot"], story.user["ada"])
    barred = draft.exclusions.values_list("user__username", flat=True)
    assert set(barred) == {"reply-bot", "ada"}


def test_an_agent_of_several_persons_names_one(story: Story) -> None:
    document = variations.policy()
    document["users"][-1]["acts_for"] = ["ada", "max"]
    story.configure(document)
    with pytest.raises(errors.InvalidPayload, match="Name whom you act for: ada, max"):
        story.propose("reply-bot")
    assert story.propose("reply-bot", acts_for="max").acts_for == story.user["max"]


@pytest.mark.parametrize("name", ["ben", "nobody", 7, ["ada"]])
def test_an_agent_acts_for_nobody_else(story: Story, name: Any) -> None:
    with pytest.raises(errors.InvalidPayload) as refused:
        story.propose("reply-bot", acts_for=name)
    assert refused.value.pointer == "/acts_for"


def test_the_same_place_is_one_target_with_one_dispatch_claim(story: Story) -> None:
    story.propose()
    story.propose()
    assert Target.objects.count() == DispatchClaim.objects.count() == 1
    story.propose(resource="locations/1/reviews/1")
    assert Target.objects.count() == DispatchClaim.objects.count() == 2


def test_correcting_is_refused_where_the_connector_cannot(story: Story) -> None:
    published = states.build(story, DraftState.CONFIRMED)
    with pytest.raises(errors.Unsupported):
        story.propose(corrects=published.pk)


@pytest.mark.parametrize("moment", [datetime(2026, 12, 1), datetime(9999, 12, 31, 23, 59)])  # noqa: DTZ001  naive on purpose
def test_a_time_without_an_offset_is_refused(story: Story, moment: datetime) -> None:
    with pytest.raises(errors.InvalidPayload) as refused:
        story.propose(not_before=moment)
    assert refused.value.pointer == "/not_before"


def test_a_time_more_than_a_year_away_is_refused(story: Story) -> None:
    with pytest.raises(errors.InvalidPayload):
        story.propose(not_before=story.clock.now + timedelta(days=367))
    assert story.propose(not_before=story.clock.now + timedelta(days=366)).not_before


# Rivals


@pytest.mark.parametrize("state", sorted(states.BUILD))
def test_one_open_draft_counts_what_may_still_be_sent(story: Story, state: DraftState) -> None:
    draft = states.build(story, state)
    story.configure(variations.channel("tickets", policy={"one_open_draft": True}))
    if state in OPEN_DRAFT:
        with pytest.raises(errors.OpenDraftExists) as refused:
            story.propose()
        assert refused.value.draft_id == draft.pk
    else:
        assert story.propose().state == "in_review"


def test_the_refusal_stands_in_the_rooms_history_not_in_the_rivals(story: Story) -> None:
    story.configure(variations.policy(one_open_draft=True))
    rival = story.propose()
    heard = actions(rival)
    with pytest.raises(errors.OpenDraftExists):
        story.propose()
    assert actions(rival) == heard
    assert refusals() == [("propose.refused", "open_draft_exists")]


def test_another_target_is_no_rival(story: Story) -> None:
    story.configure(variations.policy(one_open_draft=True))
    story.propose(resource="locations/1/reviews/1")
    assert story.propose(resource="locations/1/reviews/2").state == "in_review"


def test_the_same_bytes_within_thirty_days_are_refused_where_the_policy_says_so(story: Story) -> None:
    story.configure(variations.policy(duplicates="refuse"))
    first = story.propose()
    withdraw(actor=story.actor("ada"), clock=story.clock, draft_id=first.pk, reason="x")
    story.clock.advance(days=30, seconds=-1)
    with pytest.raises(errors.Duplicate) as refused:
        story.propose()
    assert refused.value.draft_id == first.pk
    story.clock.advance(seconds=1)
    assert story.propose().state == "in_review"


def test_the_same_bytes_are_a_warning_by_default(story: Story) -> None:
    first, second = story.propose(), story.propose()
    digest = Revision.objects.get(draft=second).digest
    assert same_bytes(digest, room=second.room, now=story.clock.now, draft_id=second.pk) == first
