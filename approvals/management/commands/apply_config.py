"""`apply_config FILE.toml`: makes users, rooms, members, policies and channels match a file."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandError

from approvals.domain.actor import system
from approvals.domain.errors import InvalidPayload
from approvals.management.configuration_file import ConfigurationFile
from approvals.management.errors import told
from approvals.services import configure
from approvals.services.channel_names import check_names
from approvals.services.door import database_now


class Command(BaseCommand):
    """Applies a file in one transaction, or shows what it would change."""

    help = (
        "Makes users, rooms, members, policies and channels match FILE. Running it again changes nothing. Only rooms "
        "named in the file are touched; members and channels absent from them lose their roles, or are retired; "
        "nothing is deleted."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE.toml", help="users, rooms and channels, as TOML")
        parser.add_argument("--check", action="store_true", help="only print what would change; exit 1 if anything")

    def handle(self, *, file: Path, check: bool, **options: Any) -> None:
        source = ConfigurationFile(file)
        actor = system("apply_config", via="command")
        try:
            with told():
                spec = source.spec()
                check_names(spec)
                changes = configure.apply(actor=actor, clock=database_now, spec=spec, check_only=check)
        except CommandError as error:
            if isinstance(error.__cause__, InvalidPayload):
                raise source.fault(error.__cause__) from error
            raise
        for change in changes:
            self.stdout.write(change)
        if not changes:
            self.stdout.write(f"Everything is as {file} says.")
        elif check:
            raise CommandError(f"The database differs from {file}. Run this without --check to change it.")
