"""Every verb in every state of a draft: the table of states says which move; all others change nothing."""

from collections.abc import Callable
from uuid import uuid4

import pytest

from approvals.domain import errors
from approvals.domain.gate import Verdict
from approvals.domain.states import DRAFT
from approvals.domain.states import DraftState as T
from approvals.models import AuditEvent, Draft
from approvals.services.decide import Shown, decide, take_back
from approvals.services.dispatch import dispatch
from approvals.services.expire import expire
from approvals.services.ground import reopen_if_moved
from approvals.services.revise import Changes, revise, submit
from approvals.services.revoke import revoke, withdraw
from tests.cast import Story
from tests.services import states
from tests.services.record import rows


def _decide(verdict: Verdict) -> Callable[[Story, Draft], object]:
    def call(story: Story, draft: Draft) -> object:
        approval = draft.approval
        shown = Shown(approval.pk, approval.version, approval.digest) if approval else Shown(uuid4(), 1, "sha256:0")
        return decide(actor=story.actor("cleo"), clock=story.clock, shown=shown, verdict=verdict)

    return call


def _submit(story: Story, draft: Draft) -> object:
    return submit(actor=story.actor("ada"), clock=story.clock, draft_id=draft.pk)


def _rework(story: Story, draft: Draft) -> object:
    changes, version = Changes(payload={"summary": "Both lifts"}), draft.version
    ada, clock = story.actor("ada"), story.clock
    return revise(actor=ada, clock=clock, draft_id=draft.pk, version=version, changes=changes, submit=False)


def _take_back(story: Story, draft: Draft) -> object:
    return take_back(actor=story.actor("ben"), clock=story.clock, approval_id=draft.approval_id or uuid4())


def _revoke(story: Story, draft: Draft) -> object:
    approval_id = draft.approval_id or uuid4()
    return revoke(actor=story.actor("max"), clock=story.clock, approval_id=approval_id, reason="Wrong lift.")


def _withdraw(story: Story, draft: Draft) -> object:
    return withdraw(actor=story.actor("ada"), clock=story.clock, draft_id=draft.pk, reason="Mended.")


def _expire(story: Story, draft: Draft) -> object:
    approval = draft.approval
    if approval is None:
        return None
    story.clock.now = max(story.clock.now, approval.expires_at)
    return expire(approval_id=approval.pk, clock=story.clock)


def _begin(story: Story, draft: Draft) -> object:
    return states.send(story)


def _press(story: Story, draft: Draft) -> object:
    return dispatch(actor=story.actor("max"), clock=story.clock, draft_id=draft.pk)


def _ground_still(story: Story, draft: Draft) -> object:
    return draft.approval_id and reopen_if_moved(approval_id=draft.approval_id, clock=story.clock)


VERBS: dict[str, Callable[[Story, Draft], object]] = {
    "submit": _submit,
    "rework": _rework,
    "reopen": _take_back,
    "approve": _decide(Verdict.APPROVE),
    "request_changes": _decide(Verdict.REQUEST_CHANGES),
    "reject": _decide(Verdict.REJECT),
    "revoke": _revoke,
    "withdraw": _withdraw,
    "expire": _expire,
    "begin": _begin,
}
"""The verb of the table, and what people, sweeper and dispatcher do for it."""

LANDS = {"begin": T.SUBMITTED}
"""What the dispatcher begins it also finishes."""
ALSO_MOVES = {
    (T.DRAFT, "rework"): T.DRAFT,
    (T.IN_REVIEW, "rework"): T.IN_REVIEW,
    (T.APPROVED, "rework"): T.IN_REVIEW,
    (T.IN_REVIEW, "reopen"): T.IN_REVIEW,
}
"""A new revision, or a decision taken back, that keeps the state or goes by another verb's edge."""
RETRACTION = {T.RETRACTING, T.RETRACTED, T.RETRACTION_UNKNOWN, T.RETRACTION_FAILED}
SPENT = {T.SUBMITTING, T.SUBMITTED, T.CONFIRMED, T.DELIVERY_UNKNOWN, T.FAILED, *RETRACTION}
SILENT = {
    *((state, verb) for state in T for verb in ("expire", "begin")),  # workers find nothing to do
    (T.IN_REVIEW, "submit"),
    (T.APPROVED, "submit"),
    *((state, "approve") for state in (T.APPROVED, *SPENT)),  # cleo's answer is recorded already
}
"""Changes nothing and is no refusal: what was asked for is so already."""
OF_THE_APPROVAL = {"approve", "request_changes", "reject", "reopen", "revoke"}
ENDS = {T.EXPIRED: errors.Expired, T.REVOKED: errors.Revoked, T.DRAFT: errors.NotFound}

