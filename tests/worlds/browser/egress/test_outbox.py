"""Every way in which a page can send something to its own origin is held until it is allowed. In a real Chromium."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from midcourse.domain.approval import CommitSet
from midcourse.worlds.browser.egress.outbox import MAX_WAITING, State, join_commits
from midcourse.worlds.browser.egress.request import describe_file
from tests.worlds.browser.guarded_page import GuardedPage, open_guarded_page, until
from tests.worlds.browser.shared import SharedChromium
from tests.worlds.browser.site import Answer, ReceivedRequest, Site
from tests.worlds.browser.tls import loopback_tls

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

POST = "fetch(`${at}/orders`, {method: 'POST', body: 'by=script'})"
OPEN_SOCKET = "const s = new WebSocket(at.replace('http', 'ws') + '/live'); s.onopen = () => s.send('hi')"

WAYS = {
    "a form": "document.body.innerHTML = '<form method=post action=/orders></form>'; document.forms[0].submit()",
    "a form in another tab": "document.body.innerHTML = '<form method=post action=/orders target=_blank></form>';"
    "document.forms[0].submit()",
    "fetch": POST,
    "a method in small letters": "fetch('/orders', {method: 'patch'})",
    "another method": "fetch('/orders/1', {method: 'DELETE'})",
    "a GET that wants to be taken for another": "fetch('/orders', {headers: {'X-HTTP-Method-Override': 'DELETE'}})",
    "the same, spelled as some servers read it": "fetch('/orders', {headers: {'X_HTTP_Method_Override': 'DELETE'}})",
    "XMLHttpRequest": "const x = new XMLHttpRequest(); x.open('POST', '/orders'); x.send('by=xhr')",
    "a beacon": "navigator.sendBeacon('/orders', 'by=beacon')",
    "a request that outlives its page": "fetch('/orders', {method: 'POST', keepalive: true})",
    "a frame that is gone at once": "const f = document.createElement('iframe'); document.body.append(f);"
    "f.contentWindow.fetch('/orders', {method: 'POST', keepalive: true}); f.remove()",
    "a frame": "const f = document.createElement('iframe'); f.src = '/posts'; document.body.append(f)",
    "a frame without an address": "const f = document.createElement('iframe'); document.body.append(f);"
    "f.contentWindow.fetch('/orders', {method: 'POST'})",
    "a worker": f"new Worker(URL.createObjectURL(new Blob(['const at = `' + at + '`;' + {POST!r}])))",
    "a worker of the server's": "new Worker('/worker.js')",
    "a shared worker": "new SharedWorker('/worker.js')",
    "a service worker": "ServiceWorkerContainer.prototype.register.call(navigator.serviceWorker, '/worker.js')",
    "a pop-up": "window.open('about:blank').fetch(`${at}/orders`, {method: 'POST'})",
    "a socket": OPEN_SOCKET,
    "a socket of a worker": "new Worker('/socket.js')",
    "a declared GET": "fetch('/delete?id=3')",
    "a declared GET as an image": "new Image().src = '/delete?id=3'",
    "a declared GET by redirect": "fetch('/innocent')",
    "a declared GET as a page": "location.href = '/delete?id=3'",
    "a declared GET as a prefetch": "const l = document.createElement('link'); l.rel = 'prefetch'; l.href = '/delete?id=3';"
    "document.head.append(l)",
    "a report": "const f = document.createElement('iframe'); f.src = '/reports'; document.body.append(f)",
}


def shop() -> Site:
    at = "const at = location.origin;"
    policy = "default-src 'self'; img-src 'none'; report-uri /orders"
    return Site(
        {
            "/": "<title>Shop</title><body>Shop",
            "/other": "<title>Other</title><body>Other",
            "/posts": f"<script>{at}{POST}</script>",
            "/reports": Answer("<img src=/x.png>", fields={"Content-Security-Policy": policy}),
            "/worker.js": Answer(at + POST, kind="text/javascript"),
            "/socket.js": Answer(at + OPEN_SOCKET, kind="text/javascript"),
            "/innocent": Answer(status=302, fields={"Location": "/delete?id=3"}),
            "/orders": "<title>Ordered</title>",
            "/orders/1": "<title>Deleted</title>",
            "/delete": "<title>Deleted</title>",
        }
    )


def effects_at(at: Site) -> list[str]:
    """Effects in the server's own log: everything but harmless GETs."""
    return [
        *at.effects(),
        *(asked.path for asked in at.asked if asked.path.startswith("/delete")),
        *("override" for asked in at.asked if any("override" in name for name in asked.fields)),
    ]


