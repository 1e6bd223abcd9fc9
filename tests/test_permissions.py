"""Who may do what: the whole table written out once more, by hand, and checked cell by cell."""

import contextlib
from collections.abc import Callable
from uuid import uuid4

import pytest

from approvals.domain.actor import Actor, system
from approvals.domain.errors import Forbidden, NotEligible, NotFound, Refusal
from approvals.domain.gate import Verdict
from approvals.models import Channel, Draft, Membership, User
from approvals.permissions import RULES, SCOPES, Verb, may, require
from approvals.services import configure, decide, dispatch, pause, propose, revise, revoke, tokens
from approvals.services.config_schema import ConfigSpec
from tests.cast import Story

# The draft was written by reply-bot for ada. `yes`; `role` and `agent`: not eligible, and why; `-`: a stranger's 404.
TABLE = """
            reply-bot ada   ben   cleo  max   vic   dee  ben-gone  root  root-admin  system
read        yes       yes   yes   yes   yes   yes   -    -         -     role        role
propose     yes       yes   role  role  role  role  -    -         -     role        role
revise      yes       yes   yes   yes   role  role  -    -         -     role        role
submit      yes       yes   yes   yes   role  role  -    -         -     role        role
withdraw    yes       yes   role  role  yes   role  -    -         -     yes         role
decide      agent     role  yes   yes   role  role  -    -         -     role        role
take_back   agent     role  yes   yes   role  role  -    -         -     role        role
revoke      agent     role  yes   yes   yes   role  -    -         -     yes         yes
dispatch    agent     role  yes   yes   yes   role  -    -         -     role        role
retract     agent     role  yes   yes   yes   role  -    -         -     role        role
cancel      yes       role  yes   yes   yes   role  -    -         -     role        role
retry       agent     role  role  role  yes   role  -    -         -     role        role
resolve     agent     role  role  role  yes   role  -    -         -     role        role
pause       agent     role  role  role  yes   role  -    -         -     role        yes
resume      agent     role  role  role  yes   role  -    -         -     role        yes
export      yes       yes   yes   yes   yes   yes   -    -         -     role        yes
configure   agent     role  role  role  role  role  -    -         -     yes         yes
work        role      role  role  role  role  role  -    -         -     role        yes
"""
PEOPLE, *LINES = map(str.split, TABLE.strip().splitlines())
ROWS = {Verb(line[0]): dict(zip(PEOPLE, line[1:], strict=True)) for line in LINES}

SCOPED = {
    Verb.READ: "propose review introspect operate",
    Verb.PROPOSE: "propose",
    Verb.REVISE: "propose",
    Verb.SUBMIT: "propose",
    Verb.WITHDRAW: "propose operate",
    Verb.DECIDE: "review",
    Verb.TAKE_BACK: "review",
    Verb.REVOKE: "review operate",
    Verb.DISPATCH: "review operate",
    Verb.RETRACT: "review operate",
    Verb.CANCEL: "propose review operate",
    Verb.RETRY: "operate",
    Verb.RESOLVE: "operate",
    Verb.PAUSE: "operate",
    Verb.RESUME: "operate",
    Verb.EXPORT: "introspect",
    Verb.CONFIGURE: "",
    Verb.WORK: "",
}


def _actor(story: Story, who: str) -> Actor:
    if who == "system":
        return system("sweep_expired")
    if who == "ben-gone":
        User.objects.filter(username="ben").update(is_active=False)
        return story.actor("ben")
    if who.startswith("root"):
        root = User.objects.filter(username="root").first() or User.objects.create_superuser("root")
        return Actor("person", "root", via="admin" if who == "root-admin" else "web", user_id=root.pk)
    return story.actor(who)


def _answer(call: Callable[[], object]) -> str:
    """What a call says, in the words of the table."""
    try:
        call()
    except NotFound:
        return "-"
    except NotEligible as refusal:
        return str(refusal.reason)
    return "yes"


