"""Facts: names and values, one pair a line."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fact:
    """`is_code` for what is compared letter by letter; `note` stands beside the value, quieter."""

    label: str
    value: str
    is_code: bool = False
    note: str = ""
