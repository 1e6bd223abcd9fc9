"""Explain: every state in several circumstances has the sentence that says why, and the one that says what next."""

import copy
import json
from dataclasses import asdict

import pytest

from approvals.domain.states import DraftState as T
from approvals.models import Channel, Installation, Room, User
from approvals.services import cancel, holding, pause, retract
from approvals.services.begin import begin
from approvals.services.begin_retract import begin_retract
from approvals.services.checks import LOOKS_BEFORE_A_PERSON
from approvals.services.explain import explain
from approvals.services.revise import Changes, revise
from tests.cast import CONFIG
from tests.services import states
from tests.support.remote import (
    ABSENT,
    DIFFERS,
    EQUAL,
    FOUND,
    GONE,
    LOCKED_OUT,
    UNKNOWN,
    UNREADABLE,
)

CASES = {}


def case(state, *, why, then):
    """Registers a circumstance: the state it is shown in, a part of one reason, and a part of one next step."""

    def register(build):
        CASES[f"{state.value}: {build.__name__}"] = (state, build, why, then)
        return build

    return register


def in_state(state):
    return lambda story: states.build(story, state)


def able(story, slug, capabilities, **changes):
    """Configures what the connector of a channel can do."""
    document = copy.deepcopy(CONFIG)
    channel = next(item for item in document["rooms"][0]["channels"] if item["slug"] == slug)
    channel |= {"config": {"capabilities": capabilities}} | changes
    story.configure(document)


def begun(story, draft, gate=begin):
    """Has a worker reserve and begin, and then stops before it sends."""
    hold = holding.reserve(actor=story.worker, clock=story.clock, target_id=draft.target_id, owner="host:1")
    gate(actor=story.worker, clock=story.clock, hold=hold)
    return draft


def overdue(story, draft):
    story.clock.now = story.approval(draft).expires_at
    return draft


def looked(story, draft, times):
    """Has the remote asked again and again."""
    for _ in range(times):
        story.clock.advance(hours=3)
        states.read_back(story)
    return draft


def late(story, draft, kind="write"):
    """Gives a held delivery: its worker's answer comes after the outcome was settled otherwise."""
    draft.deliveries.filter(kind=kind).update(held_at=story.clock())
    return draft


def paused_room(story, draft):
    pause.pause_room(actor=story.actor("max"), clock=story.clock, room=draft.room, reason="Stocktaking.")
    return draft


@case(T.DRAFT, why="It was never submitted for review.", then="Its author edits and submits it.")
def untouched(story):
    return story.propose(submit=False)


@case(T.DRAFT, why="It is being reworked", then="Its author edits and submits it.")
def reworked(story):
    draft = states.build(story, T.CHANGES_REQUESTED)
    changes = Changes(payload={"summary": "Both lifts"})
    actor = story.actor("ada")
    revise(actor=actor, clock=story.clock, draft_id=draft.pk, version=1, changes=changes, submit=False)
    return draft


@case(
    T.IN_REVIEW, why="It waits for 1 more of 2 approvals.", then="Reviewers of the room decide on its page, until 2026-"
)
def half_approved(story):
    return states.build(story, T.IN_REVIEW)


@case(T.IN_REVIEW, why="It needs 1 from the group legal and has 0.", then="Reviewers of the room decide")
def without_a_group(story):
    Room.objects.update(policy={"required_approvals": 1, "requirements": [{"group": "legal", "minimum": 1}]})
    return story.propose()


@case(T.IN_REVIEW, why="The approval of ben does not count", then="Reviewers of the room decide")
def without_an_approver(story):
    draft = states.build(story, T.IN_REVIEW)
    User.objects.filter(username="ben").update(is_active=False)
    return draft


@case(T.IN_REVIEW, why="It has to be reviewed again.", then="Reviewers of the room decide")
def on_moved_ground(story):
    draft = story.propose()
    story.remote.flavour = "2"
    return draft


@case(T.IN_REVIEW, why="so there is nothing published to correct", then="withdraw it")
def correcting_what_is_gone(story):
    original = states.published(story)
    draft = story.propose(resource=states.REVIEW, payload={"comment": "Thanks"}, corrects=original.pk)
    undo(story, original)
    return draft


