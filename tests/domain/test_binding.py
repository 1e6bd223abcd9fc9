"""The binding: which bytes an approval covers, and which actions are refused a binding."""

import hashlib
import json

import pytest

from approvals.domain.binding import (
    MAX_CANONICAL_BYTES,
    Binding,
    Corrects,
    TargetRef,
    bind,
    check_operation,
    check_resource,
    digest_of,
    load,
    parse_json,
    short,
)
from approvals.domain.errors import InvalidPayload, TooLarge

TRACKER = TargetRef("roundup", "facilities", "issue")


def bound(payload: dict, **changed) -> Binding:
    return bind(**{"operation": "ticket.create", "target": TRACKER, "payload": payload} | changed)


def refusal_of(payload, **changed) -> InvalidPayload:
    with pytest.raises(InvalidPayload) as caught:
        bound(payload, **changed)
    return caught.value


def test_the_canonical_bytes_are_the_sorted_document():
    assert bound({"summary": "Lamp"}).canonical == (
        b'{"operation":"ticket.create","payload":{"summary":"Lamp"},"schema":"reviewroom.binding.v1",'
        b'"target":{"account":"facilities","connector":"roundup","resource":"issue"}}'
    )


def test_a_correction_names_what_it_replaces_and_others_do_not():
    correction = bound({}, corrects=Corrects("d-1", "17"))
    assert json.loads(correction.canonical)["corrects"] == {"delivery_id": "d-1", "remote_id": "17"}
    assert b"corrects" not in bound({}).canonical
    assert load(correction.canonical) == correction


@pytest.mark.parametrize(
    ("raw", "canonical"),
    [
        ('{"v":1.0}', '{"v":1}'),
        ('{"v":1}', '{"v":1}'),
        ('{"v":-0.0}', '{"v":0}'),
        ('{"v":-0}', '{"v":0}'),
        ('{"v":1e-7}', '{"v":1e-7}'),
        ('{"v":0.00001}', '{"v":0.00001}'),
        ('{"v":1E1}', '{"v":10}'),
        ('{"\ufb33":1,"\U0001f600":2}', '{"\U0001f600":2,"\ufb33":1}'),
        ('{"v":"\\u00e9\\/\\n"}', '{"v":"\u00e9/\\n"}'),
    ],
)
def test_canonical_form_vectors(raw, canonical):
    assert bound(parse_json(raw)).payload_bytes == canonical.encode()


@pytest.mark.parametrize(("one", "other"), [("1.0", "1"), ("-0.0", "0"), ("1e-7", "0.0000001"), ('"\\u0061"', '"a"')])
def test_two_ways_to_write_one_value_have_one_digest(one, other):
    assert bound(parse_json(f'{{"v":{one}}}')).digest == bound(parse_json(f'{{"v":{other}}}')).digest


def test_a_digest_is_the_same_in_every_process():
    assert bound({"v": 1.0, "w": [1e-7]}).digest == (
        "sha256:" + hashlib.sha256(bound({"w": [1e-7], "v": 1}).canonical).hexdigest()
    )
    assert bound({"v": 1}).digest == "sha256:8df81a8479ab97d7fa3f262d3d5b147a4503039927e5db37684b4a9cfd46ab26"


def test_composed_and_decomposed_letters_stay_what_they_are():
    composed, decomposed = bound({"name": "\u00e9"}), bound({"name": "e\u0301"})
    assert composed.digest != decomposed.digest
    assert decomposed.payload_bytes == '{"name":"e\u0301"}'.encode()


@pytest.mark.parametrize("more", [" ", "\t", "\n", "\r\n", "\u200b", "\ufeff"])
def test_a_blank_at_the_end_is_another_text(more):
    assert bound({"body": "Hello"}).digest != bound({"body": "Hello" + more}).digest


@pytest.mark.parametrize("payload", [[], "text", 1, None, True])
def test_a_payload_that_is_no_object_is_refused(payload):
    refusal = refusal_of(payload)
    assert refusal.pointer == "/payload"
    assert "object" in str(refusal)


def test_a_fault_inside_the_payload_is_refused_where_it_stands():
    assert refusal_of({"lines": ["ok", "\ud800"]}).pointer == "/payload/lines/1"


