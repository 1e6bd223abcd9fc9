"""Fixtures of the whole suite: databases and browser. The cast of people is in `tests/cast.py`."""

import os
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from django.db import connection
from django.test import TransactionTestCase
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

from tests.cast import clock, lasting_story, remote, story  # noqa: F401  fixtures of every test
from tests.support import chromium
from tests.support.missing import missing

# How fast a busy machine makes examples is no property of the code.
hypothesis_settings.register_profile("suite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
hypothesis_settings.load_profile("suite")


@pytest.fixture(scope="session", autouse=True)
def _flush_lifts_the_walls() -> Iterator[None]:
    """Lets tests empty the append-only tables; `post_migrate`, which a flush sends, puts the walls back."""
    from approvals.models import walls

    flush = TransactionTestCase._fixture_teardown

    def lifted(test_case: TransactionTestCase) -> None:
        walls.drop(connection)
        flush(test_case)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", lifted)
        yield


@pytest.fixture
def database_url(transactional_db: None) -> str:
    """The address of the test database, for a second process."""
    wanted = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{wanted['NAME']}"
    return f"postgresql://{wanted['USER']}@/{wanted['NAME']}?host={quote(wanted['HOST'])}"


@pytest.fixture
def process_environment(database_url: str) -> dict[str, str]:
    """The environment in which a second process works on the test database with the product's settings."""
    wanted = {"REVIEWROOM_DATABASE_URL": database_url, "DJANGO_SETTINGS_MODULE": "reviewroom.settings"}
    return {**os.environ, **wanted}


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """One Chromium for the session."""
    from playwright.sync_api import sync_playwright

    try:
        program = chromium.executable()
    except chromium.NoChromium as exc:
        pytest.skip(missing("Chromium", str(exc)))
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        # Playwright's loop makes Django take the whole thread for asynchronous code.
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        started = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def context(browser: Any, live_server: Any) -> Iterator[Any]:
    """A fresh browser profile whose addresses count from the live server."""
    opened = browser.new_context(base_url=live_server.url)
    opened.set_default_timeout(5_000)
    yield opened
    opened.close()


@pytest.fixture
def page(context: Any) -> Any:
    """One tab."""
    return context.new_page()


@pytest.fixture(autouse=True)
def _whole_database(request: pytest.FixtureRequest) -> Iterator[None]:
    """After every test that touches the database, each draft in it must stand in an allowed combination."""
    touches = {"db", "transactional_db"} & set(request.fixturenames)
    for name in touches:
        request.getfixturevalue(name)
    yield
    if touches and request.node.get_closest_marker("broken_on_purpose") is None:
        from approvals.selectors import whole

        assert list(whole.problems()) == []
