"""The free text people and agents may write around a draft: titles, notes, comments, reasons."""

import re

from approvals.domain.errors import InvalidPayload

TITLE_LIMIT = 200
REASON_LIMIT = 1000
TEXT_LIMIT = 10_000

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def checked(text: object, *, pointer: str, limit: int = TEXT_LIMIT, required: bool = False) -> str:
    """Gives the text as it is. Raises InvalidPayload for no text, too much of it, or what no database stores."""
    name = pointer.lstrip("/")
    if not isinstance(text, str):
        raise InvalidPayload(f"{name} must be text.", pointer=pointer)
    if required and not text.strip():
        raise InvalidPayload(f"Give a {name}.", pointer=pointer)
    if len(text) > limit:
        raise InvalidPayload(f"{name} has {len(text):,} characters and may have {limit:,}.", pointer=pointer)
    if _UNSTORABLE.search(text):
        raise InvalidPayload(f"{name} holds U+0000 or half a surrogate pair. Remove it.", pointer=pointer)
    return text
