"""A message, from the proposal to the mailbox: to the recipients reviewers saw, once, and never again on a guess."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from approvals.domain.errors import InvalidPayload
from approvals.services.resolve import Finding, resolve
from approvals.workers import dispatch, reconcile, sweep
from tests.cast import CONFIG, Story
from tests.connectors.remote import hang_up
from tests.connectors.smtp.servers import Scripted, Server
from tests.workers.beats import delivery_of, stands

LETTER = {"subject": "The lift is stuck", "text": "On floor 3.\n"}


@pytest.fixture
def office(story: Story, settings: Any) -> Callable[..., None]:
    """Adds a channel of mail to the cast's room."""
    settings.REVIEWROOM_ALLOW_PRIVATE_TARGETS = True

    def add(port: int, **channel: Any) -> None:
        config = {"host": "127.0.0.1", "port": port, "security": "none", "sender": "room@example.org"}
        known = {"slug": "office", "connector": "smtp", "account": "office", "concurrency": "append", "config": config}
        document = copy.deepcopy(CONFIG)
        document["rooms"][0]["channels"].append({**known, "operations": {"mail.send": {}}, **channel})
        story.configure(document)

    return add


def letter(story: Story, **changes: Any) -> dict[str, Any]:
    return {"channel": "office", "operation": "mail.send", "resource": None, "payload": LETTER, **changes}


def test_a_letter_goes_to_whom_the_reviewers_saw(story: Story, office: Any, client: Client) -> None:
    with Server() as server:
        office(server.port, resource="ada@example.org, cleo@example.org")
        draft = story.approved(**letter(story))
        client.force_login(story.user["ben"])
        page = client.get(f"/drafts/{draft.pk}/?tab=bytes").content.decode()
        assert dict(dispatch.run(concurrency=1, clock=story.clock)) == {"delivered": 1}
        assert not dispatch.run(concurrency=1, clock=story.clock)
    [envelope] = server.mailbox.taken
    sent = envelope.original_content.decode()
    assert "ada@example.org, cleo@example.org" in page
    assert envelope.rcpt_tos == ["ada@example.org", "cleo@example.org"]
    assert f"Message-ID: {delivery_of(draft).remote_id}\r\n" in sent
    assert stands(draft) == ("submitted", "delivered", "idle")


def test_a_letter_with_a_lost_answer_waits_for_a_person(story: Story, office: Any) -> None:
    with Scripted(dot=hang_up) as server:
        office(server.port, resource="ada@example.org")
        draft = story.approved(**letter(story))
        assert dict(dispatch.run(concurrency=1, clock=story.clock)) == {"unknown": 1}
        for _ in range(5):
            story.clock.advance(hours=1)
            sweep.run(clock=story.clock)
            reconcile.run(concurrency=1, clock=story.clock)
            dispatch.run(concurrency=1, clock=story.clock)
        assert (stands(draft), len(server.contents)) == (("delivery_unknown", "unknown", "idle"), 1)
    finding = Finding("delivered", "Ada has it in her mailbox.", None)
    resolve(actor=story.actor("max"), clock=story.clock, delivery_id=delivery_of(draft).pk, finding=finding)
    assert stands(draft)[:2] == ("submitted", "delivered")


def test_a_letter_that_did_not_leave_is_the_same_letter_later(story: Story, office: Any) -> None:
    with Scripted(RCPT=[b"451 come back\r\n", b"250 ok\r\n"]) as server:
        office(server.port, resource="ada@example.org")
        draft = story.approved(**letter(story))
        first = dict(dispatch.run(concurrency=1, clock=story.clock))
        story.clock.advance(hours=1)
        second = dict(dispatch.run(concurrency=1, clock=story.clock))
    assert (first, second) == ({"not_sent": 1}, {"delivered": 1})
    assert server.contents[0].startswith(b"Date: Mon, 30 Nov 2026 12:00:00 +0000\r\n")
    assert stands(draft)[0] == "submitted"


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"payload": {**LETTER, "bcc": "dee@example.org"}}, "/payload/bcc"),
        ({"payload": {**LETTER, "subject": "Hi\r\nBcc: dee@example.org"}}, "/payload/subject"),
        ({"resource": "ada@example.org, dee@example.net"}, "/resource"),
        ({"resource": "ada"}, "/resource"),
    ],
)
def test_a_letter_to_somebody_else_is_refused_when_it_is_proposed(
    story: Story, office: Any, changes: dict[str, Any], pointer: str
) -> None:
    config = {"host": "127.0.0.1", "sender": "room@example.org", "recipient_domains": ["example.org"]}
    office(587, resource_pattern="*", config=config)
    with pytest.raises(InvalidPayload) as caught:
        story.propose(**{**letter(story), "resource": "ada@example.org", **changes})
    assert caught.value.pointer == pointer