@case(T.CHANGES_REQUESTED, why="A reviewer asked for changes.", then="Its author edits it")
def asked_to_change(story):
    return states.build(story, T.CHANGES_REQUESTED)


@case(T.REJECTED, why="The reviewers said no.", then="Its author edits it")
def refused_by_reviewers(story):
    return states.build(story, T.REJECTED)


@case(T.EXPIRED, why="Its time ran out at 2026-12-07T12:00", then="Its author submits it again.")
def swept(story):
    return states.build(story, T.EXPIRED)


@case(T.EXPIRED, why="Its time ran out at 2026-12-07T12:00", then="Its author submits it again.")
def past_its_time_and_not_swept(story):
    return overdue(story, story.propose())


@case(T.REVOKED, why="Its approval was taken away", then="Its author submits it again if it is still wanted.")
def taken_away(story):
    return states.build(story, T.REVOKED)


@case(T.APPROVED, why="Nothing holds it back", then="check that run_worker is running")
def ready(story):
    return story.approved()


@case(T.APPROVED, why="whoever proposed it asked not to send it before", then="It is sent then, by itself.")
def for_later(story):
    return story.approved(not_before=story.clock.now.replace(year=2027))


@case(T.APPROVED, why="until then it can still be undone", then="It is sent then, by itself.")
def in_its_undo_window(story):
    Room.objects.update(policy={"required_approvals": 2, "dispatch_delay": "10s"})
    return story.approved()


@case(
    T.APPROVED, why="only when a person presses Send", then="A reviewer or an operator presses Send on its page, until"
)
def on_a_manual_channel(story):
    Channel.objects.update(policy={"dispatch": "manual"})
    return story.approved()


@case(
    T.APPROVED,
    why="room facilities is paused since 2026-11-30T12:00:00.000000Z by person:max: Stocktaking.",
    then="resume_channel --room facilities",
)
def in_a_paused_room(story):
    return paused_room(story, story.approved())


@case(T.APPROVED, why="the credentials (401).", then="resume_channel facilities/tickets")
def on_a_channel_that_paused_by_itself(story):
    story.approved()
    story.remote.receipts = [LOCKED_OUT]
    states.send(story)
    return story.approved(payload={"summary": "Another"})


@case(T.APPROVED, why="rendered differently", then="back to review at its next beat")
def rendered_otherwise_since(story):
    draft = story.approved()
    story.remote.flavour = "2"
    return draft


@case(T.APPROVED, why="The approval of cleo does not count", then="back to review at its next beat")
def with_an_approver_gone(story):
    draft = story.approved()
    User.objects.filter(username="cleo").update(is_active=False)
    return draft


@case(T.APPROVED, why="nothing published to correct", then="The dispatcher revokes it")
def correcting_too_late(story):
    original = states.published(story)
    draft = story.approved(resource=states.REVIEW, payload={"comment": "Thanks"}, corrects=original.pk)
    retract.retract(actor=story.actor("ben"), clock=story.clock, draft_id=original.pk, reason="Wrong shop.")
    return draft


@case(T.APPROVED, why="host:1 is busy with RR-", then="Its turn comes once that one is done")
def behind_one_that_is_being_sent(story):
    begun(story, story.approved())
    return story.approved(payload={"summary": "Another"})


@case(T.APPROVED, why="host:1 is busy with RR-", then="sweep_expired ends it")
def behind_one_whose_worker_is_gone(story):
    begun(story, story.approved())
    second = story.approved(payload={"summary": "Another"})
    story.clock.advance(minutes=10)
    return second


@case(T.APPROVED, why="may still arrive there.", then="manage.py explain RR-")
def behind_one_that_may_arrive(story):
    story.approved(resource=states.REVIEW)
    second = story.approved(resource=states.REVIEW, payload={"comment": "Thanks"})
    story.remote.receipts = [UNKNOWN]
    states.send(story)
    return second


@case(T.APPROVED, why="host:1 is busy with RR-", then="Its turn comes once that one is done")
def behind_a_retraction(story):
    first = states.build(story, T.RETRACTING)
    second = story.approved(resource=states.REVIEW, payload={"comment": "Thanks"})
    begun(story, first, begin_retract)
    return second


