"""What `http` makes of objects that are there already: corrections, retractions, and what stands at a target."""

import base64
import hashlib
import hmac
from dataclasses import replace
from uuid import UUID

import pytest

from approvals.connectors.base import ConfigError, Outcome
from approvals.connectors.http import HttpConnector
from approvals.connectors.outbound import Outbound
from approvals.domain.binding import Corrects
from tests.connectors.conftest import DELIVERY, http_settings
from tests.connectors.remote import raw, reply

UNDOING = UUID("a2b1c9a0-4f0c-5b1e-8d1a-1f2e3d4c5b6a")
NAMELESS = {"method": "PUT", "id_pointer": None}


def correcting(url, **send):
    send = {"method": "PUT", "url": f"{url}/items/{{remote_id}}", "id_pointer": "/id", **send}
    return http_settings(url, send={name: value for name, value in send.items() if value is not None})


@pytest.fixture
def correct(http, remote, job_for, run, deadline):
    """Corrects item 7 at a remote that behaves as told; gives the receipt."""

    def once(behaviour, **send):
        remote.behaviours = [behaviour]
        job = job_for(correcting(remote.url, **send), corrects=Corrects(str(DELIVERY), "7"), remote_id=None)
        return run(http.send(job, deadline))

    return once


# Corrections


@pytest.mark.parametrize("answer", ['{"id": "7"}', '{"id": 7}'])
def test_a_correction_that_names_its_object_is_delivered(correct, answer):
    receipt = correct(reply(200, answer))
    assert (receipt.outcome, receipt.remote_id) == (Outcome.DELIVERED, "7")


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_a_correction_that_names_another_object_is_unknown(correct, method):
    assert correct(reply(200, '{"id": "8"}'), method=method).outcome is Outcome.UNKNOWN


def test_a_new_version_may_have_an_id_of_its_own(correct):
    assert correct(reply(201, '{"id": "7-2"}'), method="POST").remote_id == "7-2"


@pytest.mark.parametrize("behaviour", [reply(204), reply(200, "{}"), reply(200, "")])
def test_a_correction_without_the_id_it_promised_is_unknown(correct, behaviour):
    assert correct(behaviour).outcome is Outcome.UNKNOWN


@pytest.mark.parametrize("behaviour", [reply(204), reply(200, '{"name": "Key"}'), reply(202, "[]")])
def test_a_correction_that_promises_no_id_is_delivered_as_the_object_it_names(correct, behaviour):
    receipt = correct(behaviour, id_pointer=None)
    assert (receipt.outcome, receipt.remote_id) == (Outcome.DELIVERED, "7")


@pytest.mark.parametrize(
    "behaviour",
    [
        reply(200, "<html>"),
        reply(200, ""),
        reply(200, '{"ok": false}'),
        reply(200, '{"name"', length=40),
        reply(205),
        reply(302, "", {"Location": "/"}),
        raw(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{"),
    ],
)
def test_a_correction_without_an_id_is_believed_only_when_it_is_clear(correct, behaviour):
    assert correct(behaviour, id_pointer=None).outcome is Outcome.UNKNOWN


@pytest.mark.parametrize(
    ("status", "outcome"), [(404, "refused"), (410, "refused"), (422, "refused"), (429, "not_sent")]
)
def test_a_correction_can_be_refused(correct, status, outcome):
    assert correct(reply(status), id_pointer=None).outcome == outcome


@pytest.mark.parametrize("missing", ["verify", "remote_id"])
def test_an_id_may_be_missing_only_where_the_object_is_named_and_read_back(missing):
    settings = correcting("https://api.example", id_pointer=None)
    operation = settings.operations["item.create"]
    if missing == "verify":
        del operation["verify"]
    else:
        operation["send"]["url"] = "https://api.example/items/{resource}"
    with pytest.raises(ConfigError, match="id_pointer") as caught:
        HttpConnector(Outbound(allow_private=False)).check(settings)
    assert caught.value.pointer == "/operations/item.create/send"


# Retractions


@pytest.fixture
def retracted(http, remote, job_for, run, deadline):
    """What the remote got when delivery DELIVERY was retracted as UNDOING."""
    remote.behaviours = [reply(204)]
    job = job_for(
        http_settings(remote.url, retract={"method": "DELETE", "url": f"{remote.url}/{{delivery_id}}/{{remote_id}}"})
    )
    run(http.retract(replace(job, retraction_id=UNDOING), deadline))
    return remote.received[0]


def test_a_retraction_names_the_write_it_undoes(retracted):
    assert (retracted.method, retracted.path) == ("DELETE", f"/{DELIVERY}/41")


def test_a_retraction_has_a_key_of_its_own(retracted):
    assert retracted.headers["idempotency-key"] == str(UNDOING)
    assert retracted.headers["webhook-id"] == str(UNDOING)


def test_a_retraction_is_signed_under_its_own_id(retracted):
    content = f"{UNDOING}.{retracted.headers['webhook-timestamp']}.".encode()
    expected = base64.b64encode(hmac.digest(b"marker-secret-marker", content, hashlib.sha256)).decode()
    assert retracted.headers["webhook-signature"] == f"v1,{expected}"


def test_a_reading_call_has_no_idempotency_key(http, remote, job_for, run, deadline):
    run(http.verify(job_for(http_settings(remote.url)), deadline))
    assert "idempotency-key" not in remote.received[0].headers


# What stands at a target


@pytest.fixture
def read(http, remote, job_for, run, deadline):
    def once(behaviour, url="{base}/items/{remote_id}", **changes):
        remote.behaviours = [behaviour]
        verify = {"url": url.replace("{base}", remote.url), "body_pointer": "/payload"}
        return run(http.read(job_for(http_settings(remote.url, verify=verify), **changes), deadline))

    return once


def test_what_stands_there_is_shown_whoever_wrote_it(read):
    seen = read(reply(200, '{"payload": {"name": "Another", "price": 2}}'))
    assert (seen.known, seen.content) == (True, {"name": "Another", "price": 2})


def test_a_resource_can_be_read_before_any_object_is_known(read, remote):
    assert read(reply(200, '{"payload": {}}'), "{base}/pages/{resource}", remote_id=None).known
    assert remote.received[0].path == "/pages/items"


def test_an_object_that_is_not_known_cannot_be_read(read, remote):
    assert not read(reply(200, '{"payload": {}}'), remote_id=None).known
    assert remote.received == []


def test_a_reading_by_delivery_would_show_one_delivery_and_not_the_target(read, remote):
    assert not read(reply(200, '{"payload": {}}'), "{base}/{resource}/{delivery_id}").known
    assert remote.received == []


@pytest.mark.parametrize("status", [404, 410])
def test_nothing_may_stand_there(read, status):
    seen = read(reply(status))
    assert (seen.known, seen.content) == (True, None)


@pytest.mark.parametrize(
    "behaviour",
    [
        reply(500),
        reply(403),
        reply(200, "{}"),
        reply(200, '{"payload": "text"}'),
        reply(200, '{"payload": null}'),
        reply(200, '{"payload": {}, "error": "no"}'),
        reply(200, "<html>"),
        reply(200, '{"payload": {}', length=99),
    ],
)
def test_an_answer_that_does_not_tell_is_not_known(read, behaviour):
    seen = read(behaviour)
    assert (seen.known, seen.content) == (False, None)
