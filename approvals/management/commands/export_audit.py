"""`export_audit`: writes audit chains into a file that can be verified without the database."""

import json
import sys
from argparse import ArgumentParser
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandError

from approvals.domain.actor import system
from approvals.management.errors import told
from approvals.management.progress import progress_bar
from approvals.models import AuditEvent, Draft
from approvals.selectors import rooms
from approvals.services import export
from approvals.services.door import database_now
from approvals.services.export import Export, Selection


class Command(BaseCommand):
    """The file gets its name when it is whole; until then it is called FILE.part."""

    help = (
        "Writes the audit chains of a room, of a draft or of everything into a file, with a signed manifest: the last "
        "line of JSON lines, a file FILE.manifest.json beside a CSV. `verify_audit --export FILE` verifies it anywhere."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--room", metavar="SLUG", help="only this room: its own chain and those of its drafts")
        what.add_argument("--draft", type=int, metavar="ID", help="only this draft, by its number")
        parser.add_argument(
            "--since", type=_moment, metavar="TIME", help="from this time on (RFC 3339 with its offset)"
        )
        parser.add_argument("--until", type=_moment, metavar="TIME", help="before this time")
        parser.add_argument("--format", choices=("jsonl", "csv"), default="jsonl", help="JSON lines (default) or CSV")
        parser.add_argument(
            "--output", type=Path, required=True, metavar="FILE", help="where to write; not overwritten"
        )

    def handle(self, *, output: Path, **options: Any) -> None:
        if output.exists():
            raise CommandError(f"{output} is there already. Name another file, or remove it.")
        with told():
            made = export.begin(
                actor=system("export_audit", via="command"), clock=database_now, selection=_selection(options)
            )
            with progress_bar(show=sys.stderr.isatty(), total=AuditEvent.objects.count()) as progress:
                part = output.with_name(f"{output.name}.part")
                _write(made, part, progress)
            if options["format"] == "csv":
                manifest = output.with_name(f"{output.name}.manifest.json")
                manifest.write_text(json.dumps(made.manifest(), indent=1) + "\n", encoding="utf-8")
            part.rename(output)
        self.stdout.write(f"{output}: {made.events} events of {made.chains} chains.")


def _write(made: Export, part: Path, progress: Any) -> None:
    before = 0
    with part.open("wb") as stream:
        for chunk in made.chunks():
            stream.write(chunk)
            if progress is not None:
                progress(made.events - before)
                before = made.events


def _selection(options: dict[str, Any]) -> Selection:
    room = rooms.find(options["room"]) if options["room"] else None
    draft = None
    if options["draft"] is not None and (draft := Draft.objects.filter(pk=options["draft"]).first()) is None:
        raise CommandError(f"There is no draft {options['draft']}.")
    return Selection(room, draft, options["since"], options["until"], options["format"])


def _moment(text: str) -> datetime:
    found = datetime.fromisoformat(text)
    if found.tzinfo is None:
        raise ValueError("without its UTC offset")
    return found.astimezone(UTC)
