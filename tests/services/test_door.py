"""The door of every verb: one transaction, retried when another was faster; refusals kept after the rollback."""

from collections.abc import Callable

import pytest
from django.db import OperationalError, connection, transaction

from approvals.domain import errors
from approvals.models import AuditEvent, Room
from approvals.permissions import Verb
from approvals.services import door
from approvals.services.door import Subject
from tests.cast import Story
from tests.services.record import refusals


def run(story: Story, body: Callable[[], object], **more: object) -> object:
    return door.run(body, actor=story.actor("ada"), verb=Verb.SUBMIT, **more)


class Stumbles:
    """A body that renames the room, and fails the first few times."""

    def __init__(self, error: Exception, times: int) -> None:
        self.error, self.left, self.calls = error, times, 0

    def __call__(self) -> str:
        self.calls += 1
        Room.objects.update(name=f"call {self.calls}")
        if self.calls <= self.left:
            raise self.error
        return "done"


def _deadlock(sqlstate: str = "40P01") -> OperationalError:
    error = OperationalError("the server says so")
    error.__cause__ = type("Cause", (Exception,), {"sqlstate": sqlstate})()
    return error


@pytest.mark.parametrize("error", [errors.LostRace("moved"), _deadlock(), _deadlock("40001")])
@pytest.mark.parametrize("times", [1, 2, 3])
def test_a_lost_race_is_run_again_up_to_three_times(story: Story, error: Exception, times: int) -> None:
    body = Stumbles(error, times)
    assert run(story, body) == "done"
    assert body.calls == times + 1
    assert Room.objects.get().name == f"call {times + 1}"


@pytest.mark.parametrize("error", [errors.LostRace("moved"), _deadlock()])
def test_a_race_lost_four_times_is_a_refusal_and_no_error(story: Story, error: Exception) -> None:
    body = Stumbles(error, 99)
    with pytest.raises(errors.Unavailable, match="Try again"):
        run(story, body)
    assert body.calls == 4
    assert Room.objects.get().name == "Facilities tickets"
    assert refusals() == [("submit.refused", "unavailable")]


@pytest.mark.parametrize("error", [KeyError("x"), OperationalError("disk full"), _deadlock("53100")])
def test_any_other_error_is_loud_at_once_and_keeps_nothing(story: Story, error: Exception) -> None:
    body = Stumbles(error, 99)
    with pytest.raises(type(error)):
        run(story, body)
    assert body.calls == 1
    assert Room.objects.get().name == "Facilities tickets"
    assert refusals() == []


def _refuse(**data: object) -> Callable[[], None]:
    def body() -> None:
        Room.objects.update(name="changed")
        raise errors.WrongState("No.", **data)

    return body


def test_a_refusal_rolls_back_and_is_kept(story: Story) -> None:
    with pytest.raises(errors.WrongState):
        run(story, _refuse(), subject=Subject(room_id=Room.objects.get().pk))
    assert Room.objects.get().name == "Facilities tickets"
    assert AuditEvent.objects.order_by("id").last().chain.key == f"room:{Room.objects.get().pk}"


def test_what_a_refusal_calls_for_runs_after_the_rollback(lasting_story: Story) -> None:
    open_then: list[bool] = []
    remedy = lambda: open_then.append(connection.in_atomic_block)  # noqa: E731
    with pytest.raises(errors.WrongState):
        run(lasting_story, _refuse(remedy=remedy))
    assert open_then == [False]


def test_a_remedy_that_came_too_late_changes_nothing_about_the_refusal(story: Story) -> None:
    with pytest.raises(errors.WrongState, match=r"^No\.$"):
        run(story, _refuse(remedy=lambda: run(story, _refuse())))
    assert len(refusals()) == 2


def test_a_refusal_names_the_draft_it_is_about(story: Story) -> None:
    draft = story.propose()
    with pytest.raises(errors.WrongState) as refused:
        run(story, _refuse(), subject=Subject(draft_id=draft.pk))
    assert refused.value.draft_id == draft.pk
    assert AuditEvent.objects.order_by("id").last().draft == draft


def test_a_door_opens_into_no_other_transaction(lasting_story: Story) -> None:
    with transaction.atomic(), pytest.raises(RuntimeError, match="durable"):
        run(lasting_story, lambda: "done")


def test_a_body_outside_of_a_door_is_stopped(lasting_story: Story) -> None:
    with pytest.raises(RuntimeError, match="inside a transaction"):
        door.in_transaction()
    with transaction.atomic():
        door.in_transaction()
