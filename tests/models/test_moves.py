"""`save_move`: one conditional UPDATE that either writes everything or nothing."""

from datetime import timedelta

import pytest
from django.apps import apps
from django.db import transaction
from django_fsm import ConcurrentTransition, TransitionNotAllowed

from approvals.domain.errors import LostRace
from approvals.models import Approval, Draft
from approvals.models.moves import StateModel
from approvals.models.walls import MACHINE_OF
from tests.models.rows import LATER, change, run

pytestmark = pytest.mark.broken_on_purpose

VERBS = [(model, edge) for model, machine in MACHINE_OF.items() for edge in machine.edges]
REFUSED = [
    (model, edge.verb, state)
    for model, edge in VERBS
    for state in MACHINE_OF[model].states
    if state not in edge.sources
]
MISMATCHES = [
    {"version": 2},
    {"digest": "sha256:other"},
    {"target_version": 2},
    {"expires_at__gt": LATER},
    {"version": 1, "digest": "sha256:other"},
]


def lose(row: StateModel, *fields: str, **where: object) -> None:
    """Saves a move that must not be written, and leaves the transaction usable."""
    with pytest.raises(LostRace), transaction.atomic():
        row.save_move(*fields, **where)


@pytest.mark.parametrize(("model", "edge"), VERBS, ids=lambda value: getattr(value, "verb", value))
def test_a_verb_moves_a_row_to_the_state_of_its_edge(rows, model, edge):
    row = rows.in_state(model, edge.sources[0])
    getattr(row, edge.verb)()
    assert row.state == edge.target


@pytest.mark.parametrize(("model", "verb", "state"), REFUSED)
def test_a_verb_is_refused_in_every_other_state(model, verb, state):
    row = apps.get_model("approvals", model)(state=state)
    with pytest.raises(TransitionNotAllowed):
        getattr(row, verb)()


def test_a_move_writes_the_state_and_the_named_columns(rows):
    approval = rows["Approval"]
    approval.approve()
    approval.approved_at, approval.end_reason = LATER, "not named, so not written"
    approval.save_move("approved_at", version=1)
    assert Approval.objects.values_list("state", "approved_at", "end_reason").get() == ("approved", LATER, "")


def test_a_move_from_a_state_that_passed_is_lost(rows):
    rows["Approval"]
    one, other = Approval.objects.get(), Approval.objects.get()
    one.approve()
    one.save_move()
    other.reject()
    lose(other)
    assert Approval.objects.get().state == "approved"


@pytest.mark.parametrize("where", MISMATCHES, ids=str)
def test_a_move_whose_ground_is_gone_is_lost(rows, where):
    approval = rows["Approval"]
    approval.approve()
    lose(approval, **where)
    assert Approval.objects.get().state == "pending"


def test_a_lost_move_writes_none_of_its_columns(rows):
    approval = rows["Approval"]
    approval.approve()
    approval.end_reason = "lost"
    lose(approval, "end_reason", version=2)
    assert Approval.objects.get().end_reason == ""


@pytest.mark.parametrize(
    "where",
    [{"version": 1}, {"digest": "sha256:" + "a" * 64}, {"expires_at__gt": LATER - timedelta(microseconds=1)}],
    ids=str,
)
def test_a_move_on_its_ground_is_written(rows, where):
    approval = rows["Approval"]
    approval.approve()
    approval.save_move(**where)
    assert Approval.objects.get().state == "approved"


def test_a_move_of_a_row_that_is_not_there_is_lost(rows):
    draft = Draft.objects.get(pk=rows["Draft"].pk)
    draft.pk += 1
    draft.submit()
    lose(draft)


def test_the_next_move_does_not_ask_what_the_last_one_asked(rows):
    draft = rows["Draft"]
    draft.submit()
    draft.save_move(version=1)
    change(draft, version=2)
    draft.approve()
    draft.save_move()
    assert Draft.objects.get(pk=draft.pk).state == "approved"


def test_a_lost_move_leaves_no_condition_behind(rows):
    draft = rows["Draft"]
    draft.submit()
    lose(draft, version=2)
    draft.save_move(version=1)
    assert Draft.objects.get(pk=draft.pk).state == "in_review"


def test_two_moves_of_one_object_start_from_each_other(rows):
    draft = rows["Draft"]
    for verb in ("submit", "approve", "begin"):
        getattr(draft, verb)()
        draft.save_move()
    assert Draft.objects.get(pk=draft.pk).state == "submitting"


def test_a_lost_move_breaks_the_transaction_it_is_in(rows):
    """Nobody can catch it and commit the half that went before."""
    approval = rows["Approval"]
    approval.approve()
    with pytest.raises(transaction.TransactionManagementError), transaction.atomic():
        catch_and_go_on(approval)
    assert Approval.objects.get().state == "pending"


def catch_and_go_on(approval: Approval) -> None:
    try:
        approval.save_move(version=2)
    except LostRace:
        run("SELECT 1")


def test_an_ordinary_save_of_a_row_that_moved_on_is_refused_too(rows):
    rows["Draft"]
    one, other = Draft.objects.get(), Draft.objects.get()
    one.submit()
    one.save_move()
    other.title = "Written over a move"
    with pytest.raises(ConcurrentTransition), transaction.atomic():
        other.save()
    assert Draft.objects.get().title == "Lift"
