"""The suite itself: subclass `Conformance`, name a harness, and let pytest collect it."""

from collections.abc import Iterator
from typing import ClassVar

import pytest

from approvals.connectors.base import Capability
from approvals.connectors.conformance.behaviour import READING, RECEIPTS, Behaviour
from approvals.connectors.conformance.harness import Harness
from approvals.connectors.conformance.promises import Capabilities, Configuration, Guards
from approvals.connectors.conformance.reading import Lookups, Readings, Verifications
from approvals.connectors.conformance.receipts import Receipts, Retractions
from approvals.connectors.conformance.rendering import Rendering

_PARAMETERS: dict[str, tuple[Capability | None, frozenset[Behaviour]]] = {
    "treatment": (None, frozenset(RECEIPTS)),
    "undoing": (Capability.RETRACT, frozenset(RECEIPTS)),
    "looking": (Capability.LOOKUP, READING),
    "verifying": (Capability.VERIFY, READING),
    "reading": (None, READING),
}


class Conformance(
    Rendering, Receipts, Retractions, Lookups, Verifications, Readings, Capabilities, Configuration, Guards
):
    """Set `kind`, or override the fixture `harness` where starting one needs other fixtures.

    What a channel does not declare is skipped; what its remote cannot be made to do is not collected.
    """

    kind: ClassVar[type[Harness]]

    @pytest.fixture
    def harness(self) -> Iterator[Harness]:
        with self.kind() as started:
            yield started

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        for name, (capability, wanted) in _PARAMETERS.items():
            if name in metafunc.fixturenames:
                applies = capability is None or capability in self.kind.declares
                applies = applies and (self.kind.reads or name != "reading")
                metafunc.parametrize(name, sorted(wanted & self.kind.behaviours) if applies else [])
