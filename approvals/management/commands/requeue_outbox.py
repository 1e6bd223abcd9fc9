"""`requeue_outbox`: hands events that wait to the sink at once, after what kept them has been mended."""

import json
from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from django.core.management import BaseCommand

from approvals.domain.actor import system
from approvals.management.errors import told
from approvals.models import OutboxEvent
from approvals.models.clock import database_now
from approvals.selectors import outbox
from approvals.services import outbox_upkeep
from approvals.services.outbox_upkeep import Which


class Command(BaseCommand):
    """Requeuing twice changes nothing."""

    help = (
        "Makes events due at once, as if they had never failed: without arguments all that is parked. The drain then "
        "hands them over, the same bytes under the same id. A sink that is closed to all is probed at once."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        which = parser.add_mutually_exclusive_group()
        which.add_argument("event_id", nargs="?", type=UUID, metavar="EVENT_ID", help="one event that is not drained")
        which.add_argument(
            "--class",
            dest="event_class",
            choices=OutboxEvent.EventClass.values,
            help="all of a class that is parked or postponed",
        )
        parser.add_argument("--dry-run", action="store_true", help="only say how many it would be")
        parser.add_argument("--format", choices=("text", "json"), default="text", help="of the answer (default: text)")
        parser.epilog = "Exit codes: 0 done, also where nothing had to change; 1 no such event, or drained; 2 usage."

    def handle(
        self,
        *,
        event_id: UUID | None,
        event_class: str | None,
        dry_run: bool,
        format: str,  # noqa: A002  the option's name
        **options: Any,
    ) -> None:
        which = Which(event_id, OutboxEvent.EventClass(event_class) if event_class else None)
        with told():
            if dry_run:
                count = outbox_upkeep.requeueable(which, database_now()).count()
            else:
                actor = system("requeue_outbox", via="command")
                count = outbox_upkeep.requeue(actor=actor, clock=database_now, which=which)
            held = outbox.held().count()
        if format == "json":
            self.stdout.write(json.dumps({"requeued": 0 if dry_run else count, "found": count, "held": held}))
            return
        self.stdout.write(f"{which}: {count} {'would be requeued' if dry_run else 'requeued'}")
        if held:
            self.stdout.write(f"{held} wait behind a parked event of their approval; requeue that one first.")
