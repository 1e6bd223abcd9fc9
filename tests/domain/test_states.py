"""The four tables, against lists written by hand: whoever edits a table has to say so here too."""

import pytest

from approvals.domain.states import (
    APPROVAL,
    DELIVERY,
    DISPATCH_CLAIM,
    DRAFT,
    ENDED_APPROVAL,
    LIVE_APPROVAL,
    MACHINES,
    OPEN_DRAFT,
    QUEUE_RANK,
    Machine,
)

NAMES = [machine.name for machine in MACHINES]

MOVES = {
    "approval": {
        "pending": "approved rejected superseded revoked expired",
        "approved": "consumed superseded revoked expired",
    },
    "delivery": {
        "waiting": "sending cancelled delivered",
        "sending": "delivered refused waiting unknown",
        "unknown": "delivered waiting sending refused",
        "refused": "waiting delivered",
        "cancelled": "waiting delivered",
    },
    "dispatch_claim": {
        "idle": "reserved",
        "reserved": "reserved idle sending",
        "sending": "idle uncertain",
        "uncertain": "idle",
    },
    "draft": {
        "draft": "in_review revoked",
        "in_review": "approved changes_requested rejected revoked expired",
        "changes_requested": "in_review draft revoked",
        "approved": "in_review revoked expired submitting",
        "rejected": "in_review draft revoked",
        "expired": "in_review draft revoked",
        "revoked": "in_review draft",
        "submitting": "submitted failed delivery_unknown",
        "delivery_unknown": "submitted submitting failed",
        "failed": "submitting submitted",
        "submitted": "confirmed retracting",
        "confirmed": "retracting",
        "retracting": "retracted retraction_unknown retraction_failed",
        "retraction_unknown": "retracted retraction_failed retracting",
        "retraction_failed": "retracting retracted",
    },
}
ENDS = {
    "approval": {"consumed", "rejected", "superseded", "revoked", "expired"},
    "delivery": {"delivered"},
    "dispatch_claim": set(),
    "draft": {"retracted"},
}
BIRTHS = {
    "approval": {"pending"},
    "delivery": {"sending", "waiting"},
    "dispatch_claim": {"idle"},
    "draft": {"draft"},
}


def reachable(machine: Machine) -> set[str]:
    found = set(machine.initial)
    while more := {target for source, target in machine.pairs() if source in found} - found:
        found |= more
    return found


@pytest.mark.parametrize("machine", MACHINES, ids=NAMES)
def test_a_machine_moves_exactly_as_written_here(machine):
    written = {(source, target) for source, targets in MOVES[machine.name].items() for target in targets.split()}
    assert machine.pairs() == written


@pytest.mark.parametrize("machine", MACHINES, ids=NAMES)
def test_a_machine_ends_only_where_written_here(machine):
    assert machine.terminal() == ENDS[machine.name]


@pytest.mark.parametrize("machine", MACHINES, ids=NAMES)
def test_a_row_is_born_only_where_written_here(machine):
    assert set(machine.initial) == BIRTHS[machine.name]


@pytest.mark.parametrize("machine", MACHINES, ids=NAMES)
def test_every_state_can_be_reached(machine):
    assert reachable(machine) == set(machine.states)


@pytest.mark.parametrize("machine", MACHINES, ids=NAMES)
def test_every_verb_has_one_edge_between_known_states(machine):
    assert len({edge.verb for edge in machine.edges}) == len(machine.edges)
    assert {state for edge in machine.edges for state in (*edge.sources, edge.target)} <= set(machine.states)


@pytest.mark.parametrize("machine", MACHINES, ids=NAMES)
def test_all_pairs_holds_every_two_different_states(machine):
    pairs = list(machine.all_pairs())
    assert len(pairs) == len(set(pairs)) == len(machine.states) * (len(machine.states) - 1)
    assert machine.pairs() - set(pairs) <= {("reserved", "reserved")}


@pytest.mark.parametrize("machine", MACHINES, ids=NAMES)
def test_an_end_offers_no_verb(machine):
    assert [state for state in machine.states if not machine.verbs_from(state)] == [
        state for state in machine.states if state in ENDS[machine.name]
    ]


def test_an_approval_is_live_or_ended_or_consumed():
    assert {*LIVE_APPROVAL, *ENDED_APPROVAL, "consumed"} == set(APPROVAL.states)
    assert set(LIVE_APPROVAL) == {"pending", "approved"}
    assert set(LIVE_APPROVAL) & set(ENDED_APPROVAL) == set()


def test_an_unknown_claim_is_never_sent_on_or_reserved():
    assert DISPATCH_CLAIM.verbs_from("uncertain") == ("clear",)


def test_a_delivered_delivery_has_no_way_back():
    assert DELIVERY.verbs_from("delivered") == ()


def test_open_drafts_are_those_that_may_still_be_sent():
    assert set(OPEN_DRAFT) == {"draft", "in_review", "changes_requested", "approved"}


def test_every_draft_state_has_its_place_in_the_queue():
    assert set(QUEUE_RANK) == set(DRAFT.states)


def test_what_is_unknown_stands_first_in_the_queue():
    assert {state for state, rank in QUEUE_RANK.items() if rank == 0} == {"delivery_unknown", "retraction_unknown"}
