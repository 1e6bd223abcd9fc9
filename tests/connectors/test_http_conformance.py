"""The conformance suite on `http`: a channel that declares everything, and one that declares nothing."""

from approvals.connectors.conformance import Conformance
from tests.connectors.items import BareHarness, ItemsHarness


class TestHttp(Conformance):
    kind = ItemsHarness


class TestBareHttp(Conformance):
    kind = BareHarness
