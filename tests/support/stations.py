"""`manage.py` in a process that stops itself (SIGSTOP) at one line of a send, the first time it comes there.

Run as `python -m tests.support.stations COMMAND ...`; what to arrange stands in the environment, see `ARRANGED`.
"""

import datetime
import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

STATION, SKEW, BUSY = "FIRE_STATION", "FIRE_SKEW_SECONDS", "FIRE_BUSY_SECONDS"
ARRANGED = (STATION, SKEW, BUSY)
RESERVED = "reserved"  # the target is reserved, authority is not yet spent
BEGUN = "begun"  # authority is spent and committed, no connection is made
CONNECTED = "connected"  # the connection stands, the clock is not yet asked, no byte has left
ANSWERED = "answered"  # the answer is in hand and not yet recorded

_been_there = False


def stop_once() -> None:
    """Stops this process as SIGSTOP from outside does, in all its threads; goes on at SIGCONT."""
    global _been_there
    if not _been_there:
        _been_there = True
        os.kill(os.getpid(), signal.SIGSTOP)


def before(owner: Any, name: str) -> None:
    """Puts the stop in front of a function."""
    wrapped = getattr(owner, name)

    def stopping(*given: Any, **named: Any) -> Any:
        stop_once()
        return wrapped(*given, **named)

    setattr(owner, name, stopping)


def after(owner: Any, name: str) -> None:
    """Puts the stop behind a function."""
    wrapped = getattr(owner, name)

    def stopping(*given: Any, **named: Any) -> Any:
        found = wrapped(*given, **named)
        stop_once()
        return found

    setattr(owner, name, stopping)


def after_connecting() -> None:
    """Puts the stop between a connection that stands and the first byte."""
    import aiohttp

    wrapped = aiohttp.TCPConnector.connect

    async def stopping(*given: Any, **named: Any) -> Any:
        found = await wrapped(*given, **named)
        stop_once()
        return found

    aiohttp.TCPConnector.connect = stopping  # type: ignore[method-assign]


def build(station: str) -> None:
    from approvals.services import record
    from approvals.workers import dispatch

    arrangements: dict[str, Callable[[], None]] = {
        RESERVED: lambda: before(dispatch, "_gate"),
        BEGUN: lambda: after(dispatch, "_gate"),
        CONNECTED: after_connecting,
        ANSWERED: lambda: before(record, "record"),
    }
    arrangements[station]()


def skew(seconds: float) -> None:
    """Sets this process's wall clock wrong. What counts since boot is no wall clock and stays as it is."""
    from django.utils import timezone

    real_time, real_now, ahead = time.time, timezone.now, datetime.timedelta(seconds=seconds)

    class Shifted(datetime.datetime):
        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> "datetime.datetime":
            return real(tz) + ahead

    real = datetime.datetime.now
    time.time = lambda: real_time() + seconds
    timezone.now = lambda: real_now() + ahead
    from approvals.connectors import outbound

    outbound.datetime = Shifted  # type: ignore[attr-defined]


def patience(seconds: int) -> None:
    """Shortens how long a SQLite writer waits for the one before it; before the settings are read."""
    from reviewroom import database

    *pragmas, _ = database.SQLITE_PRAGMAS
    database.SQLITE_PRAGMAS = (*pragmas, f"PRAGMA busy_timeout={seconds * 1000}")
    database.BUSY_SECONDS = seconds


def main() -> None:
    if BUSY in os.environ:
        patience(int(os.environ[BUSY]))
    import django

    django.setup()
    if SKEW in os.environ:
        skew(float(os.environ[SKEW]))
    if STATION in os.environ:
        build(os.environ[STATION])
    from django.core.management import execute_from_command_line

    execute_from_command_line(["manage.py", *sys.argv[1:]])


if __name__ == "__main__":
    main()
