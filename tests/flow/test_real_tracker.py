"""The story against a real Roundup: proposed and decided by HTTP, written, read back, told to the sink, verified."""

import json
from datetime import timedelta

import pytest

from approvals.domain.actor import system
from approvals.models.clock import database_now
from approvals.services import tokens, verify
from approvals.workers import dispatch, drain, reconcile, sweep
from reviewroom.demo import rooms
from reviewroom.demo.api import Caller
from reviewroom.demo.tracker import Tracker

pytestmark = [pytest.mark.tracker, pytest.mark.slow]

LIFT = {
    "room": "Lift 2",
    "category": "electrical",
    "summary": "Lift 2 is stuck on floor 3",
    "details": "Nobody is inside.\nThe display shows “E-17” since 08:40.",
}
SCOPES = {"reply-bot": "propose introspect", "ben": "review introspect", "cleo": "review introspect"}


@pytest.fixture(scope="module")
def started():
    with Tracker() as tracker:
        yield tracker


@pytest.fixture
def tracker(started, settings, monkeypatch, tmp_path):
    settings.REVIEWROOM_ALLOW_PRIVATE_TARGETS = True
    settings.REVIEWROOM_AUDIT_SINK = (tmp_path / "sink.jsonl").as_uri()
    monkeypatch.setenv("REVIEWROOM_TARGET_SECRET_TRACKER", started.secret)
    monkeypatch.setenv("REVIEWROOM_TARGET_SECRET_TRACKER_HOSTS", started.host)
    return started


@pytest.fixture
def callers(live_server, tracker):
    """The cast with their tokens, in a room where two have to agree, one of them from Legal."""
    rules = {"required_approvals": 2, "requirements": [{"group": "legal", "minimum": 1}], "dispatch_delay": "0s"}
    rooms.apply(rooms.document(tracker.base_url, **rules), command="apply_config")
    actor = system("create_token", via="command")
    return {
        name: Caller(
            name,
            live_server.url,
            tokens.create(actor=actor, clock=database_now, username=name, scopes=scopes.split()),
        )
        for name, scopes in SCOPES.items()
    }


def proposal(payload):
    return {"room": "facilities", "channel": "tracker", "operation": "ticket.create", "payload": payload}


def issues(tracker, draft):
    """What the tracker holds of a draft's delivery."""
    return [issue for issue in tracker.issues() if issue["reviewroom_id"] == draft["delivery"]["id"]]


def told(sink):
    """What the sink heard of each approval, in order; approvals among each other have none."""
    found = {}
    for line in sink.read_text().splitlines():
        details = json.loads(line)["details"]
        found.setdefault(details["approval_id"], []).append(details["class"])
    return found


def approve(callers, draft):
    for name in ("cleo", "ben"):
        assert callers[name].decide(draft).status == 200


def test_an_edited_ticket_is_approved_again_written_once_and_confirmed(callers, tracker, tmp_path):
    bot, cleo = callers["reply-bot"], callers["cleo"]

    # Proposed by HTTP, approved by two; then one detail changes, and the approval is worth nothing.
    first = bot.post("/v1/drafts", proposal(LIFT)).body
    path = f"/v1/drafts/{first['id']}"
    approve(callers, first)
    assert bot.get(path).body["state"] == "approved"
    changed = {"payload": LIFT | {"details": "A person is inside."}}
    edited = bot.put(path, changed, If_Match=f'"{first["version"]}"').body
    assert (edited["state"], edited["version"], edited["approval"]["approvals_counted"]) == ("in_review", 2, 0)
    assert dict(dispatch.run()) == {}
    refused = cleo.decide(first, "reject")
    assert (refused.status, refused.body["code"], refused.body["current"]["digest"]) == (
        409,
        "superseded",
        edited["digest"],
    )

    # Approved as it is now, it is written once and reads back equal.
    approve(callers, edited)
    assert dict(dispatch.run()) == {"delivered": 1}
    assert bot.get(path).body["state"] == "submitted"
    assert dict(reconcile.run()) == {"confirmed": 1}
    done = bot.get(path).body
    assert (done["state"], done["delivery"]["verification"]) == ("confirmed", "equal")
    (issue,) = issues(tracker, done)
    assert (issue["id"], issue["title"], issue["room"], issue["details"]) == (
        done["delivery"]["remote_id"],
        "Lift 2 is stuck on floor 3",
        "Lift 2",
        "A person is inside.",
    )

    # Nothing is left to do, the sink has every event once, and the record agrees with itself.
    assert dict(dispatch.run()) == {}
    assert dict(drain.run()) == {"drained": 4}
    assert told(tmp_path / "sink.jsonl") == {
        first["approval"]["id"]: ["issuance", "supersession"],
        edited["approval"]["id"]: ["issuance", "use"],
    }
    assert list(verify.problems()) == []


def test_a_ticket_whose_answer_was_lost_is_found_and_not_written_twice(callers, tracker, monkeypatch):
    bot = callers["reply-bot"]
    draft = bot.post("/v1/drafts", proposal(LIFT | {"summary": "The answer gets lost"})).body
    path = f"/v1/drafts/{draft['id']}"
    approve(callers, draft)

    # The worker is killed after the tracker has made the ticket and before it could record so.
    def killed(*args, **kwargs):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(dispatch, "_recorded", killed)
        with pytest.raises(KeyboardInterrupt):
            dispatch.run(concurrency=1)
    assert bot.get(path).body["state"] == "submitting"

    # Its lease ends: nobody knows, and nothing is sent on a guess.
    later = later_by(minutes=5)
    assert dict(sweep.run(clock=later)) == {"unknown": 1}
    assert bot.get(path).body["state"] == "delivery_unknown"
    assert dict(dispatch.run(clock=later)) == {}

    # A look-up by the delivery id finds the one ticket.
    assert dict(reconcile.run(clock=later)) == {"found": 1}
    assert dict(reconcile.run(clock=later)) == {"confirmed": 1}
    done = bot.get(path).body
    assert (done["state"], len(issues(tracker, done))) == ("confirmed", 1)
    assert list(verify.problems()) == []


def later_by(**duration):
    return lambda: database_now() + timedelta(**duration)
