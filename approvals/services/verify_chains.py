"""Verify chains: every link recomputed from its stored body, every head and every checkpoint compared with the links.

The links come from the database or from an exported file; what is asked of them is the same, and no more than one
chain's newest link is in memory.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

NO_LINK = "0" * 64


class Kind(StrEnum):
    """What is wrong, in one word or two."""

    ALTERED = "altered"
    MISSING = "missing"
    REORDERED = "reordered"
    FORKED = "forked"
    CUT = "cut tail"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong; as text, a sentence that names the row."""

    kind: Kind
    sentence: str
    chain: str = ""
    seq: int | None = None

    def __str__(self) -> str:
        return f"Chain {self.chain}: {self.sentence}" if self.chain else self.sentence


class Link(NamedTuple):
    """One event as it stands somewhere; `columns` are copies of parts of its body, where there are any."""

    seq: int
    prev_hash: str
    hash: str
    body: str
    where: str  # "row 12", "line 5"
    columns: dict[str, Any]


class Mark(NamedTuple):
    """What a heartbeat told: this chain's event of this number has this hash."""

    seq: int
    hash: str
    heartbeat: int


@dataclass(slots=True)
class Stretch:
    """The events of one chain, in order, and what is said about them elsewhere.

    `head` is read once the links are used up. `is_whole` if it begins at the chain's first event; `goes_on` if events
    after the last one here are no fault (the export of a period).
    """

    chain: str
    links: Iterable[Link]
    head: tuple[int, str] | None = None
    is_whole: bool = True
    goes_on: bool = False


def check(stretch: Stretch, seen: Counter[str], marks: Iterable[Mark] = ()) -> Iterator[Fault]:
    """Gives the first fault of a chain: what follows a broken link proves nothing. `marks` are in order of `seq`."""
    seen["chains"] += 1
    told = iter(marks)
    mark = next(told, None)
    seq, link = 0, NO_LINK
    fault: Fault | None = None
    is_first = True
    for event in stretch.links:
        seen["events"] += 1
        if is_first and not stretch.is_whole:
            seq, link = event.seq - 1, event.prev_hash
        is_first = False
        fault = fault or _fault(event, stretch.chain, seq, link)
        while mark is not None and mark.seq <= event.seq:
            fault = fault or _contradiction(mark, event, stretch.chain)
            mark = next(told, None)
        seq, link = event.seq, event.hash
    if fault := fault or _tail(stretch, seq, link, mark):
        yield fault


def facts(text: str) -> dict[str, Any]:
    """Gives a stored JSON object; an empty one for text that is none, so that a check can go on and say so.

    A key that stands twice could be read in two ways, and makes it none. The strict reader of drafts says more about
    a fault, and takes ten times as long.
    """
    try:
        value = json.loads(text, object_pairs_hook=_unique)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _fault(event: Link, chain: str, seq: int, link: str) -> Fault | None:
    """Says what is wrong with one link; None if nothing is."""

    def found(kind: Kind, sentence: str) -> Fault:
        return Fault(kind, sentence, chain, event.seq)

    here = f"event {event.seq} ({event.where})"
    if event.seq > seq + 1:
        return Fault(Kind.MISSING, f"event {seq + 1} is missing ({event.where} is event {event.seq}).", chain, seq + 1)
    if event.seq <= seq:
        kind = Kind.FORKED if event.seq == seq else Kind.REORDERED
        return found(kind, f"{here} stands after event {seq}: there are two of it, or it is out of its order.")
    if hashlib.sha256(event.body.encode()).hexdigest() != event.hash:
        return found(Kind.ALTERED, f"{here} was altered: its body does not match its hash.")
    body = facts(event.body)
    if body.get("seq") != event.seq and body.get("chain") == chain:
        return found(Kind.REORDERED, f"{here} stands in another event's place: it is event {body.get('seq')}.")
    columns = {"chain": chain, "seq": event.seq, "prev_hash": event.prev_hash, **event.columns}
    wrong = [name for name, value in columns.items() if value != _said(body, name)]
    if wrong:
        return found(Kind.ALTERED, f"{here} was altered: its {wrong[0]} differs from its body.")
    if event.prev_hash != link:
        return found(Kind.FORKED, f"{here} does not follow event {seq} as it stands here: one of the two was replaced.")
    return None


def _said(body: dict[str, Any], name: str) -> Any:
    actor = body.get("actor")
    return (actor.get("label") if isinstance(actor, dict) else None) if name == "actor" else body.get(name)


def _contradiction(mark: Mark, event: Link, chain: str) -> Fault | None:
    if mark.seq != event.seq or mark.hash == event.hash:
        return None
    sentence = (
        f"event {event.seq} ({event.where}) is another than heartbeat {mark.heartbeat} told of: "
        "the chain was written anew since, up to here or from before."
    )
    return Fault(Kind.FORKED, sentence, chain, event.seq)


def _tail(stretch: Stretch, seq: int, link: str, mark: Mark | None) -> Fault | None:
    """Says what is wrong at the end of a chain."""
    if mark is not None and not stretch.goes_on:
        sentence = f"its end is cut off: heartbeat {mark.heartbeat} told of event {mark.seq}, the last here is {seq}."
        return Fault(Kind.CUT, sentence, stretch.chain, seq + 1)
    if stretch.head is None or stretch.head == (seq, link):
        return None
    number = stretch.head[0]
    if not seq and number:
        return Fault(Kind.CUT, f"all of its {number} events are gone.", stretch.chain, 1)
    sentence = f"its head speaks of event {number}, but the last one there is event {seq}."
    if number == seq:
        sentence = f"its head has another hash than event {seq}, the last one there."
    return Fault(Kind.CUT if number > seq else Kind.ALTERED, sentence, stretch.chain, seq + (number > seq))
