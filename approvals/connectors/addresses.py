"""Which addresses Review Room may connect to."""

import ipaddress
import re
import socket
from ipaddress import IPv4Address, IPv6Address
from urllib.parse import urlsplit

Address = IPv4Address | IPv6Address

# Cloud metadata services that live outside the link-local range. They hand credentials to whoever asks.
_METADATA = frozenset(
    map(
        ipaddress.ip_address,
        ("100.100.100.200", "192.0.0.192", "168.63.129.16", "fd00:ec2::254", "fd20:ce::254"),
    )
)
_NAT64 = (ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("64:ff9b:1::/48"))
_COMPATIBLE = ipaddress.IPv6Network("::/96")
_VISIBLE = re.compile(r"[!-~]+")
_PRIVATE_EVEN_IF_GLOBAL = (ipaddress.IPv4Network("192.88.99.0/24"), ipaddress.IPv6Network("fec0::/10"))


class AddressError(ValueError):
    """The URL may not be called from here."""


def forbidden(address: Address, *, allow_private: bool) -> str | None:
    """Why no connection may be made to this address, or None. Link-local and metadata are never allowed."""
    inner = _unwrapped(address)
    if inner is None or inner.is_multicast or inner.is_unspecified:
        return f"{address} is not the address of one host"
    if inner.is_link_local or inner in _METADATA:
        return f"{address} is a link-local or metadata address, which is never allowed"
    if allow_private or (inner.is_global and not _only_looks_global(inner)):
        return None
    return f"{address} is a private or loopback address; REVIEWROOM_ALLOW_PRIVATE_TARGETS would allow it"


def check_url(url: str, *, allow_private: bool) -> None:
    """Raise AddressError unless the URL is plain http(s) to a host that may be called. Resolves no names."""
    if not _VISIBLE.fullmatch(url) or "\\" in url:
        raise AddressError("A URL may hold only visible ASCII characters and no backslash.")
    try:
        parts = urlsplit(url)
        host, _port = parts.hostname, parts.port
    except ValueError as exc:
        raise AddressError(f"This is not a URL: {exc}.") from exc
    if parts.scheme not in ("http", "https") or not host:
        raise AddressError("Only http:// and https:// URLs with a host can be called.")
    if "@" in parts.netloc:
        raise AddressError("A URL may not hold a user name or password; use a secret.")
    if parts.fragment or "#" in url:
        raise AddressError("A URL to call has no fragment (#).")
    address = literal(host)
    if address is not None and (fault := forbidden(address, allow_private=allow_private)):
        raise AddressError(f"{fault}.")


def literal(host: str) -> Address | None:
    """The address a host is written as, in any notation the system would accept; None for a name."""
    host = host.removesuffix(".").lower()
    if host == "localhost" or host.endswith(".localhost"):
        return IPv4Address("127.0.0.1")  # by definition (RFC 6761)
    try:
        return ipaddress.ip_address(host.split("%")[0])
    except ValueError:
        pass
    try:
        return IPv4Address(socket.inet_aton(host))  # 2130706433, 0x7f.1, 127.1, 017700000001
    except (OSError, UnicodeError):
        return None


def _unwrapped(address: Address) -> Address | None:
    """The IPv4 address inside an IPv6 one that only carries it; None for an unusable mixture."""
    if isinstance(address, IPv4Address):
        return address
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return None  # relays through servers named in the address: no public service listens there
    if any(address in network for network in _NAT64):
        return IPv4Address(address.packed[-4:])
    if address in _COMPATIBLE and int(address) > 1:
        return IPv4Address(address.packed[-4:])
    return address


def _only_looks_global(address: Address) -> bool:
    return any(address.version == network.version and address in network for network in _PRIVATE_EVEN_IF_GLOBAL)
