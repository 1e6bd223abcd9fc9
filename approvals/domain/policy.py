"""Policy: the rules in force for a room or channel, as plain data that can be compared and snapshotted."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from datetime import timedelta
from typing import Any

from approvals.domain import pointer as pointers
from approvals.domain.errors import InvalidPayload

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_DURATION = re.compile(r"([0-9]{1,6})([smhd])\Z")
_DURATIONS = ("review_ttl", "approval_ttl", "dispatch_delay")


@dataclass(frozen=True, slots=True)
class Requirement:
    """At least `minimum` of the approvals come from members of `group`."""

    group: str
    minimum: int


@dataclass(frozen=True, slots=True)
class Policy:
    """The rules for one draft. Durations are timedeltas; every field has a safe default."""

    required_approvals: int = 1
    requirements: tuple[Requirement, ...] = ()
    reject_threshold: int = 1
    review_ttl: timedelta = timedelta(days=7)
    approval_ttl: timedelta = timedelta(hours=24)
    dispatch: str = "automatic"
    dispatch_delay: timedelta = timedelta(seconds=10)
    one_open_draft: bool = False
    duplicates: str = "warn"

    def overridden(self, values: Mapping[str, Any], *, pointer: str = "/policy") -> "Policy":
        """Gives this policy with the raw `values` of a configuration on top, key by key.

        Raises InvalidPayload that points at the first wrong key.
        """
        return replace(
            self, **{key: _parsed(key, value, pointer + pointers.build([key])) for key, value in values.items()}
        )

    def snapshot(self) -> dict[str, Any]:
        """Gives the JSON form that is kept on an approval; `from_snapshot` reads it back."""
        data = asdict(self)
        for key in _DURATIONS:
            data[key] = data[key].total_seconds()
        data["requirements"] = [asdict(item) for item in self.requirements]
        return data

    @classmethod
    def from_snapshot(cls, data: Mapping[str, Any]) -> "Policy":
        values = dict(data)
        for key in _DURATIONS:
            values[key] = timedelta(seconds=values[key])
        values["requirements"] = tuple(Requirement(**item) for item in values["requirements"])
        return cls(**values)

    def is_stricter_than(self, other: "Policy") -> bool:
        """True if something that satisfied `other` might not satisfy this: then pending approvals start anew."""
        mine = {item.group: item.minimum for item in self.requirements}
        theirs = {item.group: item.minimum for item in other.requirements}
        return (
            self.required_approvals > other.required_approvals
            or any(minimum > theirs.get(group, 0) for group, minimum in mine.items())
            or self.reject_threshold < other.reject_threshold
            or self.review_ttl < other.review_ttl
            or self.approval_ttl < other.approval_ttl
            or (self.dispatch == "manual" and other.dispatch == "automatic")
        )


def parse_duration(value: object, *, pointer: str) -> timedelta:
    """Reads `90s`, `15m`, `24h` or `7d`. Raises InvalidPayload."""
    match = _DURATION.match(value) if isinstance(value, str) else None
    if match is None:
        raise InvalidPayload(
            "Write the duration as a whole number and a unit, like 10s, 15m, 24h or 7d.", pointer=pointer
        )
    return timedelta(seconds=int(match[1]) * _UNITS[match[2]])


def _parsed(key: str, value: Any, pointer: str) -> Any:
    if key not in {field.name for field in fields(Policy)}:
        known = ", ".join(field.name for field in fields(Policy))
        raise InvalidPayload(f"There is no policy rule {key!r}. Known rules: {known}.", pointer=pointer)
    if key in _DURATIONS:
        return _duration(key, value, pointer)
    if key == "requirements":
        return _requirements(value, pointer)
    if key in ("required_approvals", "reject_threshold"):
        return _at_least_one(value, pointer)
    if key == "one_open_draft":
        return _one_of(value, (True, False), pointer)
    return _one_of(value, ("automatic", "manual") if key == "dispatch" else ("warn", "refuse"), pointer)


def _duration(key: str, value: Any, pointer: str) -> timedelta:
    duration = parse_duration(value, pointer=pointer)
    if key != "dispatch_delay" and not duration:
        raise InvalidPayload("A time to live of nothing would expire at once. Give at least 1s.", pointer=pointer)
    return duration


def _at_least_one(value: Any, pointer: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 100:
        raise InvalidPayload("Give a whole number from 1 to 100.", pointer=pointer)
    return value


def _one_of(value: Any, allowed: tuple[Any, ...], pointer: str) -> Any:
    if type(value) is not type(allowed[0]) or value not in allowed:
        raise InvalidPayload(f"Give one of {', '.join(str(item).lower() for item in allowed)}.", pointer=pointer)
    return value


def _requirements(value: Any, pointer: str) -> tuple[Requirement, ...]:
    if not isinstance(value, list | tuple):
        raise InvalidPayload('Give a list like [{group = "legal", minimum = 1}].', pointer=pointer)
    parsed = tuple(_requirement(item, f"{pointer}/{index}") for index, item in enumerate(value))
    if len({item.group for item in parsed}) != len(parsed):
        raise InvalidPayload("A group may stand only once in the requirements.", pointer=pointer)
    return parsed


def _requirement(item: Any, pointer: str) -> Requirement:
    if not isinstance(item, dict) or set(item) != {"group", "minimum"}:
        raise InvalidPayload("A requirement has exactly the keys group and minimum.", pointer=pointer)
    if not isinstance(item["group"], str) or not item["group"]:
        raise InvalidPayload("Name the group.", pointer=f"{pointer}/group")
    return Requirement(item["group"], _at_least_one(item["minimum"], f"{pointer}/minimum"))
