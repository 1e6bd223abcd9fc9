"""Host names of channels that are to be saved: looked up before any transaction is open."""

import asyncio

from approvals.connectors import registry
from approvals.connectors.base import ConfigError
from approvals.domain.errors import InvalidPayload
from approvals.services.channels import settings_of
from approvals.services.config_schema import ConfigSpec


def check_names(spec: ConfigSpec) -> None:
    """Refuses channels whose host names lead to addresses that may not be called. Outside transactions only.

    A name that does not resolve passes: the address is checked again at every connection. Raises InvalidPayload.
    """
    asyncio.run(_check(spec))


async def _check(spec: ConfigSpec) -> None:
    for room_index, room in enumerate(spec.rooms):
        for index, channel in enumerate(room.channels):
            pointer = f"/rooms/{room_index}/channels/{index}"
            settings = settings_of(channel)
            try:
                connector = registry.get(channel.connector)
                connector.check(settings)
                await connector.check_names(settings)
            except LookupError as exc:
                raise InvalidPayload(str(exc).strip("'\""), pointer=f"{pointer}/connector") from exc
            except ConfigError as exc:
                raise InvalidPayload(exc.message, pointer=f"{pointer}{exc.pointer}") from exc
