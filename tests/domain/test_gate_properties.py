"""Laws of the gate for any facts: a yes means that all holds, a no says all that fails."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from approvals.domain.gate import (
    Cause,
    Ground,
    RetractFacts,
    SendFacts,
    Standing,
    Tally,
    Verdict,
    count,
    may_retract,
    may_send,
)
from approvals.domain.policy import Policy, Requirement

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
GROUND = Ground(version=3, digest="sha256:a", target_version=5, config_id=7, rendering_digest="sha256:r")
NOBODY = Tally(frozenset(), frozenset(), frozenset(), {})
GOOD = SendFacts(
    now=NOON,
    state_ok=True,
    expires_at=NOON + timedelta(hours=1),
    dispatch_at=NOON - timedelta(seconds=1),
    approved=GROUND,
    current=GROUND,
    recomputed_digest=GROUND.digest,
    tally=replace(NOBODY, approvals=frozenset({1, 2}), groups={"legal": 1}),
    policy=Policy(required_approvals=2, requirements=(Requirement("legal", 1),)),
)

# Each breaks one condition and no other.
VIOLATIONS = {
    "wrong state": (Cause.NOT_APPROVED, lambda facts: replace(facts, state_ok=False)),
    "late": (Cause.EXPIRED, lambda facts: replace(facts, expires_at=facts.now)),
    "never due": (Cause.NOT_YET, lambda facts: replace(facts, dispatch_at=None)),
    "early": (Cause.NOT_YET, lambda facts: replace(facts, dispatch_at=facts.now + timedelta(microseconds=1))),
    "newer revision": (Cause.STALE, lambda facts: replace(facts, current=replace(facts.current, version=4))),
    "other digest": (Cause.STALE, lambda facts: replace(facts, current=replace(facts.current, digest="sha256:b"))),
    "other bytes": (Cause.INTEGRITY, lambda facts: replace(facts, recomputed_digest="sha256:c")),
    "moved": (Cause.TARGET_MOVED, lambda facts: replace(facts, current=replace(facts.current, target_version=6))),
    "config": (Cause.CONFIG_CHANGED, lambda facts: replace(facts, current=replace(facts.current, config_id=8))),
    "rendering": (
        Cause.RENDERING_CHANGED,
        lambda facts: replace(facts, current=replace(facts.current, rendering_digest="sha256:s")),
    ),
    "too few": (Cause.STANDING, lambda facts: replace(facts, tally=replace(facts.tally, approvals=frozenset({1})))),
    "no lawyer": (Cause.STANDING, lambda facts: replace(facts, tally=replace(facts.tally, groups={}))),
    "paused": (Cause.PAUSED, lambda facts: replace(facts, paused=("the room",))),
    "held": (Cause.HELD, lambda facts: replace(facts, held=True)),
    "retired": (Cause.RETIRED, lambda facts: replace(facts, retired=True)),
    "taken back": (Cause.CORRECTS, lambda facts: replace(facts, not_corrigible="RR-1 is retracted.")),
}
UNDOABLE = RetractFacts(can_retract=True, remote_id="issue42")
RETRACT_VIOLATIONS = {
    "cannot": (Cause.UNSUPPORTED, replace(UNDOABLE, can_retract=False)),
    "no id": (Cause.UNSUPPORTED, replace(UNDOABLE, remote_id="")),
    "corrected": (Cause.CORRECTED, replace(UNDOABLE, corrected_by="RR-2")),
    "overwritten": (Cause.NEWER_WRITE, replace(UNDOABLE, is_newest=False)),
    "paused": (Cause.PAUSED, replace(UNDOABLE, paused=("the room",))),
    "held": (Cause.HELD, replace(UNDOABLE, held=True)),
}

violations = st.sets(st.sampled_from(sorted(VIOLATIONS)))
moments = st.integers(-2, 2).map(lambda step: NOON + timedelta(microseconds=step))
grounds = st.builds(
    Ground, st.integers(1, 2), st.sampled_from("ab"), st.integers(1, 2), st.integers(1, 2), st.sampled_from("rs")
)
people = st.frozensets(st.integers(1, 4))
policies = st.builds(
    Policy, st.integers(1, 3), st.sampled_from([(), (Requirement("legal", 1),), (Requirement("press", 2),)])
)
any_facts = st.builds(
    SendFacts,
    now=moments,
    state_ok=st.booleans(),
    expires_at=moments,
    dispatch_at=st.none() | moments,
    approved=grounds,
    current=grounds,
    recomputed_digest=st.sampled_from("ab"),
    tally=st.builds(
        Tally, people, people, people, st.dictionaries(st.sampled_from(["legal", "press"]), st.integers(0, 3))
    ),
    policy=policies,
    paused=st.sampled_from([(), ("the room",), ("the room", "the channel")]),
    held=st.booleans(),
    retired=st.booleans(),
)
standings = st.dictionaries(
    st.integers(1, 5),
    st.tuples(st.booleans(), st.frozensets(st.sampled_from(["legal", "press"]))),
).map(lambda found: {person: Standing(person, good, groups) for person, (good, groups) in found.items()})
verdicts = st.dictionaries(st.integers(1, 5), st.sampled_from(Verdict))


def broken(names: set[str]) -> SendFacts:
    facts = GOOD
    for name in sorted(names):
        facts = VIOLATIONS[name][1](facts)
    return facts


def causes(facts, gate=may_send) -> set[Cause]:
    return {reason.cause for reason in gate(facts).reasons}


def holds(facts: SendFacts) -> bool:
    """Every condition again, in other words than the gate's."""
    missing = [item for item in facts.policy.requirements if facts.tally.groups.get(item.group, 0) < item.minimum]
    return all(
        (
            facts.state_ok,
            facts.expires_at > facts.now,
            facts.dispatch_at is not None and facts.dispatch_at <= facts.now,
            facts.approved == facts.current,
            facts.recomputed_digest == facts.current.digest,
            len(facts.tally.approvals) >= facts.policy.required_approvals and not missing,
            not (facts.paused or facts.held or facts.retired),
        )
    )


