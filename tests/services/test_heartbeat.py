"""Heartbeat: one a slot, signed, counting every event once, telling where the chains stand; missed if absent."""

import base64
import json
from collections import Counter
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import rfc8785
from django.db import IntegrityError, transaction
from django.utils import timezone

from approvals.domain.actor import system
from approvals.domain.errors import NotFound, Unavailable
from approvals.models import AuditChain, ChainCheckpoint, Heartbeat, Installation, OutboxEvent
from approvals.selectors import attention, heartbeats
from approvals.services import heartbeat, signing, signing_keys
from approvals.services.heartbeat import KIND
from approvals.workers import drain
from approvals.workers import heartbeat as beat
from tests.cast import Story
from tests.workers.test_drain import ScriptedSink

CADENCE = 300


@pytest.fixture(autouse=True)
def _key(settings: Any, tmp_path: Path) -> None:
    settings.REVIEWROOM_SIGNING_KEY_FILE = tmp_path / "signing-key.json"
    settings.REVIEWROOM_HEARTBEAT_SECONDS = CADENCE


def emit(story: Story, **options: Any) -> int:
    return beat.run(clock=story.clock, **options)["emitted"]


def payloads() -> list[dict[str, Any]]:
    events = OutboxEvent.objects.filter(event_class="heartbeat").order_by("id")
    return [json.loads(event.payload) for event in events]


def statements() -> list[dict[str, Any]]:
    return [payload["details"]["statement"] for payload in payloads()]


def counts() -> Counter[str]:
    return sum((Counter(statement["counts"]) for statement in statements()), Counter())


def next_slot(story: Story) -> None:
    story.clock.advance(seconds=CADENCE)


# One a slot


def test_a_slot_has_one_heartbeat(story: Story) -> None:
    assert [emit(story), emit(story)] == [1, 0]
    story.clock.advance(seconds=CADENCE - 1)
    assert emit(story) == 0
    story.clock.advance(seconds=1)
    assert emit(story) == 1


def test_slots_are_the_same_for_every_worker_whenever_it_started(story: Story) -> None:
    story.clock.advance(seconds=17)
    emit(story)
    assert statements()[0]["slot_at"] == "2026-11-30T12:00:00.000000Z"
    assert statements()[0]["observed_at"] == "2026-11-30T12:00:17.000000Z"


def test_slots_that_passed_while_nobody_worked_stay_empty(story: Story) -> None:
    emit(story)
    story.clock.advance(seconds=5 * CADENCE)
    assert emit(story) == 1
    assert [statement["number"] for statement in statements()] == [1, 2]


def test_a_clock_that_goes_back_makes_no_second_heartbeat(story: Story) -> None:
    emit(story)
    story.clock.advance(seconds=-CADENCE)
    assert emit(story) == 0


def test_the_database_refuses_a_second_one_for_a_slot(story: Story) -> None:
    emit(story)
    first = Heartbeat.objects.get()
    twin = Heartbeat(number=2, slot_at=first.slot_at, event_id="0" * 32, created_at=first.created_at, digest="x")
    with pytest.raises(IntegrityError), transaction.atomic():
        twin.save(force_insert=True)


# What it says


def test_a_quiet_engine_says_that_there_is_nothing_to_report(story: Story) -> None:
    emit(story)
    statement = statements()[0]
    assert statement["nothing_to_report"] is True
    assert statement["counts"] == dict.fromkeys(("issuance", "use", "supersession", "revocation", "heartbeat"), 0)


