"""Addresses to which a server may send on behalf of its configuration: those of the public internet."""

import ipaddress
from typing import TypeAlias

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

NAT64 = ipaddress.ip_network("64:ff9b::/96")


def is_public(text: str) -> bool:
    """Whether this address leads to the public internet, also if it only wraps an IPv4 address."""
    address = ipaddress.ip_address(text.partition("%")[0])
    return all(one.is_global and not one.is_multicast for one in (address, *_wrapped(address)))


def _wrapped(address: Address) -> tuple[Address, ...]:
    """IPv4 addresses that an IPv6 address stands for."""
    if isinstance(address, ipaddress.IPv4Address):
        return ()
    inner = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    if address in NAT64:
        inner.append(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    return tuple(one for one in inner if one is not None)
