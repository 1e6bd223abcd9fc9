"""Tokens: shown once, kept as a hash, and never stronger than their user."""

from typing import Any

import pytest

from approvals.domain import errors
from approvals.domain.actor import system
from approvals.models import ApiToken, AuditEvent, User
from approvals.services import tokens
from tests.cast import Story
from tests.services.record import last_event

ROBOT = system("create_token", via="command")


def make(story: Story, username: str = "ada", **more: Any) -> str:
    wanted = {"scopes": ["propose", "introspect"], "acts_for": None} | more
    return tokens.create(actor=ROBOT, clock=story.clock, username=username, **wanted)


def test_only_its_hash_is_kept(story: Story) -> None:
    text = make(story)
    token = ApiToken.objects.get()
    assert text.startswith("rr_")
    assert text not in repr(list(ApiToken.objects.values()))
    assert (token.user, token.scopes) == (story.user["ada"], ["introspect", "propose"])
    assert len(token.digest) == 64


def test_making_one_is_told_without_its_text(story: Story) -> None:
    text = make(story)
    assert last_event(action="token.created")["chain"] == "system"
    assert not AuditEvent.objects.filter(body__contains=text[3:]).exists()
    assert not AuditEvent.objects.filter(body__contains=tokens.digest_of(text)).exists()


def test_it_is_its_users(story: Story) -> None:
    assert tokens.authenticate(make(story)).user == story.user["ada"]


@pytest.mark.parametrize("text", ["", "rr_", "rr_nothing", "x" * 100_000])
def test_any_other_text_is_nobodys(story: Story, text: str) -> None:
    make(story)
    with pytest.raises(errors.Unauthenticated):
        tokens.authenticate(text)


def test_the_hash_is_no_token(story: Story) -> None:
    make(story)
    with pytest.raises(errors.Unauthenticated):
        tokens.authenticate(ApiToken.objects.get().digest)


def test_a_deactivated_user_and_a_revoked_token_are_refused(story: Story) -> None:
    text = make(story)
    User.objects.filter(username="ada").update(is_active=False)
    with pytest.raises(errors.Unauthenticated):
        tokens.authenticate(text)
    User.objects.filter(username="ada").update(is_active=True)
    ApiToken.objects.update(revoked_at=story.clock.now)
    with pytest.raises(errors.Unauthenticated):
        tokens.authenticate(text)


@pytest.mark.parametrize("scope", ["review", "operate"])
def test_an_agents_token_does_not_decide_or_operate(story: Story, scope: str) -> None:
    with pytest.raises(errors.InvalidPayload, match="only propose and introspect"):
        make(story, "reply-bot", scopes=["propose", scope])
    assert make(story, "ben", scopes=[scope])


@pytest.mark.parametrize("scopes", [[], ["admin"], ["propose", "*"]])
def test_scopes_are_the_known_ones(story: Story, scopes: list[str]) -> None:
    with pytest.raises(errors.InvalidPayload) as refused:
        make(story, scopes=scopes)
    assert refused.value.pointer == "/scopes"


def test_it_may_be_bound_to_a_person_its_agent_acts_for(story: Story) -> None:
    assert tokens.authenticate(make(story, "reply-bot", acts_for="ada")).acts_for == story.user["ada"]
    for user, person in (("reply-bot", "ben"), ("ada", "ben")):
        with pytest.raises(errors.InvalidPayload, match="does not act for"):
            make(story, user, acts_for=person)


def test_nobody_gets_one_who_is_not_there(story: Story) -> None:
    User.objects.filter(username="vic").update(is_active=False)
    for name in ("nobody", "vic"):
        with pytest.raises(errors.InvalidPayload) as refused:
            make(story, name)
        assert refused.value.pointer == "/user"
