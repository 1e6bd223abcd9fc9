"""`python -m bench`: prints one line per measurement."""

import os
import tempfile
from pathlib import Path

import django

from bench import domain


def main() -> None:
    """Measures on a database of its own, on the disk that a real one would be on."""
    base = Path(__file__).resolve().parent.parent / "var"
    base.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="bench-", dir=base) as folder:
        os.environ["REVIEWROOM_DATABASE_URL"] = f"sqlite:///{folder}/bench.sqlite3"
        os.environ["REVIEWROOM_LOG_FORMAT"] = "text"
        os.environ["DJANGO_SETTINGS_MODULE"] = "reviewroom.settings"
        django.setup()
        from django.core.management import call_command

        from bench import services

        call_command("migrate", verbosity=0)
        for timings in (domain.timings, services.timings):
            for line in timings():
                print(line, flush=True)


if __name__ == "__main__":
    main()