@dataclass(frozen=True, kw_only=True)
class GuardedShop(GuardedPage):
    site: Site


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def guarded_shop(browser: Browser, shared_chromium: SharedChromium) -> AsyncGenerator[GuardedShop]:
    server, trusted = loopback_tls()
    async with shop().served(tls=server) as site:
        policy = {site.url: {"unsafe": ["GET /delete*"], "safe": ["POST /draft*", "WS /safe"]}}
        async with open_guarded_page(
            browser, site, policy, trusted=trusted, certificate=shared_chromium.certificate
        ) as opened:
            yield GuardedShop(page=opened.page, proxy=opened.proxy, outbox=opened.outbox, site=site)


@pytest_asyncio.fixture(loop_scope="session")
async def shop_page(guarded_shop: GuardedShop) -> AsyncGenerator[GuardedShop]:
    """A new tab at the front page, before any request is recorded. It stays open, because closing a loading tab takes long."""
    page = await guarded_shop.page.context.new_page()
    await page.goto(f"{guarded_shop.site.url}/")
    guarded_shop.outbox.begin_act()
    guarded_shop.site.forget()
    yield replace(guarded_shop, page=page)
    guarded_shop.outbox.attended = False
    guarded_shop.outbox.drop(guarded_shop.outbox.waiting)


@pytest.mark.parametrize("way", WAYS)
async def test_request_is_held_whichever_way_the_page_sends_it(shop_page: GuardedShop, way: str) -> None:
    await shop_page.run("const at = location.origin;" + WAYS[way])
    (held,) = await shop_page.wait_for_held()
    assert effects_at(shop_page.site) == []
    await shop_page.release(held)
    await until(lambda: effects_at(shop_page.site) != [])
    assert len(effects_at(shop_page.site)) == 1


async def test_request_without_tls_is_held(browser: Browser) -> None:
    async with shop().served() as site, open_guarded_page(browser, site) as plain:
        await plain.run("fetch('/orders', {method: 'POST'}); " + OPEN_SOCKET.replace("at.", "location.origin."))
        held = await plain.wait_for_held(2)
        assert sorted(each.request.method for each in held) == ["POST", "WS"]
        assert site.effects() == []
        plain.outbox.release(held)
        await until(lambda: sorted(site.effects()) == ["POST /orders", "WS /live"])


async def test_a_socket_is_not_opened_where_opening_it_may_do_something(shop_page: GuardedShop) -> None:
    script = "new Promise(done => { const s = new WebSocket(location.origin.replace('http', 'ws') + '/delete?id=3');"
    assert (
        await shop_page.page.evaluate(script + "s.onerror = () => done('refused'); s.onopen = () => done('open') })")
        == "refused"
    )
    assert effects_at(shop_page.site) == []


# --- let go, and dropped


