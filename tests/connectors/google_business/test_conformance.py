"""The conformance suite on `google_business`."""

from approvals.connectors.conformance import Conformance
from tests.connectors.google_business.harness import GoogleHarness


class TestGoogleBusiness(Conformance):
    kind = GoogleHarness
