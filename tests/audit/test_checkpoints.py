"""Checkpoints at the sink: what a chain alone cannot show, a cut tail or a history written anew, is noticed there."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
import rfc8785

from approvals.models import AuditChain, AuditEvent, ChainCheckpoint, Draft, Heartbeat, OutboxEvent
from tests.audit.conftest import Verify, beat, edit_sink, event, kinds, lift_walls, public_keys
from tests.cast import Story

pytestmark = pytest.mark.broken_on_purpose


@pytest.fixture
def told(story: Story, sink: Path) -> Draft:
    """A draft with a history of which the sink has had three heartbeats, and no walls."""
    draft = story.approved()
    beat(story, sink)
    story.propose(payload={"summary": "The door"})
    beat(story, sink)
    beat(story, sink)
    lift_walls()
    return draft


def chain_of(draft: Draft) -> str:
    return f"draft:{draft.pk}"


def write_anew(chain: str, seq: int, **changes: Any) -> None:
    """Alters an event and hashes everything after it again, head included: a chain that is whole in itself."""
    head = AuditChain.objects.get(key=chain)
    link = ""
    for row in AuditEvent.objects.filter(chain=head, seq__gte=seq).order_by("seq"):
        body = json.loads(row.body) | (changes if row.seq == seq else {"prev_hash": link})
        text = rfc8785.dumps(body).decode()
        link = hashlib.sha256(text.encode()).hexdigest()
        columns = {"body": text, "hash": link, "prev_hash": body["prev_hash"], "action": body["action"]}
        AuditEvent.objects.filter(pk=row.pk).update(**columns)
    AuditChain.objects.filter(pk=head.pk).update(head=link)


def cut(chain: str, to: int) -> None:
    """Takes the end off, and sets the head back so that the chain looks whole."""
    head = AuditChain.objects.get(key=chain)
    AuditEvent.objects.filter(chain=head, seq__gt=to).delete()
    AuditChain.objects.filter(pk=head.pk).update(seq=to, head=event(chain, to).hash)


def forget_checkpoints() -> None:
    """What a thorough attacker does as well."""
    ChainCheckpoint.objects.all().delete()


def test_an_untouched_database_agrees_with_its_sink(told: Draft, sink: Path, verify: Verify) -> None:
    assert verify("--checkpoints", sink) == []


def test_a_cut_tail_is_noticed_against_the_sink(told: Draft, sink: Path, verify: Verify) -> None:
    cut(chain_of(told), to=4)
    forget_checkpoints()
    assert "cut tail" not in [fault["kind"] for fault in verify()]
    found = verify("--checkpoints", sink)[0]
    assert (found["kind"], found["chain"], found["seq"]) == ("cut tail", chain_of(told), 5)
    assert "heartbeat 1 told of event" in found["problem"]


def test_a_cut_tail_is_noticed_without_the_sink_where_the_database_was_not_cleaned(told: Draft, verify: Verify) -> None:
    cut(chain_of(told), to=4)
    assert kinds(verify())[0] == ("cut tail", chain_of(told), 5)


def test_a_history_written_anew_is_noticed_against_the_sink(told: Draft, sink: Path, verify: Verify) -> None:
    last = AuditChain.objects.get(key=chain_of(told)).seq
    write_anew(chain_of(told), 2, action="nothing.happened")
    forget_checkpoints()
    assert verify() == []
    assert kinds(verify("--checkpoints", sink)) == [("forked", chain_of(told), last)]


def test_a_chain_that_is_gone_altogether_is_noticed_against_the_sink(told: Draft, sink: Path, verify: Verify) -> None:
    forget_checkpoints()
    AuditEvent.objects.filter(chain__key="room:1").delete()
    room = AuditChain.objects.get(key__startswith="room:")
    AuditEvent.objects.filter(chain=room).delete()
    room.delete()
    assert ("cut tail", room.key, 1) in kinds(verify("--checkpoints", sink))


def test_what_happened_after_the_last_heartbeat_is_no_fault(
    story: Story, told: Draft, sink: Path, verify: Verify
) -> None:
    story.propose(payload={"summary": "The roof"})
    assert verify("--checkpoints", sink) == []


def test_a_tail_that_no_heartbeat_told_of_can_be_cut_unnoticed(
    story: Story, told: Draft, sink: Path, verify: Verify
) -> None:
    """The limit of it, written down: what the sink has not heard of yet."""
    late = story.propose(payload={"summary": "The roof"})
    seq = AuditChain.objects.get(key=chain_of(late)).seq
    cut(chain_of(late), to=seq - 1)
    assert verify("--checkpoints", sink) == []


def test_a_database_put_back_to_an_earlier_moment_is_noticed(told: Draft, sink: Path, verify: Verify) -> None:
    OutboxEvent.objects.filter(counted_in=3).update(counted_in=None)
    Heartbeat.objects.filter(number=3).delete()
    assert any("put back to an earlier moment" in fault["problem"] for fault in verify("--checkpoints", sink))


# The sink's own lines


def test_repetitions_and_another_order_are_no_fault(told: Draft, sink: Path, verify: Verify) -> None:
    edit_sink(sink, lambda lines: [*reversed(lines), lines[0]])
    lines = sink.read_text().splitlines()
    sink.write_text("\n".join([*lines[:-1], lines[-1], lines[0], '{"half a li']) + "\n")
    assert [fault for fault in verify("--checkpoints", sink) if "other bytes" not in fault["problem"]] == []


def test_a_heartbeat_that_is_missing_is_named(told: Draft, sink: Path, verify: Verify) -> None:
    edit_sink(sink, lambda lines: [line for line in lines if _number(line) != 2])
    assert any("Heartbeats 2 to 2 are missing" in fault["problem"] for fault in verify("--checkpoints", sink))


def test_an_altered_heartbeat_is_named(told: Draft, sink: Path, verify: Verify) -> None:
    def change(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
        for line in lines:
            if _number(line) == 1:
                line["details"]["statement"]["counts"]["revocation"] = 7
        return lines

    edit_sink(sink, change)
    assert any("heartbeat 1 does not match its digest" in fault["problem"] for fault in verify("--checkpoints", sink))


def test_a_heartbeat_signed_by_another_is_named(told: Draft, sink: Path, verify: Verify, settings: Any) -> None:
    settings.REVIEWROOM_SIGNING_KEY_FILE.unlink()
    public_keys(sink.parent)
    found = verify("--checkpoints", sink, "--keys", sink.parent / "jwks.json")
    assert len([fault for fault in found if "not signed with a key that is known here" in fault["problem"]]) == 3


def test_events_that_heartbeats_counted_and_the_sink_lacks_are_named(told: Draft, sink: Path, verify: Verify) -> None:
    edit_sink(sink, lambda lines: [line for line in lines if line["details"]["class"] != "issuance"])
    found = [fault["problem"] for fault in verify("--checkpoints", sink)]
    assert found == ["Heartbeats counted 1 events of the class issuance; the sink lacks 1 of them."]


def _number(line: dict[str, Any]) -> int | None:
    return line["details"].get("statement", {}).get("number")