@pytest.mark.parametrize("name", ["", "\ud800", "a\x00b", None, 7])
def test_names_must_be_text(name):
    assert refusal_of({}, operation=name).pointer == "/operation"
    assert refusal_of({}, target=TargetRef("roundup", "facilities", name)).pointer == "/resource"
    assert refusal_of({}, target=TargetRef("roundup", name, "issue")).pointer == "/channel"
    assert refusal_of({}, target=TargetRef(name, "facilities", "issue")).pointer == "/channel"
    assert refusal_of({}, corrects=Corrects("d-1", name)).pointer == "/corrects"


def test_the_canonical_form_may_fill_its_limit_and_no_byte_more():
    room = MAX_CANONICAL_BYTES - len(bound({"body": ""}).canonical)
    assert len(bound({"body": "x" * room}).canonical) == MAX_CANONICAL_BYTES
    with pytest.raises(TooLarge, match="Shorten the payload") as caught:
        bound({"body": "x" * (room + 1)})
    assert caught.value.pointer == "/payload"


def test_the_size_is_counted_in_bytes_of_the_canonical_form():
    with pytest.raises(TooLarge):
        bound({"body": "\u00e9" * (MAX_CANONICAL_BYTES // 2)})


def test_a_binding_keeps_nothing_of_the_callers_payload():
    payload = {"tags": ["a"]}
    binding = bound(payload)
    payload["tags"].append("b")
    assert binding.payload == {"tags": ["a"]}


def test_stored_bytes_are_kept_and_never_made_again():
    stored = bound({"v": 1}).canonical.replace(b'"v":1', b'"v":1.0')
    assert load(stored).canonical == stored
    assert load(stored).digest == digest_of(stored) != bound({"v": 1}).digest


@pytest.mark.parametrize(
    "stored",
    [
        b"",
        b"[]",
        b"null",
        b"{}",
        b'{"schema":"reviewroom.binding.v1"}',
        bound({}).canonical.replace(b".v1", b".v2"),
        bound({}).canonical.replace(b'"payload":{}', b'"payload":[]'),
        bound({}).canonical.replace(b'"account"', b'"compte"'),
        bound({}).canonical.replace(b'{"operation"', b'{"more":1,"operation"'),
        bound({}).canonical.replace(b'"payload":{}', b'"payload":{"a":1,"a":2}'),
    ],
)
def test_stored_bytes_that_are_no_binding_are_refused(stored):
    with pytest.raises(InvalidPayload):
        load(stored)


def test_the_payload_bytes_are_not_misled_by_look_alikes():
    payload = {"payload": {"schema": ',"schema":"x"'}, "schema": 1, "zz": ',"payload":{}', "a": [{"schema": {}}]}
    binding = bound(payload, operation=',"payload":{}', target=TargetRef("c", ',"schema":"', ',"payload":'))
    assert json.loads(binding.payload_bytes) == payload
    assert binding.payload_bytes in binding.canonical


def test_a_short_digest_is_the_first_four_and_last_two_digits():
    assert short("sha256:9f2cb5b11a30795360548b45886a451e1a905c9b3b8b2d1b4e21205f05d5a341") == "9f2c…41"


def test_an_operation_must_be_declared():
    check_operation("ticket.create", {"ticket.create", "ticket.close"})
    with pytest.raises(InvalidPayload, match=r"ticket\.close, ticket\.create") as caught:
        check_operation("ticket.delete", {"ticket.create", "ticket.close"})
    assert caught.value.pointer == "/operation"


@pytest.mark.parametrize(
    ("resource", "pattern"), [("issue", "issue"), ("locations/7/reviews/x-1", "locations/*/reviews/*"), ("...", "*")]
)
def test_a_resource_that_fits_is_taken(resource, pattern):
    check_resource(resource, pattern)


@pytest.mark.parametrize(
    "resource",
    [
        "", "7", "locations/7/reviews", "locations//reviews/1", "locations/./reviews/1", "locations/../reviews/1",
        "locations/7/reviews/1/2", "/locations/7/reviews/1", "locations/7/reviews/1/", "LOCATIONS/7/reviews/1",
        "locations/7/reviews/a\nb", "locations/7/reviews/" + "x" * 500, "locations/7/reviews/\ud800",
    ],
)  # fmt: skip
def test_a_resource_outside_its_pattern_is_refused(resource):
    with pytest.raises(InvalidPayload) as caught:
        check_resource(resource, "locations/*/reviews/*")
    assert caught.value.pointer == "/resource"
