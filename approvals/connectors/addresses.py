"""Which addresses Review Room may connect to."""

import ipaddress
import re
import socket
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address
from urllib.parse import urlsplit

Address = IPv4Address | IPv6Address

# Cloud metadata services that live outside the link-local range. They hand credentials to whoever asks.
_METADATA = frozenset(
    map(
        ipaddress.ip_address,
        (
            "100.100.100.200",
            "168.63.129.16",
            "192.0.0.192",
            "fd00:c1::a9fe:a9fe",
            "fd00:ec2::254",
            "fd20:ce::254",
        ),
    )
)
# IPv6 ranges that only carry an IPv4 address, in their last four bytes.
_CARRYING = tuple(
    map(
        ipaddress.IPv6Network,
        (
            "::/96",  # IPv4-compatible
            "::ffff:0:0/96",  # IPv4-mapped
            "::ffff:0:0:0/96",  # IPv4-translated (RFC 2765)
            "64:ff9b::/96",  # NAT64 (RFC 6052)
        ),
    )
)
_LOCAL_NAT64 = ipaddress.IPv6Network("64:ff9b:1::/48")  # of one network, which chooses its prefix (RFC 8215)
_ISATAP = (bytes.fromhex("00005efe"), bytes.fromhex("02005efe"))  # then the IPv4 address (RFC 5214)
_BROADCAST_AND_RESERVED = ipaddress.IPv4Network("240.0.0.0/4")
_PRIVATE_EVEN_IF_GLOBAL = (  # whatever the standard library of this or that Python says
    ipaddress.IPv4Network("192.0.0.0/24"),  # protocol assignments
    ipaddress.IPv4Network("192.88.99.0/24"),  # relays of 6to4, given up
    _LOCAL_NAT64,
    ipaddress.IPv6Network("3fff::/20"),  # documentation
    ipaddress.IPv6Network("5f00::/16"),  # segment identifiers
    ipaddress.IPv6Network("fec0::/10"),  # site-local, given up
)
_VISIBLE = re.compile(r"[!-~]+")
_NETLOC = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^][:%]+)(:[0-9]+)?")  # no zone, no escapes, nothing after the bracket
_NAME = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*\.?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")  # the last label of what a system may take for an IPv4 address


class AddressError(ValueError):
    """The URL may not be called from here."""


def forbidden(address: Address, *, allow_private: bool) -> str | None:
    """Why no connection may be made to this address, or None. Link-local and metadata are never allowed."""
    for meant in (address, *_embedded(address)):
        if fault := _fault(meant, allow_private=allow_private):
            return fault if meant == address else f"{address} carries {meant}: {fault}"
    return None


def check_url(url: str, *, allow_private: bool) -> None:
    """Raise AddressError unless the URL is plain http(s) to a host that may be called. Resolves no names."""
    if not _VISIBLE.fullmatch(url) or "\\" in url:
        raise AddressError("A URL may hold only visible ASCII characters and no backslash.")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as exc:
        raise AddressError(f"This is not a URL: {exc}.") from exc
    if parts.scheme not in ("http", "https") or not host or port == 0:
        raise AddressError("Only http:// and https:// URLs with a host can be called.")
    if "@" in parts.netloc:
        raise AddressError("A URL may not hold a user name or password; use a secret.")
    if not _NETLOC.fullmatch(parts.netloc):
        raise AddressError(f"{parts.netloc} is no host with a port, or is not written as usual.")
    if "#" in url:
        raise AddressError("A URL to call has no fragment (#).")
    _check_host(host, allow_private=allow_private)


def literal(host: str) -> Address | None:
    """The address a host is written as, in the one plain notation; None for a name. Raises AddressError for others."""
    host = host.lower()
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        pass
    last = host.removesuffix(".").rpartition(".")[2]
    if not _NAME.fullmatch(host) or _NUMBER.fullmatch(last) or _is_number(host):
        raise AddressError(f"{host} is neither a host name nor an address as it is usually written.")
    return IPv4Address("127.0.0.1") if last == "localhost" else None  # by definition (RFC 6761)


def _check_host(host: str, *, allow_private: bool) -> None:
    address = literal(host)
    if address is not None and (fault := forbidden(address, allow_private=allow_private)):
        raise AddressError(f"{fault}.")


def _is_number(host: str) -> bool:
    """Whether the system would take it for an IPv4 address: 2130706433, 0x7f.1, 127.1, 017700000001."""
    try:
        socket.inet_aton(host)
    except (OSError, UnicodeError):
        return False
    return True


def _fault(address: Address, *, allow_private: bool) -> str | None:
    if address.is_multicast or address.is_unspecified or _is_reserved(address):
        return f"{address} is not the address of one host"
    if address.is_link_local or address in _METADATA:
        return f"{address} is a link-local or metadata address, which is never allowed"
    if allow_private or (address.is_global and not _only_looks_global(address)) or _carries(address):
        return None
    return f"{address} is a private or loopback address; REVIEWROOM_ALLOW_PRIVATE_TARGETS would allow it"


def _embedded(address: Address) -> Iterator[IPv4Address]:
    """Every IPv4 address that a connection to an IPv6 address may end at."""
    if isinstance(address, IPv4Address) or int(address) <= 1:
        return
    if address.sixtofour is not None:
        yield address.sixtofour
    if address.teredo is not None:
        yield from address.teredo  # its server and its client
    packed = address.packed
    if _carries(address) or packed[8:12] in _ISATAP:
        yield IPv4Address(packed[12:])
    if address in _LOCAL_NAT64:  # its prefix may take 48 bits or 96
        yield from (IPv4Address(part) for part in (packed[6:8] + packed[9:11], packed[12:]) if any(part))


def _is_reserved(address: Address) -> bool:
    if isinstance(address, IPv4Address):
        return address in _BROADCAST_AND_RESERVED
    return address.teredo is not None  # reached through a relay that the address itself names


def _carries(address: Address) -> bool:
    """Whether an address stands for an IPv4 one, which is judged in its place."""
    return isinstance(address, IPv6Address) and int(address) > 1 and any(address in net for net in _CARRYING)


def _only_looks_global(address: Address) -> bool:
    return any(address.version == network.version and address in network for network in _PRIVATE_EVEN_IF_GLOBAL)
