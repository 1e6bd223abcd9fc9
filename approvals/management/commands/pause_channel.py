"""`pause_channel`: nothing leaves until somebody resumes; what is in flight is still settled."""

from argparse import ArgumentParser
from typing import Any

from django.core.management import BaseCommand

from approvals.domain.actor import system
from approvals.management import pausing
from approvals.management.errors import told
from approvals.models import Channel
from approvals.services import pause
from approvals.services.door import database_now


class Command(BaseCommand):
    """Pausing twice changes nothing, and keeps the first reason."""

    help = "Stops sending by a channel, a room or all rooms. What is in flight is still read back and settled."

    def add_arguments(self, parser: ArgumentParser) -> None:
        pausing.add_arguments(parser)
        parser.add_argument("--reason", required=True, help="kept in the room's history and shown on its pages")

    def handle(self, *, channel: str | None, room: str | None, all: bool, reason: str, **options: Any) -> None:  # noqa: A002
        actor = system("pause_channel", via="command")
        with told():
            for found in pausing.meant(channel, room, all):
                was_paused = found.paused_at is not None
                if isinstance(found, Channel):
                    row = pause.pause_channel(actor=actor, clock=database_now, channel=found, reason=reason)
                else:
                    row = pause.pause_room(actor=actor, clock=database_now, room=found, reason=reason)
                self.stdout.write(pausing.after_pausing(row, was_paused=was_paused))
