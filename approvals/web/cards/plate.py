"""The plate: where the bytes go. Its title changes with the truth."""

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from approvals.domain.states import DraftState
from approvals.models import Channel, ChannelConfig, Draft
from approvals.services import rendering
from approvals.web import words

WILL, IS_BEING, MAY, WAS, WAS_NOT = (
    "Will be written to",
    "Being written to",
    "May have been written to",
    "Written to",
    "Was not written to",
)
TITLES = {
    DraftState.REJECTED: WAS_NOT,
    DraftState.EXPIRED: WAS_NOT,
    DraftState.REVOKED: WAS_NOT,
    DraftState.FAILED: WAS_NOT,
    DraftState.SUBMITTING: IS_BEING,
    DraftState.DELIVERY_UNKNOWN: MAY,
    DraftState.SUBMITTED: WAS,
    DraftState.CONFIRMED: WAS,
    DraftState.RETRACTING: WAS,
    DraftState.RETRACTION_UNKNOWN: WAS,
    DraftState.RETRACTION_FAILED: WAS,
    DraftState.RETRACTED: "Was written to, and is gone again",
}


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a destination: the name people use, and the exact one under it."""

    label: str
    name: str
    exact: str


@dataclass(frozen=True, slots=True)
class Plate:
    title: str
    effect: str
    effect_icon: str
    parts: tuple[Part, ...]


def of_draft(draft: Draft, *, waits: bool = False) -> Plate:
    """Gives the plate of a draft, on the configuration its newest approval was opened on.

    `waits`: its delivery is begun, but nothing of it has left.
    """
    config = draft.approval.config if draft.approval else draft.channel.config
    title = WILL if waits else TITLES.get(DraftState(draft.state), WILL)
    resource = draft.target.resource
    return _plate(title, draft.channel, config, account=draft.target.account, resource=resource, verb=draft.operation)


def of_way(channel: Channel, config: ChannelConfig, operation: str) -> Plate:
    """Gives the plate of something that is still being written; its resource may be open."""
    resource = config.resource or config.resource_pattern
    return _plate(WILL, channel, config, account=config.account, resource=resource, verb=operation)


def _plate(
    title: str, channel: Channel, config: ChannelConfig | None, *, account: str, resource: str, verb: str
) -> Plate:
    effect = "Replaces what is there now" if channel.is_exclusive else "Adds a new one, overwrites nothing"
    parts = (
        Part("Connector", channel.name, f"{channel.connector} · {channel.slug}"),
        Part("Account", account, ", ".join(_hosts(config)) if config else ""),
        Part("Resource", resource, _freedom(config)),
        Part("Operation", words.operation(verb), verb),
    )
    return Plate(title, effect, "replaces" if channel.is_exclusive else "adds", parts)


def _freedom(config: ChannelConfig | None) -> str:
    if config is None:
        return ""
    return "the only one of this channel" if config.resource else f"one of {config.resource_pattern}"


def _hosts(config: ChannelConfig) -> Iterator[str]:
    """Gives the hosts a channel talks to, without whatever else an address may hold."""
    connector = rendering.connector_of(config)
    found = (urlsplit(url).netloc.rpartition("@")[2] for _, url in connector.urls(rendering.settings_of(config)))
    yield from dict.fromkeys(host for host in found if host)
