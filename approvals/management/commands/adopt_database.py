"""`adopt_database`: makes a restored database this installation's own, so that its workers send again."""

from argparse import ArgumentParser
from typing import Any

from django.core.management import BaseCommand, CommandError

from approvals.domain.actor import system
from approvals.management.errors import told
from approvals.services import adopt
from approvals.services.adopt import Adoption
from approvals.services.door import database_now


class Command(BaseCommand):
    """Says what it will do, asks, does it."""

    help = (
        "After a restore from a copy: writes REVIEWROOM_INSTANCE into the database. What was approved before is not "
        "sent before it was looked for at its remote, or a person said what became of it. Stop all workers first, and "
        "make sure that the original does not run any more."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--yes", action="store_true", help="do not ask")

    def handle(self, *, yes: bool, **options: Any) -> None:
        with told():
            for line in _sentences(adopt.foresee()):
                self.stdout.write(line)
            if not yes:
                _insist()
            done = adopt.adopt(actor=system("adopt_database", via="command"), clock=database_now)
        self.stdout.write(f"Adopted: this database is {done.instance}'s.")


def _sentences(plan: Adoption) -> list[str]:
    counted = plan.concerned
    return [
        _whose(plan),
        "What was approved so far may have been sent since the copy was made. Instead of its first send:",
        f"  {counted.looked_up} looked up at the remote before anything is sent",
        f"  {counted.deduped} sent again under the same id, to a receiver that keeps one of them",
        f"  {counted.for_a_person} left unknown until a person says what became of it",
        f"{counted.in_flight} were under way or unknown in the copy and are settled as always.",
        "Not in the copy: decisions, revocations and drafts made after it. Compare with the audit sink.",
    ]


def _whose(plan: Adoption) -> str:
    if plan.is_same_installation:
        return f"This database is {plan.instance}'s already; after a restore it has to be adopted all the same."
    return f"This database is {plan.former}'s and becomes {plan.instance}'s."


def _insist() -> None:
    try:
        answer = input("Does the original no longer run, and are all workers stopped? [y/N] ")
    except EOFError as exc:
        raise CommandError("Nobody answered, so nothing was changed. Give --yes to go on without being asked.") from exc
    if answer.strip().lower() not in ("y", "yes"):
        raise CommandError("Nothing was changed.")
