"""Connectors by name."""

from importlib.metadata import EntryPoint

import pytest

from approvals import connectors
from approvals.connectors import registry
from approvals.connectors.http import HttpConnector
from approvals.connectors.outbound import Outbound


@pytest.fixture
def installed(monkeypatch):
    """Makes entry points seem installed."""

    def install(**points):
        found = [EntryPoint(name, target, registry.GROUP) for name, target in points.items()]
        monkeypatch.setattr(registry, "entry_points", lambda group: found if group == registry.GROUP else [])
        forget()

    yield install
    forget()


def forget():
    registry._kind.cache_clear()
    registry._installed.cache_clear()


def test_the_built_in_connectors_are_there():
    assert {"http", "roundup"} <= set(connectors.names())


def test_a_connector_gets_the_client_it_is_given():
    outbound = Outbound(allow_private=False)
    assert connectors.get("http", outbound).outbound is outbound


def test_the_settings_decide_on_private_targets(settings):
    settings.REVIEWROOM_ALLOW_PRIVATE_TARGETS = True
    assert connectors.get("http").outbound.allow_private is True


def test_an_unknown_name_is_an_error_that_lists_the_known():
    with pytest.raises(LookupError, match="http"):
        connectors.get("pigeon", Outbound(allow_private=False))


def test_an_installed_package_adds_a_connector(installed):
    installed(pigeon="approvals.connectors.roundup:RoundupConnector")
    assert "pigeon" in connectors.names()


def test_a_package_that_cannot_be_imported_stops_no_other_connector(installed):
    installed(pigeon="no_such_package:Pigeon")
    assert connectors.get("http", Outbound(allow_private=False)).name == "http"
    with pytest.raises(LookupError, match="pigeon cannot be imported"):
        connectors.get("pigeon", Outbound(allow_private=False))


def test_an_installed_package_cannot_replace_a_built_in(installed):
    installed(http="approvals.connectors.roundup:RoundupConnector")
    assert isinstance(connectors.get("http", Outbound(allow_private=False)), HttpConnector)
