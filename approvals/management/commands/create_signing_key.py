"""`create_signing_key`: makes a new key that signs from now on, or retires an old one."""

from argparse import ArgumentParser
from typing import Any

from django.core.management import BaseCommand

from approvals.domain.actor import system
from approvals.management.errors import told
from approvals.services import signing_keys
from approvals.services.door import database_now


class Command(BaseCommand):
    """Prints the id of the key that was made or retired, alone on standard output."""

    help = (
        "Makes a new key that signs from now on. The one before it stays in /.well-known/jwks.json, so that what it "
        "signed can be verified, until it is retired. The file is named by REVIEWROOM_SIGNING_KEY_FILE."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--retire", metavar="KEY_ID", help="makes no key, but publishes this old one no more")

    def handle(self, *, retire: str | None, **options: Any) -> None:
        actor = system("create_signing_key", via="command")
        with told():
            if retire is not None:
                signing_keys.retire(retire, actor=actor, clock=database_now)
                self.stdout.write(retire)
                self.stderr.write("Retired. Whoever verifies older signatures needs a copy of it from now on.")
                return
            new, old = signing_keys.rotate(actor=actor, clock=database_now)
        self.stdout.write(new)
        self.stderr.write(f"It is in {signing_keys.path()}, which only its owner can read. Copy it to every machine.")
        if old:
            self.stderr.write(f"{old} stays published. Retire it later: manage.py create_signing_key --retire {old}")