def test_the_good_facts_are_good():
    assert may_send(GOOD).ok
    assert holds(GOOD)


@pytest.mark.parametrize("cause", Cause)
def test_every_cause_can_be_brought_about(cause):
    known = {cause for cause, _ in VIOLATIONS.values()} | {cause for cause, _ in RETRACT_VIOLATIONS.values()}
    assert cause in known


def test_a_write_that_may_be_undone_gets_a_yes():
    assert may_retract(UNDOABLE).ok


@pytest.mark.parametrize("name", RETRACT_VIOLATIONS)
def test_one_violation_keeps_a_write_from_being_undone_for_that_reason_alone(name):
    cause, facts = RETRACT_VIOLATIONS[name]
    assert causes(facts, may_retract) == {cause}


@pytest.mark.parametrize("name", VIOLATIONS)
def test_one_violation_is_a_no_for_that_reason_alone(name):
    assert causes(broken({name})) == {VIOLATIONS[name][0]}


@given(violations)
def test_every_violation_is_reported_and_nothing_else(names):
    assert causes(broken(names)) == {VIOLATIONS[name][0] for name in names}


@given(violations, st.sampled_from(sorted(VIOLATIONS)))
def test_one_more_violation_adds_its_reason_and_takes_none_away(names, name):
    assert causes(broken(names | {name})) == causes(broken(names)) | {VIOLATIONS[name][0]}


@given(any_facts)
def test_the_gate_says_yes_exactly_where_every_condition_holds(facts):
    assert may_send(facts).ok is holds(facts)


@given(any_facts)
def test_the_gate_says_the_same_of_the_same_facts(facts):
    assert may_send(facts) == may_send(replace(facts))


@given(any_facts)
def test_every_reason_is_a_sentence(facts):
    assert all(reason.message[0].isupper() and reason.message.endswith(".") for reason in may_send(facts).reasons)


@given(verdicts, standings, policies)
def test_only_approvers_in_good_standing_count(newest, standing, policy):
    counted = count(newest, standing, policy)
    assert counted.approvals == {
        person
        for person, verdict in newest.items()
        if verdict == "approve" and person in standing and standing[person].in_good_standing
    }


@given(verdicts, standings, policies)
def test_nobody_counts_on_two_sides(newest, standing, policy):
    counted = count(newest, standing, policy)
    sides = (counted.approvals, counted.rejections, counted.change_requests)
    assert len(frozenset().union(*sides)) == sum(len(side) for side in sides)


@given(verdicts, standings, policies, st.integers(1, 5))
def test_losing_good_standing_never_helps(newest, standing, policy, person):
    lost = {**standing, person: Standing(person, in_good_standing=False)}
    assert count(newest, lost, policy).approvals == count(newest, standing, policy).approvals - {person}


@given(verdicts, standings, policies, st.integers(1, 5))
def test_taking_back_never_helps(newest, standing, policy, person):
    taken_back = count({**newest, person: Verdict.TAKEN_BACK}, standing, policy)
    if taken_back.meets(policy):
        assert count({**newest, person: Verdict.APPROVE}, standing, policy).meets(policy)
    assert person not in taken_back.approvals | taken_back.rejections | taken_back.change_requests
