import pytest
from django.core.management import CommandError
from django.db import connection

from approvals.models import Approval, AuditChain, AuditEvent, Decision, OutboxEvent, Revision, walls
from approvals.services import verify
from approvals.workers import dispatch, reconcile


@pytest.fixture
def told(story):
    """A story with everything in it, and the walls down: what somebody with full access to the database could do."""
    draft = story.approved()
    dispatch.run(concurrency=1, clock=story.clock)
    reconcile.run(concurrency=1, clock=story.clock)
    lift_walls()
    return draft


def lift_walls():
    """Until the test's transaction is rolled back."""
    connection.check_constraints()  # PostgreSQL alters no table while deferred checks are open
    walls.drop(connection)


def faults():
    return [problem for problem in verify.problems() if "wall" not in problem]


def test_an_untouched_database_agrees(story, command):
    story.approved()
    assert command("verify_audit").startswith("Everything agrees: ")


def test_an_empty_database_agrees(db, command):
    assert command("verify_audit").startswith("Everything agrees")


def test_a_fault_is_exit_code_1(told, command):
    AuditEvent.objects.filter(draft=told, seq=3).update(action="nothing.happened")
    with pytest.raises(CommandError, match="faults") as caught:
        command("verify_audit")
    assert caught.value.returncode == 1


def test_an_altered_column_is_named(told):
    event = AuditEvent.objects.get(draft=told, seq=3)
    AuditEvent.objects.filter(pk=event.pk).update(actor="person:mallory")
    assert (
        faults()[0] == f"Chain draft:{told.pk}: event 3 (row {event.pk}) was altered: its actor differs from its body."
    )


def test_an_altered_body_is_named(told):
    event = AuditEvent.objects.get(draft=told, seq=2)
    AuditEvent.objects.filter(pk=event.pk).update(body=event.body.replace("ada", "eve"))
    assert f"event 2 (row {event.pk}) was altered: its body does not match its hash." in faults()[0]


def test_an_event_taken_out_of_the_middle_is_named(told):
    AuditEvent.objects.get(draft=told, seq=4).delete()
    assert "event 4 is missing" in faults()[0]


def test_a_tail_cut_off_is_named(told):
    AuditEvent.objects.filter(draft=told).order_by("-seq").first().delete()
    assert "its head speaks of event" in faults()[0]


def test_a_whole_history_taken_away_is_named(told):
    AuditEvent.objects.filter(draft=told).delete()
    assert faults()[:2] == [
        f"Chain draft:{told.pk}: all of its {chain_length(told)} events are gone.",
        f"RR-{told.pk} has no history.",
    ]


def chain_length(draft):
    return AuditChain.objects.get(key=f"draft:{draft.pk}").seq


def test_one_altered_character_of_the_bytes_is_named(told):
    revision = Revision.objects.get(draft=told)
    Revision.objects.filter(pk=revision.pk).update(canonical=bytes(revision.canonical).replace(b"stuck", b"stucK"))
    assert faults() == [f"RR-{told.pk} revision 1 (row {revision.pk}): its bytes do not match its digest."]


def test_bytes_altered_together_with_their_digest_are_named(told):
    other = "sha256:" + "0" * 64
    Revision.objects.filter(draft=told).update(digest=other)
    Approval.objects.filter(draft=told).update(digest=other)
    assert any("revision 1" in fault for fault in faults())


def test_a_forged_decision_is_named(told):
    decision = Decision.objects.first()
    decision.pk, decision.seq = None, 7
    decision.save(force_insert=True)
    assert f"RR-{told.pk} has other decisions than the history tells of." in faults()


def test_a_forged_approval_is_named(story):
    draft = story.propose()
    lift_walls()
    Approval.objects.filter(draft=draft).update(approved_at=story.clock.now)
    assert any("nobody approved it in the history" in fault for fault in faults())


def test_an_altered_outbox_event_is_named(told):
    event = OutboxEvent.objects.first()
    OutboxEvent.objects.filter(pk=event.pk).update(
        payload=event.payload.replace('"use"', '"issuance"').replace("-", "+")
    )
    assert any(f"Outbox event {event.event_id} (row {event.pk})" in fault for fault in faults())


@pytest.mark.broken_on_purpose
def test_a_combination_that_cannot_be_is_named(told):
    type(told).objects.filter(pk=told.pk).update(state="in_review")
    assert any(fault.startswith(f"RR-{told.pk} stands in a combination that cannot be") for fault in faults())


def test_missing_walls_are_named(told):
    assert any("is missing. Run manage.py migrate" in problem for problem in verify.problems())


def test_outside_a_transaction_it_reads_one_moment(lasting_story, command):
    lasting_story.approved()
    assert command("verify_audit").startswith("Everything agrees: ")


def test_json_has_what_was_checked_and_found(story, command):
    story.approved()
    assert '"problems": []' in command("verify_audit", "--format", "json")
