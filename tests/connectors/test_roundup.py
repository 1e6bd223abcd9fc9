"""The `roundup` connector against a real tracker."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from approvals.connectors.base import ConfigError, Deadline, Match, Outcome, Receipt, Settings, Sighting
from approvals.connectors.outbound import Outbound
from approvals.connectors.roundup import RoundupConnector
from approvals.connectors.roundup.issues import same
from approvals.domain.errors import InvalidPayload
from tests.connectors.conftest import make_job
from tests.connectors.remote import Remote, hang, reply, reset

PAYLOAD = {"summary": "Door 4b sticks", "room": "4b", "priority": "urgent", "details": "one\ntwo"}
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def known(host, secret):
    return {"REVIEWROOM_TARGET_SECRET_TRACKER": secret, "REVIEWROOM_TARGET_SECRET_TRACKER_HOSTS": host}


def settings_at(base_url, **config):
    names = {"summary": "title"}
    config = {"base_url": base_url, "properties": names, **config}
    return Settings("roundup", "facilities", "TRACKER", config=config, operations={"ticket.create": {}})


@pytest.fixture
def roundup(tracker):
    return RoundupConnector(Outbound(allow_private=True, environ=known(tracker.host, tracker.secret)))


@pytest.fixture
def job(roundup, tracker):
    """A ticket that nobody has sent yet."""
    return ticket(roundup, tracker.base_url)


def ticket(connector, base_url, payload=PAYLOAD):
    return make_job(
        connector,
        settings_at(base_url),
        payload=payload,
        resource="issue",
        operation="ticket.create",
        remote_id=None,
        delivery_id=uuid4(),
    )


@pytest.fixture
def create(roundup, run, deadline):
    def make(job):
        job.prepared = run(roundup.prepare(job, deadline))
        receipt = run(roundup.send(job, deadline))
        job.remote_id = receipt.remote_id
        return receipt

    return make


def test_a_ticket_is_made(create, job, tracker):
    receipt = create(job)
    made = next(issue for issue in tracker.issues() if issue["id"] == receipt.remote_id)
    assert receipt.outcome is Outcome.DELIVERED
    assert (made["title"], made["room"], made["details"]) == ("Door 4b sticks", "4b", "one\ntwo")
    assert made["reviewroom_id"] == str(job.delivery_id)


def test_a_spent_link_is_unknown(create, job, roundup, run, deadline, tracker):
    create(job)
    before = len(tracker.issues())
    assert run(roundup.send(job, deadline)).outcome is Outcome.UNKNOWN
    assert len(tracker.issues()) == before


def test_a_made_ticket_is_found(create, job, roundup, run, deadline):
    create(job)
    found = run(roundup.lookup(job, deadline))
    assert (found.sighting, found.remote_id) == (Sighting.FOUND, job.remote_id)


def test_a_ticket_that_was_not_made_is_absent(job, roundup, run, deadline):
    assert run(roundup.lookup(job, deadline)).sighting is Sighting.ABSENT


def test_a_ticket_whose_id_only_contains_ours_is_absent(create, job, roundup, run, deadline, tracker):
    """The tracker's search finds substrings."""
    create(job)
    tracker.edit(job.remote_id, reviewroom_id=f"x{job.delivery_id}x")
    assert run(roundup.lookup(job, deadline)).sighting is Sighting.ABSENT


def test_a_ticket_that_somebody_retired_is_found(create, job, roundup, run, deadline, tracker):
    """It is in no search, but it was made: to call it absent would make a second one."""
    create(job)
    tracker.retire(job.remote_id)
    found = run(roundup.lookup(job, deadline))
    assert (found.sighting, found.remote_id) == (Sighting.FOUND, job.remote_id)


def test_a_retired_ticket_is_found_among_newer_ones(create, job, roundup, run, deadline, tracker):
    create(job)
    create(ticket(roundup, tracker.base_url))
    tracker.retire(job.remote_id)
    assert run(roundup.lookup(job, deadline)).remote_id == job.remote_id


