"""Strict JSON: reads only what RFC 8785 can write back unchanged, and names every fault by its pointer.

Nothing is ever repaired, cut or normalised: a reviewer must be able to trust that what the page shows is what
was proposed and what goes out. So whatever two JSON readers could understand differently is refused.
"""

import json
import math
import re
from collections import Counter
from typing import Any

from approvals.domain import pointer as pointers
from approvals.domain.errors import InvalidPayload, TooLarge
from approvals.domain.pointer import Path

MAX_RAW_BYTES = 1024 * 1024
MAX_DEPTH = 64  # objects and arrays inside each other; the payload is the first
MAX_NUMBER = 2**53 - 1  # beyond it neighbouring integers share one double: a reader may see another number

_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]++|\\.)*+"?|([\[{])|([\]}])', re.DOTALL)
_CLOSING = {"[": "]", "{": "}"}
_ZERO = re.compile(r"-?0(?:\.0*)?(?:[eE]|\Z)")
_NOT_TEXT = re.compile("[\x00\ud800-\udfff]")


def parse_json(raw: bytes | str, pointer: str = "") -> Any:
    """Gives the JSON value in `raw`, which stands at `pointer` in the request.

    For any input it raises nothing but InvalidPayload (syntax: with line and column) and TooLarge.
    """
    text = _decoded(raw, pointer)
    try:
        value = json.loads(_clipped(text), object_pairs_hook=_object, parse_int=_integer, parse_float=_fraction)
    except json.JSONDecodeError as exc:
        raise InvalidPayload(
            f"Line {exc.lineno}, column {exc.colno} is not valid JSON ({exc.msg}). Correct it and try again.",
            pointer=pointer,
            line=exc.lineno,
            column=exc.colno,
        ) from exc
    check_value(value, pointer)
    return value


def check_value(value: Any, pointer: str = "/payload") -> None:
    """Refuses (InvalidPayload) a value, or a part of one, that canonical JSON cannot carry unchanged."""
    _check(value, [*pointers.parse(pointer)])


def check_text(text: str, path: Path, what: str = "This text") -> None:
    """Refuses text with U+0000 or half a surrogate pair: PostgreSQL and UTF-8 can hold neither."""
    if found := _NOT_TEXT.search(text):
        raise InvalidPayload(
            f"{what} holds U+{ord(found[0]):04X} at character {found.start()}, which cannot be stored and sent. "
            "Remove it.",
            pointer=pointers.build(path),
        )


def _decoded(raw: bytes | str, pointer: str) -> str:
    encoded = raw.encode("utf-8", "surrogatepass") if isinstance(raw, str) else raw
    if len(encoded) > MAX_RAW_BYTES:
        raise TooLarge(f"The request may take {MAX_RAW_BYTES:,} bytes. Shorten it.", pointer=pointer)
    try:
        text = raw if isinstance(raw, str) else raw.decode("utf-8")
    except UnicodeDecodeError as exc:
        raise InvalidPayload(
            f"Byte {exc.start} is not valid UTF-8. Send the text encoded as UTF-8.", pointer=pointer
        ) from exc
    if text.startswith("\ufeff"):
        raise InvalidPayload("The text begins with a byte order mark. Send it without one.", pointer=pointer)
    return text


def _clipped(text: str) -> str:
    """Gives the text or, if it nests too deep, a short closed beginning of it that still does.

    The parser recurses, so it must never see the whole of such a text. From the beginning, the check finds the
    very container that is too deep, or the fault that stands before it.
    """
    closing: list[str] = []
    for found in _STRING_OR_BRACKET.finditer(text):
        opened, closed = found.groups()
        if opened:
            closing.append(_CLOSING[opened])
            if len(closing) > MAX_DEPTH + 1:
                return text[: found.end()] + "".join(reversed(closing))
        elif closed and closing:
            closing.pop()
    return text


class _Repeated(dict[str, Any]):
    """An object in which a key stood twice; the check, which knows the path, refuses it."""

    key: str


def _object(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """Keys arrive unescaped, so `a` and `\\u0061` are the same key."""
    found = dict(members)
    if len(found) == len(members):
        return found
    repeated = _Repeated(found)
    repeated.key = Counter(key for key, _ in members).most_common(1)[0][0]
    return repeated


def _integer(literal: str) -> int:
    # int() gives up beyond 4,300 digits; the first twenty characters show that the number is too large.
    return int(literal[:20])


def _fraction(literal: str) -> float:
    # A number too small for a double would silently become 0; as NaN it is refused.
    number = float(literal)
    return number if number or _ZERO.match(literal) else math.nan


def _check(value: Any, path: Path) -> None:
    match value:
        case None | bool():
            return
        case str():
            check_text(value, path)
        case int() | float():
            _check_number(value, path)
        case dict() | list():
            _check_container(value, path)
        case _:
            raise InvalidPayload(
                f"JSON has no {type(value).__name__}. Use null, a boolean, number, string, array or object.",
                pointer=pointers.build(path),
            )


def _check_number(number: float, path: Path) -> None:
    # One rule for integers and integral floats (1e20 comes back as an integer), infinities and NaN,
    # which fails every comparison.
    if not -MAX_NUMBER <= number <= MAX_NUMBER:
        raise InvalidPayload(
            f"JSON cannot carry this number unchanged. Send a number from -{MAX_NUMBER} to {MAX_NUMBER} that "
            "does not vanish to 0, or send it as a string.",
            pointer=pointers.build(path),
        )


def _check_container(container: dict[str, Any] | list[Any], path: Path) -> None:
    if len(path) > MAX_DEPTH:
        raise InvalidPayload(
            f"This nests more than {MAX_DEPTH} levels deep. Make it flatter.", pointer=pointers.build(path)
        )
    if isinstance(container, dict):
        _check_keys(container, path)
    steps = container.items() if isinstance(container, dict) else enumerate(container)
    for step, value in steps:
        path.append(step)  # one list for the whole walk: a pointer is written out only for a fault
        _check(value, path)
        path.pop()


def _check_keys(members: dict[str, Any], path: Path) -> None:
    """A bad key is named by its object, because it could not be written into a pointer."""
    for key in members:
        if not isinstance(key, str):
            raise InvalidPayload(
                "The keys of an object must be strings. Put them in quotes.", pointer=pointers.build(path)
            )
        check_text(key, path, "A key of this object")
    if isinstance(members, _Repeated):
        raise InvalidPayload(
            "This key stands more than once in its object. Keep one of them.",
            pointer=pointers.build([*path, members.key]),
        )
