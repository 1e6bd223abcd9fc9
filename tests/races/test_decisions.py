"""Two people, or a person and the clock or a worker, at the same instant: one of them wins, and lawfully."""

import copy
from datetime import timedelta

import pytest

from approvals.domain.errors import Conflict, Consumed, Expired, Revoked, WrongState
from approvals.domain.gate import Verdict
from approvals.models import AuditEvent, Decision, Draft, OutboxEvent
from approvals.services import revise, revoke
from approvals.services.decide import Decided, Shown, decide
from approvals.services.expire import expire
from approvals.services.revise import Changes
from approvals.workers import dispatch
from tests.cast import CONFIG, Story
from tests.races.threads import together

ROUNDS = 12


def needs_one(story: Story) -> None:
    """Lets one approval be enough, so that the first of two answers ends it."""
    document = copy.deepcopy(CONFIG)
    document["rooms"][0]["policy"]["required_approvals"] = 1
    story.configure(document)


def answer(story: Story, draft: Draft, by: str, verdict: Verdict = Verdict.APPROVE, via: str = "api") -> Decided:
    approval = story.approval(draft)
    shown = Shown(approval.pk, approval.version, approval.digest)
    return decide(actor=story.actor(by, via), clock=story.clock, shown=shown, verdict=verdict)


def withdraw(story: Story, draft: Draft) -> Draft:
    return revoke.withdraw(actor=story.actor("ada"), clock=story.clock, draft_id=draft.pk, reason="Mistaken")


def actions(draft: Draft) -> set[str]:
    return set(AuditEvent.objects.filter(draft=draft, outcome="success").values_list("action", flat=True))


def events(draft: Draft) -> list[str]:
    return list(OutboxEvent.objects.filter(approval__draft=draft).order_by("id").values_list("event_class", flat=True))


@pytest.mark.slow
def test_the_last_two_approvals_at_once_approve_once(lasting_story: Story) -> None:
    story = lasting_story
    for number in range(ROUNDS):
        draft = story.propose(payload={"summary": f"Ticket {number}"})
        found = together(lambda d=draft: answer(story, d, "ben"), lambda d=draft: answer(story, d, "cleo"))
        assert [decided.recorded for decided in found] == [True, True]
        assert story.again(draft).state == "approved"
        assert events(draft) == ["issuance"]


@pytest.mark.slow
def test_an_approval_and_a_rejection_at_once_have_one_winner(lasting_story: Story) -> None:
    story = lasting_story
    needs_one(story)
    for number in range(ROUNDS):
        draft = story.propose(payload={"summary": f"Ticket {number}"})
        yes, no = together(
            lambda d=draft: answer(story, d, "ben"), lambda d=draft: answer(story, d, "cleo", Verdict.REJECT)
        )
        assert isinstance(yes, WrongState) != isinstance(no, WrongState)
        won = "approved" if isinstance(yes, Decided) else "rejected"
        assert story.again(draft).state == won
        assert len(actions(draft) & {"approval.approved", "approval.rejected"}) == 1


def test_ten_clicks_of_one_person_count_once(lasting_story: Story) -> None:
    story = lasting_story
    draft = story.propose()
    doors = ["web", "api"] * 5
    found = together(*(lambda via=via: answer(story, draft, "ben", via=via) for via in doors))
    assert sum(decided.recorded for decided in found) == 1
    assert len({decided.decision.pk for decided in found}) == 1
    assert Decision.objects.count() == 1
    assert story.again(draft).state == "in_review"


@pytest.mark.slow
def test_an_approval_and_a_withdrawal_at_once(lasting_story: Story) -> None:
    story = lasting_story
    needs_one(story)
    for number in range(ROUNDS):
        draft = story.propose(payload={"summary": f"Ticket {number}"})
        decided, withdrawn = together(lambda d=draft: answer(story, d, "ben"), lambda d=draft: withdraw(story, d))
        assert isinstance(withdrawn, Draft)
        assert isinstance(decided, Decided | Revoked)
        assert story.again(draft).state == "revoked"
        assert events(draft) == (["issuance", "revocation"] if isinstance(decided, Decided) else ["revocation"])


@pytest.mark.slow
def test_an_approval_in_the_last_moment_and_the_sweeper(lasting_story: Story) -> None:
    story = lasting_story
    needs_one(story)
    for number in range(ROUNDS):
        draft = story.propose(payload={"summary": f"Ticket {number}"})
        approval = story.approval(draft)
        shown = Shown(approval.pk, approval.version, approval.digest)
        end = approval.expires_at
        decided, expired = together(
            lambda s=shown, end=end: decide(
                actor=story.actor("ben"), clock=lambda: end - timedelta(seconds=1), shown=s, verdict=Verdict.APPROVE
            ),
            lambda a=approval, end=end: expire(approval_id=a.pk, clock=lambda: end),
        )
        won = "expired" if expired else "approved"
        assert isinstance(decided, Expired if expired else Decided)
        assert (story.again(draft).state, story.approval(draft).state) == (won, won)


@pytest.mark.slow
def test_a_revocation_and_the_dispatcher(lasting_story: Story) -> None:
    story = lasting_story
    for number in range(ROUNDS // 2):
        draft = story.approved(payload={"summary": f"Ticket {number}"})
        approval, sent_before = story.approval(draft), len(story.remote.sent)
        revoked, _ = together(
            lambda a=approval: revoke.revoke(
                actor=story.actor("ben"), clock=story.clock, approval_id=a.pk, reason="Mistaken"
            ),
            lambda: dispatch.run(concurrency=1, clock=story.clock),
        )
        sent = len(story.remote.sent) - sent_before
        assert isinstance(revoked, Consumed if sent else Draft)
        assert story.again(draft).state == ("submitted" if sent else "revoked")
        assert events(draft) == ["issuance", "use" if sent else "revocation"]


@pytest.mark.slow
def test_an_edit_and_an_approval_at_once_never_approve_unseen_bytes(lasting_story: Story) -> None:
    story = lasting_story
    needs_one(story)
    for number in range(ROUNDS // 2):
        draft = story.propose(payload={"summary": f"Ticket {number}"})
        changes = Changes(payload={"summary": f"Ticket {number}, edited"})
        decided, revised = together(
            lambda d=draft: answer(story, d, "ben"),
            lambda d=draft, c=changes: revise.revise(
                actor=story.actor("ada"), clock=story.clock, draft_id=d.pk, version=1, changes=c
            ),
        )
        assert isinstance(decided, Decided | Conflict)
        assert revised.changed
        assert (story.again(draft).state, story.approval(draft).version) == ("in_review", 2)
        assert not story.approval(draft).decisions.exists()


def test_two_edits_of_one_version_keep_one(lasting_story: Story) -> None:
    story = lasting_story
    draft = story.propose()

    def edit(text: str) -> object:
        changes = Changes(payload={"summary": text})
        return revise.revise(actor=story.actor("ada"), clock=story.clock, draft_id=draft.pk, version=1, changes=changes)

    found = together(lambda: edit("One"), lambda: edit("Two"))
    assert sum(isinstance(item, Conflict) for item in found) == 1
    assert story.again(draft).version == 2