def test_another_retired_ticket_is_not_ours(create, job, roundup, run, deadline, tracker):
    another = ticket(roundup, tracker.base_url)
    create(another)
    tracker.retire(another.remote_id)
    assert run(roundup.lookup(job, deadline)).sighting is Sighting.ABSENT


def test_absence_cannot_be_told_where_the_time_of_the_send_is_not_known(job, roundup, run, deadline):
    job.begun_at = None
    assert run(roundup.lookup(job, deadline)).sighting is Sighting.UNKNOWN


def test_an_untouched_ticket_reads_back_equal(create, job, roundup, run, deadline):
    create(job)
    assert run(roundup.verify(job, deadline)).match is Match.EQUAL


def test_line_ends_that_the_tracker_rewrites_read_back_equal(create, roundup, run, deadline, tracker):
    job = ticket(roundup, tracker.base_url, {"summary": "x", "details": "one\r\ntwo"})
    create(job)
    assert run(roundup.verify(job, deadline)).match is Match.EQUAL


@pytest.mark.parametrize("changed", [{"title": "Another"}, {"priority": "wish"}, {"details": "one two"}])
def test_a_changed_ticket_differs(create, job, roundup, run, deadline, tracker, changed):
    create(job)
    tracker.edit(job.remote_id, **changed)
    found = run(roundup.verify(job, deadline))
    assert found.match is Match.DIFFERS
    assert next(iter(changed)) in found.reason


def test_a_change_elsewhere_in_the_ticket_does_not_matter(create, job, roundup, run, deadline, tracker):
    create(job)
    tracker.edit(job.remote_id, status="resolved")
    assert run(roundup.verify(job, deadline)).match is Match.EQUAL


def test_a_ticket_that_does_not_exist_is_gone(job, roundup, run, deadline):
    job.remote_id = "999999"
    assert run(roundup.verify(job, deadline)).match is Match.GONE


def test_a_retired_ticket_is_gone(create, job, roundup, run, deadline, tracker):
    create(job)
    assert run(roundup.retract(job, deadline)).outcome is Outcome.DELIVERED
    assert run(roundup.verify(job, deadline)).match is Match.GONE
    assert job.remote_id not in [issue["id"] for issue in tracker.issues()]


def test_retracting_what_does_not_exist_is_delivered(job, roundup, run, deadline):
    job.remote_id = "999999"
    assert run(roundup.retract(job, deadline)).outcome is Outcome.DELIVERED


@pytest.mark.parametrize("remote_id", [None, "", "..", "1/../2", "1?x=", "-1"])
def test_only_an_issue_number_is_retracted_or_read(job, roundup, run, deadline, remote_id):
    job.remote_id = remote_id
    assert run(roundup.retract(job, deadline)).outcome is Outcome.REFUSED
    assert run(roundup.verify(job, deadline)).match is Match.IMPOSSIBLE


def test_a_wrong_password_is_not_sent_and_pauses(job, run, deadline, tracker):
    stranger = RoundupConnector(Outbound(allow_private=True, environ=known(tracker.host, "reviewroom:wrong")))
    receipt = run(stranger.prepare(job, deadline))
    assert (receipt.outcome, receipt.pause) == (Outcome.NOT_SENT, True)


def test_a_password_that_is_wrong_when_posting_is_not_sent_and_pauses(job, roundup, run, deadline, tracker):
    job.prepared = run(roundup.prepare(job, deadline))
    stranger = RoundupConnector(Outbound(allow_private=True, environ=known(tracker.host, "reviewroom:wrong")))
    receipt = run(stranger.send(job, deadline))
    assert (receipt.outcome, receipt.pause, receipt.spent) == (Outcome.NOT_SENT, True, False)
    assert run(roundup.send(job, deadline)).outcome is Outcome.DELIVERED


