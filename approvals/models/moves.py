"""State changes: the FSM method checks the edge, one conditional UPDATE decides the race.

django-fsm-2 4.2.4, measured: `permission=` is not enforced on a call, `protected=True` stops only assignment, and
`refresh_from_db()` lifts protection on the shared field. So FSM for the graph, services for the rules, the
conditional update for the race, database walls for everybody else; and rows are fetched anew, never refreshed.
"""

from collections.abc import Callable, Collection, Iterable
from typing import Any, Self

from django.db import models
from django_fsm import ConcurrentTransition, ConcurrentTransitionMixin, FSMField, transition

from approvals.domain.errors import LostRace
from approvals.domain.states import Machine


def state_field(machine: Machine, *, default: str | None = None) -> FSMField:
    """Gives the protected state column of a machine; plain text, so that migrations do not depend on the tables."""
    choices = [(str(state), state.replace("_", " ").capitalize()) for state in machine.states]
    return FSMField(choices=choices, default=str(default or machine.initial[0]), protected=True, max_length=24)


def move(machine: Machine, verb: str, field: FSMField) -> Callable[[Any], None]:
    """Gives the FSM method of one verb, its edge taken from the machine's table."""
    edge = machine.edge(verb)

    def method(self: Any) -> None: ...

    method.__name__ = verb
    method.__qualname__ = f"{machine.name}.{verb}"
    method.__doc__ = f"Moves to {edge.target}; save with `save_move`."
    return transition(field=field, source=list(edge.sources), target=edge.target)(method)


class StateModel(ConcurrentTransitionMixin, models.Model):
    """A row with a state, saved by one UPDATE that names the state it was read in and whatever else must hold."""

    class Meta:
        abstract = True

    _where: dict[str, Any] = {}

    def save_move(self, *fields: str, **where: Any) -> None:
        """Saves the state and `fields` if the row is still in the state it was read in and matches `where`.

        Inside atomic only. Raises LostRace when no row matched: nothing was written.
        """
        self._where = where
        try:
            self.save(update_fields=["state", *fields])
        except ConcurrentTransition as exc:
            raise LostRace(f"{self._meta.label} {self.pk} moved on") from exc
        finally:
            self._where = {}

    def _do_update(
        self,
        base_qs: models.QuerySet[Self],
        using: str | None,
        pk_val: Any,
        values: Collection[Any],
        update_fields: Iterable[str] | None,
        forced_update: bool,
        returning_fields: bool | None = None,
    ) -> bool:
        narrowed = base_qs.filter(**self._where)
        updated = super()._do_update(narrowed, using, pk_val, values, update_fields, forced_update)
        if not updated and update_fields is not None:
            # The mixin looks for the row in the narrowed rows; not there, Django would raise an error of its own.
            raise ConcurrentTransition(f"{self._meta.label} {pk_val} moved on")
        return updated
