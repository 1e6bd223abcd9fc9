"""The conformance suite: what every connector has to do, whatever its remote does to it.

A package proves its connector with a test file like this, run by plain pytest; no Django and no database are needed:

    from approvals.connectors.conformance import Conformance

    class TestShop(Conformance):
        kind = ShopHarness  # a Harness: a remote that can be told how to behave

Needs pytest, so nothing that serves or sends may import this package.
"""

import pytest

_CHECKS = ("calls", "promises", "reading", "receipts", "rendering")
pytest.register_assert_rewrite(*(f"{__name__}.{name}" for name in _CHECKS))

from approvals.connectors.conformance.behaviour import Behaviour, Verb  # noqa: E402  (after the rewriting is set up)
from approvals.connectors.conformance.harness import Harness  # noqa: E402
from approvals.connectors.conformance.stand_in import Asked, Reply, StandIn  # noqa: E402
from approvals.connectors.conformance.suite import Conformance  # noqa: E402

__all__ = ["Asked", "Behaviour", "Conformance", "Harness", "Reply", "StandIn", "Verb"]
