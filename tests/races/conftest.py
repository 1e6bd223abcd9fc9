"""Committed stories on the database's real clock, and a remote that counts."""

import copy
from collections.abc import Iterator

import pytest

from approvals.models import clock as clocks
from approvals.models.clock import database_now
from approvals.services import verify
from tests.cast import CONFIG, Story
from tests.support.http_server import Items

DATABASES_CLOCK = clocks._read  # before any test replaces it


@pytest.fixture(autouse=True)
def _nothing_broke(request: pytest.FixtureRequest) -> Iterator[None]:
    """After every race all chains, states and combinations must be whole."""
    request.getfixturevalue("transactional_db")
    yield
    assert list(verify.problems()) == []


@pytest.fixture
def live(lasting_story: Story, monkeypatch: pytest.MonkeyPatch) -> Story:
    """The committed story on the database's own clock, as other processes see it."""
    monkeypatch.setattr(clocks, "_read", DATABASES_CLOCK)
    lasting_story.clock = database_now  # type: ignore[assignment]
    return lasting_story


@pytest.fixture
def items() -> Iterator[Items]:
    with Items() as started:
        yield started


@pytest.fixture
def shop(live: Story, items: Items, settings: object) -> Story:
    """The story with a channel to a real remote: `items` appends."""
    settings.REVIEWROOM_ALLOW_PRIVATE_TARGETS = True  # type: ignore[attr-defined]
    document = copy.deepcopy(CONFIG)
    operation = {
        "send": {"method": "POST", "url": f"{items.url}/items", "id_pointer": "/id"},
        "lookup": {"url": f"{items.url}/items?operation_id={{delivery_id}}", "id_pointer": "/items/0/id"},
        "verify": {"url": f"{items.url}/items/{{remote_id}}", "body_pointer": "/payload"},
    }
    channel = {
        "slug": "items",
        "connector": "http",
        "account": "shop",
        "resource": "items",
        "concurrency": "append",
        "operations": {"item.create": operation},
    }
    document["rooms"][0]["channels"].append(channel)
    live.configure(document)
    return live


@pytest.fixture
def elsewhere(process_environment: dict[str, str], items: Items) -> dict[str, str]:
    """The environment of a second process that may call the remote on loopback."""
    return {
        **process_environment,
        "REVIEWROOM_ALLOW_PRIVATE_TARGETS": "true",
        "REVIEWROOM_AUDIT_SINK": f"{items.url}/events",
        "REVIEWROOM_AUDIT_TOKEN": "only-for-tests",
    }
