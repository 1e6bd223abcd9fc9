"""A committed story on the database's real clock, a remote that keeps a ledger, and environments for real workers."""

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from approvals.models import clock as clocks
from approvals.models.clock import database_now
from approvals.services import verify
from tests.cast import CONFIG, Story
from tests.support.ledger import Ledger

DATABASES_CLOCK = clocks._read  # before any test replaces it
LEASE_SECONDS, SEND_TIMEOUT_SECONDS, GRACE_SECONDS = 5, 2, 7
"""As short as can be waited for, and long enough for a busy machine to connect and answer."""


@pytest.fixture(autouse=True)
def _nothing_broke(request: pytest.FixtureRequest) -> Iterator[None]:
    """After every test all chains, states and combinations must be whole."""
    request.getfixturevalue("transactional_db")
    yield
    assert list(verify.problems()) == []


@pytest.fixture
def ledger() -> Iterator[Ledger]:
    with Ledger() as started:
        yield started


@pytest.fixture
def shop(lasting_story: Story, ledger: Ledger, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Story:
    """The story with three channels to a real remote, on the database's own clock, as other processes see it.

    `shelves` appends and can be asked; `stock` appends and dedupes, but cannot be asked, so it is sent to again by
    itself; `prices` is exclusive, dedupes and can be asked.
    """
    monkeypatch.setattr(clocks, "_read", DATABASES_CLOCK)
    lasting_story.clock = database_now  # type: ignore[assignment]
    settings.REVIEWROOM_ALLOW_PRIVATE_TARGETS = True
    lasting_story.configure(document(ledger.url))
    return lasting_story


def document(url: str) -> dict[str, Any]:
    """Gives the cast's configuration with the shop's channels in it."""
    found = copy.deepcopy(CONFIG)
    found["rooms"][0]["channels"] += [
        channel("shelves", url, concurrency="append", asked=True),
        channel("stock", url, concurrency="append", idempotent=True, asked=False),
        channel("prices", url, concurrency="exclusive", idempotent=True, asked=True),
    ]
    return found


def channel(slug: str, url: str, *, asked: bool, **more: Any) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "send": {"method": "POST", "url": f"{url}/items?target={{resource}}", "id_pointer": "/id"}
    }
    if asked:
        operation["lookup"] = {"url": f"{url}/items?operation_id={{delivery_id}}", "id_pointer": "/items/0/id"}
        operation["verify"] = {"url": f"{url}/items/{{remote_id}}", "body_pointer": "/payload"}
    where = {"slug": slug, "connector": "http", "account": "shop", "resource_pattern": f"{slug}/*"}
    return {**where, **more, "operations": {"item.create": operation}}


@pytest.fixture
def patient(process_environment: dict[str, str], ledger: Ledger) -> dict[str, str]:
    """The environment of workers whose leases do not end while a test runs, however busy the machine."""
    return {
        **process_environment,
        "REVIEWROOM_ALLOW_PRIVATE_TARGETS": "true",
        "REVIEWROOM_AUDIT_SINK": f"{ledger.url}/events",
        "REVIEWROOM_AUDIT_TOKEN": "only-for-tests",
        "REVIEWROOM_LEASE_SECONDS": "300",
        "REVIEWROOM_SEND_TIMEOUT_SECONDS": "120",
        "REVIEWROOM_ABSENT_GRACE_SECONDS": "420",
    }


@pytest.fixture
def hasty(patient: dict[str, str], settings: Any) -> dict[str, str]:
    """The environment of workers whose lease ends while a test waits; this process keeps the same times."""
    settings.REVIEWROOM_LEASE_SECONDS = LEASE_SECONDS
    settings.REVIEWROOM_SEND_TIMEOUT_SECONDS = SEND_TIMEOUT_SECONDS
    settings.REVIEWROOM_ABSENT_GRACE_SECONDS = GRACE_SECONDS
    return {
        **patient,
        "REVIEWROOM_LEASE_SECONDS": str(LEASE_SECONDS),
        "REVIEWROOM_SEND_TIMEOUT_SECONDS": str(SEND_TIMEOUT_SECONDS),
        "REVIEWROOM_ABSENT_GRACE_SECONDS": str(GRACE_SECONDS),
    }
