"""From stored configuration and bytes to the request a connector would send."""

import logging
from uuid import UUID

from approvals.connectors import registry
from approvals.connectors.base import Capability, Connector, Request, Settings
from approvals.domain import binding as bindings
from approvals.domain.binding import Binding
from approvals.domain.errors import InvalidPayload, Refusal, Unavailable
from approvals.models import Approval, ChannelConfig, Revision

log = logging.getLogger(__name__)


def connector_of(config: ChannelConfig) -> Connector:
    """Gives the channel's connector. Raises Unavailable where its package is gone or broken: nothing is sent then."""
    try:
        return registry.get(config.channel.connector)
    except LookupError as error:
        raise Unavailable(f"{error} Nothing leaves by {config.channel} meanwhile.") from error


def settings_of(config: ChannelConfig) -> Settings:
    """Gives one stored configuration as the plain data connectors read."""
    channel = config.channel
    return Settings(
        connector=channel.connector,
        account=config.account,
        secret=config.secret,
        idempotent=config.idempotent,
        concurrency=channel.concurrency,
        resource=config.resource,
        resource_pattern=config.resource_pattern,
        config=config.config,
        operations=config.operations,
    )


def capabilities(config: ChannelConfig, operation: str) -> frozenset[Capability]:
    return connector_of(config).capabilities(settings_of(config), operation)


def binding_of(revision: Revision) -> Binding:
    """Gives the binding the stored bytes hold; the bytes themselves are never made again."""
    return bindings.load(bytes(revision.canonical))


def can_read(config: ChannelConfig) -> bool:
    """True if the connector can say what stands at a target, whoever wrote it."""
    return type(connector_of(config)).read is not Connector.read


def render(revision: Revision, write_id: UUID, config: ChannelConfig) -> Request:
    """Gives the request for these bytes. Raises InvalidPayload if they cannot be rendered with this configuration.

    Whatever a connector raises here means that: a draft whose approval cannot be rendered must not block its target.
    """
    connector, channel = connector_of(config), settings_of(config)
    try:
        return connector.render(binding_of(revision), write_id, channel)
    except Refusal:
        raise
    except Exception as error:
        log.exception("revision %s cannot be rendered", revision.pk)
        raise InvalidPayload(f"The connector cannot make a request of this: {error}", pointer="/payload") from error


def request_of(approval: Approval) -> Request:
    """Gives the request an approval covers, with the configuration it was opened on."""
    return render(approval.revision, approval.write_id, approval.config)
