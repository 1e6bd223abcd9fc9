"""Connectors by name: the built-in ones and those of installed packages (entry points `reviewroom.connectors`)."""

from functools import cache
from importlib.metadata import EntryPoint, entry_points

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
    """The connector, on the given client or the one of the settings. Raises LookupError for one that is not there."""
    return _kind(name)(outbound or outbounds.from_settings())


def names() -> list[str]:
    return sorted({*_installed(), *(kind.name for kind in _BUILT_IN)})


@cache
def _kind(name: str) -> type[Connector]:
    """A package cannot take the place of a built-in: what sends must not change by installing something.

    It is imported only for its own channels, so that a broken one stops no other.
    """
    for kind in _BUILT_IN:
        if kind.name == name:
            return kind
    point = _installed().get(name)
    if point is None:
        raise LookupError(f"There is no connector {name}; there are {', '.join(names())}.")
    try:
        found: type[Connector] = point.load()
    except Exception as exc:
        raise LookupError(f"The package of connector {name} cannot be imported ({exc}). Mend or remove it.") from exc
    return found


@cache
def _installed() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}
