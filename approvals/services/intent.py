"""From what somebody asks for to what would be bound: channel, target, operation, canonical bytes. Bodies only."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import jsonschema
from jsonschema.protocols import Validator

from approvals.domain import binding as bindings
from approvals.domain import pointer as pointers
from approvals.domain.actor import Actor
from approvals.domain.binding import Binding, TargetRef
from approvals.domain.errors import Duplicate, InvalidPayload, OpenDraftExists
from approvals.domain.states import OPEN_DRAFT
from approvals.models import Channel, ChannelConfig, DispatchClaim, Draft, Exclusion, Revision, Room, Target, User
from approvals.services import corrections, readings

DUPLICATE_WINDOW = timedelta(days=30)
LONGEST_WAIT = timedelta(days=366)


@dataclass(frozen=True, slots=True)
class Intent:
    """Where an action would go and the bytes it would be bound to."""

    channel: Channel
    target: Target
    operation: str
    binding: Binding


def resolve(
    *,
    room: Room,
    channel_slug: object,
    resource: object,
    operation: object,
    payload: Any,
    now: datetime,
    corrects: Draft | None = None,
    draft_id: int | None = None,
) -> Intent:
    """Checks one action against the room's channels and binds it, with the published draft it corrects, if any.

    `draft_id` is the draft that is revised. Raises InvalidPayload, TooLarge, and for a correction what
    `corrections.binding_of` raises.
    """
    channel = _channel(room, channel_slug)
    config = channel.config
    assert config is not None
    place = TargetRef(channel.connector, config.account, _resource(config, resource))
    if not isinstance(operation, str):
        raise InvalidPayload("Name the operation.", pointer="/operation")
    bindings.check_operation(operation, config.operations)
    binding = bindings.bind(operation=operation, target=place, payload=payload)
    _check_schema(config.operations[operation].get("schema"), payload)
    target = _target(place, now, reads=channel.is_exclusive)
    if corrects is not None:
        replaced = corrections.binding_of(
            corrects, config=config, operation=operation, target=target, draft_id=draft_id
        )
        binding = bindings.bind(operation=operation, target=place, payload=payload, corrects=replaced)
    return Intent(channel, target, operation, binding)


def add_revision(
    draft: Draft, intent: Intent, *, number: int, actor: Actor, acts_for: User | None, now: datetime
) -> Revision:
    """Stores the bytes as the draft's next revision and bars whoever wrote them from deciding."""
    author = User.objects.get(pk=actor.person_id)
    revision = Revision.objects.create(
        draft=draft,
        number=number,
        channel=intent.channel,
        target=intent.target,
        operation=intent.operation,
        canonical=intent.binding.canonical,
        digest=intent.binding.digest,
        author=author,
        acts_for=acts_for,
        created_at=now,
    )
    for user_id in _behind(author, actor):
        Exclusion.objects.get_or_create(draft=draft, user_id=user_id)
    return revision


def acted_for(actor: Actor, named: object) -> User | None:
    """Gives the person an agent acts for: the one its token is bound to, else the one named, else its only one."""
    author = User.objects.get(pk=actor.person_id)
    if not author.is_agent:
        if named:
            raise InvalidPayload("Only agents act for somebody. Leave acts_for out.", pointer="/acts_for")
        return None
    persons = {person.username: person for person in author.acts_for.all()}
    if actor.acts_for_id is not None:
        persons = {name: person for name, person in persons.items() if person.pk == actor.acts_for_id}
    if named is None and len(persons) == 1:
        return next(iter(persons.values()))
    if not isinstance(named, str) or named not in persons:
        known = ", ".join(sorted(persons)) or "nobody"
        raise InvalidPayload(f"Name whom you act for: {known}.", pointer="/acts_for")
    return persons[named]


def check_not_before(value: datetime | None, now: datetime) -> datetime | None:
    """Lets a time within the next year through; naive and absurd ones are refused."""
    if value is None:
        return None
    if value.tzinfo is None:
        raise InvalidPayload("Give the time with its UTC offset, like 2026-11-01T01:30-04:00.", pointer="/not_before")
    if value > now + LONGEST_WAIT:
        raise InvalidPayload("not_before is more than a year away. Choose an earlier time.", pointer="/not_before")
    if value < now - LONGEST_WAIT:
        raise InvalidPayload("not_before is more than a year ago. Leave it out to send at once.", pointer="/not_before")
    return value


