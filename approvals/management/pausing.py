"""What `pause_channel` and `resume_channel` share: which channels and rooms are meant."""

from argparse import ArgumentParser
from collections.abc import Iterator

from django.core.management import CommandError

from approvals.models import Channel, Room


def add_arguments(parser: ArgumentParser) -> None:
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("channel", nargs="?", metavar="ROOM/SLUG", help="one channel")
    which.add_argument("--room", metavar="ROOM", help="a whole room")
    which.add_argument("--all", action="store_true", help="every room")


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


def _channel(name: str) -> Channel:
    channels = Channel.objects.select_related("room").filter(retired_at=None)
    room, _, slug = name.partition("/")
    found = channels.filter(room__slug=room, slug=slug).first()
    if found is None:
        raise CommandError(f"There is no channel {name}. Channels: {_list(str(channel) for channel in channels)}.")
    return found


def _list(names: Iterator[str]) -> str:
    return ", ".join(sorted(names)) or "none"
