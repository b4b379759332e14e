"""The proxy connects to allowed origins only, to the address it checked, and records refusals."""

import asyncio
import re
from collections.abc import Sequence
from ipaddress import ip_address
from urllib.parse import urlsplit

import pytest

from midcourse.domain.approval import CommitSet
from midcourse.worlds.browser.egress.address import Ip
from midcourse.worlds.browser.egress.outbox import OutgoingRequest, State
from midcourse.worlds.browser.egress.proxy import Proxy, ProxyConnection
from tests.worlds.browser.proxy_client import OFFLINE, connect, open_proxy, open_tunnel
from tests.worlds.browser.site import Answer, ReceivedRequest, Site
from tests.worlds.browser.tls import loopback_tls


async def test_an_allowed_origin_is_reached_over_one_kept_connection() -> None:
    async with Site({"/": "hello"}).served() as site, open_proxy(site) as (proxy, client):
        answers = [await client.ask("GET", f"{site.url}/?n={n}") for n in range(5)]
        assert answers == [(200, b"hello")] * 5
        assert [asked.path for asked in site.asked] == [f"/?n={n}" for n in range(5)]
        assert site.connections == 1
        assert proxy.outbox.take_refusals() == ()


async def test_server_gets_the_checked_host_and_no_proxy_headers() -> None:
    async with Site({"/": "hello"}).served() as site, open_proxy(site) as (_, client):
        await client.send(
            f"GET {site.url}/ HTTP/1.1\r\nHost: attacker.example\r\nProxy-Connection: keep-alive\r\n"
            f"Proxy-Authorization: x\r\nCookie: a=b\r\n\r\n".encode()
        )
        await client.reply()
        assert dict(site.asked[0].fields) == {
            "host": site.url.removeprefix("http://"),
            "connection": "keep-alive",
            "cookie": "a=b",
        }


async def test_other_origins_are_refused_and_the_refusal_is_recorded() -> None:
    canary = Site({"/": "secret"})
    async with Site({"/": "hello"}).served() as site, canary.served() as canary, open_proxy(site) as (proxy, client):
        status, says = await client.ask(
            "GET", f"{canary.url}/", b"", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Site: none"
        )
        assert (status, b"is not in the policy file" in says) == (403, True), (
            "an address that was entered shows the reason"
        )
        status, _ = await client.ask("GET", f"{site.url}/")
        assert status == 200, "a refusal leaves the connection in order"
        assert await client.is_offline("POST", f"{canary.url}/", b"card=4111"), "not even held"
        refusals = proxy.outbox.take_refusals()
        assert [refusal.what for refusal in refusals] == [f"GET {canary.url}/", f"POST {canary.url}/"]
        assert "is not in the policy file" in refusals[1].why
        assert proxy.outbox.take_refusals() == ()
        assert (canary.connections, canary.received) == (0, 0)


async def test_requests_of_chromium_itself_are_refused_without_a_record() -> None:
    async with Site().served() as site, open_proxy(site) as (proxy, client):
        await client.send(b"CONNECT content-autofill.googleapis.com:443 HTTP/1.1\r\n\r\n")
        assert (await client.reply())[0] == 403
        assert proxy.outbox.take_refusals() == ()
    async with Site().served() as site, open_proxy(site) as (proxy, client):
        assert await client.is_offline("POST", "http://update.googleapis.com/service/update2/json?cup2key=1", b"{}")
        assert proxy.outbox.take_refusals() == ()
    async with Site().served() as site, open_proxy(site) as (proxy, client):
        assert await client.is_offline("GET", "http://update.googleapis.com.evil.example/")
        assert len(proxy.outbox.take_refusals()) == 1


