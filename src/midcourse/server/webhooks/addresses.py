"""Decides which addresses webhooks may be sent to: those of the public internet."""

import ipaddress
from typing import TypeAlias

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

NAT64 = ipaddress.ip_network("64:ff9b::/96")


def is_public(text: str) -> bool:
    """Whether this address, and any IPv4 address that it wraps, belongs to the public internet."""
    address = ipaddress.ip_address(text.partition("%")[0])
    return all(candidate.is_global and not candidate.is_multicast for candidate in (address, *_wrapped(address)))


def _wrapped(address: Address) -> tuple[Address, ...]:
    """The IPv4 addresses that are wrapped in an IPv6 address."""
    if isinstance(address, ipaddress.IPv4Address):
        return ()
    inner = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    if address in NAT64:
        inner.append(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    return tuple(wrapped for wrapped in inner if wrapped is not None)
