"""The conformance suite on `http`: channels that declare everything, in two ways, and one that declares nothing."""

from approvals.connectors.conformance import Conformance
from tests.connectors.items import BareHarness, ItemsHarness
from tests.connectors.pages import PagesHarness


class TestHttp(Conformance):
    kind = ItemsHarness


class TestExclusiveHttp(Conformance):
    kind = PagesHarness


class TestBareHttp(Conformance):
    kind = BareHarness
