#!/usr/bin/env python
"""The command line of Review Room: migrations, workers and operator commands."""

import os
import sys


def main() -> None:
    """Runs one management command; a wrong setting ends it in one line that holds the fix."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "reviewroom.settings")
    try:
        from django.core.exceptions import ImproperlyConfigured
        from django.core.management import execute_from_command_line
    except ImportError as exc:
        raise SystemExit(
            "Django is not installed here. Run `make run` once, then `.venv/bin/python manage.py`."
        ) from exc
    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as exc:
        raise SystemExit(f"Review Room did not start: {exc}") from exc


if __name__ == "__main__":
    main()
