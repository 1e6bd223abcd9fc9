"""Connectors by name: the built-in ones and those of installed packages (entry points `reviewroom.connectors`)."""

from functools import cache
from importlib.metadata import entry_points

from approvals.connectors import outbound as outbounds
from approvals.connectors.base import Connector
from approvals.connectors.google_business import GoogleBusinessConnector
from approvals.connectors.http import HttpConnector
from approvals.connectors.outbound import Outbound
from approvals.connectors.roundup import RoundupConnector
from approvals.connectors.smtp import SmtpConnector

GROUP = "reviewroom.connectors"
_BUILT_IN: tuple[type[Connector], ...] = (HttpConnector, RoundupConnector, SmtpConnector, GoogleBusinessConnector)


def get(name: str, outbound: Outbound | None = None) -> Connector:
    """The connector, on the given client or the one of the settings. Raises LookupError for an unknown name."""
    try:
        kind = _kinds()[name]
    except KeyError as exc:
        raise LookupError(f"There is no connector {name}; there are {', '.join(names())}.") from exc
    return kind(outbound or outbounds.from_settings())


def names() -> list[str]:
    return sorted(_kinds())


@cache
def _kinds() -> dict[str, type[Connector]]:
    """By name. A package cannot take the place of a built-in: what sends must not change by installing something."""
    found: dict[str, type[Connector]] = {point.name: point.load() for point in entry_points(group=GROUP)}
    return found | {kind.name: kind for kind in _BUILT_IN}
