"""The stand-in for Google, and calls as the workers make them."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from approvals.connectors.base import Deadline, Job, Receipt
from approvals.connectors.google_business import GoogleBusinessConnector
from approvals.domain.binding import TargetRef, bind
from tests.connectors.google_business.harness import GoogleHarness
from tests.connectors.google_business.standin import Storefront, TokenEndpoint


@pytest.fixture
def google() -> Iterator[GoogleHarness]:
    with GoogleHarness() as started:
        yield started


@pytest.fixture
def storefront(google: GoogleHarness) -> Storefront:
    return google.storefront


@pytest.fixture
def tokens(google: GoogleHarness) -> TokenEndpoint:
    return google.tokens


@pytest.fixture
def connector(google: GoogleHarness) -> GoogleBusinessConnector:
    return google.connect()


@pytest.fixture
def job(google: GoogleHarness) -> Job:
    return google.job()


@pytest.fixture
def ask(connector: GoogleBusinessConnector) -> Callable[..., Any]:
    """Calls one verb of the connector."""

    def call(verb: str, job: Job, seconds: float = 5.0) -> Any:
        return asyncio.run(getattr(connector, verb)(job, Deadline(seconds)))

    return call


@pytest.fixture
def send(ask: Callable[..., Any]) -> Callable[..., Receipt]:
    """Prepares and sends, as the dispatcher does."""

    def call(job: Job, seconds: float = 5.0) -> Receipt:
        prepared = ask("prepare", job, seconds)
        if isinstance(prepared, Receipt):
            return prepared
        assert prepared == {}  # it is stored, so it may hold no token
        return ask("send", job, seconds)

    return call


@pytest.fixture
def render(google: GoogleHarness, connector: GoogleBusinessConnector) -> Callable[..., Any]:
    """Renders a payload for a resource."""

    def call(payload: dict[str, Any], resource: str = google.resource) -> Any:
        settings = google.settings
        target = TargetRef("google_business", settings.account, resource)
        binding = bind(operation="reply.upsert", target=target, payload=payload)
        return connector.render(binding, google.job().delivery_id, settings)

    return call