async def test_a_tunnel_leads_to_allowed_origins_only() -> None:
    async with Site({"/": "hello"}).served() as site, Site().served() as canary, open_proxy(site) as (proxy, client):
        await client.send(f"CONNECT {urlsplit(site.url).netloc} HTTP/1.1\r\n\r\n".encode())
        assert await client.reply() == (200, b"")
        assert await client.ask("GET", "/") == (200, b"hello")
        async with open_proxy(site) as (proxy, client):
            await open_tunnel(client, canary.url)
            assert proxy.outbox.take_refusals()[0].what == f"CONNECT {urlsplit(canary.url).netloc}"
            assert await client.is_offline("GET", "/")
        assert canary.connections == 0


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Site": "cross-site"}, 204),
        ({"Upgrade-Insecure-Requests": "1", "Origin": "http://x"}, 204),
        ({"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Site": "none"}, 403),
        ({"Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Site": "cross-site"}, OFFLINE),
        ({"Sec-Fetch-Mode": "cors", "Accept": "text/event-stream"}, 204),
    ],
    ids=["by a script", "by a form over plain HTTP", "by the session", "by an image", "by a stream of events"],
)
@pytest.mark.parametrize("tunnel", [True, False])
async def test_a_page_that_wants_to_leave_for_a_refused_address_stays(
    tunnel: bool, fields: dict[str, str], status: int
) -> None:
    async with Site().served() as site, Site().served() as canary, open_proxy(site) as (proxy, client):
        if tunnel:
            await open_tunnel(client, canary.url)
        named = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        await client.send(f"GET {'' if tunnel else canary.url}/in HTTP/1.1\r\n{named}\r\n".encode())
        assert (await client.reply())[0] == status
        assert proxy.outbox.has_refused_navigation == (status == 204 and "Accept" not in fields)
        assert canary.connections == 0


