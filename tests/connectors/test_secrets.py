"""Secrets: sent only to their hosts, and in no receipt."""

import base64
import html
import json
import re
from urllib.parse import quote, quote_plus

import pytest

from approvals.connectors import secrets
from approvals.connectors.base import Deadline
from approvals.connectors.outbound import Outbound
from approvals.connectors.secrets import Secret, SecretError, find, redact
from tests.connectors.conftest import SECRET, http_settings
from tests.connectors.remote import Remote, reply

MARKER = 'mar"ker/se+cret ü'


def known(hosts):
    return {"REVIEWROOM_TARGET_SECRET_HOOK": MARKER, "REVIEWROOM_TARGET_SECRET_HOOK_HOSTS": hosts}


@pytest.mark.parametrize(
    ("url", "hosts"),
    [
        ("https://api.example/x", "api.example"),
        ("https://api.example/x", "other.example, api.example:443"),
        ("https://API.example:443/x", "api.example"),
        ("http://api.example/x", "api.example:80"),
        ("http://127.0.0.1:8001/x", "127.0.0.1:8001"),
        ("http://[::1]:8001/x", "[::1]:8001"),
    ],
)
def test_a_secret_goes_to_its_hosts(url, hosts):
    assert find("HOOK", url, known(hosts)).value == MARKER


@pytest.mark.parametrize(
    ("url", "hosts"),
    [
        ("https://api.example/x", ""),
        ("https://api.example/x", "example"),
        ("https://api.example/x", "*.example"),
        ("https://api.example.evil.example/x", "api.example"),
        ("https://api.example:8443/x", "api.example"),
        ("http://api.example/x", "api.example:443"),
    ],
)
def test_a_secret_goes_nowhere_else(url, hosts):
    with pytest.raises(SecretError):
        find("HOOK", url, known(hosts))


@pytest.mark.parametrize("name", ["OTHER", "HOOK_HOSTS", "hook", "", "../HOOK"])
def test_a_name_without_a_secret_is_an_error(name):
    with pytest.raises(SecretError):
        find(name, "https://api.example/", known("api.example"))


def test_a_missing_secret_is_not_sent_and_pauses(job_for, http, remote, run, deadline):
    receipt = run(http.send(job_for(http_settings(remote.url, secret="OTHER")), deadline))
    assert (receipt.outcome, receipt.pause, remote.received) == ("not_sent", True, [])


def test_another_host_does_not_get_the_secret(job_for, http, run, deadline):
    with Remote(reply(201, '{"id": "1"}')) as stranger:
        receipt = run(http.send(job_for(http_settings(stranger.url)), deadline))
    assert (receipt.outcome, receipt.pause, stranger.received) == ("not_sent", True, [])


ENCODINGS = {
    "plain": MARKER,
    "percent": quote(MARKER, safe=""),
    "base64": base64.b64encode(MARKER.encode()).decode(),
    "base64 for URLs": base64.urlsafe_b64encode(MARKER.encode()).decode().rstrip("="),
    "JSON": json.dumps(MARKER)[1:-1],
    "JSON with slashes escaped": json.dumps(MARKER)[1:-1].replace("/", "\\/"),
    "HTML": html.escape(MARKER),
    "HTML by numbers": "".join(f"&#{ord(char)};" if char in '"/+ü ' else char for char in MARKER),
    "percent in small letters": re.sub("%..", lambda found: found[0].lower(), quote(MARKER, safe="")),
    "a form's": quote_plus(MARKER),
    "JSON in JSON": json.dumps(json.dumps(MARKER)[1:-1])[1:-1],
    "percent twice": quote(quote(MARKER, safe=""), safe=""),
}


@pytest.mark.parametrize("shown", ENCODINGS.values(), ids=ENCODINGS.keys())
def test_a_secret_is_redacted_in_every_encoding(shown):
    assert redact({"a": [f"token={shown};"]}, [Secret("HOOK", MARKER)]) == {"a": ["token=[redacted];"]}


@pytest.mark.parametrize("before", ["", "a", "ab", "abc"])
def test_a_secret_in_the_base64_of_a_longer_text_is_redacted(before):
    shown = base64.b64encode(f"{before}{MARKER} and more".encode()).decode()
    found = redact(shown, [Secret("HOOK", MARKER)])
    gone = len(shown) - len(found.replace("[redacted]", ""))
    assert gone >= len(MARKER.encode()) * 8 // 6 - 1  # all but what it shares a sign with


def test_the_password_alone_and_the_basic_header_are_redacted():
    secret = Secret("TRACKER", f"bot:{MARKER}")
    assert redact([MARKER, secret.basic], [secret]) == ["[redacted]", "Basic [redacted]"]


def test_a_secret_does_not_show_in_its_repr():
    assert MARKER not in repr(Secret("HOOK", MARKER))


def everything(receipt):
    return json.dumps([receipt.reason, receipt.evidence, receipt.remote_id], ensure_ascii=False) + repr(receipt)


@pytest.mark.parametrize("status", [200, 401, 422, 500])
def test_a_remote_that_echoes_the_secret_leaves_no_trace(http, job_for, remote, run, deadline, status):
    bare = SECRET.removeprefix("whsec_")
    remote.behaviours = [reply(status, f"you sent {SECRET}", {"Server": bare, "X-Request-Id": SECRET})]
    receipt = run(http.send(job_for(http_settings(remote.url)), deadline))
    assert "[redacted]" in everything(receipt)
    assert bare not in everything(receipt)


def test_a_secret_in_the_query_leaves_no_trace_when_the_send_fails(run):
    secret = Secret("HOOK", "marker-secret")
    outbound = Outbound(allow_private=True)
    url = "http://nowhere.invalid/?token=marker-secret"
    answer = run(outbound.call("GET", url, Deadline(2), secret=secret, sign=lambda _secret: []))
    assert "marker-secret" not in json.dumps(answer.evidence) + repr(answer)


def test_a_secret_cut_by_the_evidence_limit_leaves_no_part(http, job_for, remote, run, deadline):
    remote.behaviours = [reply(500, "x" * 2043 + SECRET)]
    receipt = run(http.send(job_for(http_settings(remote.url)), deadline))
    assert "whsec" not in receipt.evidence["body"]


def test_evidence_holds_nothing_a_database_refuses(http, job_for, remote, run, deadline):
    remote.behaviours = [reply(500, b"a\x00b\xff", {"Server": "\xff"})]
    receipt = run(http.send(job_for(http_settings(remote.url)), deadline))
    stored = json.dumps(receipt.evidence, ensure_ascii=False).encode()
    assert b"\\u0000" not in stored
    assert b"\x00" not in stored


def test_a_rendered_request_holds_no_secret(http, job_for, remote):
    assert SECRET not in repr(job_for(http_settings(remote.url)).request)


def test_a_key_behind_whsec_is_base64():
    assert Secret("HOOK", "whsec_a2V5").key == b"key"


def test_a_key_without_the_mark_is_taken_as_it_is():
    assert Secret("HOOK", "a2V5").key == b"a2V5"


def test_a_key_that_is_no_base64_is_an_error():
    with pytest.raises(SecretError):
        _ = Secret("HOOK", "whsec_*").key


def test_the_module_prefix_is_the_documented_one():
    assert secrets.PREFIX == "REVIEWROOM_TARGET_SECRET_"
