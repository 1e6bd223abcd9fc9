"""Fixtures of the tests that knock at the walls. Their rows need not tell a story."""

import pytest
from django.db import connection

from tests.models.rows import Rows


@pytest.fixture
def rows(db: None) -> Rows:
    """One row of every table."""
    return Rows()


@pytest.fixture
def only_on_postgresql(db: None) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("a matter of PostgreSQL")


@pytest.fixture
def only_on_sqlite(db: None) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("a matter of SQLite")
