"""What `pause_channel` and `resume_channel` share: which channels and rooms are meant, and what is said of each."""

from argparse import ArgumentParser
from collections.abc import Iterator

from django.core.management import CommandError

from approvals.models import Channel, Room
from approvals.services.audit import stamp

EXIT_CODES = "Exit codes: 0 done, also where nothing had to change; 1 refused or not there; 2 wrong usage."


def add_arguments(parser: ArgumentParser) -> None:
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("channel", nargs="?", metavar="ROOM/SLUG", help="one channel, in use or retired")
    which.add_argument("--room", metavar="ROOM", help="a whole room, by its slug")
    which.add_argument("--all", action="store_true", help="every room")
    parser.epilog = EXIT_CODES


def meant(channel: str | None, room: str | None, every: bool) -> Iterator[Channel | Room]:
    """Gives the rows the arguments name. Raises CommandError for a name that is not there."""
    if channel is not None:
        yield _channel(channel)
    elif every:
        yield from Room.objects.order_by("slug")
    else:
        found = Room.objects.filter(slug=room).first()
        if found is None:
            raise CommandError(f"There is no room {room}. Rooms: {_list(Room.objects.values_list('slug', flat=True))}.")
        yield found


def after_pausing(row: Channel | Room, *, was_paused: bool) -> str:
    """Says what pausing changed; `row` is as it stands now."""
    if was_paused and row.paused_at is not None:
        return f"{_name(row)}: paused already since {stamp(row.paused_at)} ({row.paused_reason}); nothing changed"
    return f"{_name(row)}: paused"


def after_resuming(row: Channel | Room, *, was_paused: bool) -> str:
    """Says what resuming changed, and what is still paused on its own."""
    told = "sends again" if was_paused else "was not paused; nothing changed"
    if isinstance(row, Channel):
        if row.room.paused_at is not None:
            told += f"; nothing leaves yet, because the room {row.room.slug} is paused"
    elif still := list(row.channels.filter(paused_at__isnull=False).order_by("slug")):
        told += f"; still paused on their own: {', '.join(str(channel) for channel in still)}"
    return f"{_name(row)}: {told}"


def _name(row: Channel | Room) -> str:
    return f"channel {row}" if isinstance(row, Channel) else f"room {row.slug}"


def _channel(name: str) -> Channel:
    """Gives a channel by its name. A retired one too: what is in flight still goes out by it."""
    channels = Channel.objects.select_related("room")
    room, _, slug = name.partition("/")
    found = channels.filter(room__slug=room, slug=slug).first()
    if found is None:
        known = _list(str(channel) for channel in channels.filter(retired_at=None))
        raise CommandError(f"There is no channel {name}. Channels: {known}.")
    return found


def _list(names: Iterator[str]) -> str:
    return ", ".join(sorted(names)) or "none"
