"""Copies of the test database, as a backup or a staging machine has them: a file, or a database of the same server."""

import contextlib
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import psycopg
from django.db import connection, connections


class Copy:
    """A copy with an address of its own. `instead` makes this process work on it, as after a restore."""

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def url(self) -> str:
        if connection.vendor == "sqlite":
            return f"sqlite:///{self.name}"
        here = connection.settings_dict
        return f"postgresql://{here['USER']}@/{self.name}?host={quote(here['HOST'])}"

    @contextlib.contextmanager
    def instead(self) -> Iterator[None]:
        here = connection.settings_dict
        original = here["NAME"]
        connections.close_all()
        here["NAME"] = self.name
        try:
            yield
        finally:
            connections.close_all()
            here["NAME"] = original


@contextlib.contextmanager
def copied(folder: Path) -> Iterator[Copy]:
    """Yields a copy of the test database as it is now. No other process may be connected on PostgreSQL."""
    if connection.vendor == "sqlite":
        copy = Copy(str(folder / "copy.sqlite3"))
        with closing(sqlite3.connect(copy.name)) as target:
            connection.ensure_connection()
            connection.connection.backup(target)
        yield copy
        return
    copy = Copy(f"{connection.settings_dict['NAME']}_copy")
    connections.close_all()
    _administer(f'CREATE DATABASE "{copy.name}" TEMPLATE "{connection.settings_dict["NAME"]}"')
    try:
        yield copy
    finally:
        _administer(f'DROP DATABASE "{copy.name}" WITH (FORCE)')


def _administer(statement: str) -> None:
    here = connection.settings_dict
    with psycopg.connect(host=here["HOST"], user=here["USER"], dbname="postgres", autocommit=True) as server:
        server.execute(statement)
