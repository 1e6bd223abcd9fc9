"""JSON pointers (RFC 6901): how a refusal names the field to correct, and how a connector reads an answer."""

import re
from collections.abc import Iterable
from typing import Any

Path = list[str | int]  # keys and indexes from the root

_INDEX = re.compile(r"0|[1-9][0-9]{0,8}")
_BAD_ESCAPE = re.compile(r"~(?![01])")


def build(path: Iterable[str | int]) -> str:
    """Gives the pointer along the keys and indexes of `path`; an empty path is the whole document."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def parse(pointer: str) -> list[str]:
    """Gives the steps of a pointer. Raises ValueError for text that is none."""
    if pointer and not pointer.startswith("/"):
        raise ValueError(f"{pointer!r} is not a JSON pointer: it must be empty or begin with '/'.")
    if _BAD_ESCAPE.search(pointer):
        raise ValueError(f"{pointer!r} is not a JSON pointer: write '~' as '~0'.")
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def resolve(document: Any, pointer: str) -> Any:
    """Gives the value the pointer leads to. Raises LookupError where it leads nowhere."""
    for step in parse(pointer):
        if isinstance(document, list) and _INDEX.fullmatch(step):
            document = document[int(step)]
        elif isinstance(document, dict):
            document = document[step]
        else:
            raise LookupError(f"There is nothing at {pointer!r}.")
    return document