def test_a_ticket_the_tracker_refuses_is_refused_and_spends_the_link(create, roundup, tracker):
    receipt = create(ticket(roundup, tracker.base_url, {"summary": "x", "priority": "nonsense"}))
    assert (receipt.outcome, receipt.spent) == (Outcome.REFUSED, True)


def test_a_web_address_the_tracker_does_not_know_as_its_own_pauses(roundup, run, deadline, tracker):
    settings = settings_at(tracker.base_url, web_url="http://elsewhere.example/")
    job = make_job(roundup, settings, payload=PAYLOAD, resource="issue", operation="ticket.create")
    receipt = run(roundup.prepare(job, deadline))
    assert (receipt.outcome, receipt.pause) == (Outcome.NOT_SENT, True)


def test_a_wrong_path_is_neither_found_nor_absent(roundup, run, deadline, tracker):
    job = ticket(roundup, f"{tracker.web_url}rest/date")
    assert run(roundup.lookup(job, deadline)).sighting is Sighting.UNKNOWN


# The life of a link


def aged(job, connector, age):
    link = {"url": f"{job.request.url}/@poe/old", "fetched_at": (NOW - age).isoformat()}
    job.prepared = link
    connector.outbound.now = lambda: NOW
    return link


@pytest.mark.parametrize("age", [timedelta(0), timedelta(minutes=57)])
def test_a_link_that_lives_is_used_again(job, roundup, run, deadline, age):
    link = aged(job, roundup, age)
    assert run(roundup.prepare(job, deadline)) == link


@pytest.mark.parametrize("age", [timedelta(minutes=59), timedelta(minutes=61)])
def test_a_link_about_to_die_is_waited_for(job, roundup, run, deadline, age):
    aged(job, roundup, age)
    receipt = run(roundup.prepare(job, deadline))
    assert isinstance(receipt, Receipt)
    assert (receipt.outcome, receipt.pause) == (Outcome.NOT_SENT, False)
    assert 0 < receipt.retry_after_seconds <= 240


def test_a_dead_link_is_replaced(job, roundup, run, deadline):
    link = aged(job, roundup, timedelta(minutes=63))
    assert run(roundup.prepare(job, deadline))["url"] != link["url"]


def test_without_a_link_nothing_is_posted(job, roundup, run, deadline):
    assert run(roundup.send(job, deadline)).outcome is Outcome.NOT_SENT


# What a real tracker does too seldom


@pytest.fixture
def fake():
    with Remote(reply(200, "{}")) as started:
        yield started


@pytest.fixture
def faked(fake):
    return RoundupConnector(Outbound(allow_private=True, environ=known(fake.host, "a:b")))


def poe(body):
    return reply(200, json.dumps({"data": body}))


def test_a_link_to_another_host_does_not_get_the_password(faked, fake, run, deadline):
    fake.behaviours = [poe({"link": "http://evil.example/rest/data/issue/@poe/t?o/ken"})]
    job = ticket(faked, f"{fake.url}/rest/data")
    prepared = run(faked.prepare(job, deadline))
    assert prepared["url"] == f"{fake.url}/rest/data/issue/@poe/t%3Fo%2Fken"


@pytest.mark.parametrize("behaviour", [poe({}), reply(500), reply(302), reset, reply(200, "<html>")])
def test_no_link_means_nothing_was_sent(faked, fake, run, deadline, behaviour):
    fake.behaviours = [behaviour]
    receipt = run(faked.prepare(ticket(faked, f"{fake.url}/rest/data"), deadline))
    assert (receipt.outcome, receipt.pause) == (Outcome.NOT_SENT, False)


def sent(faked, fake, run, behaviour, seconds=5.0):
    fake.behaviours = [poe({"link": "/@poe/token"}), behaviour]
    job = ticket(faked, f"{fake.url}/rest/data")
    job.prepared = run(faked.prepare(job, Deadline(5)))
    return run(faked.send(job, Deadline(seconds)))


