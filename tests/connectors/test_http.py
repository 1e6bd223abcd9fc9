"""The `http` connector: what it sends, and what it reads out of answers."""

import base64
import hashlib
import hmac
import json
from dataclasses import replace

import pytest

from approvals.connectors.base import Capability, ConfigError, Job, Match, Outcome, Settings, Sighting
from approvals.domain.binding import Corrects
from approvals.domain.errors import InvalidPayload
from tests.connectors.conftest import CREATED, DELIVERY, http_settings
from tests.connectors.remote import hang, reply


@pytest.fixture
def job(job_for, remote) -> Job:
    return job_for(http_settings(remote.url))


# What goes out


def test_the_body_is_the_approved_slice_of_the_canonical_bytes(job_for, http, remote, run, deadline):
    payload = {"z": 1e-7, "a": "é\u202e", "payload": {"schema": [1.0]}}
    job = job_for(http_settings(remote.url), payload=payload)
    run(http.send(job, deadline))
    assert remote.received[0].body == job.binding.payload_bytes
    assert remote.received[0].body in job.binding.canonical


def test_what_is_sent_is_what_was_rendered(http, job, remote, run, deadline):
    run(http.send(job, deadline))
    sent = remote.received[0]
    assert (sent.method, sent.path) == ("POST", "/items")
    for name, value in job.request.headers:
        assert sent.headers[name.lower()] == value


def test_the_receiver_can_dedupe_and_check_the_digest(job):
    headers = dict(job.request.headers)
    assert headers["Idempotency-Key"] == str(DELIVERY)
    assert headers["Reviewroom-Digest"] == job.binding.digest


def test_the_signature_is_that_of_standard_webhooks(http, job, remote, run, deadline):
    run(http.send(job, deadline))
    sent = remote.received[0]
    content = f"{sent.headers['webhook-id']}.{sent.headers['webhook-timestamp']}.".encode() + sent.body
    expected = base64.b64encode(hmac.digest(b"marker-secret-marker", content, hashlib.sha256)).decode()
    assert sent.headers["webhook-id"] == str(DELIVERY)
    assert sent.headers["webhook-signature"] == f"v1,{expected}"


def test_a_second_attempt_sends_the_same_key_and_bytes(http, job, remote, run, deadline):
    run(http.send(job, deadline))
    run(http.send(job, deadline))
    first, second = remote.received
    assert (first.body, first.headers["idempotency-key"]) == (second.body, second.headers["idempotency-key"])


def test_a_channel_without_secret_sends_unsigned(http, job_for, remote, run, deadline):
    run(http.send(job_for(http_settings(remote.url, secret="")), deadline))
    assert "webhook-signature" not in remote.received[0].headers


def test_rendering_is_pure(http, job):
    assert http.render(job.binding, DELIVERY, job.settings).digest == job.request.digest


@pytest.mark.parametrize("change", [{"body": b"{}"}, {"url": "http://x/"}, {"method": "PUT"}, {"secret": "B"}])
def test_the_request_digest_covers_every_part(job, change):
    assert replace(job.request, **change).digest != job.request.digest


def template(url, method="PUT"):
    return {"method": method, "url": url, "id_pointer": "/id"}


@pytest.mark.parametrize(("resource", "path"), [("a/b", "/places/a%2Fb"), ("1?x=", "/places/1%3Fx%3D")])
def test_a_resource_stays_one_segment(http, job_for, remote, run, deadline, resource, path):
    job = job_for(http_settings(remote.url, send=template(f"{remote.url}/places/{{resource}}")), resource=resource)
    run(http.send(job, deadline))
    assert remote.received[0].path == path


@pytest.mark.parametrize("resource", [".."])
def test_a_resource_that_would_climb_is_refused_at_the_door(job_for, remote, resource):
    with pytest.raises(InvalidPayload) as caught:
        job_for(http_settings(remote.url, send=template(f"{remote.url}/places/{{resource}}")), resource=resource)
    assert caught.value.pointer == "/resource"


def test_a_correction_names_the_object_it_replaces(job_for, remote):
    settings = http_settings(remote.url, send=template(f"{remote.url}/items/{{remote_id}}"))
    corrected = Corrects(str(DELIVERY), "7/8")
    assert job_for(settings, corrects=corrected).request.url == f"{remote.url}/items/7%2F8"


def test_a_correction_without_an_object_is_refused_at_the_door(job_for, remote):
    with pytest.raises(InvalidPayload):
        job_for(http_settings(remote.url, send=template(f"{remote.url}/items/{{remote_id}}")))


# Look-up


@pytest.fixture
def look(http, job_for, remote, run, deadline):
    def up(behaviour, **changes):
        remote.behaviours = [behaviour]
        settings = http_settings(remote.url)
        settings.operations["item.create"]["lookup"].update(changes)
        return run(http.lookup(job_for(settings), deadline))

    return up


