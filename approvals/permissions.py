"""Who may do what: one table, default deny. Strangers to a room are told that there is nothing."""

from dataclasses import dataclass
from enum import StrEnum

from approvals.domain.actor import Actor
from approvals.domain.errors import Forbidden, NotEligible, NotFound
from approvals.models import Draft, Membership, User


class Verb(StrEnum):
    """Everything somebody can ask for; the names stand in audit events too."""

    READ = "read"
    PROPOSE = "propose"
    REVISE = "revise"
    SUBMIT = "submit"
    WITHDRAW = "withdraw"
    DECIDE = "decide"
    TAKE_BACK = "take_back"
    REVOKE = "revoke"
    DISPATCH = "dispatch"
    RETRACT = "retract"
    CANCEL = "cancel"
    RETRY = "retry"
    RESOLVE = "resolve"
    PAUSE = "pause"
    RESUME = "resume"
    EXPORT = "export"
    CONFIGURE = "configure"
    WORK = "work"


class Who(StrEnum):
    """What somebody is to a draft, or in its room."""

    AUTHOR = "author"
    ACTED_FOR = "acted_for"
    PROPOSER = "proposer"
    REVIEWER = "reviewer"
    OPERATOR = "operator"
    MEMBER = "member"
    ADMINISTRATOR = "administrator"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True)
class Rule:
    """Any of `who` may; a token needs any of `scopes`; some verbs are for people only."""

    who: frozenset[Who]
    scopes: frozenset[str]
    people_only: bool = False


def _rule(who: tuple[Who, ...], scopes: str, *, people_only: bool = False) -> Rule:
    return Rule(frozenset(who), frozenset(scopes.split()), people_only)


SCOPES = ("propose", "review", "introspect", "operate")
PEOPLE_SCOPES = frozenset({"review", "operate"})
"""Scopes an agent's token cannot hold."""

W = Who
RULES: dict[Verb, Rule] = {
    Verb.READ: _rule((W.MEMBER,), "propose review introspect operate"),
    Verb.PROPOSE: _rule((W.PROPOSER,), "propose"),
    Verb.REVISE: _rule((W.AUTHOR, W.ACTED_FOR, W.REVIEWER), "propose"),
    Verb.SUBMIT: _rule((W.AUTHOR, W.ACTED_FOR, W.REVIEWER), "propose"),
    Verb.WITHDRAW: _rule((W.AUTHOR, W.ACTED_FOR, W.OPERATOR, W.ADMINISTRATOR), "propose operate"),
    Verb.DECIDE: _rule((W.REVIEWER,), "review", people_only=True),
    Verb.TAKE_BACK: _rule((W.REVIEWER,), "review", people_only=True),
    Verb.REVOKE: _rule((W.REVIEWER, W.OPERATOR, W.ADMINISTRATOR, W.SYSTEM), "review operate", people_only=True),
    Verb.DISPATCH: _rule((W.REVIEWER, W.OPERATOR), "review operate", people_only=True),
    Verb.RETRACT: _rule((W.REVIEWER, W.OPERATOR), "review operate", people_only=True),
    Verb.CANCEL: _rule((W.AUTHOR, W.REVIEWER, W.OPERATOR), "propose review operate"),
    Verb.RETRY: _rule((W.OPERATOR,), "operate", people_only=True),
    Verb.RESOLVE: _rule((W.OPERATOR,), "operate", people_only=True),
    Verb.PAUSE: _rule((W.OPERATOR, W.SYSTEM), "operate", people_only=True),
    Verb.RESUME: _rule((W.OPERATOR, W.SYSTEM), "operate", people_only=True),
    Verb.EXPORT: _rule((W.MEMBER, W.SYSTEM), "introspect"),
    Verb.CONFIGURE: _rule((W.ADMINISTRATOR, W.SYSTEM), "", people_only=True),
    Verb.WORK: _rule((W.SYSTEM,), ""),
}


def require(actor: Actor, verb: Verb, *, room_id: int | None = None, draft: Draft | None = None) -> None:
    """Lets `actor` through, or raises NotFound (a stranger), Forbidden (the token) or NotEligible (who they are)."""
    rule = RULES[verb]
    who = relations(actor, room_id=draft.room_id if draft else room_id, draft=draft)
    if not who:
        raise NotFound()
    if actor.scopes is not None and not actor.scopes & rule.scopes:
        raise Forbidden(f"This token lacks the scope for this. Use one with {' or '.join(sorted(rule.scopes))}.")
    if rule.people_only and actor.kind == User.Kind.AGENT:
        raise NotEligible("Agents never decide. Ask a person with the role for it.", reason="agent")
    if not who & rule.who:
        needed = ", ".join(sorted(item.replace("_", " ") for item in rule.who - {W.SYSTEM}))
        raise NotEligible(f"Only these may do this: {needed or 'the system itself'}.", reason="role")


def may(actor: Actor, verb: Verb, *, room_id: int | None = None, draft: Draft | None = None) -> bool:
    """True if `require` would let them through; for pages that show or hide a control."""
    try:
        require(actor, verb, room_id=room_id, draft=draft)
    except (NotFound, Forbidden, NotEligible):
        return False
    return True


def relations(actor: Actor, *, room_id: int | None, draft: Draft | None = None) -> frozenset[Who]:
    """Gives everything `actor` is here; empty for strangers and deactivated users."""
    if actor.is_system:
        return frozenset({W.SYSTEM})
    user = User.objects.filter(pk=actor.user_id, is_active=True).first()
    if user is None:
        return frozenset()
    found = set(_roles(user, room_id)) | (_ties(user, draft) if draft else set())
    if user.is_superuser and actor.via == "admin":
        found.add(W.ADMINISTRATOR)
    return frozenset(found)


def _roles(user: User, room_id: int | None) -> set[Who]:
    membership = Membership.objects.filter(user=user, room_id=room_id).first()
    if membership is None or not membership.roles:
        return set()
    return {W.MEMBER} | {Who(role) for role in membership.roles if role != "viewer"}


def _ties(user: User, draft: Draft) -> set[Who]:
    """Being an author counts only for members: who left the room is a stranger, whatever they once wrote."""
    if not _roles(user, draft.room_id):
        return set()
    ties = {W.AUTHOR} if draft.author_id == user.pk else set()
    return ties | ({W.ACTED_FOR} if draft.acts_for_id == user.pk else set())
