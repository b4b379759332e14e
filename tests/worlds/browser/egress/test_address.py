"""Hostile URLs are refused, harmless ones are not, and no name leads to a private network."""

from ipaddress import ip_address

import pytest

from midcourse.worlds.browser.egress.address import (
    PAGES,
    Address,
    AddressRefused,
    Reach,
    find_reach,
    look_up_host,
    parse,
    resolve,
)
from midcourse.worlds.browser.egress.policy import Origins, read_origins
from tests.worlds.browser.hostile_urls import ADDRESSES, HOSTILE, NAMED, attackers_resolver

SHOP = "https://shop.example"


async def is_allowed(origins: Origins, url: str) -> bool:
    try:
        address, origin = origins.check(url, PAGES)
        await resolve(address, private=origin.private, resolver=attackers_resolver)
    except AddressRefused:
        return False
    return True


async def test_no_hostile_url_passes() -> None:
    origins = read_origins({"https://*.shop.example": {}}, SHOP)
    assert len(HOSTILE) >= 300
    assert [url for url in HOSTILE if await is_allowed(origins, url)] == []


async def test_private_addresses_are_refused_by_the_resolver_alone() -> None:
    assert [url for url in (*ADDRESSES, *NAMED) if await is_resolved(url)] == []
    assert await is_resolved("https://attacker.example/"), "the resolver of this test knows public addresses, too"


async def is_resolved(url: str) -> bool:
    try:
        return bool(await resolve(parse(url), private=False, resolver=attackers_resolver))
    except AddressRefused:
        return False


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("https://shop.example", "https://shop.example/"),
        ("  HTTPS://Shop.Example:443/A?b#c ", "https://shop.example/A?b#c"),
        ("https:\\\\shop.example\\a\\b?c\\d", "https://shop.example/a/b?c\\d"),
        ("https://shop.example\\.attacker.example/", "https://shop.example/.attacker.example/"),
        ("https:shop.example", "https://shop.example/"),
        ("https://sh\top.exam\nple/a", "https://shop.example/a"),
        ("https://%73hop.example", "https://shop.example/"),
        ("https://shop.example?a=/../b", "https://shop.example/?a=/../b"),
    ],
)
async def test_a_harmless_url_passes_as_chromium_would_read_it(written: str, read: str) -> None:
    assert parse(written).url == read
    assert await is_allowed(read_origins({}, SHOP), written)


async def test_a_path_names_no_fragment_and_an_origin_no_usual_port() -> None:
    address = parse("http://127.0.0.1:8000/a?b=c#d")
    assert (address.origin, address.path) == ("http://127.0.0.1:8000", "/a?b=c")
    assert parse("http://127.0.0.1:80/").origin == "http://127.0.0.1"


@pytest.mark.parametrize(
    ("ip", "reach"),
    [
        ("93.184.216.34", "public"),
        ("2606:2800:220:1::1", "public"),
        ("2002:5db8:d822::1", "public"),
        ("127.8.8.8", "loopback"),
        ("::1", "loopback"),
        ("::ffff:127.0.0.1", "loopback"),
        ("192.168.0.1", "private"),
        ("fd12::1", "private"),
        ("64:ff9b::10.0.0.1", "private"),
        ("169.254.169.254", "barred"),
        ("::ffff:169.254.169.254", "barred"),
        ("255.255.255.255", "barred"),
        ("4000::1", "barred"),
    ],
)
def test_an_address_is_public_private_or_loopback(ip: str, reach: Reach) -> None:
    assert find_reach(ip_address(ip)) == reach


async def test_a_name_that_may_be_private_still_leads_to_no_metadata_service() -> None:
    inside = parse("https://inside.attacker.example")
    assert await resolve(inside, private=True, resolver=attackers_resolver) == (ip_address("10.0.0.5"),)
    with pytest.raises(AddressRefused, match="no name may lead to"):
        await resolve(parse("http://metadata.google.internal"), private=True, resolver=attackers_resolver)
    written_out = parse("http://169.254.169.254")
    assert await resolve(written_out, private=True) == (ip_address("169.254.169.254"),)


async def test_name_with_one_private_address_is_refused() -> None:
    with pytest.raises(AddressRefused, match=r"leads to 127\.0\.0\.1"):
        await resolve(parse("https://rebinds.attacker.example"), private=False, resolver=attackers_resolver)


async def test_localhost_resolves_to_loopback() -> None:
    address = Address(scheme="http", host="shop.localhost", port=80, rest="/")
    assert all(find_reach(ip) == "loopback" for ip in await resolve(address, private=True))


async def test_system_resolver_returns_nothing_for_an_unknown_name() -> None:
    assert await look_up_host("127.0.0.1") == (ip_address("127.0.0.1"),)
    assert await look_up_host("no such name") == ()


async def test_a_refusal_says_what_to_do() -> None:
    with pytest.raises(AddressRefused, match=r"give http://10\.0\.0\.5 private = true"):
        await resolve(parse("http://10.0.0.5"), private=False)
