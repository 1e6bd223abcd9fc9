"""Expire: from the very instant `expires_at` on, nothing moves any more, whether somebody swept or not."""

import pytest

from approvals.domain import errors
from approvals.domain.gate import Verdict
from approvals.domain.states import DraftState
from approvals.models import AuditEvent, Draft
from approvals.services import begin, dispatch, give_up, holding
from approvals.services.expire import expire
from approvals.workers import sweep
from tests.cast import Story
from tests.services import states, variations
from tests.services.record import actions, emitted, last_event, outcome, refusals, rows


def to_the_end(story: Story, draft: Draft, seconds: float = 0) -> None:
    """Moves the clock to the approval's end, or that many seconds around it."""
    story.clock.now = story.approval(draft).expires_at
    story.clock.advance(seconds=seconds)


def sweep_all(story: Story) -> dict[str, int]:
    return dict(sweep.run(clock=story.clock))


@pytest.mark.parametrize("verdict", [Verdict.APPROVE, Verdict.REJECT, Verdict.REQUEST_CHANGES])
def test_at_equality_no_verdict_counts_and_the_expiry_is_kept(story: Story, verdict: Verdict) -> None:
    draft = states.build(story, DraftState.IN_REVIEW)
    to_the_end(story, draft)
    with pytest.raises(errors.Expired):
        story.decide(draft, "cleo", verdict)
    assert story.again(draft).state == "expired"
    assert story.approval(draft).decisions.count() == 1
    assert actions(draft)[-3:] == ["approval.expired", "draft.expired", "decide.refused"]


def test_one_second_earlier_it_is_approved(story: Story) -> None:
    draft = states.build(story, DraftState.IN_REVIEW)
    to_the_end(story, draft, seconds=-1)
    story.decide(draft, "cleo")
    assert story.again(draft).state == "approved"


def test_at_equality_nothing_is_sent_although_nobody_swept(story: Story) -> None:
    draft = story.approved()
    to_the_end(story, draft)
    assert states.send(story) == {"stopped": 1}
    assert story.again(draft).state == "expired"
    assert story.remote.sent == []


def test_one_second_earlier_it_is_sent(story: Story) -> None:
    draft = story.approved()
    to_the_end(story, draft, seconds=-1)
    assert states.send(story) == {"delivered": 1}


def test_time_that_runs_out_between_reserve_and_begin_sends_nothing(story: Story) -> None:
    draft = story.approved()
    to_the_end(story, draft, seconds=-1)
    hold = holding.reserve(actor=story.worker, clock=story.clock, target_id=draft.target_id, owner="w1")
    assert hold is not None
    story.clock.advance(seconds=1)
    before = rows()
    answer = begin.begin(actor=story.worker, clock=story.clock, hold=hold)
    assert rows() == before
    assert "expired" in answer.sentence
    give_up.give_up(actor=story.worker, clock=story.clock, hold=hold, answer=answer)
    assert story.again(draft).state == "expired"
    assert emitted() == ["issuance"]


@pytest.mark.parametrize("seconds", [0, -1])
def test_pressing_send_at_equality_is_refused(story: Story, seconds: int) -> None:
    story.configure(variations.policy(dispatch="manual"))
    draft = story.approved()
    to_the_end(story, draft, seconds=seconds)
    press = {"actor": story.actor("max"), "clock": story.clock, "draft_id": draft.pk}
    if seconds:
        assert dispatch.dispatch(**press).state == "approved"
    else:
        with pytest.raises(errors.Expired):
            dispatch.dispatch(**press)
        assert story.again(draft).state == "expired"


def test_sweeping_twice_makes_one_event(story: Story) -> None:
    draft = story.approved()
    to_the_end(story, draft)
    assert [sweep_all(story), sweep_all(story)] == [{"expired": 1}, {}]
    assert actions(draft).count("draft.expired") == 1
    assert last_event(action="draft.expired")["actor"]["label"] == "system:sweep_expired"


def test_sweeping_one_second_earlier_changes_nothing(story: Story) -> None:
    draft = story.approved()
    to_the_end(story, draft, seconds=-1)
    before = rows()
    assert sweep_all(story) == {}
    assert not expire(approval_id=story.approval(draft).pk, clock=story.clock)
    assert rows() == before


@pytest.mark.parametrize(("state", "what"), [(DraftState.IN_REVIEW, "review"), (DraftState.APPROVED, "send")])
def test_it_says_which_time_ran_out_and_tells_the_sink_nothing(story: Story, state: DraftState, what: str) -> None:
    draft = states.build(story, state)
    told = emitted()
    to_the_end(story, draft)
    sweep_all(story)
    assert story.again(draft).reason == f"The time to {what} it ran out."
    assert emitted() == told


def test_silence_never_approves_and_expired_is_not_rejected(story: Story) -> None:
    draft = states.build(story, DraftState.IN_REVIEW)
    to_the_end(story, draft)
    sweep_all(story)
    assert outcome(story.approval(draft)) == "expired"
    assert not AuditEvent.objects.filter(action__in=("approval.approved", "approval.rejected")).exists()


def test_approved_first_then_expired_is_lawful_and_the_other_way_round_is_not(story: Story) -> None:
    draft = states.build(story, DraftState.IN_REVIEW)
    to_the_end(story, draft)
    sweep_all(story)
    with pytest.raises(errors.Expired):
        story.decide(draft, "cleo")
    assert refusals() == [("decide.refused", "expired")]


def test_what_waits_for_its_time_does_not_expire_before(story: Story) -> None:
    then = story.clock.now.replace(month=12, day=20)
    draft = story.approved(not_before=then)
    story.clock.advance(days=10)
    assert sweep_all(story) == {}
    assert story.again(draft).state == "approved"
