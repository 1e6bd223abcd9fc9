"""Bodies that are refused: by name, with their place, never with a 500, and leaving no row."""

import json

import pytest

from approvals.domain.errors import NotImplementedYet
from approvals.models import Draft, Revision, Target
from tests.api.conftest import TICKET

pytestmark = pytest.mark.django_db


def raw(value: str) -> bytes:
    """The ticket with `value`, as written, for the summary's neighbour."""
    head = json.dumps(TICKET | {"payload": {"summary": "x"}})
    return head.replace('{"summary": "x"}', f'{{"summary": "x", "v": {value}}}').encode("utf-8", "surrogatepass")


UNCARRIABLE = {
    "1e21": "1e21",
    "1e20": "1e20",
    "two to the 53rd": "9007199254740992",
    "five thousand digits": "9" * 5000,
    "NaN": "NaN",
    "Infinity": "-Infinity",
    "1e400": "1e400",
    "1e-400": "1e-400",
    "U+0000": '"\\u0000"',
    "lone surrogate": '"\\ud800"',
    "lone surrogate as key": '{"\\udc00": 1}',
    "duplicate key": '{"a": 1, "a": 1}',
    "duplicate key once unescaped": '{"a": 1, "\\u0061": 2}',
    "100,000 nested arrays": "[" * 100_000 + "]" * 100_000,
    "100,000 open arrays": "[" * 100_000,
    "65 nested objects": '{"a":' * 65 + "1" + "}" * 65,
}
UNREADABLE = {
    "empty": b"",
    "no JSON": b"summary=x",
    "cut off": b'{"room": "facilities"',
    "trailing comma": b'{"room": "facilities",}',
    "invalid UTF-8": b'{"room": "\xff"}',
    "UTF-16": '{"room": "facilities"}'.encode("utf-16"),
    "byte order mark": b"\xef\xbb\xbf{}",
    "raw control character": b'{"room": "a\x01b"}',
    "an array": b"[]",
    "a text": b'"room"',
    "null": b"null",
    "a number": b"1",
}
WRONG_FIELDS = {
    "/room": {"room": 7},
    "/payload": {"payload": [1]},
    "/submit": {"submit": "yes"},
    "/corrects": {"corrects": True},
    "/title": {"title": "x" * 201},
    "/note": {"note": "x" * 10_001},
    "/context/a": {"context": {"a": 2**60}},
    "/channel": {"channel": "letters"},
    "/operation": {"operation": "ticket.delete"},
    "/resource": {"resource": "another"},
    "/state": {"state": "approved"},
    "/a~1b~0c": {"a/b~c": 1},
}


def nothing_kept():
    return not (Draft.objects.exists() or Revision.objects.exists() or Target.objects.exists())


@pytest.mark.parametrize("name", UNCARRIABLE)
def test_a_payload_that_cannot_be_carried_unchanged_is_refused_at_its_place(api, name):
    answer = api.post("/v1/drafts", raw(UNCARRIABLE[name]))
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_payload")
    assert answer.json()["pointer"].startswith("/payload/v") or "line" in answer.json()
    assert nothing_kept()


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_body_that_is_no_object_is_refused(api, name):
    answer = api.post("/v1/drafts", UNREADABLE[name])
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_payload")
    assert nothing_kept()


def test_a_syntax_fault_is_told_by_line_and_column(api):
    problem = api.post("/v1/drafts", b'{\n"room": ]').json()
    assert (problem["line"], problem["column"]) == (2, 9)


@pytest.mark.parametrize("pointer", WRONG_FIELDS)
def test_a_wrong_or_unknown_field_is_named(api, pointer):
    answer = api.propose(**WRONG_FIELDS[pointer])
    assert (answer.status_code, answer.json()["pointer"]) == (422, pointer)
    assert nothing_kept()


@pytest.mark.parametrize("field", ["room", "channel", "operation", "payload"])
def test_a_missing_field_is_named(api, field):
    answer = api.post("/v1/drafts", {name: value for name, value in TICKET.items() if name != field})
    assert (answer.status_code, answer.json()["pointer"]) == (422, f"/{field}")


def test_all_faults_of_a_body_are_told_at_once(api):
    problem = api.propose(room=7, submit="yes").json()
    assert {fault["pointer"] for fault in problem["errors"]} == {"/room", "/submit"}


def test_a_canonical_form_over_the_limit_is_too_large(api):
    answer = api.propose(payload={"summary": "x" * 270_000})
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
    assert nothing_kept()


def test_a_body_over_a_mebibyte_is_too_large_before_it_is_read(api):
    answer = api.post("/v1/drafts", b" " * (1024 * 1024 + 1))
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


def test_a_body_in_chunks_is_not_taken_for_an_empty_one(api):
    answer = api.call("POST", "/v1/drafts", b"", Transfer_Encoding="chunked")
    assert (answer.status_code, answer.json()["code"]) == (411, "length_required")


def test_a_payload_of_200_kilobytes_is_accepted(api):
    assert api.propose(payload={"summary": "x" * 200_000}).status_code == 201


@pytest.mark.parametrize(
    ("one", "other"), [("1.0", "1"), ("-0.0", "0"), ("1E-7", "1e-7"), ("0.00001", "1e-5"), ("100e-2", "1")]
)
def test_two_spellings_of_a_number_have_one_digest(api, one, other):
    assert api.post("/v1/drafts", raw(one)).json()["digest"] == api.post("/v1/drafts", raw(other)).json()["digest"]


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("1.0", b'"v":1'),
        ("-0.0", b'"v":0'),
        ("1e-7", b'"v":1e-7'),
        ("0.00001", b'"v":0.00001'),
        ('{"\\ufb33": 1, "\\ud83d\\ude00": 2}', '"v":{"\U0001f600":2,"\ufb33":1}'.encode()),
    ],
)
def test_the_canonical_form_is_that_of_rfc_8785(api, written, canonical):
    draft = api.post("/v1/drafts", raw(written)).json()
    assert canonical in api.get(draft["links"]["canonical"]).content


def test_composed_and_decomposed_letters_stay_two_texts(api):
    composed, decomposed = (api.propose(payload={"summary": text}).json() for text in ("caf\u00e9", "cafe\u0301"))
    assert composed["digest"] != decomposed["digest"]
    assert decomposed["payload"]["summary"] == "cafe\u0301"


@pytest.mark.parametrize(
    "path", ["/v1/drafts/{id}/withdraw", "/v1/approvals/{approval}/revoke", "/v1/approvals/{approval}/decisions"]
)
@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"reason": 1}', b'{"reason": "x", "force": true}'])
def test_other_calls_read_their_bodies_as_strictly(api, path, body):
    draft = api.propose().json()
    answer = api.post(path.format(id=draft["id"], approval=draft["approval"]["id"]), body, by="ben")
    assert answer.status_code == 422
    assert api.get(draft["links"]["self"]).json()["state"] == "in_review"


@pytest.mark.parametrize("reason", ["", "   ", "x" * 1001])
def test_a_reason_is_given_and_short(api, reason):
    draft = api.propose().json()
    answer = api.post(f"/v1/drafts/{draft['id']}/withdraw", {"reason": reason})
    assert (answer.status_code, answer.json()["pointer"]) == (422, "/reason")


def test_what_is_not_there_yet_has_a_message():
    assert "not available" in str(NotImplementedYet())
