"""Refusals: a stable code each, and a message somebody can act on."""

import inspect
from uuid import uuid4

import pytest

from approvals.domain import errors
from approvals.domain.errors import Conflict, LostRace, Refusal, Superseded

KNOWN = """
    stale_revision already_decided superseded revoked expired consumed wrong_state stale_view open_draft_exists
    duplicate unsupported not_eligible dispatch_claim_held target_changed idempotency_in_progress idempotency_mismatch
    invalid_payload precondition_required not_found unauthenticated forbidden too_large rate_limited unavailable paused
"""
NO_CONFLICTS = """
    not_eligible idempotency_mismatch invalid_payload precondition_required not_found unauthenticated forbidden
    too_large rate_limited unavailable
"""
CODES = set(KNOWN.split())
CONFLICTS = CODES - set(NO_CONFLICTS.split())
KINDS = [
    kind
    for _, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, Refusal) and kind not in (Refusal, Conflict)
]
DATA = {
    "pointer": "/payload/a",
    "line": 3,
    "column": 4,
    "reason": "author",
    "draft_id": 7,
    "approval_id": uuid4(),
    "successor_id": uuid4(),
    "remedy": print,
}


def test_the_codes_are_those_the_clients_know():
    assert {kind.code for kind in KINDS} == CODES


def test_a_code_stands_for_one_refusal():
    codes = [kind.code for kind in KINDS if kind.__name__ != "NotImplementedYet"]
    assert sorted(codes) == sorted(CODES)


def test_the_conflicts_are_those_that_carry_what_is_current():
    assert {kind.code for kind in KINDS if issubclass(kind, Conflict)} == CONFLICTS


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_refusal_says_its_docstring_unless_told_otherwise(kind):
    assert str(kind()) == inspect.cleandoc(kind.__doc__)
    assert str(kind("The lift is stuck.")) == "The lift is stuck."


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_message_is_sentences(kind):
    message = str(kind())
    assert message[0].isupper()
    assert message.endswith(".")
    assert "\n" not in message


@pytest.mark.parametrize("name", DATA)
def test_a_refusal_carries_its_data(name):
    assert getattr(Superseded(**{name: DATA[name]}), name) == DATA[name]
    assert getattr(Superseded(), name) is None


def test_a_lost_race_is_no_refusal():
    """It must never reach a user as it is: a service says what it means for them."""
    assert not issubclass(LostRace, Refusal)
