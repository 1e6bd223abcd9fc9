"""Rooms and channels as one person may see them."""

from django.db.models import Q, QuerySet

from approvals.domain.actor import Actor
from approvals.domain.errors import Forbidden, NotFound
from approvals.models import Channel, Membership, Room
from approvals.permissions import RULES, Verb, require

ANY_ROLE = Q(is_proposer=True) | Q(is_reviewer=True) | Q(is_operator=True) | Q(is_viewer=True)


def memberships(actor: Actor) -> QuerySet[Membership]:
    """Gives the actor's roles in rooms, by the rooms' names; nothing for a deactivated user."""
    if actor.scopes is not None and not actor.scopes & RULES[Verb.READ].scopes:
        raise Forbidden()
    mine = Membership.objects.filter(ANY_ROLE, user_id=actor.user_id, user__is_active=True)
    return mine.select_related("room").order_by("room__name", "room_id")


def readable_ids(actor: Actor) -> list[int]:
    return list(memberships(actor).values_list("room_id", flat=True))


def get(actor: Actor, slug: str) -> Room:
    """Gives a room. Raises NotFound for strangers, who cannot tell it from one that does not exist."""
    room = find(slug)
    require(actor, Verb.READ, room_id=room.pk)
    return room


def find(slug: str) -> Room:
    """Gives a room by its slug, whoever asks; the service that follows authorises."""
    room = Room.objects.filter(slug=slug).first() if is_storable(slug) else None
    if room is None:
        raise NotFound()
    return room


def find_channel(room_slug: str, slug: str) -> Channel:
    """Gives a channel, a retired one too (what is in flight still goes out by it); the service that follows authorises.

    Raises NotFound.
    """
    channels = Channel.objects.select_related("room", "config")
    named = is_storable(room_slug) and is_storable(slug)
    channel = channels.filter(room__slug=room_slug, slug=slug).first() if named else None
    if channel is None:
        raise NotFound()
    return channel


def channels_of(room: Room) -> list[Channel]:
    """Gives a room's channels in use, with their configuration."""
    found = Channel.objects.select_related("room", "config__channel").filter(room=room, retired_at=None)
    return list(found.exclude(config=None).order_by("slug"))


def is_storable(slug: str) -> bool:
    """True unless the text holds U+0000, which PostgreSQL refuses even to compare with."""
    return "\x00" not in slug
