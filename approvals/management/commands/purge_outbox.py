"""`purge_outbox`: deletes what the audit sink has had for long."""

import json
import re
import sys
from argparse import ArgumentParser, ArgumentTypeError
from datetime import UTC, datetime, timedelta
from typing import Any

from django.core.management import BaseCommand

from approvals.domain.actor import system
from approvals.management.errors import told
from approvals.management.worker_command import progress_bar, stopping
from approvals.models.clock import database_now
from approvals.services import outbox_upkeep

_AGE = re.compile(r"([1-9][0-9]{0,4})([dhw])")
_HOURS = {"h": 1, "d": 24, "w": 24 * 7}


class Command(BaseCommand):
    """May be ended and run again at any time: each thousand rows are a transaction of their own."""

    help = (
        "Deletes outbox rows that the sink took before a time, a thousand at a time. What is undrained or parked "
        "stays, so does what the next heartbeat needs; the audit is never touched."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        since = parser.add_mutually_exclusive_group(required=True)
        since.add_argument("--before", type=_moment, metavar="DATE", help="drained before this day or time, UTC")
        since.add_argument("--older-than", type=_age, metavar="AGE", help="drained longer ago: 12h, 30d or 8w")
        parser.add_argument("--dry-run", action="store_true", help="only say how many it would be")
        parser.add_argument("--format", choices=("text", "json"), default="text", help="of the answer (default: text)")
        parser.epilog = (
            "Exit codes: 0 done; 1 something failed; 2 wrong usage. SIGTERM and Ctrl-C end it between batches."
        )

    def handle(
        self,
        *,
        before: datetime | None,
        older_than: timedelta | None,
        dry_run: bool,
        format: str,  # noqa: A002  the option's name
        **options: Any,
    ) -> None:
        with told():
            limit = before or database_now() - (older_than or timedelta(0))
            count = outbox_upkeep.purgeable(limit).count() if dry_run else self._purge(limit, format)
        if format == "json":
            self.stdout.write(json.dumps({"purged": 0 if dry_run else count, "found": count}))
        else:
            verb = "would be purged" if dry_run else "purged"
            self.stdout.write(f"{count} rows {verb} that were drained before {limit:%Y-%m-%d %H:%M:%S} UTC")

    def _purge(self, before: datetime, format: str) -> int:  # noqa: A002  the option's name
        actor = system("purge_outbox", via="command")
        with stopping() as stop, progress_bar(show=format == "text" and sys.stderr.isatty()) as progress:
            return outbox_upkeep.purge(
                actor=actor,
                clock=database_now,
                before=before,
                progress=progress or (lambda count: None),
                should_stop=stop.is_set,
            )


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError("give a day or a time, like 2026-11-30 or 2026-11-30T12:00:00Z") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _age(text: str) -> timedelta:
    match = _AGE.fullmatch(text)
    if match is None:
        raise ArgumentTypeError("give an age in hours, days or weeks, like 12h, 30d or 8w")
    return timedelta(hours=int(match[1]) * _HOURS[match[2]])