def test_a_lookup_asks_for_the_delivery_id(look, remote):
    look(reply(200, '{"items": []}'))
    assert (remote.received[0].method, remote.received[0].path) == ("GET", f"/items?operation_id={DELIVERY}")


def test_a_listed_object_is_found(look):
    found = look(reply(200, '{"items": [{"id": 41}]}'))
    assert (found.sighting, found.remote_id) == (Sighting.FOUND, "41")


@pytest.mark.parametrize("body", ['{"items": []}', '{"items": [{"id": null}]}'])
def test_an_answer_that_lists_nothing_is_absent(look, body):
    assert look(reply(200, body)).sighting is Sighting.ABSENT


@pytest.mark.parametrize(
    "behaviour",
    [
        reply(500, '{"items": []}'),
        reply(404, '{"items": []}'),
        reply(401, "{}"),
        reply(429, "{}"),
        reply(302, "", {"Location": "/"}),
        reply(202, '{"items": []}'),
        reply(200, "{}"),
        reply(200, '{"ok": false}'),
        reply(200, '{"items": [], "error": "index is being built"}'),
        reply(200, '{"items": null}'),
        reply(200, '{"items": {}}'),
        reply(200, "<html>"),
        reply(200, '{"items": []', length=50),
        reply(200, '{"items": [{"id": ".."}]}'),
    ],
)
def test_anything_else_leaves_it_unknown(look, behaviour):
    assert look(behaviour).sighting is Sighting.UNKNOWN


def test_silence_leaves_it_unknown(http, job, remote, run, deadline):
    remote.behaviours = [hang]
    assert run(http.lookup(job, replace(deadline, seconds=0.2))).sighting is Sighting.UNKNOWN


def test_a_404_is_absence_where_the_channel_says_so(look, remote):
    url = f"{remote.url}/by-operation/{{delivery_id}}"
    assert look(reply(404), url=url, id_pointer="/id", absent_on_404=True).sighting is Sighting.ABSENT


def test_an_object_of_another_delivery_is_not_found(look):
    body = '{"items": [{"id": "41", "operation": "another"}]}'
    assert look(reply(200, body), match_pointer="/items/0/operation").sighting is Sighting.UNKNOWN


def test_an_object_that_names_the_delivery_is_found(look):
    body = json.dumps({"items": [{"id": "41", "operation": str(DELIVERY)}]})
    assert look(reply(200, body), match_pointer="/items/0/operation").sighting is Sighting.FOUND


# Read-back


@pytest.fixture
def verify(http, job_for, remote, run, deadline):
    def once(behaviour, **changes):
        remote.behaviours = [behaviour]
        return run(http.verify(job_for(http_settings(remote.url), **changes), deadline)).match

    return once


@pytest.mark.parametrize("shown", ['{"price": 1, "name": "Key"}', '{"name":"\\u004bey","price":1.0}'])
def test_the_same_value_is_equal_however_it_is_written(verify, shown):
    assert verify(reply(200, f'{{"payload": {shown}}}')) is Match.EQUAL


@pytest.mark.parametrize(
    "shown",
    ['{"name": "Key", "price": true}', '{"name": "Key"}', '{"name": "Key ", "price": 1}', "null", "1e400", "10" * 20],
)
def test_another_value_differs(verify, shown):
    assert verify(reply(200, f'{{"payload": {shown}}}')) is Match.DIFFERS


@pytest.mark.parametrize("status", [404, 410])
def test_what_is_not_there_is_gone(verify, status):
    assert verify(reply(status)) is Match.GONE


@pytest.mark.parametrize(
    "behaviour", [reply(500), reply(403), reply(200, "{}"), reply(200, "x"), reply(301, "", {"Location": "/"})]
)
def test_an_unreadable_read_back_is_unknown(verify, behaviour):
    assert verify(behaviour) is Match.UNKNOWN


def test_a_large_payload_can_be_read_back(verify):
    payload = {"text": "é" * 100_000}
    assert verify(reply(200, json.dumps({"payload": payload})), payload=payload) is Match.EQUAL


@pytest.mark.parametrize("remote_id", [None, "", "..", "a\nb"])
def test_an_unusable_id_cannot_be_read_back(verify, remote, remote_id):
    assert verify(reply(200, "{}"), remote_id=remote_id) is Match.IMPOSSIBLE
    assert remote.received == []


# Retraction


@pytest.fixture
def retract(http, job_for, remote, run, deadline):
    def once(behaviour, **changes):
        remote.behaviours = [behaviour]
        return run(http.retract(job_for(http_settings(remote.url), **changes), deadline)).outcome

    return once


@pytest.mark.parametrize("behaviour", [reply(204), reply(200), reply(200, '{"ok": true}'), reply(404), reply(410)])
def test_a_retraction_that_was_taken_or_was_needless_is_delivered(retract, behaviour):
    assert retract(behaviour) is Outcome.DELIVERED


