"""Reads `REVIEWROOM_...` variables; a wrong value stops the start with a message that holds the fix."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from django.core.exceptions import ImproperlyConfigured
from environs import Env, EnvError

PREFIX = "REVIEWROOM_"
Value = TypeVar("Value")

_env = Env()


def is_set(name: str) -> bool:
    """Whether the variable is there and not empty."""
    return bool(os.environ.get(PREFIX + name, ""))


def wrong(name: str, problem: str, fix: str) -> ImproperlyConfigured:
    """The error that stops the start: what is wrong with the variable, and what to write instead."""
    return ImproperlyConfigured(f"{PREFIX}{name} {problem}. {fix}")


def _read(read: Callable[..., Any], name: str, default: Value, fix: str) -> Value:
    if not is_set(name):
        return default
    try:
        return read(PREFIX + name)
    except EnvError as exc:
        raise wrong(name, f"is {os.environ[PREFIX + name]!r}, which cannot be used", fix) from exc


def text(name: str, default: str = "", *, pattern: str = r"[^\x00-\x1f\x7f]*", fix: str = "") -> str:
    """One line of text that matches `pattern` as a whole."""
    value = _read(_env.str, name, default, fix)
    if not re.fullmatch(pattern, value):
        raise wrong(name, f"is {value!r}, which cannot be used", fix or "Write one line of printable text.")
    return value


def secret(name: str, default: str = "", *, shortest: int = 1) -> str:
    """A secret, never repeated in a message."""
    value = os.environ.get(PREFIX + name, "") or default
    if value and len(value) < shortest:
        raise wrong(name, f"has {len(value)} characters", f"It needs at least {shortest}.")
    return value


def flag(name: str, default: bool) -> bool:
    """A yes or no."""
    return _read(_env.bool, name, default, "Write true or false.")


def whole(name: str, default: int, *, least: int, most: int, unit: str) -> int:
    """A whole number between two bounds, both allowed."""
    fix = f"Write a whole number from {least} to {most} ({unit})."
    value = _read(_env.int, name, default, fix)
    if not least <= value <= most:
        raise wrong(name, f"is {value}", fix)
    return value


def words(name: str, default: list[str]) -> list[str]:
    """A list, written with commas."""
    value = _read(_env.list, name, default, "Write a list with commas: a,b,c.")
    return [word.strip() for word in value if word.strip()]


def path(name: str, default: Path) -> Path:
    """A path of this machine; a relative one counts from the current folder."""
    return Path(text(name, str(default))).expanduser().absolute()
