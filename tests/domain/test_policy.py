"""Policy: what a configuration may say, what a snapshot keeps, and when rules became stricter."""

import json
from dataclasses import fields, replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from approvals.domain.errors import InvalidPayload
from approvals.domain.policy import Policy, Requirement, parse_duration

LEGAL, PRESS = Requirement("legal", 1), Requirement("press", 1)
BASE = Policy(required_approvals=2, requirements=(LEGAL,), reject_threshold=2)
WRONG = [
    ("nonsense", 1, "/policy/nonsense"),
    ("a/b~c", 1, "/policy/a~1b~0c"),
    ("required_approvals", 0, "/policy/required_approvals"),
    ("required_approvals", -1, "/policy/required_approvals"),
    ("required_approvals", 101, "/policy/required_approvals"),
    ("required_approvals", True, "/policy/required_approvals"),
    ("required_approvals", 1.0, "/policy/required_approvals"),
    ("required_approvals", "2", "/policy/required_approvals"),
    ("required_approvals", None, "/policy/required_approvals"),
    ("reject_threshold", 0, "/policy/reject_threshold"),
    ("review_ttl", "0s", "/policy/review_ttl"),
    ("review_ttl", 3600, "/policy/review_ttl"),
    ("review_ttl", "1 h", "/policy/review_ttl"),
    ("approval_ttl", "0d", "/policy/approval_ttl"),
    ("approval_ttl", "-1h", "/policy/approval_ttl"),
    ("dispatch_delay", "soon", "/policy/dispatch_delay"),
    ("dispatch_delay", "10", "/policy/dispatch_delay"),
    ("dispatch", "sometimes", "/policy/dispatch"),
    ("dispatch", None, "/policy/dispatch"),
    ("one_open_draft", 1, "/policy/one_open_draft"),
    ("one_open_draft", "true", "/policy/one_open_draft"),
    ("duplicates", "allow", "/policy/duplicates"),
    ("duplicates", True, "/policy/duplicates"),
    ("requirements", "legal", "/policy/requirements"),
    ("requirements", {"group": "legal", "minimum": 1}, "/policy/requirements"),
    ("requirements", ["legal"], "/policy/requirements/0"),
    ("requirements", [{"group": "legal"}], "/policy/requirements/0"),
    ("requirements", [{"group": "legal", "minimum": 1, "extra": 1}], "/policy/requirements/0"),
    ("requirements", [{"group": "", "minimum": 1}], "/policy/requirements/0/group"),
    ("requirements", [{"group": 5, "minimum": 1}], "/policy/requirements/0/group"),
    ("requirements", [{"group": "legal", "minimum": 0}], "/policy/requirements/0/minimum"),
    (
        "requirements",
        [{"group": "a", "minimum": 1}, {"group": "b", "minimum": "1"}],
        "/policy/requirements/1/minimum",
    ),
    ("requirements", [{"group": "a", "minimum": 1}, {"group": "a", "minimum": 2}], "/policy/requirements"),
]
RIGHT = [
    ("required_approvals", 1, 1),
    ("required_approvals", 100, 100),
    ("reject_threshold", 3, 3),
    ("requirements", [], ()),
    ("requirements", [{"group": "legal", "minimum": 1}], (LEGAL,)),
    ("review_ttl", "90s", timedelta(seconds=90)),
    ("approval_ttl", "24h", timedelta(hours=24)),
    ("dispatch_delay", "0s", timedelta(0)),
    ("dispatch", "manual", "manual"),
    ("one_open_draft", True, True),
    ("duplicates", "refuse", "refuse"),
]
STRICTER = [
    {"required_approvals": 3},
    {"requirements": (LEGAL, PRESS)},
    {"requirements": (PRESS,)},
    {"requirements": (Requirement("legal", 2),)},
    {"reject_threshold": 1},
    {"review_ttl": timedelta(days=6)},
    {"approval_ttl": timedelta(hours=23)},
    {"dispatch": "manual"},
    {"required_approvals": 1, "reject_threshold": 1},
]
NOT_STRICTER = [
    {},
    {"required_approvals": 1},
    {"requirements": ()},
    {"reject_threshold": 3},
    {"review_ttl": timedelta(days=8)},
    {"approval_ttl": timedelta(hours=25)},
    {"dispatch_delay": timedelta(hours=1)},
    {"one_open_draft": True},
    {"duplicates": "refuse"},
]

