"""The walls around the four machines: raw SQL makes exactly the moves of the tables, and no others."""

import pytest
from django.apps import apps
from django.db import IntegrityError, transaction

from approvals.models import walls
from approvals.models.moves import StateModel
from approvals.models.walls import MACHINE_OF
from tests.models.rows import Rows, change, insert_like

pytestmark = pytest.mark.broken_on_purpose

PAIRS = [(model, source, target) for model, machine in MACHINE_OF.items() for source, target in machine.all_pairs()]
LAWFUL = [case for case in PAIRS if case[1:] in MACHINE_OF[case[0]].pairs()]
UNLAWFUL = [case for case in PAIRS if case not in LAWFUL]
STATES = [(model, state) for model, machine in MACHINE_OF.items() for state in machine.states]
STILLBORN = [(model, state) for model, state in STATES if state not in MACHINE_OF[model].initial]


def born(rows: Rows, model: str, state: str) -> int:
    """Tries to bring a second row into the world in a state, with all that should go with it."""
    row = rows[model]
    apart = {
        "Approval": {"draft": Rows()["Draft"].pk},
        "Delivery": {"kind": "retract"},
        "DispatchClaim": {},
        "Draft": {},
    }
    if model == "DispatchClaim":
        apart[model] = {"target": Rows()["Target"].pk}
    if model in ("Approval", "Delivery"):
        apart[model]["id"] = "0" * 32
    return insert_like(row, state=state, **rows.company(model, state), **apart[model])


def test_every_model_with_a_state_has_a_machine():
    models = {
        model.__name__ for model in apps.get_app_config("approvals").get_models() if issubclass(model, StateModel)
    }
    assert models == set(MACHINE_OF)


@pytest.mark.parametrize(("model", "source", "target"), LAWFUL)
def test_a_move_of_the_table_passes_the_wall(rows, model, source, target):
    row = rows.in_state(model, source)
    assert change(row, state=target, **rows.company(model, target)) == 1


@pytest.mark.parametrize(("model", "source", "target"), UNLAWFUL)
def test_any_other_move_is_refused(rows, model, source, target):
    row = rows.in_state(model, source)
    with pytest.raises(IntegrityError, match="cannot move like this"):
        change(row, state=target, **rows.company(model, target))


@pytest.mark.parametrize("model", MACHINE_OF)
def test_a_state_nobody_knows_is_refused(rows, model):
    with pytest.raises(IntegrityError, match="cannot move like this"):
        change(rows[model], state="done")


@pytest.mark.parametrize("model", MACHINE_OF)
def test_no_state_at_all_is_refused(rows, model):
    with pytest.raises(IntegrityError):
        change(rows[model], state=None)


@pytest.mark.parametrize(("model", "state"), STATES)
def test_staying_in_a_state_is_no_move(rows, model, state):
    row = rows.in_state(model, state)
    assert change(row, state=state, **rows.company(model, state)) == 1


@pytest.mark.parametrize(("model", "state"), STILLBORN)
def test_a_row_is_not_born_in_a_later_state(rows, model, state):
    with pytest.raises(IntegrityError, match="is not born in this state"):
        born(rows, model, state)


@pytest.mark.parametrize(("model", "state"), [case for case in STATES if case not in STILLBORN])
def test_a_row_is_born_in_a_first_state(rows, model, state):
    assert born(rows, model, state) == 1


@pytest.mark.parametrize("model", MACHINE_OF)
def test_a_refused_move_changes_nothing(rows, model):
    row = rows[model]
    with pytest.raises(IntegrityError), transaction.atomic():
        change(row, state="nowhere")
    assert type(row).objects.get(pk=row.pk).state == row.state


def test_one_unlawful_row_stops_an_update_of_many(rows):
    lawful, unlawful = rows["Draft"], Rows().in_state("Draft", "submitting")
    with pytest.raises(IntegrityError), transaction.atomic():
        type(lawful).objects.update(state="in_review")
    assert [type(row).objects.get(pk=row.pk).state for row in (lawful, unlawful)] == ["draft", "submitting"]


def test_the_moves_are_written_into_the_walls_and_not_asked_for_at_run_time():
    """So that the database refuses on its own, whatever code talks to it."""
    jumps = [wall for wall in walls.walls("sqlite") if wall.name.startswith(f"{walls.PREFIX}_jump_")]
    assert [wall.table for wall in jumps] == [apps.get_model("approvals", model)._meta.db_table for model in MACHINE_OF]
