"""Configuration as code: users, rooms, members, policies and channels are made to match. Nothing is deleted."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction

from approvals.domain.actor import Actor
from approvals.domain.errors import InvalidPayload
from approvals.domain.policy import Policy
from approvals.models import AuditChain, Membership, Room, User
from approvals.permissions import Verb, require
from approvals.services import audit, door
from approvals.services.channels import channel_spec, match_channels, review_again
from approvals.services.config_schema import ConfigSpec, MemberSpec, RoomSpec, UserSpec, read
from approvals.services.door import Clock


@dataclass
class Run:
    """One run of a configuration: who, when, and what changed so far, in words."""

    actor: Actor
    now: datetime
    changes: list[str] = field(default_factory=list)

    def note(self, room: Room | None, action: str, sentence: str, **details: object) -> None:
        """Records one change in the room's chain (users: the system's) and for the operator's eyes."""
        self.changes.append(sentence)
        chain = audit.room_chain(room.pk) if room else audit.SYSTEM_CHAIN
        audit.append(chain=chain, actor=self.actor, action=action, now=self.now, reason=sentence, details=details)


def apply(*, actor: Actor, clock: Clock, spec: ConfigSpec, check_only: bool = False) -> list[str]:
    """Makes the database match `spec` in one transaction and gives what changed, a sentence each.

    Only rooms named in `spec` are touched. With `check_only` everything is rolled back. Raises InvalidPayload.
    """

    def body() -> list[str]:
        require(actor, Verb.CONFIGURE)
        run = Run(actor, clock())
        for index, user in enumerate(spec.users):
            _match_user(run, user, f"/users/{index}")
        for index, room in enumerate(spec.rooms):
            _match_room(run, room, f"/rooms/{index}")
        if check_only:
            transaction.set_rollback(True)
        return run.changes

    return door.run(body, actor=actor, verb=Verb.CONFIGURE)


def change_room(*, actor: Actor, clock: Clock, slug: str, change: Callable[[dict[str, Any]], None]) -> list[str]:
    """Makes one room match what `change` makes of it; the admin site's door to the same rules.

    `change` alters the room as the configuration file would say it, read with the room locked: two people who change
    different things at the same time both keep their change. A room that is not there is made. Raises InvalidPayload,
    its pointer beginning with `/rooms/0`.
    """

    def body() -> list[str]:
        require(actor, Verb.CONFIGURE)
        room = Room.objects.select_for_update().filter(slug=slug).first()
        wanted = room_spec(room).model_dump() if room else {"slug": slug}
        change(wanted)
        run = Run(actor, clock())
        _match_room(run, read({"rooms": [wanted]}).rooms[0], "/rooms/0")
        return run.changes

    return door.run(body, actor=actor, verb=Verb.CONFIGURE)


def room_spec(room: Room) -> RoomSpec:
    """Gives a room as the configuration file would say it, to be changed in one place and applied again."""
    return RoomSpec(
        slug=room.slug,
        name=room.name,
        policy=room.policy,
        members=[
            MemberSpec(user=member.user.username, roles=list(member.roles), groups=member.groups)  # type: ignore[arg-type]
            for member in room.memberships.select_related("user").order_by("id")
        ],
        channels=[
            channel_spec(channel)
            for channel in room.channels.filter(retired_at=None).select_related("config").order_by("id")
        ],
    )


def _match_user(run: Run, spec: UserSpec, pointer: str) -> None:
    user = User.objects.filter(username=spec.name).first()
    if user is None:
        user = User(username=spec.name, kind=spec.kind, email=spec.email)
        user.set_unusable_password()
        user.save()
        run.note(None, "user.created", f"user {spec.name}: created ({spec.kind})", user=spec.name)
    elif user.kind != spec.kind:
        raise InvalidPayload(
            f"{spec.name} is a {user.kind} and stays one. Choose another name.", pointer=f"{pointer}/kind"
        )
    elif user.email != spec.email:
        user.email = spec.email
        user.save(update_fields=["email"])
        run.note(None, "user.changed", f"user {spec.name}: e-mail changed", user=spec.name)
    _match_persons(run, user, spec, pointer)


