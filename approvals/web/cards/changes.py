"""The difference between two bindings: destination first, then field by field; what stayed is named."""

from collections.abc import Iterator
from dataclasses import dataclass

from approvals.domain.binding import Binding, short
from approvals.web import diff
from approvals.web.cards import payload
from approvals.web.cards.payload import Field, Steps
from approvals.web.diff import Piece


@dataclass(frozen=True, slots=True)
class Side:
    number: int
    short: str


@dataclass(frozen=True, slots=True)
class PlaceChange:
    label: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class FieldChange:
    steps: Steps
    facts: str
    pieces: list[Piece]
    is_long: bool


@dataclass(frozen=True, slots=True)
class Difference:
    before: Side
    after: Side
    destination: tuple[PlaceChange, ...]
    fields: tuple[FieldChange, ...]
    unchanged: tuple[Field, ...]

    @property
    def unchanged_names(self) -> str:
        return ", ".join(" › ".join(map(payload.step_name, field.steps)) for field in self.unchanged)

    @property
    def changed(self) -> set[Steps]:
        return {field.steps for field in self.fields}

    @property
    def count(self) -> int:
        return len(self.fields) + len(self.destination)


def difference(before: Binding, after: Binding, *, numbers: tuple[int, int]) -> Difference:
    """Gives what differs between two bindings, as revisions with these numbers."""
    old = {field.steps: field for field in payload.fields(before.payload)}
    new = {field.steps: field for field in payload.fields(after.payload)}
    return Difference(
        before=Side(numbers[0], short(before.digest)),
        after=Side(numbers[1], short(after.digest)),
        destination=tuple(_places(before, after)),
        fields=tuple(_fields(old, new)),
        unchanged=tuple(field for steps, field in new.items() if old.get(steps) == field),
    )


def _places(before: Binding, after: Binding) -> Iterator[PlaceChange]:
    pairs = (
        ("connector", before.target.connector, after.target.connector),
        ("account", before.target.account, after.target.account),
        ("resource", before.target.resource, after.target.resource),
        ("operation", before.operation, after.operation),
    )
    return (PlaceChange(label, old, new) for label, old, new in pairs if old != new)


def _fields(old: dict[Steps, Field], new: dict[Steps, Field]) -> Iterator[FieldChange]:
    """Gives removed fields where they stood last, after the ones that are there now."""
    for steps, field in new.items():
        if steps not in old:
            yield FieldChange(steps, f"added: {field.facts}", diff.whole(field.value, "ins"), field.is_long)
        elif old[steps] != field:
            yield changed(old[steps], field)
    for steps, field in old.items():
        if steps not in new:
            yield FieldChange(steps, f"removed: {field.facts}", diff.whole(field.value, "del"), field.is_long)


def changed(old: Field, new: Field) -> FieldChange:
    """Gives the way from one value of a field to the other."""
    if old.is_text and new.is_text:
        return FieldChange(new.steps, new.facts, diff.compare(old.text, new.text), old.is_long or new.is_long)
    facts = new.facts if old.is_text == new.is_text else f"was {old.facts}, is {new.facts}"
    pieces = [*diff.whole(old.value, "del"), *diff.whole(new.value, "ins")]
    return FieldChange(new.steps, facts, pieces, is_long=False)
