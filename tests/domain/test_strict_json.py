"""What may not enter: each rule by itself, and that the fault is named where it stands."""

import time

import pytest

from approvals.domain.errors import InvalidPayload, Refusal, TooLarge
from approvals.domain.strict_json import MAX_DEPTH, MAX_NUMBER, MAX_RAW_BYTES, check_value, parse_json


def refusal_of(raw: bytes | str, pointer: str = "") -> Refusal:
    with pytest.raises(Refusal) as caught:
        parse_json(raw, pointer)
    return caught.value


@pytest.mark.parametrize("literal", ["1e20", "1e21", "-1e20", "9007199254740992", "9007199254740992.0", "9" * 5000])
def test_a_number_beyond_the_exact_integers_is_refused_where_it_stands(literal):
    refusal = refusal_of(f'{{"payload": {{"rooms": [1, {literal}]}}}}')
    assert isinstance(refusal, InvalidPayload)
    assert refusal.pointer == "/payload/rooms/1"
    assert "as a string" in str(refusal)


@pytest.mark.parametrize("literal", ["NaN", "Infinity", "-Infinity", "1e400", "-1e400", "1e-400", "0.0001e-99999"])
def test_a_number_that_no_double_holds_is_refused(literal):
    assert refusal_of(f'{{"payload": {{"v": {literal}}}}}').pointer == "/payload/v"


@pytest.mark.parametrize("literal", [str(MAX_NUMBER), str(-MAX_NUMBER), "0e5", "-0.0", "0.000e-400", "5e-324"])
def test_a_number_at_the_edge_is_taken(literal):
    assert parse_json(f"[{literal}]") == [float(literal)]


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        ('{"payload": {"a": 1, "a": 1}}', "/payload/a"),
        ('{"payload": {"a": 1, "\\u0061": 2}}', "/payload/a"),
        ('{"payload": [{"b/c~": 1, "x": 2, "b/c~": 3}]}', "/payload/0/b~1c~0"),
        ('{"payload": 1, "payload": 2}', "/payload"),
        ('{"payload": {"": 1, "": 2}}', "/payload/"),
    ],
)
def test_a_key_that_stands_twice_is_refused(document, pointer):
    assert refusal_of(document).pointer == pointer


def test_keys_that_only_look_alike_are_two_keys():
    assert len(parse_json('{"\u00e9": 1, "e\u0301": 2}')) == 2


@pytest.mark.parametrize("text", [r"\ud800", r"\udc00", r"\udc00\ud800", r"ok\ud83d", r"\u0000", r"a\u0000b"])
def test_text_that_cannot_be_stored_is_refused_as_value_and_as_key(text):
    assert refusal_of(f'{{"payload": {{"v": "{text}"}}}}').pointer == "/payload/v"
    assert refusal_of(f'{{"payload": {{"v": {{"{text}": 1}}}}}}').pointer == "/payload/v"


def test_a_whole_surrogate_pair_is_one_character():
    assert parse_json(r'"\ud83d\ude00"') == "\U0001f600"


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_a_payload_may_nest_as_deep_as_the_limit_and_no_deeper(opening):
    closing = "]" if opening == "[" else "}"
    deepest = opening * (MAX_DEPTH - 1) + "[]" + closing * (MAX_DEPTH - 1)
    parse_json(deepest, "/payload")
    parse_json(f'{{"payload": {deepest}}}')
    assert "levels" in str(refusal_of(f"[{deepest}]", "/payload"))
    assert "levels" in str(refusal_of(f'{{"payload": [{deepest}]}}'))


@pytest.mark.parametrize(
    "document", ["[" * 100_000 + "]" * 100_000, "[" * 100_000, '{"a":' * 100_000, '{"a":[' * 50_000 + "}" * 10]
)
def test_a_hundred_thousand_levels_are_refused_at_once(document):
    began = time.process_time()
    refusal = refusal_of(document)
    assert time.process_time() - began < 2
    assert refusal.pointer.count("/") == MAX_DEPTH + 1
    assert "flatter" in str(refusal)


