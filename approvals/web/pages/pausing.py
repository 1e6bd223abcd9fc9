"""A pause in words: what is paused, why, by whom and since when, and what has to be done before it is resumed."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.urls import reverse

from approvals.models import Channel, Room
from approvals.selectors import pauses, rooms
from approvals.selectors.pauses import Pause
from approvals.web import words
from approvals.web.pages.actions import Action
from approvals.web.pages.frame import Notice

MEND = {
    "401": "Give the channel a valid secret, then resume.",
    "403": "The remote knows the account but does not let it do this: have the right granted there, then resume.",
    "certificate": "Have the remote's certificate mended, or its address corrected, then resume.",
    "secret": "Set the channel's secret and the hosts it may be sent to, then resume.",
}
OTHERWISE = "Mend what it names, then resume."
MEANWHILE = "You can decide meanwhile; nothing is sent."
NOT_LOST = "No approval was spent on it but the one that was tried; the rest goes out after that."


@dataclass(frozen=True, slots=True)
class Typed:
    """A pause form that came back: of a channel by its slug, or of the room itself where that is empty."""

    channel: str = ""
    reason: str = ""
    fault: str = ""


NOTHING = Typed()


@dataclass(frozen=True, slots=True)
class WayOut:
    """The room, or one channel, with what may be pressed. `notice` is there while it is paused."""

    name: str
    about: str
    notice: Notice | None
    pause: Action | None
    resume: Action | None


@dataclass(frozen=True, slots=True)
class WaysOut:
    """Everything a room sends by. Operators see it always, others while something is paused."""

    ways: tuple[WayOut, ...]
    may_pause: bool

    @property
    def shown(self) -> bool:
        return self.may_pause or any(way.notice for way in self.ways)


def ways_out(room: Room, now: datetime, *, may_pause: bool, typed: Typed = NOTHING) -> WaysOut:
    """Gives the room and its channels as they stand."""
    pause = pauses.of_room(room)
    whole = _Way("room", "The whole room", "Nothing leaves by any of its channels while it is paused.", (room.slug,))
    first = _way_out(whole, of_room(room, pause, now) if pause else None, may_pause, typed)
    return WaysOut((first, *(_of(channel, now, may_pause, typed) for channel in rooms.channels_of(room))), may_pause)


@dataclass(frozen=True, slots=True)
class _Way:
    """What is paused: `room` or `channel`, and the slugs that name it in an address."""

    kind: str
    name: str
    about: str
    slugs: tuple[str, ...]

    @property
    def channel(self) -> str:
        return self.slugs[1] if self.kind == "channel" else ""

    def url(self, verb: str) -> str:
        return reverse(f"{verb}_{self.kind}", args=self.slugs)


def _of(channel: Channel, now: datetime, may_pause: bool, typed: Typed) -> WayOut:
    pause = pauses.of_channel(channel)
    about = f"{channel.connector} · {channel.config.account if channel.config else channel.slug}"
    way = _Way("channel", channel.name, about, (channel.room.slug, channel.slug))
    return _way_out(way, of_channel(channel, pause, now) if pause else None, may_pause, typed)


def _way_out(way: _Way, notice: Notice | None, may_pause: bool, typed: Typed) -> WayOut:
    if not may_pause:
        return WayOut(way.name, way.about, notice, None, None)
    if notice:
        resume = Action("resume", way.url("resume"), "Resume", "Resume when what stopped it is mended.")
        return WayOut(way.name, way.about, notice, None, resume)
    hint = "Nothing more is sent until it is resumed. What is on its way is still settled."
    key = f"pause-{way.channel or 'room'}"
    pause = Action(key, way.url("pause"), "Pause", hint, needs_reason=True, icon="pause")
    if typed.fault and typed.channel == way.channel:
        pause = replace(pause, fault=typed.fault, reason=typed.reason, is_open=True)
    return WayOut(way.name, way.about, None, pause, None)


def of_room(room: Room, pause: Pause, now: datetime) -> Notice:
    """Gives the notice of a paused room."""
    return Notice("amber", "pause", f"Sending is paused in {room.name}", said(pause, now))


def of_channel(channel: Channel, pause: Pause, now: datetime) -> Notice:
    """Gives the notice of a paused channel."""
    return Notice("amber", "pause", f"Sending by {channel.name} is paused", said(pause, now))


def with_way(notice: Notice, url: str, link: str) -> Notice:
    """Gives the notice with the way to where it can be resumed."""
    return replace(notice, url=url, link=link)


def said(pause: Pause, now: datetime) -> str:
    """Gives the reason, who and since when; where a worker paused it, what to do."""
    when = f"{words.moment(pause.at, now)} UTC"
    if pause.is_automatic:
        told = f"{words.sentence(pause.reason)} The remote said so at {when}, so nothing more is tried."
        return f"{told} {_mend(pause.evidence)} {NOT_LOST}"
    return f"{words.sentence(pause.reason)} Paused by {who(pause.by)} at {when}. {MEANWHILE}"


def who(label: str) -> str:
    """Gives the name in an audit label: `max` of `person:max`."""
    return label.partition(":")[2] or "somebody"


def _mend(evidence: Any) -> str:
    kept = evidence if isinstance(evidence, dict) else {}
    return next((MEND[key] for key in (str(kept.get("status")), str(kept.get("fault"))) if key in MEND), OTHERWISE)
