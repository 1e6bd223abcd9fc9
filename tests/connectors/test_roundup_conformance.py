"""The conformance suite on `roundup`, against a real tracker."""

from collections.abc import Iterator

import pytest

from approvals.connectors.conformance import Conformance
from reviewroom.demo.tracker import Tracker
from tests.connectors.roundup import RoundupHarness


class TestRoundup(Conformance):
    kind = RoundupHarness

    @pytest.fixture
    def harness(self, tracker: Tracker) -> Iterator[RoundupHarness]:
        with RoundupHarness(tracker) as started:
            yield started
