"""Receipts: every way a remote can treat a write has one right answer."""

import asyncio
from dataclasses import replace
from uuid import uuid4

import pytest

from approvals.connectors.base import Capability, Deadline, Outcome, Receipt
from approvals.connectors.conformance.behaviour import RECEIPTS, SLOW, Behaviour, Verb
from approvals.connectors.conformance.calls import PATIENCE, SHORT_SECONDS, ask, made, need, send
from approvals.connectors.conformance.harness import Harness
from approvals.domain.binding import Corrects


class Receipts:
    """See the module."""

    def test_a_write_gets_the_right_receipt(self, harness: Harness, treatment: Behaviour) -> None:
        job, expected = harness.job(), RECEIPTS[treatment]
        harness.behave(Verb.SEND, treatment)
        receipt = send(harness, job, patience(treatment))
        assert (receipt.outcome, receipt.pause) == (expected.outcome, expected.pause), receipt.reason
        assert harness.effects() == expected.acted
        assert (receipt.remote_id is not None) == (expected.outcome is Outcome.DELIVERED)

    def test_a_redirect_is_not_followed(self, harness: Harness) -> None:
        able(harness, Behaviour.REDIRECT)
        connector, job = harness.connect(), harness.job()
        prepared = asyncio.run(connector.prepare(job, PATIENCE))
        assert not isinstance(prepared, Receipt)
        before, job.prepared = harness.requests(), prepared
        harness.behave(Verb.SEND, Behaviour.REDIRECT)
        asyncio.run(connector.send(job, PATIENCE))
        assert harness.requests() == before + 1

    def test_a_request_to_wait_keeps_the_time(self, harness: Harness) -> None:
        able(harness, Behaviour.LATER)
        harness.behave(Verb.SEND, Behaviour.LATER)
        assert send(harness, harness.job()).retry_after_seconds in (7.0, None)

    def test_a_worker_that_woke_too_late_sends_nothing(self, harness: Harness) -> None:
        late = Deadline(10.0, send_by=1000.0, clock=lambda: 1000.0)
        receipt = send(harness, harness.job(), late)
        assert (receipt.outcome, receipt.pause, harness.effects()) == (Outcome.NOT_SENT, False, 0)

    def test_an_answer_leaves_evidence(self, harness: Harness) -> None:
        receipt = send(harness, harness.job())
        assert harness.evidence_keys - receipt.evidence.keys() == set()
        assert all(isinstance(number, int | float) for number in receipt.evidence["timing"].values())

    def test_a_refusal_that_repeats_everything_shows_no_secret(self, harness: Harness) -> None:
        able(harness, Behaviour.ECHO)
        harness.behave(Verb.SEND, Behaviour.ECHO)
        assert send(harness, harness.job()).evidence  # `send` looks for the markers

    def test_two_deliveries_of_the_same_bytes_are_two(self, harness: Harness) -> None:
        if harness.settings.concurrency == "exclusive":
            pytest.skip("an exclusive target holds one object")
        assert made(harness).remote_id != made(harness).remote_id
        assert harness.effects() == 2

    def test_a_repeat_is_one_write(self, harness: Harness) -> None:
        need(harness, Capability.IDEMPOTENCY_KEY)
        job = made(harness)
        assert send(harness, job).remote_id == job.remote_id
        assert harness.effects() == 1

    def test_a_repeat_after_a_lost_answer_is_one_write(self, harness: Harness) -> None:
        need(harness, Capability.IDEMPOTENCY_KEY)
        able(harness, Behaviour.APPLY_AND_HANG_UP)
        job = harness.job()
        harness.behave(Verb.SEND, Behaviour.APPLY_AND_HANG_UP)
        assert send(harness, job).outcome is Outcome.UNKNOWN
        assert send(harness, job).outcome is Outcome.DELIVERED
        assert harness.effects() == 1

    def test_a_correction_replaces_the_object_it_names(self, harness: Harness) -> None:
        if not harness.correcting_operation:
            pytest.skip("the channel declares no correction")
        able_to = harness.connect().capabilities(harness.settings, harness.correcting_operation)
        assert Capability.CORRECT in able_to
        original = made(harness)
        assert original.remote_id is not None
        job = harness.job("two", corrects=Corrects(str(original.delivery_id), original.remote_id))
        receipt = send(harness, job)
        assert (receipt.outcome, receipt.remote_id) == (Outcome.DELIVERED, original.remote_id), receipt.reason
        job.remote_id = receipt.remote_id
        if Capability.VERIFY in able_to:
            assert ask(harness, "verify", job).match == "equal"


class Retractions:
    """The same of undoing."""

    def test_a_retraction_gets_the_right_receipt(self, harness: Harness, undoing: Behaviour) -> None:
        need(harness, Capability.RETRACT)
        job, expected = replace(made(harness), retraction_id=uuid4()), RECEIPTS[undoing]
        harness.behave(Verb.RETRACT, undoing)
        receipt = ask(harness, "retract", job, patience(undoing))
        assert (receipt.outcome, receipt.pause) == (expected.outcome, expected.pause), receipt.reason

    def test_what_was_retracted_reads_back_gone(self, harness: Harness) -> None:
        need(harness, Capability.RETRACT, Capability.VERIFY)
        job = replace(made(harness), retraction_id=uuid4())
        ask(harness, "retract", job)
        assert ask(harness, "verify", job).match == "gone"

    def test_what_was_not_retracted_does_not_read_back_gone(self, harness: Harness) -> None:
        need(harness, Capability.RETRACT, Capability.VERIFY)
        able(harness, Behaviour.REFUSE)
        job = replace(made(harness), retraction_id=uuid4())
        harness.behave(Verb.RETRACT, Behaviour.REFUSE)
        ask(harness, "retract", job)
        assert ask(harness, "verify", job).match == "equal"

    def test_retracting_twice_is_delivered(self, harness: Harness) -> None:
        need(harness, Capability.RETRACT)
        job = replace(made(harness), retraction_id=uuid4())
        assert [ask(harness, "retract", job).outcome for _ in range(2)] == [Outcome.DELIVERED] * 2

    def test_retracting_what_somebody_took_away_is_delivered(self, harness: Harness) -> None:
        need(harness, Capability.RETRACT, Capability.VERIFY)
        job = replace(made(harness), retraction_id=uuid4())
        harness.remove(job.remote_id or "")
        assert ask(harness, "retract", job).outcome is Outcome.DELIVERED

    def test_a_worker_that_woke_too_late_retracts_nothing(self, harness: Harness) -> None:
        need(harness, Capability.RETRACT)
        job = replace(made(harness), retraction_id=uuid4())
        before = harness.requests()
        receipt = ask(harness, "retract", job, Deadline(10.0, send_by=1000.0, clock=lambda: 1000.0))
        assert (receipt.outcome, harness.requests()) == (Outcome.NOT_SENT, before)


def patience(behaviour: Behaviour) -> Deadline:
    """A short deadline where only the deadline ends the call."""
    return Deadline(SHORT_SECONDS) if behaviour in SLOW else PATIENCE


def able(harness: Harness, *wanted: Behaviour) -> None:
    """Skip the test where the remote cannot be made to behave so."""
    missing = sorted(set(wanted) - harness.behaviours)
    if missing:
        pytest.skip(f"this remote cannot be told to {missing[0]}")