EVERY = [(state, verb) for state in states.BUILD for verb in VERBS if (state, verb) != (T.RETRACTING, "begin")]
"""Every pair but the one in which the dispatcher has work that is no beginning: see the delivery verbs."""
TABLE = {(source, edge.verb): T(edge.target) for edge in DRAFT.edges for source in edge.sources if edge.verb in VERBS}
MOVES = [pair for pair in EVERY if pair in TABLE or pair in ALSO_MOVES]
REFUSED = [pair for pair in EVERY if pair not in MOVES and pair not in SILENT]


def _conflict(state: T, verb: str) -> type[errors.Refusal]:
    """The typed conflict: spent authority and ended approvals say so, everything else is a wrong state."""
    if state in SPENT:
        return errors.Consumed
    return ENDS.get(state, errors.WrongState) if verb in OF_THE_APPROVAL else errors.WrongState


def test_every_state_can_be_reached() -> None:
    assert set(states.BUILD) == set(T)


@pytest.mark.parametrize(("state", "verb"), MOVES)
def test_an_edge_of_the_table_moves_the_draft(a_draft: Callable[[T], Draft], story: Story, state: T, verb: str) -> None:
    draft = a_draft(state)
    VERBS[verb](story, draft)
    expected = LANDS.get(verb) or TABLE.get((state, verb)) or ALSO_MOVES[state, verb]
    after = story.again(draft)
    assert after.state == expected
    assert after.seq > draft.seq


@pytest.mark.parametrize(("state", "verb"), REFUSED)
def test_any_other_pair_is_refused_and_changes_nothing(
    a_draft: Callable[[T], Draft], story: Story, state: T, verb: str
) -> None:
    draft = a_draft(state)
    before, heard = rows(), set(AuditEvent.objects.values_list("id", flat=True))
    with pytest.raises(_conflict(state, verb)) as refused:
        VERBS[verb](story, draft)
    assert type(refused.value) is _conflict(state, verb)
    assert rows() == before
    assert [event.outcome for event in AuditEvent.objects.exclude(id__in=heard)] == ["refused"]


@pytest.mark.parametrize(("state", "verb"), sorted(SILENT & set(EVERY) - set(MOVES)))
def test_what_is_so_already_changes_nothing_and_is_no_refusal(
    a_draft: Callable[[T], Draft], story: Story, state: T, verb: str
) -> None:
    draft = a_draft(state)
    before, heard = rows(), AuditEvent.objects.count()
    VERBS[verb](story, draft)
    assert rows() == before
    assert AuditEvent.objects.count() == heard


@pytest.mark.parametrize("state", sorted(states.BUILD))
def test_nothing_goes_back_to_review_while_its_ground_stands(
    a_draft: Callable[[T], Draft], story: Story, state: T
) -> None:
    draft = a_draft(state)
    before, heard = rows(), AuditEvent.objects.count()
    assert not _ground_still(story, draft)
    assert (rows(), AuditEvent.objects.count()) == (before, heard)


@pytest.mark.parametrize("state", sorted(set(states.BUILD)))
def test_nobody_presses_send_where_the_channel_sends_by_itself(
    a_draft: Callable[[T], Draft], story: Story, state: T
) -> None:
    draft = a_draft(state)
    before = rows()
    with pytest.raises(errors.Consumed if state in SPENT else errors.WrongState):
        _press(story, draft)
    assert rows() == before
