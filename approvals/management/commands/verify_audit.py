"""`verify_audit`: checks all history, offline, and names the first bad row."""

import json
from argparse import ArgumentParser
from collections import Counter
from typing import Any

from django.core.management import BaseCommand, CommandError

from approvals.management.errors import told
from approvals.services import verify


class Command(BaseCommand):
    """Reads everything once; changes nothing."""

    help = (
        "Recomputes every audit chain, compares stored bytes with their digests, and checks that every draft stands "
        "in a combination of states that lawful steps can reach. Exit code 1 if anything is wrong."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--format", choices=("text", "json"), default="text", help="words (default) or JSON")

    def handle(self, *, format: str, **options: Any) -> None:  # noqa: A002  the option's name
        seen: Counter[str] = Counter()
        found = []
        with told():
            for problem in verify.problems(seen):
                found.append(problem)
                if format == "text":
                    self.stdout.write(problem)
        if format == "json":
            self.stdout.write(json.dumps({"checked": seen, "problems": found}))
        checked = ", ".join(f"{number} {name}" for name, number in seen.items()) or "nothing there yet"
        if found:
            raise CommandError(
                f"{len(found)} faults; checked {checked}. Stop the workers, keep a copy of the database, and compare "
                "the named rows with the audit sink and the newest backup."
            )
        if format == "text":
            self.stdout.write(f"Everything agrees: {checked}.")
