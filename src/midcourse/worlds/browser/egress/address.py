"""URLs as Chromium reads them, and the IP addresses behind them: resolved once, and refused where no browser may connect.

A URL that two programs could read differently is refused: names that are not ASCII, user names in front of the host,
trailing dots. Names are resolved here only, so that a name server cannot give another answer later (DNS rebinding).
"""

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Literal, TypeAlias
from urllib.parse import unquote, urlsplit

Ip: TypeAlias = IPv4Address | IPv6Address
Reach: TypeAlias = Literal["public", "loopback", "private", "barred"]
"""The network of an IP address. To `barred` ones (link-local, metadata services, multicast, unroutable) no name may lead, even an allowed one."""
Resolver: TypeAlias = Callable[[str], Awaitable[Sequence[Ip]]]

DEFAULT_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}
PAGES = ("http", "https")

_NAME = re.compile(r"[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*")
_DOTS = re.compile(r"(^|/)(\.|%2e){1,2}(/|$)", re.IGNORECASE)
_STRIPPED = "".join(map(chr, range(0x21)))
_DROPPED = str.maketrans("", "", "\t\n\r")

_METADATA = (IPv4Address("168.63.129.16"), IPv4Address("100.100.100.200"), IPv6Address("fd00:ec2::254"))
"""Metadata services of clouds that do not use a link-local address."""
_NOWHERE = (IPv4Network("0.0.0.0/8"), IPv4Network("192.0.0.0/24"), IPv4Network("240.0.0.0/4"))
_EMBEDDING_IPV4 = (IPv6Network("::/96"), IPv6Network("64:ff9b::/96"), IPv6Network("64:ff9b:1::/48"))
_GLOBAL_IPV6 = IPv6Network("2000::/3")


class AddressRefused(Exception):
    """This address may not be reached. The message says why, and what to change."""


@dataclass(frozen=True, kw_only=True)
class Address:
    """A URL, split into its parts. `url` is its unambiguous form."""

    scheme: str
    host: str
    port: int
    rest: str
    """Path, query and fragment."""

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.host}" + ("" if self.port == DEFAULT_PORTS[self.scheme] else f":{self.port}")

    @property
    def url(self) -> str:
        return self.origin + self.rest

    @property
    def path(self) -> str:
        """The path with the query and without the fragment, as a server receives it."""
        return self.rest.partition("#")[0]

    @property
    def ip(self) -> Ip | None:
        """The IP address, if the host is one and not a name."""
        try:
            return ip_address(self.host.strip("[]"))
        except ValueError:
            return None


