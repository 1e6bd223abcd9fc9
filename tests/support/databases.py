"""Chooses the database of a test run: `pytest` is SQLite, `pytest --database postgresql` is PostgreSQL.

Loaded by `-p` in pyproject.toml, because the choice must be made before the settings are read.
"""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.support import postgres
from tests.support.missing import missing

CHOICE = "REVIEWROOM_TEST_DATABASE"
URL = "REVIEWROOM_TEST_DATABASE_URL"  # handed to pytest-xdist's workers and read by tests/settings.py

_stack = contextlib.ExitStack()
_skipped: list[str] = []

DATABASE_FIXTURES = {"db", "transactional_db", "live_server", "django_db_reset_sequences"}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds `--database`."""
    parser.addoption(
        "--database",
        choices=["sqlite", "postgresql"],
        default=os.environ.get(CHOICE, "sqlite"),
        help="the database to test on; postgresql runs only the tests that touch it",
    )


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Generator[None, object, object]:
    """Makes the database ready before pytest-django reads the settings."""
    choice = early_config.known_args_namespace.database
    os.environ[CHOICE] = choice
    if URL not in os.environ:
        try:
            os.environ[URL] = _open(choice)
            _stack.callback(os.environ.pop, URL)
        except postgres.NoPostgres as exc:
            _skipped.append(missing("PostgreSQL", str(exc)))
    return (yield)


def _open(choice: str) -> str:
    if choice == "postgresql":
        return _stack.enter_context(postgres.server())
    shared_memory = Path("/dev/shm")
    place = shared_memory if os.access(shared_memory, os.W_OK) else None
    folder = tempfile.mkdtemp(prefix="rr-sqlite-", dir=place)
    _stack.callback(shutil.rmtree, folder, ignore_errors=True)
    return f"sqlite:///{folder}/reviewroom.sqlite3"


ON_BOTH = {
    "web": ("test_queue.py", "test_item.py", "test_access.py", "test_settle.py"),
    "admin": ("test_outbox.py", "test_viewing.py"),
    "commands": ("test_adopt_database.py", "test_explain.py", "test_outbox_upkeep.py", "test_workers.py"),
    "api": (
        "test_deliveries.py",
        "test_delivery_idempotency.py",
        "test_etag.py",
        "test_idempotency.py",
        "test_read.py",
        "test_reading_changes_nothing.py",
    ),
}
"""Of the tests of pages, admin, commands and API, the files that run on both databases."""


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> int | None:
    """Ends a run without its database in one loud line."""
    if not _skipped:
        return None
    print(_skipped[0])  # noqa: T201 - the terminal reporter is not there yet
    return 0


def pytest_report_header(config: pytest.Config) -> str:
    """Names the database at the top of the report."""
    return f"database: {config.getoption('database')}"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keeps, on PostgreSQL, what touches the database; puts browser tests last.

    What parses, calls one service and renders meets the database through services and selectors: of its tests those run
    on both whose reads or races are the hard ones, and of the browser's only the whole story. The search for leaked
    secrets dumps whatever database there is: it runs once.

    Playwright's loop stays in the thread once it runs, and `asyncio.run` of other tests would trip over it.
    """
    if config.getoption("database") == "postgresql":
        dropped = [item for item in items if not _touches_the_database(item) or _runs_once(item)]
        config.hook.pytest_deselected(items=dropped)
        gone = set(dropped)
        items[:] = [item for item in items if item not in gone]
    items.sort(key=_needs_browser)


def _touches_the_database(item: pytest.Item) -> bool:
    return item.get_closest_marker("django_db") is not None or bool(DATABASE_FIXTURES & _fixtures(item))


def _runs_once(item: pytest.Item) -> bool:
    """True for what SQLite alone is enough for."""
    folder, name = item.path.parent.name, item.path.name
    if name == "test_marker_secrets.py" or (folder in ON_BOTH and name not in ON_BOTH[folder]):
        return True
    return _needs_browser(item) and folder != "flow"


def _needs_browser(item: pytest.Item) -> bool:
    return item.get_closest_marker("browser") is not None or "browser" in _fixtures(item)


def _fixtures(item: pytest.Item) -> set[str]:
    return set(getattr(item, "fixturenames", ()))


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stops the server and removes the files."""
    _stack.close()
