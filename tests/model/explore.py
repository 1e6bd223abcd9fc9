"""Breadth first through every state of the model; a state is two records whose order does not matter."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from approvals.domain.states import ClaimState
from tests.model.moves import NOTHING, Move, moves, offers, starters, suffers
from tests.model.properties import ALONE, ALWAYS, PEOPLE, broken_by_step, broken_in, is_at_rest
from tests.model.record import Record, World, tidy

BITS = 24
MASK = (1 << BITS) - 1
Progress = Callable[[int, int], None]


class Step(NamedTuple):
    """A step of one record by numbers, as often as it is taken: `by_person` is what a way to rest must not need."""

    name: tuple[str, ...]
    after: int
    needs: int
    effect: int
    by_person: bool


class Graph:
    """The states of one world, each with the state it was reached from; `broken` names a nearest one per promise."""

    def __init__(self, world: World, watched: frozenset[str] = ALWAYS) -> None:
        self.world, self.watched = world, watched
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
        self.start = self._pair(self.number(Record()), self.number(Record()))

    def explore(self, progress: Progress | None = None) -> "Graph":
        """Visits every state once, nearest first. A state that breaks a promise is not followed."""
        self.parents = {self.start: -1}
        layer = [self.start]
        while layer:
            self.depth += 1
            layer = self._next_layer(layer)
            if progress:
                progress(self.depth, len(self.parents))
        return self

    def restless(self) -> list[int]:
        """Gives the states from which no way leads to rest without a person."""
        calm = [is_at_rest(record) for record in self.records]
        left = [state for state in self.parents if not (calm[state >> BITS] and calm[state & MASK])]
        rested = set(self.parents).difference(left)
        while True:
            still = []
            for state in reversed(left):
                if any(following in rested for following in self.following(state, people=False)):
                    rested.add(state)
                else:
                    still.append(state)
            if len(still) == len(left):
                return [state for state in reversed(still) if not self._breaks(state)]
            left = still[::-1]

    def following(self, state: int, *, people: bool = True) -> list[int]:
        """Gives the states one step away."""
        a, b = state >> BITS, state & MASK
        found = self._after(a, b, people)
        if a != b:
            found += self._after(b, a, people)
        return found

    def way_to(self, state: int) -> Iterator[tuple[str, tuple[str, ...], Record, Record]]:
        """Gives a shortest way: which draft takes which step, and how both stand after it."""
        chain = [state]
        while self.parents[chain[-1]] != -1:
            chain.append(self.parents[chain[-1]])
        pair = (self.start >> BITS, self.start & MASK)
        for following in reversed(chain[:-1]):
            who, name, pair = self._step_to(pair, following)
            yield "AB"[who], name, self.records[pair[0]], self.records[pair[1]]

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
        wrong = broken_in(record, self.world)
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
        for move in moves(record, self.world):
            after = self.number(self._marked(record, move))
            if after != number or move.effect != NOTHING:
                yield Step(move.step, after, move.needs, move.effect, move.step[0] in PEOPLE)

    def _marked(self, record: Record, move: Move) -> Record:
        wrong = broken_by_step(record, move, self.world)
        return move.record._replace(wrong=wrong) if wrong in self.watched else move.record

    def _next_layer(self, layer: list[int]) -> list[int]:
        found: list[int] = []
        parents = self.parents
        for state in layer:
            following = self.following(state)
            self.step_count += len(following)
            for new in following:
                if new not in parents:
                    parents[new] = state
                    if not self._breaks(new):
                        found.append(new)
        return found

    def _after(self, mine: int, other: int, people: bool) -> list[int]:
        met = self._offers[other]
        found = []
        for _, after, needs, effect, by_person in self.steps_of(mine):
            if needs & met and (people or not by_person):
                beside = self._beside(other, effect) if effect else other
                found.append(after << BITS | beside if after < beside else beside << BITS | after)
        return found

    def _beside(self, other: int, effect: int) -> int:
        known = self._suffered[other].get(effect)
        if known is None:
            known = self._suffered[other][effect] = self.number(suffers(self.records[other], effect))
        return known

    def _breaks(self, state: int) -> bool:
        a, b = state >> BITS, state & MASK
        wrong = self._wrong[a] or self._wrong[b]
        if not wrong and ALONE in self.watched:
            both = self._starters[a] + self._starters[b] > 1 or (self._claims[a] and self._claims[b])
            wrong = ALONE if both else ""
        if wrong:
            self.broken.setdefault(wrong, state)
        return bool(wrong)

    def _step_to(self, pair: tuple[int, int], wanted: int) -> tuple[int, tuple[str, ...], tuple[int, int]]:
        for who in (0, 1):
            mine, other = pair[who], pair[1 - who]
            for step in self.steps_of(mine):
                if not step.needs & self._offers[other]:
                    continue
                beside = self._beside(other, step.effect) if step.effect else other
                if self._pair(step.after, beside) == wanted:
                    return who, step.name, (step.after, beside) if who == 0 else (beside, step.after)
        raise AssertionError("the way leads through states that were visited")

    @staticmethod
    def _pair(one: int, other: int) -> int:
        return min(one, other) << BITS | max(one, other)