@pytest.mark.parametrize("behaviour", [reply(200, "<html>"), reply(200, '{"ok": false}'), reply(500), reply(409)])
def test_a_retraction_in_doubt_is_unknown(retract, behaviour):
    assert retract(behaviour) is Outcome.UNKNOWN


def test_a_retraction_that_is_not_allowed_is_refused(retract):
    assert retract(reply(405)) is Outcome.REFUSED


@pytest.mark.parametrize(("remote_id", "path"), [("a/b", "/items/a%2Fb"), ("1?x=", "/items/1%3Fx%3D")])
def test_a_delete_reaches_one_object(retract, remote, remote_id, path):
    retract(reply(204), remote_id=remote_id)
    assert (remote.received[0].method, remote.received[0].path) == ("DELETE", path)


@pytest.mark.parametrize("remote_id", [None, "", ".", "..", "a\nb", "x" * 513])
def test_a_delete_never_reaches_the_collection(retract, remote, remote_id):
    assert retract(reply(204), remote_id=remote_id) is Outcome.REFUSED
    assert remote.received == []


# Configuration


def test_an_operation_can_do_what_it_declares(http, remote):
    found = http.capabilities(http_settings(remote.url), "item.create")
    assert found == {Capability.LOOKUP, Capability.VERIFY, Capability.RETRACT}


def test_a_channel_says_whether_its_receiver_dedupes(http, remote):
    settings = replace(http_settings(remote.url), idempotent=True)
    assert Capability.IDEMPOTENCY_KEY in http.capabilities(settings, "item.create")


def test_an_operation_that_names_an_object_can_correct(http, remote):
    settings = http_settings(remote.url, send=template(f"{remote.url}/items/{{remote_id}}"))
    assert Capability.CORRECT in http.capabilities(settings, "item.create")


def test_an_operation_without_templates_can_do_nothing_more(http, job_for, remote, run, deadline):
    settings = Settings("http", "shop", operations={"item.create": {"send": template(f"{remote.url}/", "POST")}})
    job = job_for(settings)
    assert http.capabilities(settings, "item.create") == frozenset()
    assert run(http.lookup(job, deadline)).sighting is Sighting.UNKNOWN
    assert run(http.verify(job, deadline)).match is Match.IMPOSSIBLE
    assert run(http.retract(job, deadline)).outcome is Outcome.REFUSED


def test_a_whole_configuration_is_taken(http, remote):
    http.check(http_settings(remote.url, schema={"type": "object", "$defs": {"a": {}}, "$ref": "#/$defs/a"}))


GOOD = "https://api.example/items"
FAULTS = {
    "/operations/item.create/send/url": {"send": template("ftp://api.example/")},
    "/operations/item.create/send/method": {"send": template(GOOD, "GET")},
    "/operations/item.create/send/id_pointer": {"send": {**template(GOOD), "id_pointer": "id"}},
    "/operations/item.create/lookup/url": {"lookup": {"url": GOOD, "id_pointer": "/id"}},
    "/operations/item.create/verify/url": {"verify": {"url": GOOD, "body_pointer": "/payload"}},
    "/operations/item.create/retract/url": {"retract": {"method": "DELETE", "url": GOOD}},
    "/operations/item.create/send": {"send": {"url": GOOD}},
    "/operations/item.create/schema/type": {"schema": {"type": "nothing"}},
    "/operations/item.create/schema": {"schema": {"$ref": "https://schemas.example/a"}},
}


@pytest.mark.parametrize(("pointer", "parts"), FAULTS.items(), ids=FAULTS.keys())
def test_a_fault_of_the_configuration_is_named(http, pointer, parts):
    with pytest.raises(ConfigError) as caught:
        http.check(http_settings("https://api.example", **parts))
    assert caught.value.pointer == pointer


def test_a_404_may_mean_absence_only_with_the_id_in_the_path(http):
    url = f"{GOOD}?operation_id={{delivery_id}}"
    lookup = {"url": url, "id_pointer": "/id", "absent_on_404": True}
    with pytest.raises(ConfigError, match="absent_on_404"):
        http.check(http_settings("https://api.example", lookup=lookup))


def test_unknown_keys_and_missing_operations_are_refused(http):
    with pytest.raises(ConfigError):
        http.check(replace(http_settings(GOOD), config={"token": "x"}))
    with pytest.raises(ConfigError):
        http.check(replace(http_settings(GOOD), operations={}))


def test_every_url_of_a_channel_is_listed(http, remote):
    pointers = [pointer for pointer, _ in http.urls(http_settings(remote.url, schema={"url": "no"}))]
    assert pointers == [f"/operations/item.create/{part}/url" for part in ("send", "lookup", "verify", "retract")]


def test_connections_are_kept_only_where_asked(http, job, remote, run, deadline):
    remote.behaviours = [CREATED]
    run(http.send(job, deadline))
    assert remote.received[0].headers["connection"] == "close"