class Fickle:
    """A name server that answers differently the second time."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)

    async def __call__(self, host: str) -> Sequence[Ip]:
        return (ip_address(self.answers.pop(0)),)


async def test_name_is_resolved_once_per_connection_and_that_address_is_used() -> None:
    async with Site({"/": "hello"}).served() as site:
        port = urlsplit(site.url).port
        named = f"http://shop.example:{port}"
        async with open_proxy(site, {named: {"private": True}}, resolver=Fickle("127.0.0.1")) as (_, client):
            assert await client.ask("GET", f"{named}/") == (200, b"hello")
        async with open_proxy(site, {named: {}}, resolver=Fickle("127.0.0.1")) as (proxy, client):
            assert await client.is_offline("GET", f"{named}/")
            assert "leads to 127.0.0.1, which is not public" in proxy.outbox.take_refusals()[0].why
        assert site.connections == 1


async def test_unreachable_server_is_a_bad_gateway_and_not_a_refusal() -> None:
    async with Site().served() as site, open_proxy(site) as (proxy, client):
        gone = Site()
        async with gone.served():
            pass
        async with open_proxy(gone) as (proxy, client):
            assert (await client.ask("GET", f"{gone.url}/"))[0] == 502
            assert proxy.outbox.take_refusals() == ()


# --- under TLS


@pytest.mark.parametrize(
    ("trusts", "name", "status"), [(True, "127.0.0.1", 200), (False, "127.0.0.1", 502), (True, "localhost", 502)]
)
async def test_server_needs_a_certificate_that_is_trusted(trusts: bool, name: str, status: int) -> None:
    server, trusted = loopback_tls()
    site = Site({"/": "hello"})
    async with site.served(name, tls=server), open_proxy(site, trusted=trusted if trusts else None) as (proxy, client):
        await open_tunnel(client, site.url)
        assert (await client.ask("GET", "/"))[0] == status
        assert len(site.asked) == (status == 200)
        assert proxy.outbox.take_refusals() == ()


async def test_a_post_in_a_tunnel_waits_like_any_other() -> None:
    server, trusted = loopback_tls()
    site = Site({"/orders": "done"})
    async with site.served(tls=server), open_proxy(site, trusted=trusted) as (proxy, client):
        await open_tunnel(client, site.url)
        asking = asyncio.create_task(client.ask("POST", "/orders", b"item=1"))
        held = await wait_for_held(proxy)
        assert (held.request.commit.address, site.asked) == (f"POST {site.url}/orders", [])
        proxy.outbox.release([held])
        assert await asking == (200, b"done")
        assert site.effects() == ["POST /orders"]


async def test_a_tunnel_leads_nowhere_but_to_its_own_origin() -> None:
    async with Site({"/": "hello"}).served() as site, Site().served() as canary, open_proxy(site) as (_, client):
        await client.send(f"CONNECT {urlsplit(site.url).netloc} HTTP/1.1\r\n\r\n".encode())
        await client.reply()
        assert (await client.ask("GET", f"{canary.url}/"))[0] == 400
        assert canary.connections == 0


# --- what has to be allowed first


async def wait_for_held(proxy: Proxy) -> OutgoingRequest:
    async with asyncio.timeout(600):
        while not proxy.outbox.waiting:
            await asyncio.sleep(0.001)
    return proxy.outbox.waiting[0]


async def test_a_post_waits_until_it_is_allowed_and_arrives_as_it_was() -> None:
    site = Site({"/": "hello", "/orders": "done"})
    async with site.served(), open_proxy(site) as (proxy, client):
        await client.ask("GET", f"{site.url}/")
        asking = asyncio.create_task(client.ask("POST", f"{site.url}/orders", b"item=1"))
        held = await wait_for_held(proxy)
        assert held.request.commit == CommitSet(address=f"POST {site.url}/orders", values=(("body", "item=1"),))
        assert site.effects() == []
        proxy.outbox.release([held])
        assert await asking == (200, b"done")
        assert [(asked.method, asked.path, asked.body) for asked in site.asked[1:]] == [("POST", "/orders", b"item=1")]
        assert site.connections == 2, "it gets a connection of its own"
        assert proxy.outbox.sent[0].response.status == 200
        assert await client.ask("GET", f"{site.url}/") == (200, b"hello")


async def test_dropped_request_looks_as_if_the_browser_were_offline_and_ends_its_connection() -> None:
    async with Site({"/": "hello"}).served() as site, open_proxy(site) as (proxy, client):
        asking = asyncio.create_task(client.is_offline("POST", f"{site.url}/orders", b"item=1"))
        proxy.outbox.drop([await wait_for_held(proxy)])
        assert await asking
        assert proxy.outbox.take_refusals() == (), "it is reported as dropped"
        assert proxy.outbox.take_dropped() == (f"the page's own POST {site.url}/orders was not sent",)
        assert site.effects() == []


async def test_request_that_the_browser_cancelled_is_not_held_any_more() -> None:
    async with Site().served() as site, open_proxy(site) as (proxy, client):
        asking = asyncio.create_task(client.ask("POST", f"{site.url}/orders", b"item=1"))
        held = await wait_for_held(proxy)
        asking.cancel()
        client.writer.close()
        async with asyncio.timeout(600):
            while proxy.outbox.waiting:
                await asyncio.sleep(0)
        proxy.outbox.release([held])
        await asyncio.sleep(0.05)
        assert site.connections == 0


async def test_post_without_a_response_is_answered_so_that_no_browser_repeats_it() -> None:
    site = Site({"/": "hello", "/orders": Answer(hang_up=True)})
    async with site.served(), open_proxy(site) as (proxy, client):
        await client.ask("GET", f"{site.url}/")
        proxy.outbox.attended = True
        status, says = await client.ask("POST", f"{site.url}/orders", b"item=1")
        assert (status, b"hung up without an answer" in says) == (502, True)
        assert site.effects() == ["POST /orders"]
        assert (proxy.outbox.sent[0].state, proxy.outbox.sent[0].response.status) == (State.SENT, None)


async def test_request_that_reached_no_server_is_recorded_as_not_reached() -> None:
    gone = Site()
    async with gone.served():
        pass
    async with open_proxy(gone) as (proxy, client):
        proxy.outbox.attended = True
        assert (await client.ask("POST", f"{gone.url}/orders", b"item=1"))[0] == 502
        assert proxy.outbox.sent[0].state is State.UNREACHED


PIECES = {
    "a response that ends in its head": ((b"HTTP/1.1 200 OK\r\nContent-Le",), [502], State.SENT),
    "a redirect whose head is in pieces": (
        (b"HTTP/1.1 307 So\r\nLoca", b"tion: /new\r\nContent-Length: 0\r\n\r\n"),
        [204],
        State.REDIRECTED,
    ),
    "a response whose head is in pieces": (
        (b"HTTP/1.1 200 OK\r\nContent-Le", b"ngth: 0\r\n\r\n"),
        [200],
        State.ANSWERED,
    ),
}


@pytest.mark.parametrize(("pieces", "statuses", "state"), PIECES.values(), ids=PIECES)
async def test_claimed_request_is_answered_exactly_once(
    pieces: Sequence[bytes], statuses: list[int], state: State
) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\nitem=1")
        writer.write(pieces[0])
        while pieces[1:] and not proxy.outbox.sent[0].response:
            await asyncio.sleep(0.001)
        writer.write(b"".join(pieces[1:]))
        writer.close()

    server, site = await asyncio.start_server(answer, "127.0.0.1", 0), Site()
    site.url = "http://127.0.0.1:{1}".format(*server.sockets[0].getsockname())
    async with server, open_proxy(site) as (proxy, client):
        form = "Sec-Fetch-Mode: navigate", "Sec-Fetch-Site: same-origin"
        assert (await client.ask("POST", f"{site.url}/orders", b"item=1", "Content-Length: 6", *form))[0] == 204
        (parked,) = proxy.outbox.waiting
        proxy.outbox.release([parked])
        claim = f"GET {site.url}/orders HTTP/1.1\r\nSec-Fetch-Mode: navigate\r\nReferer: {parked.claim}\r\n\r\n"
        await client.send(claim.encode())
        async with asyncio.timeout(600):
            answers = (await client.reader.read()).decode()
        assert [int(status) for status in re.findall(r"HTTP/1\.1 (\d+)", answers)] == statuses
        assert parked.state is state


@pytest.mark.parametrize("ends", ["the connection of the browser", "the browser"])
async def test_request_that_is_released_and_abandoned_at_once_has_not_left(ends: str) -> None:
    accepted: asyncio.Future[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = (
        asyncio.get_running_loop().create_future()
    )
    server = await asyncio.start_server(lambda reader, writer: accepted.set_result((reader, writer)), "127.0.0.1", 0)
    async with (
        Site().served() as site,
        open_proxy(site) as (proxy, _),
        server,
        connect(proxy, *server.sockets[0].getsockname()) as client,
    ):
        reader, writer = await accepted
        serving = asyncio.create_task(ProxyConnection(proxy, reader, writer).serve())
        await client.send(f"POST {site.url}/orders HTTP/1.1\r\nContent-Length: 6\r\n\r\nitem=1".encode())
        held = await wait_for_held(proxy)
        if ends == "the browser":
            serving.cancel()
        else:
            reader.feed_eof()
        proxy.outbox.release([held])
        await asyncio.wait([serving])
        assert (held.state, site.connections) == (State.UNREACHED, 0)


async def test_redirected_post_is_held_again_with_its_first_url() -> None:
    site = Site({"/new": "done"})
    async with site.served(), open_proxy(site) as (proxy, client):
        site.pages["/old"] = Answer(status=308, fields={"Location": "/new#part"})
        asking = asyncio.create_task(client.ask("POST", f"{site.url}/old", b"item=1"))
        proxy.outbox.release([await wait_for_held(proxy)])
        assert (await asking)[0] == 308
        for body, came_from in ((b"item=2", ""), (b"item=1", f"POST {site.url}/old"), (b"item=1", "")):
            async with connect(proxy, *client.writer.get_extra_info("peername")) as again:
                other = asyncio.create_task(again.is_offline("POST", f"{site.url}/new", body))
                held = await wait_for_held(proxy)
                assert held.request.redirected_from == came_from
                proxy.outbox.drop([held])
                assert await other
        assert site.effects() == ["POST /old"]


# --- where a request ends


async def test_bodies_arrive_whole_and_are_never_taken_for_requests() -> None:
    site = Site({"/": lambda asked: Answer(asked.body)})
    smuggled = b"POST /orders HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"
    async with site.served(), open_proxy(site, {site.url: {"safe": ["POST /"]}}) as (_, client):
        assert await client.ask("POST", f"{site.url}/", smuggled * 5000) == (200, smuggled * 5000)
        assert [asked.path for asked in site.asked] == ["/"]


async def test_chunks_are_passed_on_as_they_are() -> None:
    body = b"5\r\nhello\r\n06\r\n world\r\n0\r\n\r\n"
    async with Site({"/": "hello"}).served() as site, open_proxy(site, {site.url: {"safe": ["POST /"]}}) as (_, client):
        assert (await client.ask("POST", f"{site.url}/", body, "Transfer-Encoding: chunked"))[0] == 200
        assert (await client.ask("GET", f"{site.url}/"))[0] == 200
        assert [asked.body for asked in site.asked] == [body, b""]


async def test_chunks_that_have_to_be_allowed_arrive_as_one() -> None:
    body = b"5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"
    async with Site({"/": "hello"}).served() as site, open_proxy(site) as (proxy, client):
        proxy.outbox.attended = True
        assert (await client.ask("POST", f"{site.url}/", body, "Transfer-Encoding: chunked"))[0] == 200
        assert [asked.body for asked in site.asked] == [b"hello world"]


@pytest.mark.parametrize(
    "body",
    [
        b"5;x=y\r\nhello\r\n0\r\n\r\n",
        b"5 \r\nhello\r\n0\r\n\r\n",
        b"+5\r\nhello\r\n0\r\n\r\n",
        b"0x5\r\nhello\r\n0\r\n\r\n",
        b"1_0\r\nhello\r\n0\r\n\r\n",
        b"\r\nhello\r\n0\r\n\r\n",
        b"5\r\nhelloXX0\r\n\r\n",
        b"0\r\nX: trailer\r\n\r\n",
        b"ffffffff\r\nhello",
    ],
)
@pytest.mark.parametrize("held", [False, True])
async def test_a_chunk_that_could_be_read_in_two_ways_is_refused(body: bytes, held: bool) -> None:
    policy = {} if held else {"safe": ["POST /"]}
    async with Site({"/": "hello"}).served() as site, open_proxy(site, {site.url: policy}) as (proxy, client):
        proxy.outbox.attended = True
        assert (await client.ask("POST", f"{site.url}/", body, "Transfer-Encoding: chunked"))[0] == 400
        assert site.asked == []


@pytest.mark.parametrize(
    "lines",
    [
        "GET / HTTP/1.0",
        "GET  / HTTP/1.1",
        "G\tT / HTTP/1.1",
        "GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2",
        "GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1",
        "GET / HTTP/1.1\r\nContent-Length: 1, 1",
        "GET / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked",
        "GET / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked",
        "GET / HTTP/1.1\r\nContent-Length: +1",
        "GET / HTTP/1.1\r\nContent-Length : 1",
        "GET / HTTP/1.1\r\n folded: 1",
        "GET / HTTP/1.1\r\nx: a\r\n folded",
        "GET / HTTP/1.1\r\nx: a\r\n\tContent-Length: 1",
        "GET / HTTP/1.1\r\nHost: a\r\nHost: b",
        "GET / HTTP/1.1\r\nx: a\nContent-Length: 1",
        "GET / HTTP/1.1\r\nnothing",
    ],
)
async def test_a_head_that_could_be_read_in_two_ways_is_refused(lines: str) -> None:
    async with Site().served() as site, open_proxy(site) as (_, client):
        await client.send(lines.replace(" / ", f" {site.url}/ ").encode() + b"\r\n\r\n")
        assert (await client.reply())[0] == 400
        assert site.asked == []


async def test_a_closed_gate_lets_nothing_out() -> None:
    async with Site({"/": "hello"}).served() as site, open_proxy(site) as (proxy, client):
        await client.ask("GET", f"{site.url}/")
        await proxy.close()
        with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
            await client.ask("GET", f"{site.url}/")
        assert len(site.asked) == 1


async def test_slow_response_does_not_delay_other_requests() -> None:
    released = asyncio.Event()

    async def slow(asked: ReceivedRequest) -> Answer:
        await released.wait()
        return Answer("at last")

    async with Site({"/": "hello", "/slow": slow}).served() as site, open_proxy(site) as (_, client):
        waiting = asyncio.create_task(client.ask("GET", f"{site.url}/slow"))
        async with open_proxy(site) as (_, other):
            assert await other.ask("GET", f"{site.url}/") == (200, b"hello")
        released.set()
        assert await waiting == (200, b"at last")


async def test_silent_refused_tunnel_does_not_keep_the_proxy_from_closing() -> None:
    async with Site().served() as site, Site().served() as canary, open_proxy(site) as (proxy, client):
        await client.send(f"CONNECT {urlsplit(canary.url).netloc} HTTP/1.1\r\n\r\n".encode())
        assert (await client.reply())[0] == 200
        async with asyncio.timeout(10):
            await proxy.close()