async def test_a_form_with_a_file_arrives_byte_for_byte(shop_page: GuardedShop) -> None:
    await shop_page.page.set_content(
        f"<form method=post action={shop_page.site.url}/orders enctype=multipart/form-data>"
        "<input name=item value='a &amp; b'><input type=hidden name=token value=7><input type=file name=bill></form>"
    )
    file: Any = {"name": "bill.txt", "mimeType": "text/plain", "buffer": b"\x00\xff\r\n--"}
    await shop_page.page.set_input_files("input[type=file]", file)
    await shop_page.run("document.forms[0].submit()")
    (held,) = await shop_page.wait_for_held()
    bill = describe_file("bill.txt", "text/plain", b"\x00\xff\r\n--")
    assert held.request.commit == CommitSet(
        address=f"POST {shop_page.site.url}/orders",
        values=(("item", "a & b"), ("token", "7"), ("bill", bill)),
        abridged=True,
    )
    await shop_page.release(held)
    await until(lambda: bool(shop_page.site.effects()))
    (sent,) = (asked for asked in shop_page.site.asked if asked.method == "POST")
    assert sent.body == held.request.body
    await shop_page.page.wait_for_function("document.title === 'Ordered'")


async def test_a_dropped_form_leaves_the_page_as_it_is(shop_page: GuardedShop) -> None:
    await shop_page.run("document.title = 'Still here';" + WAYS["a form"])
    held = await shop_page.wait_for_held()
    title = await shop_page.page.evaluate("document.title")
    assert title == "Still here", "while it waits, the page can be asked"
    shop_page.outbox.drop(held)
    await shop_page.page.goto(f"{shop_page.site.url}/orders")
    assert [asked.method for asked in shop_page.site.asked if asked.path == "/orders"] == ["GET"], (
        "it cannot be claimed any more"
    )


async def test_to_a_script_the_browser_is_offline_once_for_a_dropped_request(shop_page: GuardedShop) -> None:
    """On a kept connection with TLS, on which Chromium sends again what got no response."""
    for _ in range(3):
        await shop_page.page.evaluate("fetch('/other').then(r => r.text())")
    script = "fetch('/orders', {method: 'POST'}).then(r => r.status, e => e.name)"
    asking = asyncio.create_task(shop_page.page.evaluate(script))
    shop_page.outbox.drop(await shop_page.wait_for_held())
    assert await asking == "TypeError"
    assert shop_page.outbox.waiting == ()
    assert shop_page.site.effects() == []


async def test_dropped_message_closes_its_socket_and_earlier_ones_arrive_in_order(shop_page: GuardedShop) -> None:
    script = (
        "new Promise(done => { const heard = []; const s = new WebSocket(location.origin.replace('http', 'ws') + '/live');"
        "s.onopen = () => { s.send('one'); s.send(JSON.stringify({two: [2]})); s.send('three') };"
        "s.onmessage = m => heard.push(m.data); s.onclose = () => done(heard) })"
    )
    chatting = asyncio.create_task(shop_page.page.evaluate(script))
    first, second, third = await shop_page.wait_for_held(3)
    assert [each.request.commit.values for each in (first, second)] == [(("body", "one"),), (("two[0]", 2),)]
    shop_page.outbox.release([third])
    await until(lambda: third.state is State.SENT)
    shop_page.outbox.release([first])
    shop_page.outbox.drop([second])
    assert await chatting == ["got one"]
    assert third.state is State.UNREACHED, "it waited behind the one that was dropped"
    assert [asked.body for asked in shop_page.site.asked if asked.method == "WS"] == [b"one"]


async def test_request_declared_safe_is_not_held(shop_page: GuardedShop) -> None:
    await shop_page.page.evaluate("fetch('/draft/1', {method: 'POST', body: 'text'}).then(r => r.text())")
    await shop_page.run(
        "const s = new WebSocket(location.origin.replace('http', 'ws') + '/safe'); s.onopen = () => s.send('hi')"
    )
    await until(lambda: shop_page.site.effects() == ["POST /draft/1", "WS /safe"])
    assert shop_page.outbox.waiting == ()


