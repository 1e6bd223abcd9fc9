"""Lets a test do what only somebody with rights on the tables could do."""

import contextlib
from collections.abc import Iterator

from django.db import connection

from approvals.models import walls


@contextlib.contextmanager
def lifted() -> Iterator[None]:
    """Takes the walls down and builds them again, also in the middle of a transaction."""
    with connection.cursor() as cursor:
        _check_now(cursor, "IMMEDIATE")  # PostgreSQL alters no table with checks that wait for the commit
        walls.drop(connection)
        yield
        _check_now(cursor, "IMMEDIATE")
        walls.install(connection)
        _check_now(cursor, "DEFERRED")


def _check_now(cursor: object, when: str) -> None:
    if connection.vendor == "postgresql":
        cursor.execute(f"SET CONSTRAINTS ALL {when}")