def _match_persons(run: Run, user: User, spec: UserSpec, pointer: str) -> None:
    persons = {person.username: person for person in User.objects.filter(username__in=spec.acts_for, kind="person")}
    for index, name in enumerate(spec.acts_for):
        if name not in persons:
            raise InvalidPayload(
                f"{name} is no person known here. List them before the agent.", pointer=f"{pointer}/acts_for/{index}"
            )
    if set(persons) != set(user.acts_for.values_list("username", flat=True)):
        user.acts_for.set(persons.values())
        names = ", ".join(sorted(persons)) or "nobody"
        run.note(None, "user.changed", f"user {spec.name}: acts for {names}", user=spec.name, acts_for=sorted(persons))


def _match_room(run: Run, spec: RoomSpec, pointer: str) -> None:
    Policy().overridden(spec.policy, pointer=f"{pointer}/policy")
    room, made = Room.objects.select_for_update().get_or_create(
        slug=spec.slug, defaults={"name": spec.name or spec.slug, "policy": spec.policy}
    )
    if made:
        AuditChain.objects.get_or_create(key=audit.room_chain(room.pk))
        run.note(room, "room.created", f"room {room.slug}: created", policy=spec.policy)
    else:
        _match_words(run, room, spec)
    for index, member in enumerate(spec.members):
        _match_member(run, room, member, f"{pointer}/members/{index}")
    _drop_members(run, room, spec)
    match_channels(run, room, spec.channels, f"{pointer}/channels")


def _match_words(run: Run, room: Room, spec: RoomSpec) -> None:
    if room.name != (spec.name or spec.slug):
        room.name = spec.name or spec.slug
        room.save(update_fields=["name"])
        run.note(room, "room.changed", f"room {room.slug}: now called {room.name}")
    if room.policy != spec.policy:
        before, room.policy, room.policy_changed_at = room.policy, spec.policy, run.now
        room.save(update_fields=["policy", "policy_changed_at"])
        run.note(room, "policy.changed", f"room {room.slug}: policy changed", before=before, after=spec.policy)
        review_again(run, room_id=room.pk)


def _match_member(run: Run, room: Room, spec: MemberSpec, pointer: str) -> None:
    user = User.objects.filter(username=spec.user).first()
    if user is None:
        raise InvalidPayload(f"There is no user {spec.user}. List them under users first.", pointer=f"{pointer}/user")
    if user.is_agent and {"reviewer", "operator"} & set(spec.roles):
        raise InvalidPayload(
            "Agents never decide or operate. Give them proposer or viewer.", pointer=f"{pointer}/roles"
        )
    member, made = Membership.objects.get_or_create(room=room, user=user)
    wanted = (tuple(role for role in Membership.ROLES if role in spec.roles), sorted(spec.groups))
    if not made and (member.roles, sorted(member.groups)) == wanted:
        return
    _set_roles(member, wanted[0], spec.groups)
    told = ", ".join(wanted[0]) or "no roles"
    groups = f"; groups {', '.join(spec.groups)}" if spec.groups else ""
    sentence = f"room {room.slug}: {spec.user} has {told}{groups}"
    run.note(room, "member.changed", sentence, user=spec.user, roles=list(wanted[0]), groups=spec.groups)


def _drop_members(run: Run, room: Room, spec: RoomSpec) -> None:
    named = {member.user for member in spec.members}
    for member in room.memberships.select_related("user").exclude(user__username__in=named):
        if member.roles or member.groups:
            _set_roles(member, (), [])
            name = member.user.username
            run.note(room, "member.removed", f"room {room.slug}: {name} has no roles any more", user=name)


def _set_roles(member: Membership, roles: tuple[str, ...], groups: list[str]) -> None:
    for role in Membership.ROLES:
        setattr(member, f"is_{role}", role in roles)
    member.groups = groups
    member.save()