policies = st.builds(
    Policy,
    required_approvals=st.integers(1, 100),
    requirements=st.lists(
        st.builds(Requirement, st.sampled_from(["legal", "press", "Ä/~"]), st.integers(1, 5)),
        unique_by=lambda item: item.group,
    ).map(tuple),
    reject_threshold=st.integers(1, 100),
    review_ttl=st.integers(1, 10**8).map(lambda seconds: timedelta(seconds=seconds)),
    approval_ttl=st.integers(1, 10**8).map(lambda seconds: timedelta(seconds=seconds)),
    dispatch=st.sampled_from(["automatic", "manual"]),
    dispatch_delay=st.integers(0, 10**6).map(lambda seconds: timedelta(seconds=seconds)),
    one_open_draft=st.booleans(),
    duplicates=st.sampled_from(["warn", "refuse"]),
)


@pytest.mark.parametrize(("key", "value", "pointer"), WRONG)
def test_a_wrong_rule_is_refused_where_it_stands(key, value, pointer):
    with pytest.raises(InvalidPayload) as caught:
        Policy().overridden({key: value})
    assert caught.value.pointer == pointer


@pytest.mark.parametrize(("key", "value", "pointer"), WRONG)
def test_a_refusal_points_into_the_callers_document(key, value, pointer):
    with pytest.raises(InvalidPayload) as caught:
        Policy().overridden({key: value}, pointer="/rooms/2/policy")
    assert caught.value.pointer == f"/rooms/2{pointer}"


def test_an_unknown_rule_is_answered_with_the_known_ones():
    with pytest.raises(InvalidPayload, match=r"required_approvals, requirements, .* duplicates"):
        Policy().overridden({"nonsense": 1})


@pytest.mark.parametrize(("key", "value", "read"), RIGHT)
def test_a_right_rule_is_read(key, value, read):
    assert Policy().overridden({key: value}) == replace(Policy(), **{key: read})


def test_a_channels_rules_stand_on_top_of_its_rooms_key_by_key():
    room = Policy().overridden({"required_approvals": 2, "dispatch": "manual"})
    assert room.overridden({"required_approvals": 3}) == Policy(required_approvals=3, dispatch="manual")


def test_no_rule_means_one_approval_and_a_short_undo_window():
    assert (Policy().required_approvals, Policy().dispatch_delay) == (1, timedelta(seconds=10))


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("0s", 0), ("1s", 1), ("15m", 900), ("24h", 86_400), ("7d", 604_800), ("999999d", 86_399_913_600)],
)
def test_a_duration_is_a_whole_number_and_a_unit(text, seconds):
    assert parse_duration(text, pointer="/x") == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    "text",
    ["", "s", "10", "10 s", " 10s", "10s\n", "1.5h", "+1h", "1H", "1w", "1000000s", "١s", "1h30m", None, 10, True, []],
)
def test_anything_else_is_no_duration(text):
    with pytest.raises(InvalidPayload) as caught:
        parse_duration(text, pointer="/policy/review_ttl")
    assert caught.value.pointer == "/policy/review_ttl"


@given(policies)
def test_a_snapshot_reads_back_the_same(policy):
    assert Policy.from_snapshot(policy.snapshot()) == policy


def test_a_snapshot_is_json_and_names_every_rule():
    snapshot = BASE.snapshot()
    assert json.loads(json.dumps(snapshot)) == snapshot
    assert set(snapshot) == {field.name for field in fields(Policy)}


@pytest.mark.parametrize("changes", STRICTER, ids=str)
def test_a_policy_is_stricter_where_a_yes_could_become_a_no(changes):
    assert replace(BASE, **changes).is_stricter_than(BASE)


@pytest.mark.parametrize("changes", NOT_STRICTER, ids=str)
def test_a_policy_is_not_stricter_where_every_yes_stays_one(changes):
    assert not replace(BASE, **changes).is_stricter_than(BASE)


@given(policies)
def test_no_policy_is_stricter_than_itself(policy):
    assert not policy.is_stricter_than(policy)