@pytest.mark.parametrize(
    "behaviour",
    [
        reply(400, '{"error": {"msg": "An error occurred. Please check the server log."}}'),
        reply(409, '{"error": {"msg": "conflict"}}'),
        reply(201, "[]"),
        reply(201, '{"data": {}}'),
        reply(500),
        reset,
    ],
)
def test_an_answer_that_proves_nothing_is_unknown(faked, fake, run, behaviour):
    receipt = sent(faked, fake, run, behaviour)
    assert (receipt.outcome, receipt.spent) == (Outcome.UNKNOWN, False)


def test_a_link_that_is_not_valid_is_unknown_and_never_used_again(faked, fake, run):
    """It stays invalid for ever; whether the issue was made is another question."""
    receipt = sent(faked, fake, run, reply(400, '{"error": {"msg": "POE token \'x\' not valid."}}'))
    assert (receipt.outcome, receipt.spent) == (Outcome.UNKNOWN, True)


def test_a_tracker_that_never_answers_is_unknown(faked, fake, run):
    assert sent(faked, fake, run, hang, seconds=0.2).outcome is Outcome.UNKNOWN


@pytest.mark.parametrize(
    "body",
    ["{}", '{"data": {"collection": {}}}', '{"data": {"collection": [{"id": "1"}]}}', '{"data": []}', "<html>"],
)
def test_a_search_that_does_not_show_the_id_is_unknown(faked, fake, run, deadline, body):
    """A list whose entries hide the property we search by proves no absence."""
    fake.behaviours = [reply(200, body)]
    assert run(faked.lookup(ticket(faked, f"{fake.url}/rest/data"), deadline)).sighting is Sighting.UNKNOWN


def test_an_issue_we_may_not_see_is_not_gone(faked, fake, run, deadline):
    fake.behaviours = [poe({"collection": []}), reply(403, "{}")]
    job = ticket(faked, f"{fake.url}/rest/data")
    job.remote_id = "7"
    assert run(faked.verify(job, deadline)).match is Match.UNKNOWN


def test_an_issue_changed_while_it_is_retired_is_tried_again(faked, fake, run, deadline):
    fake.behaviours = [poe({"id": "7"}), reply(412, "{}")]
    job = ticket(faked, f"{fake.url}/rest/data")
    job.remote_id = "7"
    assert run(faked.retract(job, deadline)).outcome is Outcome.NOT_SENT


def listing(*issues):
    return poe({"collection": [{"id": str(number), "creation": created} for number, created in issues]})


def shown(value):
    return poe({"attributes": {"reviewroom_id": value}})


NOTHING = reply(404, "{}")


@pytest.fixture
def look(faked, fake, run, deadline):
    """Looks a ticket up whose send began at NOW: the search finds nothing, then the answers given follow."""

    def up(*answers):
        fake.behaviours = [poe({"collection": []}), *answers]
        job = ticket(faked, f"{fake.url}/rest/data")
        job.begun_at = NOW
        return run(faked.lookup(job, deadline)).sighting

    return up


BEFORE, AFTER = "2026-11-30.11:00:00", "2026-11-30.12:00:01"


def test_every_gap_since_the_send_is_looked_into(look, fake):
    assert look(listing((7, AFTER), (4, BEFORE)), shown("x"), shown(None), NOTHING) is Sighting.ABSENT
    paths = [request.path.split("?")[0] for request in fake.received[2:]]
    assert paths == [f"/rest/data/issue/{number}" for number in (5, 6, 8, 9, 10)]


def test_the_clocks_may_run_a_little_apart(look, fake):
    look(listing((7, "2026-11-30.11:58:30"), (4, BEFORE)), NOTHING)
    assert "/issue/5?" in fake.received[2].path


def test_a_number_that_was_never_used_is_no_end(look):
    assert look(listing((4, BEFORE)), NOTHING, shown("x"), NOTHING, NOTHING, shown("x"), NOTHING) is Sighting.ABSENT


