#!/usr/bin/env python
"""The command line of Review Room: migrations, workers and operator commands."""

import os
import sys


def main() -> None:
    """Runs one management command."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "reviewroom.settings")
    try:
        from django.core.management import execute_from_command_line
    except ImportError as exc:
        raise SystemExit(
            "Django is not installed here. Run `make run` once, then `.venv/bin/python manage.py`."
        ) from exc
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
