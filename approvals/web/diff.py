"""Word differences between two texts, and the differing fields of two payloads.

Ghosts are found in the whole texts first and cut afterwards: a blank is only "trailing" where its line really ends.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from approvals.domain import visible
from approvals.domain.visible import Run

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_WORD = re.compile(r"\w+|\n|[^\S\n]+|[^\w\s]")
PAIRS_AT_MOST = 100_000
"""Blocks with more equal pairs of words than this are shown as replaced: the matcher's time grows with their square."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a difference. `tag` is `ins`, `del` or empty for what stayed."""

    tag: str
    runs: tuple[Run, ...]

    @property
    def text(self) -> str:
        return "".join(run.text for run in self.runs)


def compare(before: str, after: str) -> list[Piece]:
    """Gives the way from one text to the other, word by word. Without `del` it is `after`, without `ins` `before`."""
    old, new = _Cutter(before), _Cutter(after)
    found: list[Piece] = []
    for tag, start, end in _merged(_stretches(before, after)):
        cutter = old if tag == "del" else new
        found.append(Piece(tag, cutter.cut(start, end)))
    return found


def whole(text: str, tag: str) -> list[Piece]:
    """Gives a text that was added (`ins`) or removed (`del`) as a whole."""
    return [Piece(tag, tuple(visible.runs(text)))]


Code = tuple[str, int, int, int, int]
Stretch = tuple[str, int, int]
"""Tag, start and end: offsets into the old text for `del`, into the new one otherwise."""


class _Cutter:
    """Cuts the runs of a text by offsets; a ghost that is cut stays a ghost."""

    def __init__(self, text: str) -> None:
        self._runs = visible.runs(text)
        self._starts: list[int] = []
        offset = 0
        for run in self._runs:
            self._starts.append(offset)
            offset += len(run.text)

    def cut(self, start: int, end: int) -> tuple[Run, ...]:
        return tuple(self._cut(start, end))

    def _cut(self, start: int, end: int) -> Iterator[Run]:
        index = bisect_right(self._starts, start) - 1
        while start < end and index < len(self._runs):
            run, offset = self._runs[index], self._starts[index]
            stop = min(end, offset + len(run.text))
            yield Run(run.text[start - offset : stop - offset], run.ghost, run.in_override)
            start, index = stop, index + 1


def _stretches(before: str, after: str) -> Iterator[Stretch]:
    """Compares by lines, then by words within the blocks of lines that differ."""
    old, new = _tokens(_LINE, before), _tokens(_LINE, after)
    for tag, a, b, c, d in _opcodes(old, new):
        if tag == "equal":
            yield ("", *_bounds(new, c, d))
        else:
            yield from _words(before, after, _bounds(old, a, b), _bounds(new, c, d))


def _words(before: str, after: str, old_bounds: tuple[int, int], new_bounds: tuple[int, int]) -> Iterator[Stretch]:
    old, new = _tokens(_WORD, before, *old_bounds), _tokens(_WORD, after, *new_bounds)
    for tag, a, b, c, d in _without_islands(list(_opcodes(old, new)), new):
        if tag == "equal":
            yield ("", *_bounds(new, c, d))
        else:
            yield ("del", *_bounds(old, a, b))
            yield ("ins", *_bounds(new, c, d))


def _without_islands(codes: list[Code], new: list["_Token"]) -> Iterator[Code]:
    """Joins changes that only blanks or commas keep apart: a rewritten sentence reads as one change."""
    held: Code | None = None
    for index, code in enumerate(codes):
        tag, _, b, c, d = code
        island = tag == "equal" and 0 < index < len(codes) - 1 and not any(_says(token) for token in new[c:d])
        if tag != "equal" or island:
            held = ("replace", held[1], b, held[3], d) if held else ("replace", *code[1:])
            continue
        if held:
            yield held
        held = None
        yield code
    if held:
        yield held


def _says(token: "_Token") -> bool:
    return token.text == "\n" or token.text[0].isalnum()


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    start: int
    end: int


def _tokens(pattern: re.Pattern[str], text: str, start: int = 0, end: int | None = None) -> list[_Token]:
    matches = pattern.finditer(text, start, len(text) if end is None else end)
    return [_Token(match[0], match.start(), match.end()) for match in matches]


def _opcodes(old: list[_Token], new: list[_Token]) -> Iterator[Code]:
    """Gives difflib's answer; equal ends are cut off first, which makes the usual small edit cheap."""
    a, b = [token.text for token in old], [token.text for token in new]
    head = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    room = min(len(a), len(b)) - head
    tail = next((i for i in range(room) if a[-1 - i] != b[-1 - i]), room)
    if head:
        yield "equal", 0, head, 0, head
    for tag, i, j, k, m in _matched(a[head : len(a) - tail], b[head : len(b) - tail]):
        yield tag, i + head, j + head, k + head, m + head
    if tail:
        yield "equal", len(a) - tail, len(a), len(b) - tail, len(b)


def _matched(a: list[str], b: list[str]) -> list[Code]:
    """Gives difflib's answer with its rule against popular words (a blank in a long text), or one replacement."""
    counts = Counter(b)
    popular = len(b) // 100 + 1 if len(b) >= 200 else len(b)
    if sum(counts[text] for text in a if counts[text] <= popular) > PAIRS_AT_MOST:
        return [("replace", 0, len(a), 0, len(b))]
    return SequenceMatcher(None, a, b).get_opcodes()


def _bounds(tokens: list[_Token], start: int, end: int) -> tuple[int, int]:
    """Gives the offsets of tokens start to end; nothing for an empty range."""
    return (tokens[start].start, tokens[end - 1].end) if start < end else (0, 0)


def _merged(stretches: Iterator[Stretch]) -> Iterator[Stretch]:
    """Joins neighbours of one kind and drops empty ones."""
    held: Stretch | None = None
    for tag, start, end in stretches:
        if start == end:
            continue
        if held and held[0] == tag and held[2] == start:
            held = (tag, held[1], end)
            continue
        if held:
            yield held
        held = (tag, start, end)
    if held:
        yield held
