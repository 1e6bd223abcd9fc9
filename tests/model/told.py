"""Ways through the model in words, for a terminal and for the docs."""

from collections.abc import Iterator

from approvals.domain.combinations import NONE
from tests.model.explore import Shown
from tests.model.record import ENDED, LONG_AGO, ONCE, SURE, Record

_WHAT = {"write": "the write", "undo": "the retraction", "undone": "an earlier retraction"}
_PLAIN = {
    "submit": "the author submits it",
    "approve": "the reviewers approve it",
    "edit": "somebody edits it",
    "reserve": "a worker reserves the target",
    "begin": "it passes the gate: the approval is spent, attempt 1 opened",
    "resume": "it passes the gate again: the next attempt is opened",
    "begin_retract": "the retraction passes its gate: an attempt is opened",
    "reservation_time_passes": "the reservation's lease ends",
    "lease_time_passes": "the attempt's lease ends",
    "grace_passes": "the absent grace passes",
    "approval_time_passes": "the approval's time runs out",
    "sweep": "the sweeper finds the lost attempt: nobody knows what became of it",
    "let_go": "the worker lets the target go",
    "retract": "a person asks for it to be taken back",
    "retry": "a person has it tried again",
    "cancel": "a person cancels what waits",
    "look_again": "a person has the remote asked again",
    "confirm": "it reads back as approved",
}
_RESOLVED = {
    "delivered": "a person records that it is done",
    "not_delivered": "a person looks, and records that it is not there",
}


def step(name: tuple[str, ...]) -> str:
    """Gives one step as a clause."""
    verb, *rest = name
    if verb in _PLAIN and not rest:
        return _PLAIN[verb]
    if verb == "resolve":
        return _RESOLVED[rest[0]]
    if verb in ("look", "hand_in", "look_and_hand_in"):
        done = {"look": "sees", "hand_in": "hands in what was seen:", "look_and_hand_in": "looks, and hands in:"}
        return f"the reconciler {done[verb]} {rest[0]}"
    if verb == "record":
        outcome, phase, kind, which = rest
        return f"the worker of the {which} attempt at {_WHAT[kind]} records: {outcome} (its request: {phase})"
    if verb in _WORKS:
        return _work(verb, rest)
    return " ".join(name).replace("_", " ")


def stands(record: Record) -> str:
    """Gives how a draft stands, as far as it is out of the ordinary."""
    said = [record.draft]
    said += [f"write {record.write}"] if record.write != NONE else []
    said += [f"retraction {record.undo}"] if record.undo != NONE else []
    said += [f"claim {record.claim}"]
    said += [{ENDED: "lease over", SURE: "grace over"}[record.age]] if record.age else []
    said += (
        [{ONCE: "seen absent once", LONG_AGO: "seen absent a grace ago"}.get(record.absent, "proven absent")]
        if (record.absent)
        else []
    )
    said += ["held"] if record.held else []
    said += [f"{record.written} effective write{'s' * (record.written > 1)}"] if record.written else []
    return ", ".join(said)


def way(shown: Iterator[Shown]) -> Iterator[str]:
    """Gives a numbered line per step."""
    for number, (who, name, pair) in enumerate(shown, start=1):
        yield f"{number:>4}. {who}: {step(name)}  [{stands(pair['AB'.index(who)])}]"


_WORKS = {
    "look_at_clock": "looks at the clock, in time",
    "send": "sends the first byte",
    "act": "has its request carried out",
    "miss": "has its request refused, or lost",
    "shrug": "has its request accepted and ignored",
    "crash": "dies",
}


def _work(verb: str, rest: list[str]) -> str:
    if rest[:1] == ["reserved"]:
        return "the worker that reserved it dies"
    _, kind, which = rest
    return f"the worker of the {which} attempt at {_WHAT[kind]} {_WORKS[verb]}"
