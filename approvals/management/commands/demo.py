"""`demo`: the whole story in one terminal, in a process of its own."""

import subprocess
import sys
from typing import Any

from django.conf import settings
from django.core.management import BaseCommand, CommandError


class Command(BaseCommand):
    """Only starts it: the story has its own database, and settings are read once in a process."""

    help = (
        "Tells the whole story, from proposal to a confirmed ticket, against a real tracker it starts itself, on a "
        "temporary database. Your own data is not touched."
    )
    requires_system_checks = ()

    def handle(self, **options: Any) -> None:
        done = subprocess.run([sys.executable, "-m", "reviewroom.demo.story"], cwd=settings.BASE_DIR, check=False)
        if done.returncode:
            raise CommandError("The demo did not reach its end; its last lines say why.", returncode=done.returncode)
