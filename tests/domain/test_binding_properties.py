"""Laws of the binding that hold for any payload, and of the reader for any bytes at all."""

import json
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from approvals.domain import pointer as pointers
from approvals.domain.binding import Binding, TargetRef, bind, digest_of, load, parse_json
from approvals.domain.errors import Refusal
from approvals.domain.strict_json import MAX_NUMBER

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=12)
marks = st.sampled_from(["payload", "schema", ',"payload":', ',"schema":"', '\\",', "\u0061\u0301", "\u2028"])
strings = texts | marks
leaves = (
    st.none()
    | st.booleans()
    | st.integers(-MAX_NUMBER, MAX_NUMBER)
    | st.floats(-MAX_NUMBER, MAX_NUMBER, allow_nan=False)
    | strings
)
values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(strings, inner, max_size=4), max_leaves=20
)
payloads = st.dictionaries(strings, values, max_size=5)
targets = st.builds(TargetRef, *[strings.filter(bool)] * 3)


def bound(payload: dict[str, Any]) -> Binding:
    return bind(operation="ticket.create", target=TargetRef("roundup", "facilities", "issue"), payload=payload)


def shuffled(value: Any, random) -> Any:
    """Gives the same value with the keys of every object in another order."""
    if isinstance(value, list):
        return [shuffled(item, random) for item in value]
    if isinstance(value, dict):
        keys = sorted(value)
        random.shuffle(keys)
        return {key: shuffled(value[key], random) for key in keys}
    return value


def leaf_paths(value: Any, path: tuple = ()) -> list[tuple]:
    if isinstance(value, dict | list) and value:
        steps = value.items() if isinstance(value, dict) else enumerate(value)
        return [found for step, child in steps for found in leaf_paths(child, (*path, step))]
    return [path]


def with_leaf(value: Any, path: tuple, leaf: Any) -> Any:
    if not path:
        return leaf
    changed = value.copy()
    changed[path[0]] = with_leaf(value[path[0]], path[1:], leaf)
    return changed


@given(payloads, st.randoms(use_true_random=False))
def test_the_order_of_keys_never_matters(payload, random):
    assert bound(shuffled(payload, random)).canonical == bound(payload).canonical


@given(payloads, leaves, st.data())
def test_any_other_leaf_is_another_digest(payload, leaf, data):
    path = data.draw(st.sampled_from(leaf_paths(payload)))
    assume(path)
    before = pointers.resolve(payload, pointers.build(path))
    # True == 1 in Python but not in JSON, and 1 == 1.0 in both.
    assume(before != leaf or isinstance(before, bool) != isinstance(leaf, bool))
    assert bound(with_leaf(payload, path, leaf)).digest != bound(payload).digest


@given(strings.filter(bool), targets, payloads)
def test_what_is_bound_can_be_loaded_again(operation, target, payload):
    binding = bind(operation=operation, target=target, payload=payload)
    assert load(binding.canonical) == binding
    assert (binding.operation, binding.target, binding.payload) == (operation, target, payload)
    assert binding.digest == digest_of(binding.canonical)


@given(payloads)
def test_binding_what_was_loaded_gives_the_same_bytes(payload):
    first = bound(payload)
    assert bound(load(first.canonical).payload).canonical == first.canonical


@given(strings.filter(bool), targets, payloads)
def test_the_payload_bytes_are_a_slice_that_reads_as_the_payload(operation, target, payload):
    binding = bind(operation=operation, target=target, payload=payload)
    assert json.loads(binding.payload_bytes) == payload
    assert b'"payload":' + binding.payload_bytes + b',"schema":' in binding.canonical


@given(payloads)
def test_reading_ordinary_json_changes_nothing(payload):
    assert parse_json(json.dumps(payload)) == payload
    assert parse_json(json.dumps(payload, ensure_ascii=False).encode()) == payload


fragments = st.sampled_from(
    [
        '{"a":',
        "[",
        "]",
        "}",
        ",",
        ":",
        '"',
        "\\",
        "\\ud800",
        "\\u0000",
        "NaN",
        "1e999",
        "-",
        "9" * 30,
        "null",
        " ",
        "\ufeff",
    ]
)


def refusal_of(raw: bytes | str, pointer: str) -> Refusal | None:
    try:
        parse_json(raw, pointer)
    except Refusal as refusal:
        return refusal
    return None


@pytest.mark.parametrize("pointer", ["", "/payload"])
@given(raw=st.binary(max_size=200) | st.text(max_size=200) | st.lists(fragments, max_size=90).map("".join))
def test_reading_anything_gives_a_value_or_a_refusal_that_can_be_stored(pointer, raw):
    refusal = refusal_of(raw, pointer)
    if refusal is not None:
        assert refusal.pointer.startswith(pointer)
        assert "\x00" not in refusal.pointer + str(refusal)
        assert (refusal.pointer + str(refusal)).encode()


@given(st.lists(st.text(max_size=8), max_size=6))
def test_a_pointer_reads_back_as_its_path(path):
    assert pointers.parse(pointers.build(path)) == path