def read_origin(url: str) -> str:
    """Return scheme, host and port of a URL that a browser has written, or an empty string if it has no host."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}" if parts.netloc else ""


def read_place(url: str) -> str:
    """Return host and path of a URL, without a slash at the end: the place to which a form sends, without the query."""
    parts = urlsplit(url)
    return f"{parts.netloc}{parts.path.rstrip('/')}"


def parse(url: str, schemes: Sequence[str] = PAGES) -> Address:
    """Split a URL into its parts. Raise `AddressRefused` if it is not complete, not of these schemes, or ambiguous."""
    text = url.strip(_STRIPPED).translate(_DROPPED)
    scheme, colon, after = text.partition(":")
    scheme = scheme.lower()
    if not colon or not re.fullmatch(r"[a-z][a-z0-9+.-]*", scheme):
        raise AddressRefused(f"'{_abbreviate(url)}' is not a whole URL; write it with {schemes[0]}:// in front")
    if scheme not in schemes:
        raise AddressRefused(f"'{scheme}:' is not opened; only {' and '.join(schemes)} are")
    authority, rest = _split_authority(after)
    if "@" in authority:
        raise AddressRefused(f"'{_abbreviate(url)}' has a user name before its host; write it without")
    if _DOTS.search(re.split("[?#]", rest, maxsplit=1)[0]):
        raise AddressRefused(f"'{_abbreviate(url)}' contains . or .. in its path; write the path that it leads to")
    host, port = _split_port(authority, DEFAULT_PORTS[scheme])
    return Address(scheme=scheme, host=_parse_host(host), port=port, rest=rest)


def _split_authority(after: str) -> tuple[str, str]:
    """Split what follows the scheme into the authority and the rest.

    As in Chromium, any slashes or backslashes before the host stand for `//`, and a backslash in the path stands for `/`.
    """
    body = after.lstrip("/\\")
    end = next((i for i, letter in enumerate(body) if letter in "/\\?#"), len(body))
    mark = next((i for i, letter in enumerate(body) if letter in "?#"), len(body))
    path = body[end:mark].replace("\\", "/")
    return body[:end], (path or "/") + body[mark:]


def _split_port(authority: str, default: int) -> tuple[str, int]:
    host, port = authority, ""
    if not authority.endswith("]"):
        before, colon, after = authority.rpartition(":")
        host, port = (before, after) if colon else (authority, "")
    if port and not (port.isascii() and port.isdigit() and len(port) <= 5 and 0 < int(port) < 2**16):
        raise AddressRefused(f"'{_abbreviate(port)}' is not a port; use a number from 1 to 65535")
    return host, int(port) if port else default


def _parse_host(written: str) -> str:
    if written.startswith("["):
        try:
            ip = IPv6Address(written.removeprefix("[").removesuffix("]"))
            if ip.scope_id is not None:
                raise ValueError
            return f"[{ip.compressed}]"
        except ValueError:
            raise AddressRefused(f"'{_abbreviate(written)}' is not an IPv6 address") from None
    host = unquote(written, errors="replace").lower()
    if not host.isascii():
        raise AddressRefused(
            f"'{_abbreviate(host)}' is not ASCII, and its letters may look like others; write the host in its punycode form, xn--…"
        )
    if not _NAME.fullmatch(host) or len(host) > 253:
        raise AddressRefused(
            f"'{_abbreviate(host)}' is not a host; write letters, digits, hyphens and single dots only"
        )
    last = host.rpartition(".")[2]
    is_ipv4 = last.isdigit() or re.fullmatch(r"0x[0-9a-f]*", last) is not None
    return str(_parse_ipv4(host)) if is_ipv4 else host


def _parse_ipv4(host: str) -> IPv4Address:
    """Parse an IPv4 address of one to four decimal, octal or hexadecimal numbers. The last number fills the remaining bytes."""
    parts = host.split(".")
    try:
        numbers = [_parse_number(part) for part in parts]
        *first, last = numbers
        if len(parts) > 4 or any(number > 255 for number in first) or last >= 256 ** (5 - len(parts)):
            raise ValueError
        return IPv4Address(sum(number << (24 - 8 * i) for i, number in enumerate(first)) + last)
    except ValueError:
        raise AddressRefused(f"'{_abbreviate(host)}' is neither a name nor an IPv4 address") from None


def _parse_number(part: str) -> int:
    if not part.isalnum():
        raise ValueError(part)
    if part.startswith("0x"):
        return int(part[2:] or "0", 16)
    return int(part, 8) if part.startswith("0") else int(part)


def _abbreviate(text: str) -> str:
    return text if len(text) <= 80 else text[:79] + "…"


# --- the addresses behind a name


def find_reach(ip: Ip) -> Reach:
    """Return which network an IP address is in. An IPv6 address that embeds an IPv4 address counts as the embedded one."""
    inner = _embedded_ipv4(ip)
    if inner is not None:
        return find_reach(inner)
    if ip in _METADATA or ip.is_link_local or ip.is_multicast or ip.is_unspecified:
        return "barred"
    if ip.is_loopback:
        return "loopback"
    if isinstance(ip, IPv4Address):
        if any(ip in network for network in _NOWHERE):
            return "barred"
        return "public" if ip.is_global else "private"
    if ip.is_site_local or ip in IPv6Network("fc00::/7"):
        return "private"
    return "public" if ip in _GLOBAL_IPV6 and ip.is_global else "barred"


def _embedded_ipv4(ip: Ip) -> IPv4Address | None:
    if isinstance(ip, IPv4Address) or ip.is_loopback or ip.is_unspecified:
        return None
    if ip.teredo:
        return ip.teredo[1]
    if ip.ipv4_mapped or ip.sixtofour:
        return ip.ipv4_mapped or ip.sixtofour
    low = int(ip) & 0xFFFFFFFF
    carries = any(ip in network for network in _EMBEDDING_IPV4) or (int(ip) >> 32) & 0xFFFFFFFF in (0x5EFE, 0x2005EFE)
    return IPv4Address(low) if carries else None


async def resolve(address: Address, *, private: bool, resolver: Resolver | None = None) -> tuple[Ip, ...]:
    """Return every IP address of a host. Raise `AddressRefused` if there is none, or if one of them may not be reached.

    `private` allows loopback and private networks. To allow a barred address, the policy file must contain the IP address itself.
    """
    literal = address.ip
    if literal is not None:
        found: Sequence[Ip] = (literal,)
    elif address.host == "localhost" or address.host.endswith(".localhost"):
        found = (IPv4Address("127.0.0.1"), IPv6Address("::1"))
    else:
        found = await (resolver or look_up_host)(address.host)
    if not found:
        raise AddressRefused(f"cannot resolve '{address.host}'")
    for ip in found:
        _check(address, ip, private=private)
    return tuple(found)


def _check(address: Address, ip: Ip, *, private: bool) -> None:
    reach = find_reach(ip)
    if reach == "public" or (private and (reach != "barred" or address.ip is not None)):
        return
    leads = f"'{address.host}' leads to {ip}" if address.ip is None else f"'{address.host}'"
    if private:
        raise AddressRefused(f"{leads}, which no name may lead to; if this is intended, write the IP address itself")
    raise AddressRefused(f"{leads}, which is not public; if this is intended, give {address.origin} private = true")


async def look_up_host(host: str) -> Sequence[Ip]:
    """Return the addresses that the system's resolver has for a host, which may be none."""
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError:
        return ()
    return tuple(dict.fromkeys(ip_address(str(entry[4][0]).partition("%")[0]) for entry in found))


def read_page_origin(url: str) -> str:
    """Return the origin of the pages to which the address of a request or of a WebSocket belongs."""
    scheme, _, rest = url.partition("://")
    return f"{scheme.replace('ws', 'http', 1)}://{rest.partition('/')[0].partition('?')[0]}"