@case(T.APPROVED, why="On the same target 1 due longer goes first", then="Its turn comes after them")
def behind_an_older_one(story):
    story.approved()
    story.clock.advance(seconds=1)
    return story.approved(payload={"summary": "Another"})


@case(T.APPROVED, why="restored from a copy", then="the remote is asked first")
def in_a_restored_database(story):
    draft = story.approved()
    Installation.objects.update(adopted_at=story.clock.advance(seconds=1))
    return draft


@case(T.APPROVED, why="belongs to another installation", then="adopt_database")
def in_a_copied_database(story):
    draft = story.approved()
    Installation.objects.update(instance_id="elsewhere")
    return draft


@case(T.SUBMITTING, why="The next attempt is at 2026-11-30T12:00", then="can cancel it")
def not_sent(story):
    return states.build(story, T.SUBMITTING)


@case(T.SUBMITTING, why="The next attempt is due since 2026-11-30T12:00", then="dispatch_approved is run again")
def due_again(story):
    draft = states.build(story, T.SUBMITTING)
    story.clock.advance(hours=1)
    return draft


@case(T.SUBMITTING, why="channel facilities/tickets is paused", then="resume_channel facilities/tickets")
def locked_out(story):
    draft = story.approved()
    story.remote.receipts = [LOCKED_OUT]
    states.send(story)
    return draft


@case(T.SUBMITTING, why="The approval has expired.", then="The dispatcher cancels it at its next beat")
def waiting_past_its_time(story):
    return overdue(story, states.build(story, T.SUBMITTING))


@case(T.SUBMITTING, why="host:1 is sending it, since 2026-11-30T12:00", then="the outcome counts as unknown")
def being_sent(story):
    return begun(story, story.approved())


@case(T.SUBMITTING, why="host:1 was stopped, or hangs", then="The sweeper says that the outcome is unknown.")
def sent_by_a_worker_that_is_gone(story):
    draft = begun(story, story.approved())
    story.clock.advance(minutes=10)
    return draft


@case(T.SUBMITTING, why="says that the delivery was done after all", then="records what is there, with evidence")
def waiting_and_held(story):
    return late(story, states.build(story, T.SUBMITTING))


@case(T.DELIVERY_UNKNOWN, why="The remote is due to be asked since 2026-11-30T12:00", then="reconcile_deliveries")
def not_looked_up_yet(story):
    return states.build(story, T.DELIVERY_UNKNOWN)


@case(T.DELIVERY_UNKNOWN, why="The remote is asked at 2026-11-30T12:", then="reconcile_deliveries")
def absent_once(story):
    draft = states.build(story, T.DELIVERY_UNKNOWN)
    story.remote.lookups = [ABSENT]
    states.read_back(story)
    return draft


def absent_twice(story):
    draft = states.build(story, T.DELIVERY_UNKNOWN)
    story.remote.lookups = [ABSENT, ABSENT]
    states.rest(story)
    states.rest(story)
    return draft


@case(T.DELIVERY_UNKNOWN, why="It is proven absent", then="An operator presses Send again, until 2026-12-01")
def absent_for_good(story):
    return absent_twice(story)


@case(T.DELIVERY_UNKNOWN, why="so it covers no further send", then="records what is there, with evidence")
def absent_and_past_its_time(story):
    return overdue(story, absent_twice(story))


@case(T.DELIVERY_UNKNOWN, why=f"The remote was asked {LOOKS_BEFORE_A_PERSON} times", then="has the remote asked again")
def looked_up_in_vain(story):
    return looked(story, states.build(story, T.DELIVERY_UNKNOWN), LOOKS_BEFORE_A_PERSON)


@case(T.DELIVERY_UNKNOWN, why="This channel has no way to ask the remote.", then="“Not delivered” can be recorded from")
def where_nobody_can_look(story):
    able(story, "tickets", ["retract"])
    return states.build(story, T.DELIVERY_UNKNOWN)


