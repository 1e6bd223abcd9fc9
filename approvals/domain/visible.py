"""What a text hides: characters that a reader cannot see, or that change the order in which others are seen.

The bytes stay what they are. A page shows a labelled marker in place of each ghost and never emits the real one.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, islice
from typing import Any

from approvals.domain import pointer as pointers
from approvals.domain.links import Finding, suspicious_hosts
from approvals.domain.pointer import Path

LONG_LINE = 2_000  # characters
MANY_BLANK_LINES = 10
MAX_NOTICES = 200  # a page of warnings nobody reads to the end protects nobody

# What each kind of ghost consists of. "ignorable" is Default_Ignorable_Code_Point (Unicode 16) without the kinds
# before it, plus the annotation marks; U+2800 is the Braille cell without dots.
_KINDS = {
    "bidi": "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069",
    "zero_width": "\u200b-\u200d\u2060\ufeff",
    "ignorable": "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2061-\u2065\u206a-\u206f\u3164\ufe00-\ufe0f"
    "\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff",
    "space": "\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u2800\u3000",
    "control": "\x00-\x08\x0b-\x1f\x7f-\x9f",
}
_KIND_OF = {kind: re.compile(f"[{members}]") for kind, members in _KINDS.items()}
_SPOT = re.compile(rf"[{''.join(_KINDS.values())}]+|(?P<trailing>(?<![ \t])[ \t]++(?=[\r\n]|\Z))|\n")

_C0 = [
    "NUL", "SOH", "STX", "ETX", "EOT", "ENQ", "ACK", "BEL", "BS", "TAB", "LF", "VT", "FF", "CR", "SO", "SI", "DLE",
    "DC1", "DC2", "DC3", "DC4", "NAK", "SYN", "ETB", "CAN", "EM", "SUB", "ESC", "FS", "GS", "RS", "US", "SP",
]  # fmt: skip
_LABELS = {chr(number): label for number, label in enumerate(_C0)} | {
    "\x7f": "DEL", "\x85": "NEL", "\u00a0": "NBSP", "\u00ad": "SHY", "\u034f": "CGJ", "\u061c": "ALM",
    "\u200b": "ZWSP", "\u200c": "ZWNJ", "\u200d": "ZWJ", "\u200e": "LRM", "\u200f": "RLM", "\u2028": "LSEP",
    "\u2029": "PSEP", "\u202a": "LRE", "\u202b": "RLE", "\u202c": "PDF", "\u202d": "LRO", "\u202e": "RLO",
    "\u202f": "NNBSP", "\u2060": "WJ", "\u2066": "LRI", "\u2067": "RLI", "\u2068": "FSI", "\u2069": "PDI",
    "\u3000": "IDSP", "\ufeff": "BOM",
}  # fmt: skip

_EMBEDS, _ISOLATES = "\u202a\u202b\u202d\u202e", "\u2066\u2067\u2068"
_POP_EMBED, _POP_ISOLATE = "\u202c", "\u2069"
_PARAGRAPH_ENDS = "\n\r\x1c\x1d\x1e\x85\u2029"
_WORDS = {
    "bidi": "characters that change the reading direction",
    "zero_width": "characters without width",
    "ignorable": "characters that are usually not drawn",
    "space": "unusual spaces",
    "control": "control characters",
    "trailing": "blanks at the end of a line",
}


@dataclass(frozen=True)
class Ghost:
    """What a marker says about a character that is not shown itself. `kind` is a key of the table above."""

    label: str
    codepoint: str
    name: str
    kind: str


@dataclass(frozen=True)
class Run:
    """A piece of a text: plain, or one ghost as often as it is repeated. `in_override`: a bidi control holds."""

    text: str
    ghost: Ghost | None = None
    in_override: bool = False

    @property
    def raw(self) -> bool:
        """True if the text itself may be emitted; otherwise only the ghost's marker may."""
        return self.ghost is None or self.ghost.kind == "trailing"

    @property
    def count(self) -> int:
        return len(self.text)


@dataclass(frozen=True)
class Notice:
    """One thing a reviewer should know about the text at `pointer`, and how often (or how much) it occurs."""

    pointer: str
    kind: str
    message: str
    count: int


@dataclass(frozen=True)
class Measure:
    """How much there is to read: characters, lines, the longest line, the longest stretch of blank lines."""

    characters: int
    lines: int
    longest_line: int
    longest_gap: int


def runs(text: str) -> list[Run]:
    """Gives the text in pieces, in order: joined, they are the text again."""
    pieces: list[Run] = []
    done, reach = 0, _Reach()
    for position, piece, ghost in _spots(text):
        before, after = reach.open, reach.over(piece)
        if ghost is None and before == after:
            continue
        if position > done:
            pieces.append(Run(text[done:position], in_override=before))
        if ghost is not None:
            pieces.append(Run(piece, ghost, before or after))
        done = position + len(piece) if ghost else position
    if done < len(text):
        pieces.append(Run(text[done:], in_override=reach.open))
    return pieces


