"""The one clock: the database's, read after the last lock of a transaction is held.

Measured: PostgreSQL evaluates `now()` before a lock wait, and SQLite compares times as text, so a time is never
computed inside a comparison; it is read here and passed on as a parameter.
"""

from datetime import UTC, datetime

from django.db import connection


def database_now() -> datetime:
    """Gives the database's time of this very call, aware, in UTC."""
    return _read()


def _read() -> datetime:
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT clock_timestamp()")
            return cursor.fetchone()[0].astimezone(UTC)
        cursor.execute("SELECT strftime('%Y-%m-%dT%H:%M:%f', 'now')")
        return datetime.fromisoformat(cursor.fetchone()[0]).replace(tzinfo=UTC)