@pytest.mark.parametrize("hidden", [reply(403, "{}"), reply(500), reset, poe({"attributes": {}}), reply(200, "<html>")])
def test_an_issue_that_may_be_ours_and_cannot_be_read_leaves_it_unknown(look, hidden):
    assert look(listing((6, AFTER), (4, BEFORE)), hidden) is Sighting.UNKNOWN


@pytest.mark.parametrize(
    "newest",
    [
        listing((300, AFTER), (4, BEFORE)),  # more gaps than are read
        listing(*((number, AFTER) for number in range(1000, 500, -1))),  # and where they begin is not listed
        listing((7, "yesterday")),
        poe({"collection": [{"id": "7"}]}),
        poe({"collection": [{"creation": AFTER}]}),
        reply(500),
    ],
)
def test_a_time_that_cannot_be_overlooked_leaves_it_unknown(look, newest):
    assert look(newest, NOTHING) is Sighting.UNKNOWN


@pytest.mark.parametrize(
    ("wanted", "shown", "equal"),
    [
        (["a", "b"], [{"id": "2", "name": "b"}, {"id": "1", "name": "a"}], True),
        (["a", "a"], [{"id": "1", "name": "a"}, {"id": "2", "name": "b"}], False),
        (["a"], [{"id": "1", "name": "a"}, {"id": "2", "name": "b"}], False),
        ("3", {"id": "3", "link": "x", "name": "urgent"}, True),
        ("x", {"id": "3", "link": "x", "name": "urgent"}, False),
        (None, [], True),
        (None, "", False),
        (1, 1, True),
        (1, 1.5, False),
        (True, 1, False),
    ],
)
def test_a_value_is_the_same_by_number_and_by_name(wanted, shown, equal):
    assert same(wanted, shown) is equal


# At the door


@pytest.mark.parametrize(
    ("payload", "pointer"),
    [
        ({"summary": ""}, "/payload/summary"),
        ({"room": {"a": 1}}, "/payload/room"),
        ({"nosy": [1]}, "/payload/nosy"),
        ({"@etag": "x"}, "/payload/@etag"),
        ({"summary": "a", "title": "b"}, "/payload/title"),
        ({"reviewroom_id": "x"}, "/payload/reviewroom_id"),
    ],
)
def test_what_the_tracker_would_not_keep_is_refused_at_the_door(faked, payload, pointer):
    with pytest.raises(InvalidPayload) as caught:
        ticket(faked, "https://tracker.example/rest/data", payload)
    assert caught.value.pointer == pointer


def test_a_resource_that_is_no_class_is_refused_at_the_door(faked):
    settings = settings_at("https://tracker.example/rest/data")
    with pytest.raises(InvalidPayload):
        make_job(faked, settings, payload=PAYLOAD, resource="issue/1", operation="ticket.create")


def test_the_rendered_request_shows_the_issue_as_it_will_be(job):
    assert json.loads(job.request.body) == {
        "title": "Door 4b sticks",
        "room": "4b",
        "priority": "urgent",
        "details": "one\ntwo",
        "reviewroom_id": str(job.delivery_id),
    }


def test_a_whole_configuration_is_taken(faked):
    faked.check(settings_at("https://tracker.example/rest/data"))


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"secret": ""}, "/secret"),
        ({"secret": "tracker"}, "/secret"),
        ({"idempotent": True}, "/idempotent"),
        ({"operations": {}}, "/operations"),
        ({"operations": {"ticket.create": {"send": {}}}}, "/operations/ticket.create"),
        ({"config": {}}, "/config"),
        ({"config": {"base_url": "https://tracker.example/"}}, "/config/base_url"),
        ({"config": {"base_url": "https://a:b@tracker.example/rest/data"}}, "/config/base_url"),
        ({"config": {"base_url": "https://t.example/rest/data", "id_property": "a b"}}, "/config/id_property"),
    ],
)
def test_a_fault_of_the_configuration_is_named(faked, changes, pointer):
    with pytest.raises(ConfigError) as caught:
        faked.check(replace(settings_at("https://tracker.example/rest/data"), **changes))
    assert caught.value.pointer == pointer
