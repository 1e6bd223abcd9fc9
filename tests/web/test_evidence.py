"""The table of attempts: every line with what was kept of the answer, whatever a connector keeps."""

import pytest

from approvals.connectors.base import Lookup, Outcome, Receipt, Sighting
from approvals.domain.states import DraftState as T
from approvals.services import begin, holding, record
from approvals.services.resolve import Finding, resolve
from approvals.web.cards import evidence
from tests.services import states

HTTP = {
    "url": "https://desk.example/tickets",
    "status": 503,
    "headers": {"retry-after": "120", "x-request-id": "b71e"},
    "body": "<b>busy</b> \u202eback",
    "complete": False,
    "timing": {"connect": 8.4, "tls": 21.0, "total": 371.3},
}
MAIL = {
    "url": "smtp://mail.example",
    "phase": "data",
    "replies": [{"phase": "rcpt", "code": 250, "text": "ok"}, {"phase": "data", "code": 451, "text": "later"}],
    "timing": {"data": 3.0},
}


def lines(tab, draft):
    return tab.open(draft, "?tab=delivery").context["page"].body.attempts


def sent(story, receipt):
    draft = story.approved()
    story.remote.receipts = [receipt]
    states.send(story)
    return draft


def test_a_line_shows_status_headers_timing_and_the_beginning_of_the_body(story, browse):
    draft = sent(story, Receipt(Outcome.UNKNOWN, "The remote answered 503.", evidence=HTTP))
    answer = browse("max").open(draft)
    kept = answer.context["page"].body.attempts[0]
    assert kept.status == "503"
    assert [fact.label for fact in kept.evidence.headers] == ["retry-after", "x-request-id"]
    assert kept.evidence.timing == "connect 8.4 ms, TLS 21.0 ms, in all 371.3 ms"
    assert kept.evidence.body_note.startswith("Only the beginning was kept")
    page = answer.content.decode()
    assert "&lt;b&gt;busy&lt;/b&gt;" in page
    assert "\u202e" not in page
    assert "hidden character: right-to-left override" in page


def test_a_dialogue_shows_its_lines_and_how_far_it_came(story, browse):
    draft = sent(story, Receipt(Outcome.REFUSED, "The mail server refused it.", evidence=MAIL))
    kept = lines(browse("max"), draft)[0]
    assert kept.status == "451"
    assert kept.evidence.said == "rcpt 250 ok\ndata 451 later"
    assert ("Came as far as", "DATA") in [(fact.label, fact.value) for fact in kept.evidence.facts]


@pytest.mark.parametrize(
    "kept", [{}, {"status": "odd"}, {"status": True}, {"headers": [1]}, {"timing": "fast"}, {"replies": {"a": 1}}, [1]]
)
def test_whatever_a_connector_keeps_makes_a_page(story, browse, kept):
    draft = sent(story, Receipt(Outcome.REFUSED, "No.", evidence=kept))
    assert browse("max").open(draft).status_code == 200
    assert lines(browse("max"), draft)[0].status == "none"


def test_what_has_no_place_of_its_own_is_shown_as_json():
    shown = evidence.evidence({"queue_id": {"a": [1]}})
    assert [(fact.label, fact.value) for fact in shown.facts] == [("Queue id", '{"a": [1]}')]


def test_every_attempt_names_its_worker(story, browse):
    facts = lines(browse("max"), states.build(story, T.SUBMITTED))[0].evidence.facts
    assert [fact.label for fact in facts] == ["Worker"]


def test_looks_and_sends_are_counted_apart(story, browse):
    draft = states.build(story, T.DELIVERY_UNKNOWN)
    story.remote.lookups = [Lookup(Sighting.UNKNOWN, "503", evidence=HTTP)]
    states.read_back(story)
    assert browse("max").open(draft).context["page"].body.summary.startswith("1 send, 1 check.")


def test_a_lost_attempt_is_not_said_to_be_running(story, browse):
    draft = story.approved()
    worker = story.worker
    hold = holding.reserve(actor=worker, clock=story.clock, target_id=draft.target_id, owner="courier-1")
    begun = begin.begin(actor=worker, clock=story.clock, hold=hold)
    assert [(line.outcome, line.took) for line in lines(browse("max"), draft)] == [("Sending now", "running")]
    story.clock.now = begun.lease_until
    record.lose(actor=worker, clock=story.clock, target_id=draft.target_id)
    assert [(line.outcome, line.took) for line in lines(browse("max"), draft)] == [("No answer recorded", "")]


def test_late_evidence_puts_a_failure_in_doubt_everywhere(story, browse):
    draft = story.approved()
    worker = story.worker
    hold = holding.reserve(actor=worker, clock=story.clock, target_id=draft.target_id, owner="courier-1")
    begun = begin.begin(actor=worker, clock=story.clock, hold=hold)
    story.clock.now = begun.lease_until
    record.lose(actor=worker, clock=story.clock, target_id=draft.target_id)
    story.clock.advance(seconds=300)
    finding = Finding("not_delivered", "I looked.")
    resolve(actor=story.actor("max"), clock=story.clock, delivery_id=hold.delivery_id, finding=finding)
    story.clock.advance(seconds=1)
    late = Receipt(Outcome.DELIVERED, "Created.", remote_id="issue42")
    record.record(actor=worker, clock=story.clock, attempt_id=begun.attempt_id, token=hold.token, receipt=late)
    page = browse("max").open(draft).context["page"]
    assert (page.state, page.plate.title) == (T.FAILED, "May have been written to")
    assert page.says == "Late evidence says that it may be there after all"
    assert "It is not there" not in page.rail.outcome.text
    assert page.body.lane.branch.title == "Late evidence: it may be there after all"
    assert [line.kind for line in page.body.attempts] == ["Send", "By a person", "Late"]


def test_a_poll_brings_the_table_only_when_a_line_was_added(story, browse):
    draft, tab = states.build(story, T.DELIVERY_UNKNOWN), browse("max")
    url = tab.open(draft).context["page"].body.poll_url
    same = tab.client.get(url, headers={"HX-Request": "true"}).content.decode()
    assert 'id="attempts"' not in same
    story.remote.lookups = [Lookup(Sighting.UNKNOWN, "503", evidence=HTTP)]
    states.read_back(story)
    more = tab.client.get(url, headers={"HX-Request": "true"}).content.decode()
    assert 'id="attempts"' in more
    assert 'hx-swap-oob="true"' in more
