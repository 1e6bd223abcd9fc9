"""Whole numbers as forms and addresses hold them: small, plain digits, or nothing."""

MOST_DIGITS = 9
"""What fits every column; versions and ids of this size are enough for long."""


def whole(text: str) -> int | None:
    """Gives the number, or nothing for whatever else a request may hold."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS else None
