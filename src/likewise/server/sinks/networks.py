"""Check which addresses a target may reach: public ones, and those that the configuration allows.

A target is set by whoever may subscribe, and the broker may reach what they may not: its own machine, the network it
stands in, a cloud's metadata. So the address is looked at when it is connected to, after its name was resolved, and the
connection goes to that very address: a name that resolves to something else a moment later changes nothing.
"""

from __future__ import annotations

import asyncio
import ipaddress
import ssl
from collections.abc import Iterable, Sequence
from functools import cache

from likewise.errors import FormatError, InputError
from likewise.server.sinks.bounded_tls import BoundedContext
from likewise.server.sinks.resolver import Resolve
from likewise.server.sinks.target import TransientFailure

CLOSING_SECONDS = 1.0  # that the other side has to take its leave of a connection
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_SPECIAL = tuple(  # of RFC 6890's registries, and what `is_global` takes for public all the same
    ipaddress.ip_network(each)
    for each in (
        "::/96",
        "::ffff:0:0:0/96",
        "64:ff9b:1::/48",
        "3fff::/20",
        "5f00::/16",
        "fec0::/10",
        "192.0.0.0/24",
        "192.88.99.0/24",
    )
)


def parse_networks(texts: Iterable[str]) -> tuple[Network, ...]:
    """Parse the networks of a configuration.

    >>> parse_networks(["10.0.0.0/8", "::1"])
    (IPv4Network('10.0.0.0/8'), IPv6Network('::1/128'))
    """
    try:
        return tuple(ipaddress.ip_network(each.strip()) for each in texts)
    except ValueError as error:
        raise FormatError(f"`[targets] allow` lists networks such as 192.168.0.0/16: {error}") from None


def may_reach(text: str, allowed: Sequence[Network]) -> bool:
    """Return whether an address is public or allowed; an embedded one (6to4, NAT64, Teredo) counts as itself.

    >>> may_reach("93.184.215.14", ()), may_reach("127.0.0.1", ()), may_reach("::ffff:10.0.0.1", ())
    (True, False, False)
    >>> may_reach("127.0.0.1", parse_networks(["127.0.0.0/8"])), may_reach("64:ff9b::a9fe:a9fe", ())
    (True, False)
    """
    address = ipaddress.ip_address(text.partition("%")[0])
    embedded = _embedded_ipv4(address)
    if any(each.version == network.version and each in network for each in {address, embedded} for network in allowed):
        return True
    return _is_public(embedded)


def _is_public(address: Address) -> bool:
    special = any(address.version == network.version and address in network for network in _SPECIAL)
    return address.is_global and not address.is_multicast and not special


def _embedded_ipv4(address: Address) -> Address:
    """Return the IPv4 address that an IPv6 one embeds; else the address itself."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    teredo = address.teredo
    return address.ipv4_mapped or address.sixtofour or (teredo[1] if teredo else address)


async def reachable(host: str, port: int, allowed: Sequence[Network], resolve: Resolve) -> list[str]:
    """Return the addresses of a host that may be reached, in order.

    Raises:
        NotNow: There is none.
    """
    try:
        addresses = await resolve(host, port)
    except (OSError, UnicodeError) as error:
        raise TransientFailure(f"there is no address of {host!r}: {error}") from None
    good = [each for each in addresses if may_reach(each, allowed)]
    if not good:
        raise TransientFailure(unreachable_message(host))
    return good


def unreachable_message(host: str) -> str:
    """Return the error text for a host that may not be reached."""
    return (
        f"{host!r} is no public address, and targets reach no other unless who runs the broker allows it: "
        '[targets] allow = ["192.168.0.0/16"]'
    )


def check_host(host: str, allowed: Sequence[Network]) -> None:
    """Refuse an address that may not be reached, when it is saved; a name is looked at when it is connected to."""
    try:
        ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        if host.lower().rstrip(".") == "localhost" and not may_reach("127.0.0.1", allowed):
            raise InputError(unreachable_message(host)) from None
        return
    if not may_reach(host, allowed):
        raise InputError(unreachable_message(host))


def close_transport(transport: asyncio.WriteTransport) -> None:
    """Close a connection that is not needed any more, without waiting for the other side.

    What is written and not sent goes out if the other side takes it within `CLOSING_SECONDS`. Where a deadline has
    passed `transport.abort()` is right: `close()` alone keeps the socket for as long as a silent peer likes.
    """
    transport.close()
    asyncio.get_running_loop().call_later(CLOSING_SECONDS, transport.abort)


@cache
def default_tls_context() -> ssl.SSLContext:
    """Return whose certificates this machine believes, made once: it takes memory and time."""
    trust = BoundedContext(ssl.PROTOCOL_TLS_CLIENT)
    trust.load_default_certs()
    return trust
