"""A configuration file: read, checked for what TOML allows and JSON does not, and faults told with their line."""

import tomllib
from datetime import date, datetime, time
from math import isfinite
from pathlib import Path
from typing import Any

from django.core.management import CommandError

from approvals.domain import pointer as pointers
from approvals.domain.errors import InvalidPayload
from approvals.management.toml_lines import line_of
from approvals.services import config_schema
from approvals.services.config_schema import ConfigSpec


class ConfigurationFile:
    """One TOML file; `fault` turns a refusal into a command's error that names file, line and key."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.text = _text(path)

    def spec(self) -> ConfigSpec:
        """Gives what the file says. Raises CommandError, or InvalidPayload for a wrong key."""
        try:
            document = tomllib.loads(self.text)
        except tomllib.TOMLDecodeError as exc:
            raise CommandError(f"{self.path}: {exc}. Correct the line and run this again.") from exc
        _check_values(document, ())
        return config_schema.read(document)

    def fault(self, refusal: InvalidPayload) -> CommandError:
        path = tuple(pointers.parse(refusal.pointer or ""))
        where = f"{self.path}:{line_of(self.text, path)}"
        key = ".".join(_shown(step) for step in path) or "the file"
        return CommandError(f"{where}: {key}: {refusal}")


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode().replace("\r\n", "\n")
    except OSError as exc:
        raise CommandError(f"{path} cannot be read ({exc.strerror}). Name a file that can.") from exc
    except UnicodeDecodeError as exc:
        raise CommandError(f"{path} is not UTF-8 at byte {exc.start}. Save it as UTF-8.") from exc


def _shown(step: str) -> str:
    return f'"{step}"' if "." in step else step


def _check_values(value: Any, path: tuple[str | int, ...]) -> None:
    """Refuses dates and numbers that JSON has no form for: configurations are stored as JSON."""
    if isinstance(value, dict):
        for key, item in value.items():
            _check_values(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            _check_values(item, (*path, index))
    elif isinstance(value, datetime | date | time):
        raise InvalidPayload("Put the time in quotes: there are no bare dates here.", pointer=pointers.build(path))
    elif isinstance(value, float) and not isfinite(value):
        raise InvalidPayload("Give a finite number.", pointer=pointers.build(path))
