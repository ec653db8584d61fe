"""Which addresses a target may reach: none of the special-purpose registries that is not reachable globally."""

from __future__ import annotations

import ipaddress

import pytest

from likewise.server.sinks.networks import may_reach, parse_networks

# IANA's registries of IPv4 and IPv6 special-purpose addresses: what they call not globally reachable, and deprecated.
# Without ::ffff:0:0/96, whose addresses count as those of IPv4 that they embed.
NOT_GLOBAL = (
    "0.0.0.0/8",
    "0.0.0.0/32",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.0.0/29",
    "192.0.0.8/32",
    "192.0.0.170/32",
    "192.0.0.171/32",
    "192.0.2.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "240.0.0.0/4",
    "255.255.255.255/32",
    "224.0.0.0/4",
    "::1/128",
    "::/128",
    "64:ff9b:1::/48",
    "100::/64",
    "2001:2::/48",
    "2001:10::/28",
    "2001:db8::/32",
    "3fff::/20",
    "5f00::/16",
    "fc00::/7",
    "fe80::/10",
    "fec0::/10",
    "ff00::/8",
)
GLOBAL = ("1.1.1.1", "93.184.215.14", "192.0.1.1", "198.20.0.1", "2606:4700::1111", "2a00:1450:4001::1")


@pytest.mark.parametrize("network", NOT_GLOBAL)
def test_no_address_of_a_special_purpose_network_is_reached(network: str) -> None:
    """Neither its first address, nor its last, nor one between; unless the operator allows it."""
    known = ipaddress.ip_network(network)
    for number in {0, known.num_addresses // 2, known.num_addresses - 1}:
        address = str(known[number])
        assert not may_reach(address, ()), address
        assert may_reach(address, parse_networks([f"{address}/{known.max_prefixlen}"]))


@pytest.mark.parametrize("address", GLOBAL)
def test_public_addresses_are_reached(address: str) -> None:
    """Those beside special ones as well."""
    assert may_reach(address, ())
