"""`create_token`: makes a bearer token of the HTTP API and shows it once."""

from argparse import ArgumentParser
from typing import Any

from django.core.management import BaseCommand

from approvals.domain.actor import system
from approvals.management.errors import told
from approvals.permissions import SCOPES
from approvals.services import tokens
from approvals.services.door import database_now


class Command(BaseCommand):
    """Prints the token alone on standard output, so that it can be piped where it belongs."""

    help = "Makes a bearer token for the HTTP API. It is printed once; only its hash is kept."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--user", required=True, metavar="NAME", help="whose token it is")
        parser.add_argument(
            "--scopes",
            required=True,
            metavar="SCOPE,...",
            help=f"what it may be used for: {', '.join(SCOPES)}; agents only propose and introspect",
        )
        parser.add_argument("--acts-for", metavar="PERSON", help="binds an agent's token to one of its persons")

    def handle(self, *, user: str, scopes: str, acts_for: str | None, **options: Any) -> None:
        wanted = [scope.strip() for scope in scopes.split(",") if scope.strip()]
        actor = system("create_token", via="command")
        with told():
            token = tokens.create(actor=actor, clock=database_now, username=user, scopes=wanted, acts_for=acts_for)
        self.stdout.write(token)
        self.stderr.write(f"This is the only time {user}'s token is shown. Keep it like a password.")
