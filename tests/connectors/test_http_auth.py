"""How `http` shows whose a request is: by a signature, or by the secret in a header of the channel's choice."""

import base64
import json
from dataclasses import replace

import pytest

from approvals.connectors.base import ConfigError, Outcome
from approvals.connectors.http import HttpConnector
from approvals.connectors.outbound import Outbound
from tests.connectors.conftest import http_settings
from tests.connectors.remote import reply

TOKEN = "marker-token"
BEARER = {"header": "Authorization", "prefix": "Bearer "}
BASIC = {"header": "Authorization", "prefix": "Basic ", "base64": True}


def settings_with(url, auth, **parts):
    return replace(http_settings(url, **parts), config={"auth": auth})


def connector_with(remote, token):
    known = {"REVIEWROOM_TARGET_SECRET_HOOK": token, "REVIEWROOM_TARGET_SECRET_HOOK_HOSTS": remote.host}
    return HttpConnector(Outbound(allow_private=True, environ=known))


@pytest.fixture
def send(remote, job_for, run, deadline):
    def once(auth, token=TOKEN):
        return run(connector_with(remote, token).send(job_for(settings_with(remote.url, auth)), deadline))

    return once


def test_a_bearer_token_is_sent_and_nothing_is_signed(send, remote):
    send(BEARER)
    sent = remote.received[0].headers
    assert sent["authorization"] == f"Bearer {TOKEN}"
    assert "webhook-signature" not in sent
    assert sent["webhook-id"] == sent["idempotency-key"]


def test_a_header_of_another_name_needs_no_prefix(send, remote):
    send({"header": "X-Api-Key"})
    assert remote.received[0].headers["x-api-key"] == TOKEN


def test_a_password_can_be_sent_as_basic(send, remote):
    send(BASIC, "bot:pass:word")
    assert remote.received[0].headers["authorization"] == "Basic " + base64.b64encode(b"bot:pass:word").decode()


@pytest.mark.parametrize("verb", ["lookup", "verify", "read", "retract"])
def test_every_call_carries_the_token(remote, job_for, run, deadline, verb):
    connector = connector_with(remote, TOKEN)
    run(getattr(connector, verb)(job_for(settings_with(remote.url, BEARER)), deadline))
    assert remote.received[0].headers["authorization"] == f"Bearer {TOKEN}"


@pytest.mark.parametrize("token", ["a\r\nX-Evil: 1", "tôken", "a\x00b"])
def test_a_token_that_is_no_header_is_not_sent_and_pauses(send, remote, token):
    receipt = send(BEARER, token)
    assert (receipt.outcome, receipt.pause, remote.received) == (Outcome.NOT_SENT, True, [])
    assert token not in json.dumps(receipt.evidence) + receipt.reason


def test_a_token_that_is_echoed_leaves_no_trace(send, remote):
    remote.behaviours = [reply(422, f'{{"error": "bad token Basic {base64.b64encode(TOKEN.encode()).decode()}"}}')]
    receipt = send(BASIC)
    assert TOKEN not in repr(receipt)
    assert base64.b64encode(TOKEN.encode()).decode() not in repr(receipt)


def test_a_rendered_request_holds_no_token(remote, job_for):
    request = job_for(settings_with(remote.url, BEARER)).request
    assert "authorization" not in [name.lower() for name, _ in request.headers]


@pytest.mark.parametrize("part", ["send", "lookup", "verify", "retract"])
def test_a_token_is_not_sent_in_the_clear(part):
    settings = settings_with("https://api.example", BEARER)
    template = settings.operations["item.create"][part]
    template["url"] = template["url"].replace("https:", "http:")
    with pytest.raises(ConfigError, match="https://") as caught:
        HttpConnector(Outbound(allow_private=False)).check(settings)
    assert caught.value.pointer == f"/operations/item.create/{part}/url"


def test_a_signed_request_may_go_in_the_clear():
    HttpConnector(Outbound(allow_private=False)).check(http_settings("http://api.example"))
