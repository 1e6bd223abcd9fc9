"""One URL becomes Django's database settings."""

from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import connection

from reviewroom import database


def test_a_relative_sqlite_path_counts_from_the_project(tmp_path):
    made = database.from_url("sqlite:///var/x.sqlite3", tmp_path)
    assert made["NAME"] == str(tmp_path / "var/x.sqlite3")
    assert (tmp_path / "var").is_dir()


def test_an_absolute_sqlite_path_has_four_slashes(tmp_path):
    assert database.from_url(f"sqlite:///{tmp_path}/x.sqlite3", Path("/elsewhere"))["NAME"] == f"{tmp_path}/x.sqlite3"


def test_a_postgresql_url_is_taken_apart():
    made = database.from_url("postgresql://ann:p%40ss@db.example:6432/rooms?sslmode=require", Path())
    assert (made["USER"], made["PASSWORD"], made["HOST"], made["PORT"], made["NAME"]) == (
        "ann",
        "p@ss",
        "db.example",
        "6432",
        "rooms",
    )
    assert made["OPTIONS"]["sslmode"] == "require"


def test_a_postgresql_socket_is_named_by_host():
    made = database.from_url("postgresql://ann@/rooms?host=/run/postgresql", Path())
    assert (made["HOST"], made["PORT"]) == ("/run/postgresql", "")


@pytest.mark.parametrize(
    "url", ["mysql://x/y", "sqlite://x.sqlite3", "sqlite:///", "postgresql://host", "postgresql://host:no/x", ""]
)
def test_a_url_of_no_use_names_both_kinds(url, tmp_path):
    with pytest.raises(ImproperlyConfigured, match=r"sqlite:///.* or postgresql://"):
        database.from_url(url, tmp_path)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("pragma", "expected"),
    [
        ("journal_mode", "wal"),
        ("synchronous", 2),
        ("foreign_keys", 1),
        ("recursive_triggers", 1),
        ("busy_timeout", 20_000),
    ],
)
def test_sqlite_connections_are_set_up(pragma, expected):
    if connection.vendor != "sqlite":
        pytest.skip("a matter of SQLite")
    with connection.cursor() as cursor:
        assert cursor.execute(f"PRAGMA {pragma}").fetchone() == (expected,)
