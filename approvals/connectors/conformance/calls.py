"""Calls as the workers make them, and what is true of every answer."""

import asyncio
import json
import time
from collections.abc import Coroutine
from typing import Any, TypeVar

import pytest

from approvals.connectors.base import (
    Capability,
    Connector,
    Deadline,
    Job,
    Lookup,
    Outcome,
    Reading,
    Receipt,
    Verification,
)
from approvals.connectors.classify import usable_id
from approvals.connectors.conformance.harness import Harness

Told = Receipt | Lookup | Verification | Reading
T = TypeVar("T", bound=Told)

PATIENCE = Deadline(10.0)
SHORT_SECONDS = 1.0
MAX_TEXT_CHARACTERS = 2048
MAX_EVIDENCE_CHARACTERS = 16 * 1024


def need(harness: Harness, *wanted: Capability) -> None:
    """Skip the test unless the channel declares all of these."""
    missing = sorted(set(wanted) - harness.declares)
    if missing:
        pytest.skip(f"the channel declares no {missing[0]}")


def send(harness: Harness, job: Job, deadline: Deadline = PATIENCE, connector: Connector | None = None) -> Receipt:
    """Prepare and send, as the dispatcher does."""
    connector = connector or harness.connect()
    prepared = asyncio.run(connector.prepare(job, PATIENCE))
    if isinstance(prepared, Receipt):
        return checked(harness, prepared)
    job.prepared = prepared
    return checked(harness, timed(connector.send(job, deadline), deadline))


def made(harness: Harness, text: str = "one") -> Job:
    """A delivery that has arrived."""
    job = harness.job(text)
    receipt = send(harness, job)
    assert receipt.outcome is Outcome.DELIVERED, receipt.reason
    job.remote_id = receipt.remote_id
    return job


def ask(harness: Harness, verb: str, job: Job, deadline: Deadline = PATIENCE) -> Any:
    """Call one verb of a fresh connector: what a worker knows is in the job."""
    return checked(harness, timed(getattr(harness.connect(), verb)(job, deadline), deadline))


def timed(call: Coroutine[Any, Any, T], deadline: Deadline) -> T:
    """The answer, which has to come within the deadline and a second."""
    begun = time.monotonic()
    told = asyncio.run(call)
    assert time.monotonic() - begun <= deadline.seconds + 1.0, "the deadline was not kept"
    return told


def checked(harness: Harness, told: T) -> T:
    """The same answer, if it may be stored and shown: whatever came, no answer may break these rules."""
    stored = json.dumps(told.evidence, ensure_ascii=False, allow_nan=False)
    stored.encode()  # a lone surrogate would fail here, and in the database
    assert "\\u0000" not in stored
    assert len(stored) <= MAX_EVIDENCE_CHARACTERS
    assert all(len(text) <= MAX_TEXT_CHARACTERS for text in _texts(told.evidence)), "evidence keeps at most 2 kB a text"
    assert told.reason.strip(), "every answer says why, for a person"
    for marker in harness.markers:
        assert marker not in repr(told) + stored, "a secret shows in an answer"
    if isinstance(told, Receipt):
        _check_receipt(told)
    return told


def _check_receipt(receipt: Receipt) -> None:
    if receipt.outcome is not Outcome.NOT_SENT:
        assert not receipt.pause, "only a channel that sent nothing pauses"
    assert receipt.retry_after_seconds is None or 0 <= receipt.retry_after_seconds < 86_400
    assert receipt.remote_id is None or receipt.remote_id == usable_id(receipt.remote_id)


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for item in value.values() for text in _texts(item)]
    return [text for item in value for text in _texts(item)] if isinstance(value, list) else []
