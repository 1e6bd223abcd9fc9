"""Breadth first through every state of the model; a state is two records whose order does not matter."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from approvals.domain.states import ClaimState
from tests.model.clocks import starters
from tests.model.moves import moves
from tests.model.properties import ALONE, NEEDS, PEOPLE, broken_by, broken_in, is_at_rest, promised
from tests.model.record import Record, World, tidy
from tests.model.steps import NOTHING, offers, suffers

BITS = 24
MASK = (1 << BITS) - 1
NOBODY = "nobody"  # beside the only draft of a smaller world
Progress = Callable[[int, int], None]


class Step(NamedTuple):
    """A step of one record by numbers; `by_person` is what a way to rest must not need."""

    name: tuple[str, ...]
    after: int
    needs: int
    effect: int
    by_person: bool


class Shown(NamedTuple):
    """One step of a way: which draft took which step, and how both stand after it."""

    who: str
    name: tuple[str, ...]
    pair: tuple[Record, Record]


class Graph:
    """The states of one world, each with the state it was reached from.

    `broken` names, for each promise that was broken, a nearest state that breaks it. States behind one that breaks a
    promise of this world are not visited; where the world does not promise it, the walk goes on.
    """

    def __init__(self, world: World, watched: frozenset[str] = frozenset(NEEDS)) -> None:
        self.world, self.watched = world, watched
        self.promised = promised(world) & watched
        self.records: list[Record] = []
        self.parents: dict[int, int] = {}
        self.broken: dict[str, int] = {}
        self.step_count = self.depth = 0
        self._numbers: dict[Record, int] = {}
        self._steps: list[list[Step] | None] = []
        self._offers: list[int] = []
        self._suffered: list[dict[int, int]] = []
        self._wrong: list[str] = []
        self._starters: list[int] = []
        self._claims: list[bool] = []
        other = Record() if world.drafts == 2 else Record(draft=NOBODY)
        self.start = _pair(self.number(Record()), self.number(other))

    def explore(self, progress: Progress | None = None, *, until: str = "") -> "Graph":
        """Visits every state once, nearest first; or stops where the promise `until` is broken."""
        self.parents = {self.start: -1}
        layer = [self.start]
        while layer and until not in self.broken:
            self.depth += 1
            layer = self._next_layer(layer)
            if progress:
                progress(self.depth, len(self.parents))
        return self

    def restless(self) -> list[int]:
        """Gives the states from which no way leads to rest without a person."""
        calm = [is_at_rest(record) or record.draft == NOBODY for record in self.records]
        left = [state for state in self.parents if not (calm[state >> BITS] and calm[state & MASK])]
        rested = set(self.parents).difference(left)
        while True:
            still = []
            for state in reversed(left):
                if any(following in rested for following in self.following(state, people=False)):
                    rested.add(state)
                else:
                    still.append(state)
            still.reverse()
            if len(still) == len(left):
                return still
            left = still

    def following(self, state: int, *, people: bool = True) -> list[int]:
        """Gives the states one step away."""
        a, b = state >> BITS, state & MASK
        found = self._after(a, b, people)
        if a != b:
            found += self._after(b, a, people)
        return found

    def way_to(self, state: int) -> Iterator[Shown]:
        """Gives a shortest way from the start."""
        chain = [state]
        while self.parents[chain[-1]] != -1:
            chain.append(self.parents[chain[-1]])
        pair = (self.start >> BITS, self.start & MASK)
        for following in reversed(chain[:-1]):
            who, name, pair = self._step_to(pair, following)
            yield Shown("AB"[who], name, (self.records[pair[0]], self.records[pair[1]]))

    def number(self, record: Record) -> int:
        """Gives the number of a record, the same for all that no guard can tell apart."""
        record = tidy(record, self.world)
        found = self._numbers.get(record)
        return self._add(record) if found is None else found

    def steps_of(self, number: int) -> list[Step]:
        known = self._steps[number]
        if known is None:
            known = self._steps[number] = list(self._work_out(number))
        return known

    def _add(self, record: Record) -> int:
        number = self._numbers[record] = len(self.records)
        wrong = broken_in(record, self.world) if record.draft != NOBODY else ""
        self.records.append(record)
        self._steps.append(None)
        self._offers.append(offers(record))
        self._suffered.append({})
        self._wrong.append(wrong if wrong in self.watched else "")
        self._starters.append(starters(record))
        self._claims.append(record.claim != ClaimState.IDLE)
        return number

    def _work_out(self, number: int) -> Iterator[Step]:
        record = self.records[number]
        for move in moves(record, self.world) if record.draft != NOBODY else ():
            wrong = broken_by(record, move)
            marked = move.record._replace(wrong=wrong) if wrong in self.watched else move.record
            after = self.number(marked)
            if after != number or move.effect != NOTHING:
                yield Step(move.step, after, move.needs, move.effect, move.step[0] in PEOPLE)

    def _next_layer(self, layer: list[int]) -> list[int]:
        found: list[int] = []
        parents = self.parents
        for state in layer:
            following = self.following(state)
            self.step_count += len(following)
            for new in following:
                if new not in parents:
                    parents[new] = state
                    wrong = self._breaks(new)
                    if not wrong:
                        found.append(new)
                    elif wrong not in self.promised:
                        self._go_on(new, state, found)
        return found

    def _go_on(self, state: int, parent: int, found: list[int]) -> None:
        """Follows a state that breaks what this world does not promise, the break forgotten."""
        forgiven = self._forgiven(state)
        if forgiven == state:
            found.append(state)
        elif forgiven not in self.parents:
            self.parents[forgiven] = parent
            found.append(forgiven)

    def _forgiven(self, state: int) -> int:
        return _pair(self._cleared(state >> BITS), self._cleared(state & MASK))

    def _cleared(self, number: int) -> int:
        return self.number(self.records[number]._replace(wrong=""))

    def _after(self, mine: int, other: int, people: bool) -> list[int]:
        met = self._offers[other]
        found = []
        for _, after, needs, effect, by_person in self.steps_of(mine):
            if needs & met and (people or not by_person):
                beside = self._beside(other, effect) if effect else other
                found.append(after << BITS | beside if after < beside else beside << BITS | after)
        return found

    def _beside(self, other: int, effect: int) -> int:
        if self.world.drafts == 1:
            return other
        known = self._suffered[other].get(effect)
        if known is None:
            known = self._suffered[other][effect] = self.number(suffers(self.records[other], effect))
        return known

    def _breaks(self, state: int) -> str:
        """Gives the promise that a state breaks: one of this world's first."""
        a, b = state >> BITS, state & MASK
        both = self._starters[a] + self._starters[b] > 1 or (self._claims[a] and self._claims[b])
        if not (both or self._wrong[a] or self._wrong[b]):
            return ""
        wrong = [word for word in (self._wrong[a], self._wrong[b], ALONE if both else "") if word in self.watched]
        for word in wrong:
            self.broken.setdefault(word, state)
        return min(wrong, key=lambda word: word not in self.promised, default="")

    def _step_to(self, pair: tuple[int, int], wanted: int) -> tuple[int, tuple[str, ...], tuple[int, int]]:
        for who in (0, 1):
            mine, other = pair[who], pair[1 - who]
            for step in self.steps_of(mine):
                if step.needs & self._offers[other]:
                    beside = self._beside(other, step.effect) if step.effect else other
                    after = (step.after, beside) if who == 0 else (beside, step.after)
                    if _pair(*after) == wanted:
                        return who, step.name, after
                    if self._forgiven(_pair(*after)) == wanted:
                        return who, step.name, (self._cleared(after[0]), self._cleared(after[1]))
        raise AssertionError("the way leads through states that were visited")


def _pair(one: int, other: int) -> int:
    return min(one, other) << BITS | max(one, other)
