"""Refusals become the errors of commands: one sentence with the next step, no traceback, exit code 1."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.core.management import CommandError
from django.db import OperationalError

from approvals.domain.errors import Refusal
from approvals.sinks.base import SinkError


@contextmanager
def told() -> Iterator[None]:
    """Turns a refusal, a sink or a database that cannot be used into a CommandError."""
    try:
        yield
    except Refusal as refusal:
        raise CommandError(f"{refusal}{f' ({refusal.pointer})' if refusal.pointer else ''}") from refusal
    except SinkError as exc:
        raise CommandError(str(exc)) from exc
    except OperationalError as exc:
        raise CommandError(
            f"The database cannot be used: {exc}. Check REVIEWROOM_DATABASE_URL, that it runs, and that "
            "`manage.py migrate` was run."
        ) from exc