@case(T.DELIVERY_UNKNOWN, why="The receiver drops repetitions, so it is sent again at", then="dispatch_approved")
def where_repetitions_are_dropped(story):
    able(story, "tickets", [], idempotent=True)
    return states.build(story, T.DELIVERY_UNKNOWN)


@case(T.FAILED, why="It was refused by the remote", then="An operator mends the cause and tries it again")
def refused_by_the_remote(story):
    return states.build(story, T.FAILED)


@case(T.FAILED, why="It was cancelled", then="An operator mends the cause and tries it again")
def cancelled(story):
    draft = states.build(story, T.SUBMITTING)
    return cancel.cancel(actor=story.actor("max"), clock=story.clock, draft_id=draft.pk, reason="No longer needed.")


@case(T.FAILED, why="so it covers no further send", then="Copy it into a new draft")
def refused_and_past_its_time(story):
    return overdue(story, states.build(story, T.FAILED))


@case(T.FAILED, why="says that the delivery was done after all", then="records what is there, with evidence")
def refused_and_held(story):
    return late(story, states.build(story, T.FAILED))


@case(T.SUBMITTED, why="has not been read back yet", then="reconcile_deliveries")
def not_read_back_yet(story):
    return states.build(story, T.SUBMITTED)


def read_as(story, *seen):
    draft = states.build(story, T.SUBMITTED)
    story.remote.verifications = list(seen)
    states.read_back(story)
    return draft


@case(T.SUBMITTED, why="reads back different from what was approved", then="Somebody looks at the remote.")
def read_different(story):
    return read_as(story, DIFFERS)


@case(T.SUBMITTED, why="is not there any more", then="Somebody looks at the remote.")
def read_gone(story):
    return read_as(story, GONE)


@case(T.SUBMITTED, why="12 tries could not read it back", then="An operator has it read back again")
def unreadable(story):
    draft = states.build(story, T.SUBMITTED)
    story.remote.verifications = [UNREADABLE] * LOOKS_BEFORE_A_PERSON
    return looked(story, draft, LOOKS_BEFORE_A_PERSON)


@case(T.CONFIRMED, why="reads back as approved", then="There is nothing left to do.")
def read_equal(story):
    return states.build(story, T.CONFIRMED)


@case(T.CONFIRMED, why="is to correct it and is in review.", then="There is nothing left to do.")
def with_a_correction_in_review(story):
    original = states.published(story)
    story.propose(resource=states.REVIEW, payload={"comment": "Thanks"}, corrects=original.pk)
    return original


def corrected_pair(story):
    original = states.published(story)
    story.clock.advance(seconds=1)
    newer = story.approved(resource=states.REVIEW, payload={"comment": "Thanks"}, corrects=original.pk)
    states.send(story)
    states.read_back(story)
    return original, newer


@case(T.CONFIRMED, why="corrected it since; what stands at the remote is that one's", then="nothing left to do")
def corrected(story):
    return corrected_pair(story)[0]


@case(T.CONFIRMED, why="It corrects RR-", then="There is nothing left to do.")
def a_correction(story):
    return corrected_pair(story)[1]


@case(T.RETRACTING, why="The next attempt is due since 2026-11-30T12:00", then="dispatch_approved")
def asked_to_take_back(story):
    return states.build(story, T.RETRACTING)


@case(T.RETRACTING, why="room facilities is paused since", then="resume_channel --room facilities")
def to_take_back_in_a_paused_room(story):
    return paused_room(story, states.build(story, T.RETRACTING))


@case(T.RETRACTING, why="A newer write stands at the target", then="The dispatcher cancels it at its next beat")
def to_take_back_what_was_overwritten(story):
    draft = states.published(story)
    story.clock.advance(seconds=1)
    story.approved(resource=states.REVIEW, payload={"comment": "Newer"})
    story.remote.receipts = [UNKNOWN]
    states.send(story)  # the newer one may have arrived, and is found only once the older is to be taken back
    retract.retract(actor=story.actor("ben"), clock=story.clock, draft_id=draft.pk, reason="Wrong shop.")
    story.remote.lookups = [FOUND]
    states.read_back(story)
    return draft


@case(T.RETRACTING, why="host:1 is sending it", then="the outcome counts as unknown")
def being_taken_back(story):
    return begun(story, states.build(story, T.RETRACTING), begin_retract)


