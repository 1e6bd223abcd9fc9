"""The plate: where the bytes go. Its title changes with the truth."""

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from approvals.models import Channel, ChannelConfig, Draft
from approvals.services import rendering
from approvals.web import words
from approvals.web.cards import truth


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a destination: the name people use, and the exact one under it."""

    label: str
    name: str
    exact: str


@dataclass(frozen=True, slots=True)
class Plate:
    """`replaces` is the id of the very object at the remote that a correction puts its bytes into."""

    title: str
    effect: str
    effect_icon: str
    parts: tuple[Part, ...]
    replaces: str = ""


def of_draft(draft: Draft, *, title: str = truth.WILL, replaces: str = "") -> Plate:
    """Gives the plate of a draft, on the configuration its newest approval was opened on."""
    config = draft.approval.config if draft.approval else draft.channel.config
    place = _Place(draft.target.account, draft.target.resource, draft.operation, replaces)
    return _plate(title, draft.channel, config, place)


def of_way(channel: Channel, config: ChannelConfig, operation: str, *, resource: str = "", replaces: str = "") -> Plate:
    """Gives the plate of something that is still being written; its resource may be open."""
    named = resource or config.resource or config.resource_pattern
    return _plate(truth.WILL, channel, config, _Place(config.account, named, operation, replaces))


@dataclass(frozen=True, slots=True)
class _Place:
    account: str
    resource: str
    operation: str
    replaces: str


def _plate(title: str, channel: Channel, config: ChannelConfig | None, place: _Place) -> Plate:
    replaces = channel.is_exclusive or bool(place.replaces)
    effect = "Adds a new one, overwrites nothing"
    if replaces:
        effect = "Replaces one published object" if place.replaces else "Replaces what is there now"
    parts = (
        Part("Connector", channel.name, f"{channel.connector} · {channel.slug}"),
        Part("Account", place.account, ", ".join(_hosts(config)) if config else ""),
        Part("Resource", place.resource, _freedom(config)),
        Part("Operation", words.operation(place.operation), place.operation),
    )
    return Plate(title, effect, "replaces" if replaces else "adds", parts, place.replaces)


def _freedom(config: ChannelConfig | None) -> str:
    if config is None:
        return ""
    return "the only one of this channel" if config.resource else f"one of {config.resource_pattern}"


def _hosts(config: ChannelConfig) -> Iterator[str]:
    """Gives the hosts a channel talks to, without whatever else an address may hold."""
    connector = rendering.connector_of(config)
    found = (urlsplit(url).netloc.rpartition("@")[2] for _, url in connector.urls(rendering.settings_of(config)))
    yield from dict.fromkeys(host for host in found if host)