def test_the_table_here_covers_every_verb() -> None:
    assert set(ROWS) == set(Verb) == set(RULES) == set(SCOPED)


@pytest.mark.parametrize("verb", Verb)
def test_every_verb_asks_who_it_is(story: Story, verb: Verb) -> None:
    draft, answers = story.propose("reply-bot"), {}
    for who in sorted(PEOPLE, key="ben-gone".__eq__):  # deactivated last, for ben acts before
        actor = _actor(story, who)
        answers[who] = _answer(lambda actor=actor: require(actor, verb, draft=draft))
        assert may(actor, verb, draft=draft) == (answers[who] == "yes")
    assert answers == ROWS[verb]


@pytest.mark.parametrize("verb", Verb)
def test_a_token_needs_a_scope_of_the_verb(story: Story, verb: Verb) -> None:
    draft, enough = story.propose(), []
    _everything(story, "max")
    for scope in SCOPES:
        actor = Actor("person", "max", "api", story.user["max"].pk, scopes=frozenset({scope}))
        with contextlib.suppress(Forbidden):
            _answer(lambda actor=actor: require(actor, verb, draft=draft))
            enough.append(scope)
    assert enough == SCOPED[verb].split()


@pytest.mark.parametrize("scope", SCOPES)
def test_a_strangers_token_is_told_nothing_about_scopes(story: Story, scope: str) -> None:
    draft = story.propose()
    dee = Actor("person", "dee", "api", story.user["dee"].pk, scopes=frozenset({scope}))
    with pytest.raises(NotFound):
        require(dee, Verb.DECIDE, draft=draft)


def test_an_author_who_left_the_room_is_a_stranger(story: Story) -> None:
    draft = story.propose()
    Membership.objects.filter(user=story.user["ada"]).update(is_proposer=False)
    with pytest.raises(NotFound):
        require(story.actor("ada"), Verb.REVISE, draft=draft)


def test_an_agent_made_a_reviewer_by_hand_still_does_not_decide(story: Story) -> None:
    draft = story.propose()
    _everything(story, "reply-bot")
    with pytest.raises(NotEligible, match="Agents never decide"):
        require(story.actor("reply-bot"), Verb.DECIDE, draft=draft)


def test_roles_in_one_room_are_none_in_another(story: Story) -> None:
    draft = story.propose()
    Membership.objects.filter(user=story.user["ben"]).delete()
    with pytest.raises(NotFound):
        require(story.actor("ben"), Verb.DECIDE, draft=draft)


def test_a_superuser_who_is_a_viewer_does_not_decide_by_any_door(story: Story) -> None:
    draft = story.propose()
    User.objects.filter(username="vic").update(is_superuser=True, is_staff=True)
    for via in ("web", "api", "admin", "command"):
        with pytest.raises(NotEligible):
            require(story.actor("vic", via), Verb.DECIDE, draft=draft)


def test_nobody_without_a_user_is_anybody(story: Story) -> None:
    draft = story.propose()
    with pytest.raises(NotFound):
        require(Actor("person", "ghost", "api"), Verb.READ, draft=draft)


def _everything(story: Story, name: str) -> None:
    roles = {f"is_{role}": True for role in Membership.ROLES}
    Membership.objects.filter(user=story.user[name]).update(**roles)


# The services really ask: each verb is called by a viewer and by a stranger.


def _changes(story: Story, actor: Actor, draft: Draft) -> object:
    changes = revise.Changes(payload={"summary": "Both lifts"})
    return revise.revise(actor=actor, clock=story.clock, draft_id=draft.pk, version=1, changes=changes)


def _proposal(story: Story, actor: Actor, draft: Draft) -> object:
    proposal = propose.Proposal("tickets", "ticket.create", {"summary": "x"})
    return propose.propose(actor=actor, clock=story.clock, room_slug="facilities", proposal=proposal)