def warnings(payload: Any) -> list[Notice]:
    """Gives what is unusual in all strings of a payload, in reading order, keys included.

    At most MAX_NOTICES, and one that says so if there are more. Messages are safe to show; a pointer holds the
    keys as they are, so a page shows it by `runs` like any other text.
    """
    found = [Notice(pointers.build(path), *finding) for path, finding in islice(_noticed(payload, []), MAX_NOTICES + 1)]
    if len(found) > MAX_NOTICES:
        more = f"There are more than {MAX_NOTICES} warnings; the rest is not listed. Read all of it."
        found[-1] = Notice("", "more", more, 1)
    return found


def measure(text: str) -> Measure:
    """Gives the facts about a text's length."""
    lines = text.split("\n")
    gaps = [len(list(group)) for blank, group in groupby(lines, lambda line: not line.strip()) if blank]
    return Measure(len(text), len(lines), max(map(len, lines)), max(gaps, default=0))


class _Reach:
    """Which bidi controls hold at a point of the text (UAX 9: a paragraph's end closes all)."""

    def __init__(self) -> None:
        self._held: list[str] = []
        self._isolates = 0

    @property
    def open(self) -> bool:
        return bool(self._held)

    def over(self, piece: str) -> bool:
        """Moves over a piece and tells whether a control holds after it."""
        for char in piece:
            self._step(char)
        return self.open

    def _step(self, char: str) -> None:
        if char in _PARAGRAPH_ENDS:
            self._held.clear()
            self._isolates = 0
        elif char in _EMBEDS or char in _ISOLATES:
            self._held.append(char)
            self._isolates += char in _ISOLATES
        elif char == _POP_EMBED and self._held and self._held[-1] in _EMBEDS:
            self._held.pop()
        elif char == _POP_ISOLATE and self._isolates:
            while self._held.pop() in _EMBEDS:
                pass
            self._isolates -= 1


def _spots(text: str) -> Iterator[tuple[int, str, Ghost | None]]:
    """Gives (position, a character as often as it repeats, ghost).

    Line ends and emoji joiners are no ghosts; line ends are given all the same because they end a bidi control.
    """
    for spot in _SPOT.finditer(text):
        position = spot.start()
        for char, group in groupby(spot[0]):
            piece = "".join(group)
            seen = char == "\n" or (len(piece) == 1 and _joins_emoji(text, position))
            yield position, piece, None if seen else _ghost(char, bool(spot["trailing"]))
            position += len(piece)


@lru_cache(maxsize=1024)
def _ghost(char: str, trailing: bool) -> Ghost:
    kind = "trailing" if trailing else next(kind for kind, rule in _KIND_OF.items() if rule.match(char))
    codepoint = f"U+{ord(char):04X}"
    label = _LABELS.get(char, codepoint)
    return Ghost(label, codepoint, unicodedata.name(char, f"control character {label}"), kind)


def _joins_emoji(text: str, position: int) -> bool:
    """True for a joiner or variation selector between pictures: it is seen, as part of the emoji it makes."""
    before, after = text[max(position - 2, 0) : position], text[position + 1 : position + 2]
    if text[position] in "\ufe0e\ufe0f":
        return _is_picture(before[-1:]) or (before[-1:] in set("0123456789#*") and after == "\u20e3")
    pictures = before.rstrip("\ufe0f\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff")
    return text[position] == "\u200d" and _is_picture(pictures[-1:]) and _is_picture(after)


def _is_picture(char: str) -> bool:
    return bool(char) and unicodedata.category(char) == "So"


def _noticed(value: Any, path: Path) -> Iterator[tuple[Path, Finding]]:
    """Walks with one list for the path: a pointer is written out only where there is a finding."""
    if isinstance(value, str):
        yield from ((path, finding) for finding in _hidden(value, "This text"))
        yield from ((path, finding) for finding in _shape(value))
        yield from ((path, finding) for finding in suspicious_hosts(value))
    elif isinstance(value, dict | list):
        for step, child in value.items() if isinstance(value, dict) else enumerate(value):
            path.append(step)
            if isinstance(step, str):
                yield from ((path, finding) for finding in _hidden(step, "The name of this field"))
            yield from _noticed(child, path)
            path.pop()


def _hidden(text: str, what: str) -> Iterator[Finding]:
    """Gives one finding for each kind of ghost in the text."""
    counts: dict[str, int] = {}
    labels: dict[str, set[str]] = {}
    for _, piece, ghost in _spots(text):
        if ghost is not None:
            counts[ghost.kind] = counts.get(ghost.kind, 0) + len(piece)
            labels.setdefault(ghost.kind, set()).add(ghost.label)
    for kind, count in counts.items():
        names = ", ".join(sorted(labels[kind])[:8])
        yield kind, f"{what} holds {_WORDS[kind]} ({names}): {count:,}.", count


def _shape(text: str) -> Iterator[Finding]:
    facts = measure(text)
    if facts.longest_line > LONG_LINE:
        line = f"A line is {facts.longest_line:,} characters long. Read to its end."
        yield "long_line", line, facts.longest_line
    if facts.longest_gap >= MANY_BLANK_LINES:
        gap = f"{facts.longest_gap:,} blank lines follow each other. Look at what comes after them."
        yield "blank_lines", gap, facts.longest_gap