async def test_nothing_is_sent_when_the_tab_that_wanted_it_goes_away(shop_page: GuardedShop) -> None:
    tab = await shop_page.page.context.new_page()
    await tab.goto(f"{shop_page.site.url}/other")
    await tab.evaluate(
        "() => { fetch('/orders', {method: 'POST', keepalive: true}); navigator.sendBeacon('/orders', 'x') }"
    )
    await shop_page.wait_for_held(2)
    await tab.close()
    await shop_page.page.goto(f"{shop_page.site.url}/other")
    assert shop_page.site.effects() == []


async def test_a_page_that_sends_without_end_can_still_be_read(shop_page: GuardedShop) -> None:
    await shop_page.run("for (let i = 0; i < 20; i++) fetch('/orders', {method: 'POST', body: String(i)})")
    held = await shop_page.wait_for_held(MAX_WAITING)
    assert len(held) == MAX_WAITING
    assert await shop_page.page.evaluate("fetch('/other').then(r => r.status)") == 200
    assert shop_page.site.effects() == []


async def test_several_held_requests_have_one_commit_set_with_numbered_values(shop_page: GuardedShop) -> None:
    await shop_page.run("fetch('/orders', {method: 'POST', body: 'a'})")
    await shop_page.wait_for_held()
    await shop_page.run("fetch('/orders', {method: 'PUT', body: 'b'})")
    assert join_commits(await shop_page.wait_for_held(2)) == CommitSet(
        address=f"POST {shop_page.site.url}/orders and PUT {shop_page.site.url}/orders",
        values=(("1: body", "a"), ("2: body", "b")),
    )


async def test_requests_of_a_person_at_the_browser_are_sent_and_recorded(shop_page: GuardedShop) -> None:
    shop_page.outbox.attended = True
    await shop_page.page.evaluate("fetch('/orders', {method: 'POST', body: 'a'}).then(r => r.text())")
    assert shop_page.site.effects() == ["POST /orders"]
    assert [sent.response.status for sent in shop_page.outbox.sent] == [200]


# --- exactly one


EXPECTED = CommitSet(address="POST {}/orders", values=(("item", "1"),))
FORM = "document.body.innerHTML = `<form method={} action={}><input name=item value={}></form>`; document.forms[0].submit()"


@pytest.mark.parametrize(
    ("script", "passes"),
    [
        (FORM.format("post", "/orders", "1"), True),
        (FORM.format("post", "/orders", "2"), False),
        (FORM.format("post", "/orders?x=1", "1"), False),
        (FORM.format("post", "/delete", "1"), False),
        (FORM.format("get", "/orders", "1"), False),
        ("location.href = '/other'", False),
        ("fetch('/orders', {method: 'PUT', body: 'item=1'})", False),
    ],
)
async def test_only_the_expected_request_passes(shop_page: GuardedShop, script: str, passes: bool) -> None:
    expected = CommitSet(address=EXPECTED.address.format(shop_page.site.url), values=EXPECTED.values)
    with shop_page.outbox.expect(expected):
        await shop_page.run(script)
        if passes:
            await until(lambda: shop_page.site.effects() == ["POST /orders"])
            await shop_page.page.wait_for_function("document.title === 'Ordered'")
            await shop_page.run(script)
        await shop_page.wait_for_held()
    assert shop_page.site.effects() == (["POST /orders"] if passes else [])
    assert not any(asked.path == "/other" for asked in shop_page.site.asked)


async def test_a_server_that_swallows_a_post_gets_it_once(shop_page: GuardedShop) -> None:
    """Chromium would send it again: on a connection that was used before, it takes silence for a stale connection."""

    def swallow(asked: ReceivedRequest) -> Answer:
        return Answer(hang_up=True)

    shop_page.site.pages["/swallow"] = swallow
    shop_page.outbox.attended = True
    await shop_page.page.evaluate("fetch('/other').then(r => r.text())")
    status = await shop_page.page.evaluate("fetch('/swallow', {method: 'POST', body: 'a'}).then(r => r.status)")
    assert status == 502
    assert shop_page.site.effects() == ["POST /swallow"]
