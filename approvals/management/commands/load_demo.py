"""`load_demo`: a room to try things in."""

from typing import Any

from django.conf import settings
from django.core.management import BaseCommand, CommandError

from approvals.domain.errors import InvalidPayload
from approvals.management.errors import told
from reviewroom.demo import loading
from reviewroom.demo.rooms import PEOPLE


class Command(BaseCommand):
    """Loads once; the second run says so."""

    help = (
        "Makes two rooms with people, channels and drafts in many states, against the demo tracker of `make run`. "
        "Loads once; a second run only follows the tracker to another port. Not for a database that is in earnest use."
    )

    def handle(self, **options: Any) -> None:
        if not settings.REVIEWROOM_ALLOW_PRIVATE_TARGETS:
            raise CommandError(
                "The demo tracker is on this machine, and calling it is not allowed. Use `make run`, or set "
                "REVIEWROOM_ALLOW_PRIVATE_TARGETS=true."
            )
        try:
            with told():
                done = loading.load()
        except CommandError as error:
            if isinstance(error.__cause__, InvalidPayload):
                raise CommandError(f"The demo does not fit into this database: {error}") from error
            raise
        if not done.is_new:
            self.stdout.write("\n".join(["The demo is loaded.", *done.changes]))
            return
        self.stdout.write(f"The demo is loaded. Log in as {', '.join(PEOPLE)}; the password of all of them is")
        self.stdout.write(f"    {settings.REVIEWROOM_DEMO_PASSWORD}")
        first = loading.waiting_for("ben")[0]
        self.stdout.write(f"{first.reference} “{first.title}” waits for ben: approved, it is sent ten seconds later.")
