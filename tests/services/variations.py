"""The cast's configuration with one thing changed."""

from copy import deepcopy
from typing import Any

from tests.cast import CONFIG

Document = dict[str, Any]


def policy(**values: Any) -> Document:
    """The room's policy with these values on top."""
    document = deepcopy(CONFIG)
    document["rooms"][0]["policy"] |= values
    return document


def channel(slug: str, **values: Any) -> Document:
    """One channel with these values on top."""
    document = deepcopy(CONFIG)
    found = next(item for item in document["rooms"][0]["channels"] if item["slug"] == slug)
    found |= values
    return document


def without_channel(slug: str) -> Document:
    """The room without one of its channels."""
    document = deepcopy(CONFIG)
    room = document["rooms"][0]
    room["channels"] = [item for item in room["channels"] if item["slug"] != slug]
    return document


def member(name: str, *roles: str, groups: tuple[str, ...] = ()) -> Document:
    """The room with other roles for one person; without roles they are no member any more."""
    document = deepcopy(CONFIG)
    room = document["rooms"][0]
    room["members"] = [item for item in room["members"] if item["user"] != name]
    if roles:
        room["members"].append({"user": name, "roles": list(roles), "groups": list(groups)})
    return document


def another_room(*channels: Document, **values: Any) -> Document:
    """The cast's room and a second one, where the same people have the same roles."""
    document = deepcopy(CONFIG)
    document["rooms"].append(
        document["rooms"][0] | {"slug": "shops", "name": "Shops", "channels": list(channels)} | values
    )
    return document