def _decision(story: Story, actor: Actor, draft: Draft) -> object:
    shown = decide.Shown(draft.approval.pk, draft.version, draft.approval.digest)
    return decide.decide(actor=actor, clock=story.clock, shown=shown, verdict=Verdict.APPROVE)


def _on_draft(verb: Callable[..., object], **more: str) -> Callable[[Story, Actor, Draft], object]:
    return lambda story, actor, draft: verb(actor=actor, clock=story.clock, draft_id=draft.pk, **more)


def _on_approval(verb: Callable[..., object], **more: str) -> Callable[[Story, Actor, Draft], object]:
    return lambda story, actor, draft: verb(actor=actor, clock=story.clock, approval_id=draft.approval_id, **more)


def _on_channel(verb: Callable[..., object], **more: str) -> Callable[[Story, Actor, Draft], object]:
    return lambda story, actor, draft: verb(actor=actor, clock=story.clock, channel=draft.channel, **more)


def _on_room(verb: Callable[..., object], **more: str) -> Callable[[Story, Actor, Draft], object]:
    return lambda story, actor, draft: verb(actor=actor, clock=story.clock, room=draft.room, **more)


SERVICES: dict[str, Callable[[Story, Actor, Draft], object]] = {
    "propose": _proposal,
    "revise": _changes,
    "submit": _on_draft(revise.submit),
    "withdraw": _on_draft(revoke.withdraw, reason="x"),
    "dispatch": _on_draft(dispatch.dispatch),
    "decide": _decision,
    "take_back": _on_approval(decide.take_back),
    "revoke": _on_approval(revoke.revoke, reason="x"),
    "pause": _on_channel(pause.pause_channel, reason="x"),
    "resume": _on_channel(pause.resume_channel),
    "pause a room": _on_room(pause.pause_room, reason="x"),
    "resume a room": _on_room(pause.resume_room),
}


@pytest.mark.parametrize("name", SERVICES)
@pytest.mark.parametrize(("who", "refusal"), [("vic", NotEligible), ("dee", NotFound)])
def test_every_service_asks(story: Story, name: str, who: str, refusal: type[Refusal]) -> None:
    draft = story.again(story.propose())
    with pytest.raises(refusal):
        SERVICES[name](story, story.actor(who), draft)


@pytest.mark.parametrize("who", ["max", "ben", "vic"])
def test_configuring_and_tokens_are_for_administrators(story: Story, who: str) -> None:
    actor = story.actor(who)
    with pytest.raises(NotFound):
        configure.apply(actor=actor, clock=story.clock, spec=ConfigSpec())
    with pytest.raises(NotFound):
        tokens.create(actor=actor, clock=story.clock, username="ada", scopes=["propose"])


def test_an_unknown_draft_and_another_rooms_look_the_same_to_a_stranger(story: Story) -> None:
    draft, dee = story.propose(), story.actor("dee")
    said = []
    for draft_id in (draft.pk, 10**6):
        with pytest.raises(NotFound) as refused:
            revise.submit(actor=dee, clock=story.clock, draft_id=draft_id)
        said.append(str(refused.value))
    assert said[0] == said[1]


def test_an_unknown_room_and_a_strangers_room_look_the_same(story: Story) -> None:
    proposal = propose.Proposal("tickets", "ticket.create", {"summary": "x"})
    said = []
    for slug in ("facilities", "no-such-room"):
        with pytest.raises(NotFound) as refused:
            propose.propose(actor=story.actor("dee"), clock=story.clock, room_slug=slug, proposal=proposal)
        said.append(str(refused.value))
    assert said[0] == said[1]


def test_an_unknown_approval_is_not_found(story: Story) -> None:
    with pytest.raises(NotFound):
        revoke.revoke(actor=story.actor("ben"), clock=story.clock, approval_id=uuid4(), reason="x")
    assert Channel.objects.filter(paused_at=None).count() == 2
