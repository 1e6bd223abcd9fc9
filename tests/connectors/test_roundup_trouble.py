"""A tracker of its own that is slow, is killed in the middle of a request, or does not let us."""

import asyncio
import threading
import time
from pathlib import Path

import pytest

from approvals.connectors.base import Deadline, Job, Match, Outcome, Receipt, Sighting
from approvals.connectors.outbound import Outbound
from approvals.connectors.roundup import RoundupConnector
from reviewroom.demo.tracker import Tracker, make
from tests.connectors.test_roundup import known, ticket
from tests.support.processes import until

HOLD = '''
import pathlib, time

def hold(db, cl, nodeid, newvalues):
    """Stops before the issue is made, where the test said so, until it says go."""
    here = pathlib.Path(db.config.HOME)
    if (here / "hold").exists():
        (here / "held").touch()
        while (here / "hold").exists():
            time.sleep(0.02)

def init(db):
    db.issue.audit("create", hold)
'''
PERMITS = 'for permission in "Create", "View", "Edit", "Retire":'


@pytest.fixture
def directory(tmp_path):
    return tmp_path / "tracker"


def connect(tracker):
    return RoundupConnector(Outbound(allow_private=True, environ=known(tracker.host, tracker.secret)))


def prepared(connector, tracker) -> Job:
    job = ticket(connector, tracker.base_url)
    job.prepared = asyncio.run(connector.prepare(job, Deadline(10)))
    return job


@pytest.fixture
def holding(directory):
    make(directory)
    (directory / "detectors" / "hold.py").write_text(HOLD)
    return directory / "hold"


def sent_meanwhile(connector, job, deadline) -> tuple[threading.Thread, list[Receipt]]:
    receipts: list[Receipt] = []
    thread = threading.Thread(target=lambda: receipts.append(asyncio.run(connector.send(job, deadline))))
    thread.start()
    return thread, receipts


def test_a_tracker_killed_in_mid_request_and_brought_back_has_no_ticket(directory, holding: Path):
    with Tracker(directory) as tracker:
        connector, port = connect(tracker), int(tracker.host.rpartition(":")[2])
        job = prepared(connector, tracker)
        holding.touch()
        thread, receipts = sent_meanwhile(connector, job, Deadline(20))
        until((directory / "held").exists)
        tracker.kill()
        thread.join(10)
    holding.unlink()
    assert [receipt.outcome for receipt in receipts] == [Outcome.UNKNOWN]
    with Tracker(directory, port) as back:
        assert asyncio.run(connector.lookup(job, Deadline(10))).sighting is Sighting.ABSENT
        again = asyncio.run(connector.send(job, Deadline(10)))
        assert (again.outcome, again.spent) == (Outcome.UNKNOWN, True)  # the link was used up before the kill
        job.prepared = asyncio.run(connector.prepare(Job(**{**vars(job), "prepared": {}}), Deadline(10)))
        assert asyncio.run(connector.send(job, Deadline(10))).outcome is Outcome.DELIVERED
        assert len(back.issues()) == 1


def test_a_tracker_killed_before_the_request_is_not_sent(directory):
    with Tracker(directory) as tracker:
        connector = connect(tracker)
        job = prepared(connector, tracker)
        tracker.kill()
        receipt = asyncio.run(connector.send(job, Deadline(10)))
    assert (receipt.outcome, receipt.pause) == (Outcome.NOT_SENT, False)


def test_a_slow_tracker_is_unknown_and_found_later(directory, holding: Path):
    with Tracker(directory) as tracker:
        connector = connect(tracker)
        job = prepared(connector, tracker)
        holding.touch()
        begun = time.monotonic()
        assert asyncio.run(connector.send(job, Deadline(1.0))).outcome is Outcome.UNKNOWN
        assert time.monotonic() - begun < 2.0
        holding.unlink()
        until(tracker.issues)
        found = asyncio.run(connector.lookup(job, Deadline(10)))
    assert (found.sighting, found.remote_id) == (Sighting.FOUND, "1")


@pytest.mark.parametrize("roles", ["Anonymous", "Reader"])
def test_a_user_who_may_not_make_issues_is_not_sent_and_pauses(directory, monkeypatch, roles):
    """Without the REST interface at the link already, without the right to create at the post."""
    tracker_of(directory, monkeypatch, roles=roles)
    with Tracker(directory) as tracker:
        connector = connect(tracker)
        job = ticket(connector, tracker.base_url)
        receipt = attempt(connector, job)
        assert tracker_is_empty(directory)
    assert (receipt.outcome, receipt.pause) == (Outcome.NOT_SENT, True)


def test_a_user_who_may_not_retire_issues_is_not_sent_and_pauses(directory, monkeypatch):
    tracker_of(directory, monkeypatch, permits='for permission in "Create", "View", "Edit":')
    with Tracker(directory) as tracker:
        connector = connect(tracker)
        job = ticket(connector, tracker.base_url)
        job.remote_id = attempt(connector, job).remote_id
        receipt = asyncio.run(connector.retract(job, Deadline(10)))
        assert asyncio.run(connector.verify(job, Deadline(10))).match is Match.EQUAL
    assert (receipt.outcome, receipt.pause) == (Outcome.NOT_SENT, True)


def tracker_of(directory, monkeypatch, *, roles="User,Reviewroom", permits=PERMITS) -> None:
    """Makes a tracker whose user may do less."""
    from reviewroom.demo import tracker as module

    reader = 'db.security.addRole(name="Reader", description="Reads")\n' + "".join(
        f'db.security.addPermissionToRole("Reader", {name})\n' for name in ('"Rest Access"', '"View", "issue"')
    )
    monkeypatch.setattr(module, "_ROLE", module._ROLE.replace(PERMITS, permits) + reader)
    monkeypatch.setattr(module, "_ROLES", roles)
    make(directory)


def tracker_is_empty(directory) -> bool:
    from roundup import instance

    db = instance.open(str(directory)).open("admin")
    try:
        return db.issue.getnodeids() == []
    finally:
        db.close()


def attempt(connector, job) -> Receipt:
    given = asyncio.run(connector.prepare(job, Deadline(10)))
    if isinstance(given, Receipt):
        return given
    job.prepared = given
    return asyncio.run(connector.send(job, Deadline(10)))