def test_the_envelope_is_the_sinks(story: Story, settings: Any) -> None:
    settings.REVIEWROOM_TENANT, settings.REVIEWROOM_SCOPE, settings.REVIEWROOM_ISSUER = "acme", "shops", "engine-7"
    emit(story)
    payload, event = payloads()[0], OutboxEvent.objects.get()
    details = payload.pop("details")
    assert payload == {
        "schema_version": "audit-core.event.v1alpha1",
        "event_id": str(event.event_id),
        "observed_at": "2026-11-30T12:00:00.000000Z",
        "tenant": "acme",
        "scope": "shops",
        "source": "approval-engine",
        "actor": None,
        "action": "approval.heartbeat",
        "resource": "engine:engine-7",
        "outcome": "success",
        "reason": None,
    }
    assert (details["class"], details["approval_id"]) == ("heartbeat", None)
    assert event.approval is None


def test_the_statement_is_signed_with_the_published_key(story: Story) -> None:
    emit(story)
    details = payloads()[0]["details"]
    content = rfc8785.dumps(details["statement"])
    assert details["digest"] == "sha256:" + sha256(content).hexdigest()
    assert signing.is_signed(details["signature"], content, kind=KIND, keys=signing_keys.ring().published)
    header = json.loads(base64.urlsafe_b64decode(details["signature"].split(".")[0] + "=="))
    assert header["alg"] == "EdDSA"


def test_the_stored_bytes_are_canonical(story: Story) -> None:
    emit(story)
    text = OutboxEvent.objects.get().payload
    assert rfc8785.dumps(json.loads(text)).decode() == text


def test_each_names_the_digest_of_the_one_before(story: Story) -> None:
    for _ in range(3):
        emit(story)
        next_slot(story)
    told = [payload["details"] for payload in payloads()]
    assert [item["statement"]["checkpoint"]["previous"] for item in told] == [
        None,
        told[0]["digest"],
        told[1]["digest"],
    ]


def test_without_a_key_there_is_none_rather_than_an_unsigned_one(story: Story, settings: Any) -> None:
    settings.REVIEWROOM_SIGNING_KEY_FILE.write_text("no key")
    with pytest.raises(Unavailable):
        emit(story)
    assert not Heartbeat.objects.exists()
    assert not OutboxEvent.objects.exists()


def test_a_copied_database_says_nothing(story: Story) -> None:
    Installation.objects.update(instance_id="another")
    with pytest.raises(Unavailable, match="belongs to another"):
        emit(story)


# Counts


def test_every_event_is_counted_once_and_stamped(story: Story) -> None:
    story.approved()
    emit(story)
    next_slot(story)
    story.approved(payload={"summary": "The door"})
    emit(story)
    assert [statement["counts"]["issuance"] for statement in statements()] == [1, 1]
    assert [statement["nothing_to_report"] for statement in statements()] == [False, False]
    stamps = OutboxEvent.objects.order_by("id").values_list("event_class", "counted_in")
    assert list(stamps) == [("issuance", 1), ("heartbeat", 2), ("issuance", 2), ("heartbeat", None)]


def test_a_heartbeat_counts_the_ones_before_it(story: Story) -> None:
    for _ in range(3):
        emit(story)
        next_slot(story)
    assert [statement["counts"]["heartbeat"] for statement in statements()] == [0, 1, 1]


def test_what_is_drained_already_is_counted_too(story: Story) -> None:
    story.approved()
    drain.run(clock=story.clock, sink=ScriptedSink())
    emit(story)
    assert counts()["issuance"] == 1


def test_more_than_one_transaction_holds_is_counted_by_several_parts(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heartbeat, "STAMPED_AT_MOST", 3)
    for number in range(7):
        story.approved(payload={"summary": f"Lift {number}"})
    assert emit(story) >= 3
    assert counts()["issuance"] == 7
    found = statements()
    assert [statement["part"] for statement in found] == list(range(len(found)))
    assert [statement["has_more"] for statement in found] == [True] * (len(found) - 1) + [False]


def test_a_slot_that_was_interrupted_goes_on_where_it_stopped(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heartbeat, "STAMPED_AT_MOST", 3)
    for number in range(5):
        story.approved(payload={"summary": f"Lift {number}"})
    assert emit(story, batch_size=1) == 1
    assert emit(story) >= 1
    assert counts()["issuance"] == 5


