"""The payload field by field: every leaf with its full value, and what in it cannot be seen."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import rfc8785

from approvals.domain import visible
from approvals.domain.visible import Ghost
from approvals.web import words

LONG = 80
"""From this many characters on, or with a line end, a text is set for reading."""

Steps = tuple[str | int, ...]
"""The way to a leaf: keys as text, places in a list as numbers, so that `{"0": x}` and `[x]` stay different."""

_PLAIN_KEY = re.compile(r"[\w-]+")


@dataclass(frozen=True, slots=True)
class Field:
    """One leaf. `text` holds strings as they are, `bare` everything else as it stands in the canonical bytes."""

    steps: Steps
    facts: str
    text: str = ""
    bare: str = ""
    is_text: bool = False
    changed: str = ""

    @property
    def is_long(self) -> bool:
        return self.is_text and (len(self.text) > LONG or "\n" in self.text)

    @property
    def value(self) -> str:
        return self.text if self.is_text else self.bare


@dataclass(frozen=True, slots=True)
class GhostLine:
    label: str
    words: str


@dataclass(frozen=True, slots=True)
class Hidden:
    """What a reader has to be told about a payload before they read it."""

    title: str
    ghosts: tuple[GhostLine, ...]
    notes: tuple[str, ...]
    count: int


def fields(value: Any, steps: Steps = ()) -> Iterator[Field]:
    """Gives every leaf of a JSON value in reading order. Empty objects and lists are leaves."""
    children: Iterable[tuple[str | int, Any]]
    if isinstance(value, dict):
        children = value.items()
    elif isinstance(value, list):
        children = enumerate(value)
    else:
        children = ()
    if steps and (not isinstance(value, dict | list) or not value):
        yield _leaf(value, steps)
        return
    for step, child in children:
        yield from fields(child, (*steps, step))


def marked(found: list[Field], changed: set[Steps], note: str) -> list[Field]:
    """Gives the fields with a note on those that changed."""
    return [replace(field, changed=note) if field.steps in changed else field for field in found]


def hidden(payload: Any, found: list[Field]) -> Hidden | None:
    """Gives the warning over a payload, or nothing where everything can be seen."""
    ghosts, names = _ghosts(found)
    count = sum(ghosts.values())
    kinds = {ghost.kind for ghost, _ in ghosts}
    notes = tuple(notice.message for notice in visible.warnings(payload) if notice.kind not in kinds)
    if not count and not notes:
        return None
    title = f"{words.plural(count, 'character')} in {names} cannot be seen" if count else "Look at this twice"
    lines = tuple(
        GhostLine(ghost.label, f"{ghost.codepoint} {ghost.name.lower()}, in {field}{_times(times)}")
        for (ghost, field), times in ghosts.items()
    )
    return Hidden(title, lines, notes, count)


def step_name(step: str | int) -> str:
    """Gives one step as it is shown: `[0]` for a place in a list, a key in quotes unless it is a plain word."""
    if isinstance(step, int):
        return f"[{step}]"
    return step if _PLAIN_KEY.fullmatch(step) else json.dumps(step, ensure_ascii=False)


def _ghosts(found: list[Field]) -> tuple[Counter[tuple[Ghost, str]], str]:
    counter: Counter[tuple[Ghost, str]] = Counter()
    for field in found:
        name = _plain_name(field.steps)
        for text in (*field.steps, field.text):
            for run in visible.runs(str(text)):
                if run.ghost:
                    counter[run.ghost, name] += run.count
    return counter, words.names(list(dict.fromkeys(name for _, name in counter)))


def _plain_name(steps: Steps) -> str:
    """Gives a field's name for a sentence, with ghosts written as their labels."""
    return " › ".join(
        "".join(run.ghost.label if run.ghost else run.text for run in visible.runs(step_name(step))) for step in steps
    )


def _times(count: int) -> str:
    return f", {count:,} times" if count > 1 else ""


def _leaf(value: Any, steps: Steps) -> Field:
    if isinstance(value, str):
        return Field(steps, _text_facts(value), text=value, is_text=True)
    kinds = {bool: "yes or no", int: "number", float: "number", type(None): "no value", dict: "object", list: "list"}
    kind = f"empty {kinds[type(value)]}" if isinstance(value, dict | list) else kinds[type(value)]
    return Field(steps, kind, bare=rfc8785.dumps(value).decode())


def _text_facts(text: str) -> str:
    if not text:
        return "empty text"
    if len(text) <= LONG and "\n" not in text:
        return "text"
    facts = visible.measure(text)
    lines = f", {words.plural(facts.lines, 'line')}" if facts.lines > 1 else ""
    return f"text, {words.plural(facts.characters, 'character')}{lines}"
