"""People as the admin site changes them: what they are called, whether they may come in, and their passwords.

Who exists, of which kind, and whom an agent acts for is configuration. Nobody is ever deleted: history names them.
"""

from dataclasses import dataclass
from typing import Any

from approvals.domain.actor import Actor
from approvals.domain.errors import InvalidPayload, NotFound
from approvals.models import User
from approvals.permissions import Verb, require
from approvals.services import audit, door
from approvals.services.door import Clock


@dataclass(frozen=True, slots=True)
class Person:
    """What may be changed about a user."""

    email: str
    first_name: str
    last_name: str
    is_active: bool


def change(*, actor: Actor, clock: Clock, user_id: int, person: Person) -> User:
    """Saves what changed. A user who is not active cannot log in or use a token, and no longer counts as approver."""

    def body() -> User:
        require(actor, Verb.CONFIGURE)
        user = _locked(user_id)
        if user.pk == actor.user_id and not person.is_active:
            raise InvalidPayload(
                "You cannot shut yourself out. Ask another administrator to do it.", pointer="/is_active"
            )
        wanted = {name: getattr(person, name) for name in Person.__slots__}
        changed = {name: value for name, value in wanted.items() if getattr(user, name) != value}
        for name, value in changed.items():
            setattr(user, name, value)
        if changed:
            user.save(update_fields=list(changed))
            _note(user, actor, clock, "user.changed", changed=sorted(changed), is_active=user.is_active)
        return user

    return door.run(body, actor=actor, verb=Verb.CONFIGURE)


def set_password(*, actor: Actor, clock: Clock, user_id: int, encoded: str) -> User:
    """Saves a password that is already hashed (or marked as unusable); hashing is too slow for a transaction."""

    def body() -> User:
        require(actor, Verb.CONFIGURE)
        user = _locked(user_id)
        user.password = encoded
        user.save(update_fields=["password"])
        _note(user, actor, clock, "user.password_changed")
        return user

    return door.run(body, actor=actor, verb=Verb.CONFIGURE)


def _locked(user_id: int) -> User:
    user = User.objects.select_for_update().filter(pk=user_id).first()
    if user is None:
        raise NotFound()
    return user


def _note(user: User, actor: Actor, clock: Clock, action: str, **details: Any) -> None:
    told = {"user": user.username, **details}
    audit.append(chain=audit.SYSTEM_CHAIN, actor=actor, action=action, now=clock(), details=told)