# Checkpoints


def heads(statement: dict[str, Any]) -> dict[str, tuple[int, str]]:
    return {head["chain"]: (head["seq"], head["hash"]) for head in statement["checkpoint"]["heads"]}


def standing() -> dict[str, tuple[int, str]]:
    return {chain.key: (chain.seq, chain.head) for chain in AuditChain.objects.all()}


def test_the_first_tells_every_chain(story: Story) -> None:
    story.approved()
    emit(story)
    assert heads(statements()[0]) == standing()


def test_later_ones_tell_what_moved_since(story: Story) -> None:
    draft = story.propose()
    emit(story)
    next_slot(story)
    emit(story)
    story.decide(draft, "ben")
    next_slot(story)
    emit(story)
    assert [set(heads(statement)) for statement in statements()[1:]] == [set(), {f"draft:{draft.pk}"}]
    assert heads(statements()[2]).items() <= standing().items()


def test_a_head_that_went_back_is_told_so_that_the_sink_sees_it(story: Story) -> None:
    draft = story.propose()
    emit(story)
    AuditChain.objects.filter(key=f"draft:{draft.pk}").update(seq=1, head="a" * 64)
    next_slot(story)
    emit(story)
    assert heads(statements()[1]) == {f"draft:{draft.pk}": (1, "a" * 64)}


def test_five_hundred_heads_are_the_most_and_the_rest_follows(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heartbeat, "HEADS_AT_MOST", 2)
    for number in range(4):
        story.propose(payload={"summary": f"Lift {number}"})
    assert emit(story) == 3
    told = [heads(statement) for statement in statements()]
    assert [len(each) for each in told] == [2, 2, len(standing()) - 4]
    assert {chain: place for each in told for chain, place in each.items()} == standing()


def test_the_database_keeps_what_was_told_last(story: Story) -> None:
    draft = story.propose()
    for _ in range(2):
        emit(story)
        story.decide(draft, "ben" if _ == 0 else "cleo")
        next_slot(story)
    emit(story)
    rows = ChainCheckpoint.objects.values_list("chain__key", "seq", "head")
    assert {key: (seq, head) for key, seq, head in rows} == standing()


# Missed


def test_a_cadence_that_is_kept_misses_nothing(story: Story) -> None:
    emit(story)
    story.clock.advance(seconds=CADENCE + 29)
    assert heartbeats.missing_since(story.clock.now) is None
    assert heartbeats.missing(story.clock.now) == 0


def test_a_missed_one_says_since_when_and_how_many(story: Story) -> None:
    emit(story)
    due = story.clock.now + timedelta(seconds=CADENCE)
    story.clock.advance(seconds=CADENCE + 30)
    assert (heartbeats.missing_since(story.clock.now), heartbeats.missing(story.clock.now)) == (due, 1)
    story.clock.advance(seconds=2 * CADENCE)
    assert (heartbeats.missing_since(story.clock.now), heartbeats.missing(story.clock.now)) == (due, 3)


def test_where_none_was_ever_made_it_is_missing_since_the_history_began(story: Story) -> None:
    began = story.clock.now
    story.clock.advance(seconds=60)
    assert heartbeats.missing_since(story.clock.now) == began


def test_an_empty_database_misses_none(db: None) -> None:
    assert heartbeats.missing_since(timezone.now()) is None


def test_a_missing_one_waits_for_somebody(story: Story) -> None:
    emit(story)
    assert attention.WAITING["missing_heartbeats"]() == 0
    story.clock.advance(seconds=2 * CADENCE)
    assert attention.WAITING["missing_heartbeats"]() == 2


def test_only_the_system_makes_them(story: Story) -> None:
    with pytest.raises(NotFound):
        heartbeat.emit(actor=story.actor("max"), clock=story.clock)
    assert heartbeat.emit(actor=system("emit_heartbeat"), clock=story.clock) is not None
