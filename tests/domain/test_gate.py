"""The gate, case by case: who counts, when time is up, and that every reason is said."""

from datetime import UTC, datetime, timedelta

import pytest

from approvals.domain.gate import (
    Cause,
    GateAnswer,
    Ground,
    Reason,
    SendFacts,
    Standing,
    Tally,
    Verdict,
    count,
    is_expired,
    may_send,
)
from approvals.domain.policy import Policy, Requirement

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
TICK = timedelta(microseconds=1)
BEN, CLEO, DAN = 1, 2, 3
TWO = Policy(required_approvals=2)
APPROVE, REJECT, CHANGES, BACK = Verdict.APPROVE, Verdict.REJECT, Verdict.REQUEST_CHANGES, Verdict.TAKEN_BACK


def standing(*people: int, groups: dict[int, set[str]] | None = None) -> dict[int, Standing]:
    return {person: Standing(person, True, frozenset((groups or {}).get(person, ()))) for person in people}


def tally(*approvals: int, **groups: int) -> Tally:
    return Tally(frozenset(approvals), frozenset(), frozenset(), groups)


def facts(**changes) -> SendFacts:
    ground = Ground(version=1, digest="sha256:a", target_version=1, config_id=7, rendering_digest="sha256:r")
    known = {
        "now": NOON,
        "state_ok": True,
        "expires_at": NOON + TICK,
        "dispatch_at": NOON,
        "approved": ground,
        "current": ground,
        "recomputed_digest": "sha256:a",
        "tally": tally(BEN),
        "policy": Policy(),
    }
    return SendFacts(**{**known, **changes})


@pytest.mark.parametrize(
    ("moment", "expired"), [(NOON - TICK, False), (NOON, True), (NOON + TICK, True)], ids=["before", "at", "after"]
)
def test_an_approval_is_expired_from_the_very_instant_on(moment, expired):
    assert is_expired(moment, NOON) is expired


def test_the_gate_says_no_at_the_instant_of_expiry():
    assert [reason.cause for reason in may_send(facts(expires_at=NOON)).reasons] == [Cause.EXPIRED]


def test_the_gate_says_yes_at_the_instant_it_is_due():
    assert may_send(facts(dispatch_at=NOON)).ok


def test_the_gate_says_not_yet_a_microsecond_before_it_is_due():
    assert [reason.cause for reason in may_send(facts(dispatch_at=NOON + TICK)).reasons] == [Cause.NOT_YET]


def test_without_a_due_time_nothing_is_ever_due():
    assert [reason.cause for reason in may_send(facts(dispatch_at=None)).reasons] == [Cause.NOT_YET]


def test_every_pause_is_named():
    answer = may_send(facts(paused=("the room", "the channel")))
    assert answer.sentence == "Sending is paused: the room. Sending is paused: the channel."


def test_an_answer_knows_which_causes_it_has():
    answer = GateAnswer((Reason(Cause.EXPIRED, "Late."),))
    assert answer.has(Cause.PAUSED, Cause.EXPIRED)
    assert not answer.has(Cause.PAUSED)
    assert not answer.ok


@pytest.mark.parametrize("verdict", [REJECT, CHANGES, BACK])
def test_only_an_approve_counts_as_an_approval(verdict):
    assert count({BEN: verdict}, standing(BEN), TWO).approvals == frozenset()


def test_a_verdict_taken_back_counts_nowhere():
    counted = count({BEN: BACK}, standing(BEN), TWO)
    assert (counted.approvals, counted.rejections, counted.change_requests) == (frozenset(), frozenset(), frozenset())


@pytest.mark.parametrize(
    ("verdict", "where"), [(APPROVE, "approvals"), (REJECT, "rejections"), (CHANGES, "change_requests")]
)
def test_a_verdict_counts_in_its_own_place_only(verdict, where):
    counted = count({BEN: verdict}, standing(BEN), TWO)
    places = ("approvals", "rejections", "change_requests")
    assert {place: getattr(counted, place) for place in places} == {
        place: frozenset({BEN} if place == where else ()) for place in places
    }


@pytest.mark.parametrize("verdict", [APPROVE, REJECT, CHANGES])
def test_someone_without_good_standing_does_not_count(verdict):
    barred = {BEN: Standing(BEN, in_good_standing=False)}
    assert count({BEN: verdict}, barred, TWO) == count({}, {}, TWO)


def test_someone_whose_standing_is_not_known_does_not_count():
    assert count({BEN: APPROVE}, {}, TWO).approvals == frozenset()


def test_someone_who_said_nothing_does_not_count():
    assert count({}, standing(BEN, CLEO), TWO).approvals == frozenset()


def test_two_approvals_meet_a_policy_of_two():
    counted = count({BEN: APPROVE, CLEO: APPROVE}, standing(BEN, CLEO), TWO)
    assert counted.meets(TWO)


def test_one_approval_does_not_meet_a_policy_of_two():
    assert not count({BEN: APPROVE}, standing(BEN, CLEO), TWO).meets(TWO)


def test_rejections_of_others_do_not_take_an_approval_away():
    counted = count({BEN: APPROVE, CLEO: REJECT}, standing(BEN, CLEO), Policy())
    assert counted.meets(Policy())


def test_a_policy_rejects_at_its_threshold_and_not_below():
    policy = Policy(reject_threshold=2)
    assert not count({BEN: REJECT}, standing(BEN, CLEO), policy).rejects(policy)
    assert count({BEN: REJECT, CLEO: REJECT}, standing(BEN, CLEO), policy).rejects(policy)


@pytest.mark.parametrize(
    ("members", "met"),
    [
        ({BEN: {"legal"}}, True),
        ({CLEO: {"legal"}}, True),
        ({BEN: {"legal"}, CLEO: {"legal"}}, True),
        ({BEN: {"Legal"}}, False),
        ({DAN: {"legal"}}, False),
        ({}, False),
    ],
    ids=["ben", "cleo", "both", "another-name", "one-who-did-not-approve", "nobody"],
)
def test_a_requirement_needs_an_approver_of_its_group(members, met):
    policy = Policy(required_approvals=2, requirements=(Requirement("legal", 1),))
    counted = count({BEN: APPROVE, CLEO: APPROVE}, standing(BEN, CLEO, DAN, groups=members), policy)
    assert counted.meets(policy) is met


def test_one_person_can_meet_the_requirements_of_two_groups():
    policy = Policy(requirements=(Requirement("legal", 1), Requirement("press", 1)))
    assert count({BEN: APPROVE}, standing(BEN, groups={BEN: {"legal", "press"}}), policy).meets(policy)


def test_one_person_is_one_of_a_group_that_needs_two():
    policy = Policy(requirements=(Requirement("legal", 2),))
    counted = count({BEN: APPROVE}, standing(BEN, groups={BEN: {"legal"}}), policy)
    assert counted.groups == {"legal": 1}
    assert not counted.meets(policy)


def test_a_group_whose_members_only_reject_is_not_met():
    policy = Policy(requirements=(Requirement("legal", 1),))
    counted = count({BEN: REJECT, CLEO: APPROVE}, standing(BEN, CLEO, groups={BEN: {"legal"}}), policy)
    assert not counted.meets(policy)


def test_enough_of_every_group_is_still_too_few_approvals():
    policy = Policy(required_approvals=2, requirements=(Requirement("legal", 1),))
    counted = count({BEN: APPROVE}, standing(BEN, groups={BEN: {"legal"}}), policy)
    assert not counted.meets(policy)
