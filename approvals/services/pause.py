"""Pause and resume: nothing leaves by a paused channel or room; what is in flight is still settled."""

from datetime import datetime

from approvals.domain import words
from approvals.domain.actor import Actor
from approvals.models import Channel, Room
from approvals.permissions import Verb, require
from approvals.services import audit, door, locks
from approvals.services.door import Clock, Subject


def pause_channel(*, actor: Actor, clock: Clock, channel: Channel, reason: str) -> Channel:
    """Stops sending by one channel until somebody resumes it. Pausing twice changes nothing."""

    def body() -> Channel:
        locked = locks.channel(channel.pk)
        now = clock()
        require(actor, Verb.PAUSE, room_id=locked.room_id)
        why = words.checked(reason, pointer="/reason", limit=500, required=True)
        pause_channel_in(locked, actor=actor, now=now, reason=why)
        return locked

    return door.run(body, actor=actor, verb=Verb.PAUSE, subject=Subject(room_id=channel.room_id))


def resume_channel(*, actor: Actor, clock: Clock, channel: Channel) -> Channel:
    """Lets a paused channel send again."""

    def body() -> Channel:
        locked = locks.channel(channel.pk)
        now = clock()
        require(actor, Verb.RESUME, room_id=locked.room_id)
        if locked.paused_at is not None:
            locked.paused_at, locked.paused_reason = None, ""
            locked.save(update_fields=["paused_at", "paused_reason"])
            audit.of_room(locked.room, actor=actor, action="channel.resumed", now=now, channel=locked.slug)
        return locked

    return door.run(body, actor=actor, verb=Verb.RESUME, subject=Subject(room_id=channel.room_id))


def pause_room(*, actor: Actor, clock: Clock, room: Room, reason: str) -> Room:
    """Stops sending by every channel of a room until somebody resumes it."""

    def body() -> Room:
        locked = locks.room(room.pk)
        now = clock()
        require(actor, Verb.PAUSE, room_id=locked.pk)
        why = words.checked(reason, pointer="/reason", limit=500, required=True)
        if locked.paused_at is None:
            locked.paused_at, locked.paused_reason = now, why
            locked.save(update_fields=["paused_at", "paused_reason"])
            audit.of_room(locked, actor=actor, action="room.paused", now=now, reason=why)
        return locked

    return door.run(body, actor=actor, verb=Verb.PAUSE, subject=Subject(room_id=room.pk))


def resume_room(*, actor: Actor, clock: Clock, room: Room) -> Room:
    """Lets a paused room send again; channels paused on their own stay paused."""

    def body() -> Room:
        locked = locks.room(room.pk)
        now = clock()
        require(actor, Verb.RESUME, room_id=locked.pk)
        if locked.paused_at is not None:
            locked.paused_at, locked.paused_reason = None, ""
            locked.save(update_fields=["paused_at", "paused_reason"])
            audit.of_room(locked, actor=actor, action="room.resumed", now=now)
        return locked

    return door.run(body, actor=actor, verb=Verb.RESUME, subject=Subject(room_id=room.pk))


def pause_channel_in(channel: Channel, *, actor: Actor, now: datetime, reason: str) -> None:
    """Pauses a locked channel. Inside a door only."""
    if channel.paused_at is not None:
        return
    channel.paused_at, channel.paused_reason = now, reason[:500]
    channel.save(update_fields=["paused_at", "paused_reason"])
    audit.of_room(channel.room, actor=actor, action="channel.paused", now=now, reason=reason, channel=channel.slug)
