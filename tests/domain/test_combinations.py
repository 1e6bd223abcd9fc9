"""Which states may stand beside each other, against a table written by hand."""

from itertools import product

import pytest

from approvals.domain.combinations import NONE, Combination, is_allowed
from approvals.domain.states import APPROVAL, DELIVERY, DISPATCH_CLAIM, DRAFT

# draft | newest approval | write | retraction | dispatch claim | on an append channel also
WRITTEN = """
draft               | none rejected superseded revoked expired | none      | none      | idle reserved |
in_review           | pending                                 | none      | none      | idle reserved |
approved            | approved                                | none      | none      | idle reserved |
changes_requested   | rejected                                | none      | none      | idle reserved |
rejected            | rejected                                | none      | none      | idle reserved |
expired             | expired                                 | none      | none      | idle reserved |
revoked             | none rejected superseded revoked expired | none      | none      | idle reserved |
submitting          | consumed                                | sending   | none      | sending       |
submitting          | consumed                                | waiting   | none      | idle reserved |
delivery_unknown    | consumed                                | unknown   | none      | uncertain     | idle reserved
failed              | consumed                                | refused   | none      | idle          | reserved
failed              | consumed                                | cancelled | none      | idle reserved |
submitted confirmed | consumed                                | delivered | none      | idle          | reserved
retracting          | consumed                                | delivered | waiting   | idle reserved |
retracting          | consumed                                | delivered | sending   | sending       |
retracting          | consumed                                | delivered | delivered | idle          |
retraction_unknown  | consumed                                | delivered | unknown   | uncertain     | idle
retraction_unknown  | consumed                                | delivered | delivered | idle          |
retracted           | consumed                                | delivered | delivered | idle          |
retraction_failed   | consumed                                | delivered | refused   | idle          |
retraction_failed   | consumed                                | delivered | delivered | idle          |
retraction_failed   | consumed                                | delivered | cancelled | idle reserved |
"""
EVERY = product(
    DRAFT.states,
    (NONE, *APPROVAL.states),
    (NONE, *DELIVERY.states),
    (NONE, *DELIVERY.states),
    DISPATCH_CLAIM.states,
    (True, False),
)


def written() -> set[tuple]:
    allowed = set()
    for line in WRITTEN.strip().splitlines():
        *states, claims, append = (cell.split() for cell in line.split("|"))
        allowed |= set(product(*states, claims, (True, False)))
        allowed |= set(product(*states, append, (False,)))
    return allowed


def test_exactly_the_written_combinations_are_allowed():
    assert {found for found in EVERY if is_allowed(Combination(*found))} == written()


@pytest.mark.parametrize("draft", DRAFT.states)
def test_every_draft_state_has_a_combination(draft):
    assert draft in {found[0] for found in written()}


def test_unknown_is_never_beside_a_free_exclusive_target():
    assert not is_allowed(Combination("delivery_unknown", "consumed", "unknown", NONE, "idle", exclusive=True))


def test_a_combination_says_itself():
    found = Combination("failed", "consumed", "refused", NONE, "idle", exclusive=False)
    assert str(found) == (
        "draft failed, approval consumed, write refused, retraction none, dispatch claim idle (append)"
    )
