"""Channels: their immutable configurations, and what a change does to what is being reviewed."""

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from approvals.connectors import registry
from approvals.connectors.base import ConfigError, Settings
from approvals.domain.errors import InvalidPayload
from approvals.domain.policy import Policy
from approvals.domain.resource import overlap
from approvals.domain.states import LIVE_APPROVAL
from approvals.models import Approval, Channel, ChannelConfig, Room
from approvals.services import ground, locks, rendering
from approvals.services.config_schema import ChannelSpec
from approvals.services.revoke import revoke_in

if TYPE_CHECKING:
    from approvals.services.configure import Run

CONFIG_FIELDS = ("account", "resource", "resource_pattern", "idempotent", "secret", "config", "operations")
FIXED_FIELDS = ("connector", "concurrency")


def match_channels(run: "Run", room: Room, specs: list[ChannelSpec], pointer: str) -> None:
    """Makes a room's channels match; absent ones are retired, their live approvals revoked. Inside a door."""
    for channel in room.channels.filter(retired_at=None).exclude(slug__in=[spec.slug for spec in specs]):
        _retire(run, channel)
    for index, spec in enumerate(specs):
        _match_channel(run, room, spec, f"{pointer}/{index}")


def settings_of(spec: ChannelSpec) -> Settings:
    """Gives a channel of the file as the plain data connectors read."""
    return Settings(
        connector=spec.connector,
        account=spec.account,
        secret=spec.secret,
        idempotent=spec.idempotent,
        concurrency=spec.concurrency,
        resource=spec.resource,
        resource_pattern=spec.resource_pattern,
        config=spec.config,
        operations=spec.operations,
    )


def channel_spec(channel: Channel) -> ChannelSpec:
    """Gives a channel as the configuration file would say it."""
    assert channel.config is not None
    values = {name: getattr(channel.config, name) for name in CONFIG_FIELDS}
    kept = {name: getattr(channel, name) for name in ("slug", "name", "policy", *FIXED_FIELDS)}
    return ChannelSpec(**values, **kept)


def review_again(run: "Run", *, room_id: int | None = None, channel_id: int | None = None) -> None:
    """Sends what stands on ground that moved back to review: after a new configuration or a stricter policy."""
    live = Approval.objects.filter(state__in=LIVE_APPROVAL).order_by("draft_id")
    live = live.filter(draft__room_id=room_id) if room_id else live.filter(draft__channel_id=channel_id)
    for approval_id, draft_id in live.values_list("id", "draft_id"):
        draft = locks.draft(draft_id)
        approval = locks.approval(approval_id, draft=draft)
        if ground.reopen_in(approval, draft, actor=run.actor, now=run.now):
            run.changes.append(f"{draft.reference}: back to review")


def _match_channel(run: "Run", room: Room, spec: ChannelSpec, pointer: str) -> None:
    _check(room, spec, pointer)
    channel = room.channels.filter(slug=spec.slug).select_related("room", "config").first()
    if channel is None:
        channel = Channel.objects.create(
            room=room,
            slug=spec.slug,
            name=spec.name or spec.slug,
            connector=spec.connector,
            concurrency=spec.concurrency,
            policy=spec.policy,
        )
        _add_config(channel, spec, run)
        run.note(room, "channel.created", f"channel {channel}: created", config=1)
        return
    _match_fixed(channel, spec, pointer)
    _match_words(run, channel, spec)
    if any(getattr(channel.config, name) != getattr(spec, name) for name in CONFIG_FIELDS):
        _add_config(channel, spec, run)
        assert channel.config is not None
        run.note(room, "channel.changed", f"channel {channel}: config {channel.config.number}")
        review_again(run, channel_id=channel.pk)


def _check(room: Room, spec: ChannelSpec, pointer: str) -> None:
    Policy().overridden(room.policy).overridden(spec.policy, pointer=f"{pointer}/policy")
    try:
        registry.get(spec.connector).check(settings_of(spec))
    except LookupError as exc:
        raise InvalidPayload(str(exc).strip("'\""), pointer=f"{pointer}/connector") from exc
    except ConfigError as exc:
        raise InvalidPayload(exc.message, pointer=f"{pointer}{exc.pointer}") from exc
    others = Channel.objects.filter(connector=spec.connector, config__account=spec.account, retired_at=None)
    for other in others.exclude(room=room, slug=spec.slug).select_related("room", "config"):
        _check_neighbour(spec, other, pointer)


def _check_neighbour(spec: ChannelSpec, other: Channel, pointer: str) -> None:
    """One account stands for one host, and one resource belongs to one channel: else targets would be ambiguous."""
    config = other.config
    assert config is not None
    mine, theirs = _hosts(settings_of(spec)), _hosts(rendering.settings_of(config))
    if mine and theirs and mine != theirs:
        raise InvalidPayload(
            f"Account {spec.account} stands for {', '.join(sorted(theirs))} in channel {other}. "
            "Give another host another account name.",
            pointer=f"{pointer}/account",
        )
    if overlap(spec.resource or spec.resource_pattern, config.resource or config.resource_pattern):
        raise InvalidPayload(
            f"Channel {other} can write to the same resource. Narrow one of them.",
            pointer=f"{pointer}/{'resource' if spec.resource else 'resource_pattern'}",
        )


def _hosts(settings: Settings) -> set[str]:
    return {urlsplit(url).netloc.lower() for _, url in registry.get(settings.connector).urls(settings)}


def _match_fixed(channel: Channel, spec: ChannelSpec, pointer: str) -> None:
    for name in FIXED_FIELDS:
        if getattr(channel, name) != getattr(spec, name):
            raise InvalidPayload(
                f"A channel's {name} stays what it is ({getattr(channel, name)}). Add a channel with another slug.",
                pointer=f"{pointer}/{name}",
            )


def _match_words(run: "Run", channel: Channel, spec: ChannelSpec) -> None:
    changed: dict[str, Any] = {
        name: value
        for name, value in {"name": spec.name or spec.slug, "policy": spec.policy, "retired_at": None}.items()
        if getattr(channel, name) != value
    }
    if not changed:
        return
    for name, value in changed.items():
        setattr(channel, name, value)
    channel.save(update_fields=list(changed))
    told = ", ".join(sorted(changed)).replace("retired_at", "in use again")
    run.note(channel.room, "channel.changed", f"channel {channel}: {told} changed", policy=channel.policy)
    if "policy" in changed:
        review_again(run, channel_id=channel.pk)


def _add_config(channel: Channel, spec: ChannelSpec, run: "Run") -> None:
    values = {name: getattr(spec, name) for name in CONFIG_FIELDS}
    number = channel.configs.count() + 1
    channel.config = ChannelConfig.objects.create(channel=channel, number=number, created_at=run.now, **values)
    channel.save(update_fields=["config"])


def _retire(run: "Run", channel: Channel) -> None:
    channel.retired_at = run.now
    channel.save(update_fields=["retired_at"])
    run.note(channel.room, "channel.retired", f"channel {channel}: retired")
    live = Approval.objects.filter(draft__channel=channel, state__in=LIVE_APPROVAL).order_by("draft_id")
    for approval_id, draft_id in live.values_list("id", "draft_id"):
        draft = locks.draft(draft_id)
        approval = locks.approval(approval_id, draft=draft)
        revoke_in(draft, approval, verb="revoke", actor=run.actor, now=run.now, reason="The channel was retired.")
        run.changes.append(f"{draft.reference}: approval revoked, for its channel was retired")
