"""Bearer tokens: made here, shown once, kept only as a hash."""

import hashlib
import secrets
from datetime import datetime

from approvals.domain.actor import Actor
from approvals.domain.errors import InvalidPayload, Unauthenticated
from approvals.models import ApiToken, User
from approvals.permissions import PEOPLE_SCOPES, SCOPES, Verb, require
from approvals.services import audit, door
from approvals.services.door import Clock

PREFIX = "rr_"


def create(*, actor: Actor, clock: Clock, username: str, scopes: list[str], acts_for: str | None = None) -> str:
    """Gives a new token's text; it cannot be had again. A token bound to a person cannot name another."""

    def body() -> str:
        require(actor, Verb.CONFIGURE)
        user = User.objects.filter(username=username, is_active=True).first()
        if user is None:
            raise InvalidPayload(f"There is no active user {username}.", pointer="/user")
        _check_scopes(user, scopes)
        person = _person(user, acts_for)
        text = PREFIX + secrets.token_urlsafe(32)
        now = clock()
        token = ApiToken.objects.create(
            user=user, digest=digest_of(text), scopes=sorted(set(scopes)), acts_for=person, created_at=now
        )
        _audit(token, actor=actor, now=now)
        return text

    return door.run(body, actor=actor, verb=Verb.CONFIGURE)


def authenticate(text: str) -> ApiToken:
    """Gives the live token of an active user. Raises Unauthenticated."""
    tokens = ApiToken.objects.select_related("user").filter(revoked_at=None, user__is_active=True)
    token = tokens.filter(digest=digest_of(text)).first()
    if token is None:
        raise Unauthenticated(
            "This token is not valid, or its user is no longer active. Ask an operator for a new one."
        )
    return token


def digest_of(text: str) -> str:
    """Gives the hex SHA-256; enough for 256 bits of randomness, which nobody guesses."""
    return hashlib.sha256(text.encode()).hexdigest()


def _check_scopes(user: User, scopes: list[str]) -> None:
    unknown = sorted(set(scopes) - set(SCOPES))
    if unknown or not scopes:
        raise InvalidPayload(f"Scopes are {', '.join(SCOPES)}; not {', '.join(unknown) or 'none'}.", pointer="/scopes")
    if user.is_agent and PEOPLE_SCOPES & set(scopes):
        raise InvalidPayload("An agent's token holds only propose and introspect.", pointer="/scopes")


def _person(user: User, acts_for: str | None) -> User | None:
    if acts_for is None:
        return None
    person = user.acts_for.filter(username=acts_for).first()
    if person is None:
        raise InvalidPayload(f"{user.username} does not act for {acts_for}.", pointer="/acts_for")
    return person


def _audit(token: ApiToken, *, actor: Actor, now: datetime) -> None:
    audit.append(
        chain=audit.SYSTEM_CHAIN,
        actor=actor,
        action="token.created",
        now=now,
        details={"user": token.user.username, "scopes": token.scopes, "token_id": token.pk},
    )
