"""`resume_channel`: a paused channel or room sends again."""

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
    """Resuming what is not paused changes nothing."""

    help = "Lets a channel, a room or all rooms send again. Channels that were paused on their own stay paused."

    def add_arguments(self, parser: ArgumentParser) -> None:
        pausing.add_arguments(parser)

    def handle(self, *, channel: str | None, room: str | None, all: bool, **options: Any) -> None:  # noqa: A002
        actor = system("resume_channel", via="command")
        with told():
            for found in pausing.meant(channel, room, all):
                was_paused = found.paused_at is not None
                if isinstance(found, Channel):
                    row = pause.resume_channel(actor=actor, clock=database_now, channel=found)
                else:
                    row = pause.resume_room(actor=actor, clock=database_now, room=found)
                self.stdout.write(pausing.after_resuming(row, was_paused=was_paused))
