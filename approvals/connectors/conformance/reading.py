"""Look-up, read-back and reading: what they see, and that they guess nothing."""

import pytest

from approvals.connectors.base import Capability, Outcome
from approvals.connectors.conformance.behaviour import Behaviour, Verb
from approvals.connectors.conformance.calls import ask, made, need, send
from approvals.connectors.conformance.harness import Harness
from approvals.connectors.conformance.receipts import able, patience


class Lookups:
    """See the module."""

    def test_a_lookup_finds_what_arrived(self, harness: Harness) -> None:
        need(harness, Capability.LOOKUP)
        job = made(harness)
        found = ask(harness, "lookup", job)
        assert (found.sighting, found.remote_id) == ("found", job.remote_id), found.reason

    def test_a_lookup_finds_what_arrived_although_the_answer_was_lost(self, harness: Harness) -> None:
        need(harness, Capability.LOOKUP)
        able(harness, Behaviour.APPLY_AND_HANG_UP)
        job = harness.job()
        harness.behave(Verb.SEND, Behaviour.APPLY_AND_HANG_UP)
        assert send(harness, job).outcome is Outcome.UNKNOWN
        assert ask(harness, "lookup", job).sighting == "found"

    def test_a_found_object_can_be_read_back(self, harness: Harness) -> None:
        need(harness, Capability.LOOKUP, Capability.VERIFY)
        job = made(harness)
        job.remote_id = ask(harness, "lookup", job).remote_id
        assert ask(harness, "verify", job).match == "equal"

    def test_a_lookup_says_absent_where_nothing_arrived(self, harness: Harness) -> None:
        need(harness, Capability.LOOKUP)
        able(harness, Behaviour.HANG_UP)
        job = harness.job()
        harness.behave(Verb.SEND, Behaviour.HANG_UP)
        assert send(harness, job).outcome is Outcome.UNKNOWN
        assert ask(harness, "lookup", job).sighting == "absent"

    def test_a_lookup_does_not_take_another_delivery_for_ours(self, harness: Harness) -> None:
        need(harness, Capability.LOOKUP)
        made(harness, "another")
        assert ask(harness, "lookup", harness.job("ours")).sighting != "found"

    def test_a_lookup_that_is_not_answered_well_is_unknown(self, harness: Harness, looking: Behaviour) -> None:
        need(harness, Capability.LOOKUP)
        job = made(harness)
        harness.behave(Verb.LOOKUP, looking)
        found = ask(harness, "lookup", job, patience(looking))
        assert (found.sighting, found.remote_id) == ("unknown", None), found.reason


class Verifications:
    """The same of reading back."""

    def test_what_arrived_reads_back_equal(self, harness: Harness) -> None:
        need(harness, Capability.VERIFY)
        assert ask(harness, "verify", made(harness)).match == "equal"

    def test_what_somebody_changed_differs(self, harness: Harness) -> None:
        need(harness, Capability.VERIFY)
        job = made(harness)
        harness.change(job.remote_id or "")
        assert ask(harness, "verify", job).match == "differs"

    def test_what_somebody_took_away_is_gone(self, harness: Harness) -> None:
        need(harness, Capability.VERIFY)
        job = made(harness)
        harness.remove(job.remote_id or "")
        assert ask(harness, "verify", job).match == "gone"

    def test_a_read_back_that_is_not_answered_well_is_unknown(self, harness: Harness, verifying: Behaviour) -> None:
        need(harness, Capability.VERIFY)
        job = made(harness)
        harness.behave(Verb.VERIFY, verifying)
        seen = ask(harness, "verify", job, patience(verifying))
        assert seen.match == "unknown", seen.reason

    def test_reading_back_changes_nothing(self, harness: Harness) -> None:
        need(harness, Capability.VERIFY)
        job = made(harness)
        ask(harness, "verify", job)
        assert (harness.effects(), ask(harness, "verify", job).match) == (1, "equal")


class Readings:
    """The same of seeing what stands at a target."""

    def test_what_stands_at_a_target_is_shown(self, harness: Harness) -> None:
        reads(harness)
        job = made(harness)
        seen = ask(harness, "read", job)
        assert (seen.known, seen.content) == (True, harness.standing(job.binding.payload)), seen.reason

    def test_an_empty_target_is_known_to_be_empty(self, harness: Harness) -> None:
        reads(harness)
        job = made(harness)
        harness.remove(job.remote_id or "")
        seen = ask(harness, "read", job)
        assert (seen.known, seen.content) == (True, None), seen.reason

    def test_a_reading_that_is_not_answered_well_is_not_known(self, harness: Harness, reading: Behaviour) -> None:
        reads(harness)
        job = made(harness)
        harness.behave(Verb.READ, reading)
        seen = ask(harness, "read", job, patience(reading))
        assert (seen.known, seen.content) == (False, None), seen.reason


def reads(harness: Harness) -> None:
    """Skip the test where this channel cannot tell what stands at its target."""
    if not harness.reads:
        pytest.skip("this channel cannot read what stands at a target")
