"""An issue: the payload under the tracker's names, and whether the tracker shows the same."""

from collections.abc import Mapping
from typing import Any

from approvals.connectors.base import Settings
from approvals.connectors.roundup.channel import NAME, id_property
from approvals.domain import pointer as pointers
from approvals.domain.errors import InvalidPayload


def properties_of(payload: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """The payload under the tracker's names. Raises InvalidPayload for what Roundup would not keep as it is."""
    names: Mapping[str, str] = settings.config.get("properties", {})
    found: dict[str, Any] = {}
    for key, value in payload.items():
        name = names.get(key, key)
        pointer = pointers.build(["payload", key])
        if not NAME.fullmatch(name) or name in found or name == id_property(settings):
            raise InvalidPayload(f"{key} cannot be a property of the issue, or stands for one twice.", pointer=pointer)
        if not _can_keep(value):
            raise InvalidPayload(
                "The tracker keeps texts that are not empty, numbers, true, false, null and lists of texts.",
                pointer=pointer,
            )
        found[name] = value
    return found


def _can_keep(value: Any) -> bool:
    if isinstance(value, list):
        return all(isinstance(item, str) and item for item in value)
    return not isinstance(value, dict) and value != ""


def is_number(remote_id: str | None) -> bool:
    return remote_id is not None and remote_id.isascii() and remote_id.isdigit()


def number(remote_id: str) -> tuple[int, str]:
    return len(remote_id), remote_id


def same(wanted: Any, shown: Any) -> bool:
    """Whether the tracker shows this value; a linked item counts by its number and by its name."""
    if isinstance(wanted, list) and isinstance(shown, list):
        return len(wanted) == len(shown) and _paired(wanted, list(shown))
    if isinstance(shown, dict):
        return str(wanted) in {str(value) for key, value in shown.items() if key != "link"}
    if wanted is None or shown is None:
        return wanted is shown or shown == []
    return str(wanted).replace("\r\n", "\n") == str(shown)


def _paired(wanted: list[Any], shown: list[Any]) -> bool:
    """Whether each value of one list has one of its own in the other; the tracker sorts its lists anew."""
    for one in wanted:
        match = next((place for place, other in enumerate(shown) if same(one, other)), None)
        if match is None:
            return False
        del shown[match]
    return True