@case(T.RETRACTING, why="only once it reads back as gone", then="reconcile_deliveries")
def taken_back_and_not_read_yet(story):
    draft = states.build(story, T.RETRACTING)
    states.send(story)
    return draft


@case(T.RETRACTED, why="it reads back as gone", then="There is nothing left to do.")
def taken_back(story):
    return states.build(story, T.RETRACTED)


@case(T.RETRACTION_UNKNOWN, why="it may still be public", then="reconcile_deliveries")
def answer_to_a_retraction_lost(story):
    return states.build(story, T.RETRACTION_UNKNOWN)


@case(T.RETRACTION_UNKNOWN, why=f"asked {LOOKS_BEFORE_A_PERSON} times", then="records what is there, with evidence")
def retraction_read_back_in_vain(story):
    draft = states.build(story, T.RETRACTION_UNKNOWN)
    story.remote.verifications = [UNREADABLE] * LOOKS_BEFORE_A_PERSON
    return looked(story, draft, LOOKS_BEFORE_A_PERSON)


@case(T.RETRACTION_UNKNOWN, why="This channel has no way to ask the remote.", then="retract it again")
def accepted_where_nobody_can_look(story):
    able(story, "replies", ["lookup", "retract"])
    draft = states.published(story)
    return undo(story, draft)


@case(T.RETRACTION_FAILED, why="the remote refused to take it back", then="An operator retracts it again")
def retraction_refused(story):
    return states.build(story, T.RETRACTION_FAILED)


@case(T.RETRACTION_FAILED, why="the retraction was cancelled", then="An operator retracts it again")
def retraction_cancelled(story):
    draft = states.build(story, T.RETRACTING)
    return cancel.cancel(actor=story.actor("max"), clock=story.clock, draft_id=draft.pk, reason="Leave it.")


@case(T.RETRACTION_FAILED, why="accepted the retraction and yet still shows it", then="An operator retracts it again")
def retraction_without_effect(story):
    draft = states.build(story, T.RETRACTING)
    states.send(story)
    story.remote.verifications = [EQUAL]
    states.rest(story)
    return draft


@case(T.RETRACTION_FAILED, why="A newer write stands at the target", then="take it back at the remote by hand")
def retraction_overtaken(story):
    draft = retraction_cancelled(story)
    story.clock.advance(seconds=1)
    story.approved(resource=states.REVIEW, payload={"comment": "Newer"})
    states.send(story)
    return draft


@case(T.RETRACTION_FAILED, why="says that the retraction was done after all", then="records what is there")
def retraction_refused_and_held(story):
    return late(story, states.build(story, T.RETRACTION_FAILED), "retract")


def undo(story, draft):
    """Has a published draft retracted and the undoing sent."""
    retract.retract(actor=story.actor("ben"), clock=story.clock, draft_id=draft.pk, reason="Wrong shop.")
    states.send(story)
    return draft


@pytest.mark.parametrize("name", CASES)
def test_every_circumstance_says_why_and_what_next(story, name):
    state, build, why, then = CASES[name]
    found = explain(build(story), now=story.clock())
    assert found.draft["state_now"] == state
    assert [line for line in found.because if why in line] != [], found.because
    assert [line for line in (*found.because, *found.next) if "None" in line] == []
    assert [line for line in found.next if then in line] != [], found.next


def test_every_state_is_in_the_table():
    assert {state for state, *_ in CASES.values()} == set(T)


@pytest.mark.parametrize("state", T)
def test_every_state_has_a_next_step(story, state):
    assert explain(states.build(story, state), now=story.clock()).next != []


@pytest.mark.parametrize("state", T)
def test_every_explanation_is_plain_data(story, state):
    found = asdict(explain(states.build(story, state), now=story.clock()))
    assert json.loads(json.dumps(found)) == found


@pytest.mark.parametrize("state", T)
def test_explaining_changes_nothing(story, state):
    draft = states.build(story, state)
    before = (story.again(draft).seq, list(draft.deliveries.values()))
    explain(draft, now=story.clock())
    assert (story.again(draft).seq, list(draft.deliveries.values())) == before