def check_rivals(intent: Intent, *, room: Room, now: datetime, draft_id: int | None = None) -> None:
    """Holds the policy's `one_open_draft` and `duplicates`. The target is locked by the caller.

    Raises OpenDraftExists or Duplicate, naming the other draft.
    """
    check_alone(intent.channel, intent.target, room=room, draft_id=draft_id)
    if intent.channel.effective_policy().duplicates == "refuse":
        twin = same_bytes(intent.binding.digest, room=room, now=now, draft_id=draft_id)
        if twin is not None:
            raise Duplicate(draft_id=twin.pk)


def check_alone(channel: Channel, target: Target, *, room: Room, draft_id: int | None = None) -> None:
    """Holds `one_open_draft` for a draft that is opened, or opened again. The target is locked by the caller."""
    if not channel.effective_policy().one_open_draft:
        return
    rival = Draft.objects.filter(target=target, state__in=OPEN_DRAFT).exclude(pk=draft_id).first()
    if rival is not None:
        raise OpenDraftExists(draft_id=rival.pk if rival.room_id == room.pk else None)


def same_bytes(digest: str, *, room: Room, now: datetime, draft_id: int | None = None) -> Draft | None:
    """Gives the newest other draft of the room with the same bytes within the last 30 days."""
    twins = Revision.objects.filter(digest=digest, created_at__gt=now - DUPLICATE_WINDOW, draft__room=room)
    if draft_id is not None:
        twins = twins.exclude(draft_id=draft_id)
    twin = twins.select_related("draft").order_by("-id").first()
    return twin.draft if twin else None


def _channel(room: Room, slug: object) -> Channel:
    channels = Channel.objects.select_related("room", "config").filter(room=room, retired_at=None)
    found = channels.filter(slug=slug).first() if isinstance(slug, str) else None
    if found is None or found.config is None:
        known = ", ".join(sorted(channels.values_list("slug", flat=True))) or "none"
        raise InvalidPayload(f"The room has no such channel. Its channels: {known}.", pointer="/channel")
    return found


def _resource(config: ChannelConfig, resource: object) -> str:
    if config.resource:
        if resource not in (None, "", config.resource):
            raise InvalidPayload(
                f"This channel writes only to {config.resource}. Leave the resource out.", pointer="/resource"
            )
        return config.resource
    if not isinstance(resource, str):
        raise InvalidPayload(f"Name a resource of the form {config.resource_pattern}.", pointer="/resource")
    bindings.check_resource(resource, config.resource_pattern)
    return resource


def _check_schema(schema: dict[str, Any] | None, payload: Any) -> None:
    if schema is None:
        return
    validator: Validator = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)(schema)
    faults = sorted(validator.iter_errors(payload), key=lambda fault: (len(fault.absolute_path), fault.message))
    error = faults[0] if faults else None
    if error is not None:
        where = "/payload" + pointers.build(error.absolute_path)
        raise InvalidPayload(f"The payload does not fit the operation: {error.message[:300]}.", pointer=where)


def _target(place: TargetRef, now: datetime, *, reads: bool) -> Target:
    """Gives the locked row of a place; a new exclusive one is read, since something may stand there already."""
    target, made = Target.objects.get_or_create(
        connector=place.connector,
        account=place.account,
        resource=place.resource,
        defaults={"created_at": now},
    )
    if made:
        DispatchClaim.objects.create(target=target, changed_at=now)
        if reads:
            readings.schedule(target.pk, now)
    return Target.objects.select_for_update().get(pk=target.pk)


def _behind(author: User, actor: Actor) -> set[int]:
    """Gives everybody who wrote these bytes: the author and, for an agent, whoever it may have acted for."""
    if not author.is_agent:
        return {author.pk}
    if actor.acts_for_id is not None:
        return {author.pk, actor.acts_for_id}
    return {author.pk, *author.acts_for.values_list("pk", flat=True)}