def test_the_depth_is_named_where_it_is_exceeded():
    document = '{"payload": {"a": 1, "b": [0, ' + "[" * 70 + "]" * 70 + "]}}"
    assert refusal_of(document).pointer == "/payload/b/1" + "/0" * 62


def test_what_stands_side_by_side_does_not_nest():
    assert parse_json("[" + '{"a": [1]}, ' * 500 + "[]]")[-1] == []


def test_brackets_inside_strings_do_not_nest():
    assert parse_json('{"payload": "%s\\"[["}' % ("[" * 1000))["payload"].endswith('"[[')


@pytest.mark.parametrize("raw", ["[" * 70 + '"', '"' + '\\"' * 400_000, "[1 " + "[" * 200, "[" + "{}," * 300_000])
def test_broken_text_is_refused_in_linear_time(raw):
    began = time.process_time()
    refusal_of(raw)
    assert time.process_time() - began < 5


@pytest.mark.parametrize("raw", [b'{"a": "\xff"}', b'"\xed\xa0\x80"', b"\xfe\xff\x00{", b'"\xc0\x80"'])
def test_bytes_that_are_not_utf8_are_refused(raw):
    refusal = refusal_of(raw)
    assert isinstance(refusal, InvalidPayload)
    assert "UTF-8" in str(refusal)


@pytest.mark.parametrize("raw", [b"\xef\xbb\xbf{}", "\ufeff{}"])
def test_a_byte_order_mark_is_refused(raw):
    assert "byte order mark" in str(refusal_of(raw))


@pytest.mark.parametrize(
    ("raw", "line", "column"),
    [
        ("", 1, 1),
        ('{"a": 1,\n "b" 2}', 2, 6),
        ("[1,]", 1, 4),
        ('{"a": 1} x', 1, 10),
        ("{'a': 1}", 1, 2),
        ("[01]", 1, 3),
    ],
)
def test_a_syntax_error_names_line_and_column(raw, line, column):
    refusal = refusal_of(raw, "/payload")
    assert (refusal.pointer, refusal.line, refusal.column) == ("/payload", line, column)
    assert f"Line {line}, column {column}" in str(refusal)


@pytest.mark.parametrize("raw", [b'"' + b"x" * MAX_RAW_BYTES + b'"', '"' + "\u00e9" * (MAX_RAW_BYTES // 2) + '"'])
def test_more_than_a_mebibyte_is_refused_unread(raw):
    assert isinstance(refusal_of(raw), TooLarge)


def test_the_first_kib_over_the_limit_and_the_last_under_it_differ():
    assert len(parse_json(b'"' + b"x" * (MAX_RAW_BYTES - 2) + b'"')) == MAX_RAW_BYTES - 2


@pytest.mark.parametrize(
    ("value", "pointer"),
    [
        ({"a": (1, 2)}, "/payload/a"),
        ({"a": b"x"}, "/payload/a"),
        ({"a": {1: 2}}, "/payload/a"),
        ({"a": [float("nan")]}, "/payload/a/0"),
        ({"a": 2**53}, "/payload/a"),
    ],
)
def test_a_python_value_that_json_lacks_is_refused(value, pointer):
    with pytest.raises(InvalidPayload) as caught:
        check_value(value)
    assert caught.value.pointer == pointer


def test_a_value_that_contains_itself_is_refused():
    value: list = []
    value.append(value)
    with pytest.raises(InvalidPayload, match="levels"):
        check_value(value)


@pytest.mark.parametrize(
    "raw", ["{", "[NaN]", '{"a":1,"a":1}', '"\\ud800"', "[" * 99, b"\xff", "\ufeff1", b" " * 2**21]
)
def test_every_refusal_is_sentences_that_say_what_to_do(raw):
    message = str(refusal_of(raw))
    assert message.endswith(".")
    assert any(verb in message for verb in ("Send", "Correct", "Keep", "Remove", "Make", "Shorten"))
    assert message.isprintable()
