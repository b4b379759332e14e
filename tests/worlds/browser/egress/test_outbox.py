"""Every way in which a page can send something to its own origin is held until it is allowed. In a real Chromium."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from midcourse.domain.approval import CommitSet
from midcourse.worlds.browser.egress.outbox import MAX_WAITING, commit_of
from midcourse.worlds.browser.egress.request import file_value
from tests.worlds.browser.guarded import Guarded, guarded, until
from tests.worlds.browser.shared import SharedChromium
from tests.worlds.browser.site import Answer, Asked, Site
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


def happened(at: Site) -> list[str]:
    """Effects by the server's own log: everything but harmless GETs."""
    return [
        *at.effects(),
        *(asked.path for asked in at.asked if asked.path.startswith("/delete")),
        *("override" for asked in at.asked if any("override" in name for name in asked.fields)),
    ]


@dataclass(frozen=True, kw_only=True)
class Here(Guarded):
    site: Site


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def under_tls(browser: Browser, shared_chromium: SharedChromium) -> AsyncGenerator[Here]:
    server, trusted = loopback_tls()
    async with shop().served(tls=server) as site:
        policy = {site.url: {"unsafe": ["GET /delete*"], "safe": ["POST /draft*", "WS /safe"]}}
        async with guarded(browser, site, policy, trusted=trusted, certificate=shared_chromium.certificate) as opened:
            yield Here(page=opened.page, proxy=opened.proxy, outbox=opened.outbox, site=site)


@pytest_asyncio.fixture(loop_scope="session")
async def here(under_tls: Here) -> AsyncGenerator[Here]:
    """In a new tab at the front page, with nothing asked yet. It stays open: to close a tab while a page comes takes long."""
    page = await under_tls.page.context.new_page()
    await page.goto(f"{under_tls.site.url}/")
    under_tls.outbox.begin_act()
    under_tls.site.forget()
    yield replace(under_tls, page=page)
    under_tls.outbox.attended = False
    under_tls.outbox.drop(under_tls.outbox.waiting)


@pytest.mark.parametrize("way", WAYS)
async def test_request_is_held_whichever_way_the_page_sends_it(here: Here, way: str) -> None:
    await here.run("const at = location.origin;" + WAYS[way])
    (held,) = await here.held()
    assert happened(here.site) == []
    await here.release(held)
    await until(lambda: happened(here.site) != [])
    assert len(happened(here.site)) == 1


async def test_request_without_tls_is_held(browser: Browser) -> None:
    async with shop().served() as site, guarded(browser, site) as plain:
        await plain.run("fetch('/orders', {method: 'POST'}); " + OPEN_SOCKET.replace("at.", "location.origin."))
        held = await plain.held(2)
        assert sorted(each.request.method for each in held) == ["POST", "WS"]
        assert site.effects() == []
        plain.outbox.release(held)
        await until(lambda: sorted(site.effects()) == ["POST /orders", "WS /live"])


async def test_a_socket_is_not_opened_where_opening_it_may_do_something(here: Here) -> None:
    script = "new Promise(done => { const s = new WebSocket(location.origin.replace('http', 'ws') + '/delete?id=3');"
    assert (
        await here.page.evaluate(script + "s.onerror = () => done('refused'); s.onopen = () => done('open') })")
        == "refused"
    )
    assert happened(here.site) == []


# --- let go, and dropped


async def test_a_form_with_a_file_arrives_byte_for_byte(here: Here) -> None:
    await here.page.set_content(
        f"<form method=post action={here.site.url}/orders enctype=multipart/form-data>"
        "<input name=item value='a &amp; b'><input type=hidden name=token value=7><input type=file name=bill></form>"
    )
    file: Any = {"name": "bill.txt", "mimeType": "text/plain", "buffer": b"\x00\xff\r\n--"}
    await here.page.set_input_files("input[type=file]", file)
    await here.run("document.forms[0].submit()")
    (held,) = await here.held()
    bill = file_value("bill.txt", "text/plain", b"\x00\xff\r\n--")
    assert held.request.commit == CommitSet(
        address=f"POST {here.site.url}/orders",
        values=(("item", "a & b"), ("token", "7"), ("bill", bill)),
        abridged=True,
    )
    await here.release(held)
    await until(lambda: bool(here.site.effects()))
    (sent,) = (asked for asked in here.site.asked if asked.method == "POST")
    assert sent.body == held.request.body
    await here.page.wait_for_function("document.title === 'Ordered'")


async def test_a_dropped_form_leaves_the_page_as_it_is(here: Here) -> None:
    await here.run("document.title = 'Still here';" + WAYS["a form"])
    held = await here.held()
    title = await here.page.evaluate("document.title")
    assert title == "Still here", "while it waits, the page can be asked"
    here.outbox.drop(held)
    await here.page.goto(f"{here.site.url}/orders")
    assert [asked.method for asked in here.site.asked if asked.path == "/orders"] == ["GET"], (
        "it cannot be claimed any more"
    )


async def test_script_gets_403_for_a_dropped_request(here: Here) -> None:
    asking = asyncio.create_task(here.page.evaluate("fetch('/orders', {method: 'POST'}).then(r => r.status)"))
    here.outbox.drop(await here.held())
    assert await asking == 403
    assert here.site.effects() == []


async def test_dropped_message_closes_its_socket_and_earlier_ones_arrive_in_order(here: Here) -> None:
    script = (
        "new Promise(done => { const heard = []; const s = new WebSocket(location.origin.replace('http', 'ws') + '/live');"
        "s.onopen = () => { s.send('one'); s.send(JSON.stringify({two: [2]})); s.send('three') };"
        "s.onmessage = m => heard.push(m.data); s.onclose = () => done(heard) })"
    )
    chatting = asyncio.create_task(here.page.evaluate(script))
    (first,) = await here.held()
    assert first.request.commit.values == (("body", "one"),)
    here.outbox.release([first])
    await until(lambda: bool(here.outbox.waiting) and here.outbox.waiting[0] is not first)
    (second,) = here.outbox.waiting
    assert second.request.commit.values == (("two[0]", 2),)
    here.outbox.drop([second])
    assert await chatting == ["got one"]
    assert [asked.body for asked in here.site.asked if asked.method == "WS"] == [b"one"]


async def test_request_declared_safe_is_not_held(here: Here) -> None:
    await here.page.evaluate("fetch('/draft/1', {method: 'POST', body: 'text'}).then(r => r.text())")
    await here.run(
        "const s = new WebSocket(location.origin.replace('http', 'ws') + '/safe'); s.onopen = () => s.send('hi')"
    )
    await until(lambda: here.site.effects() == ["POST /draft/1", "WS /safe"])
    assert here.outbox.waiting == ()


async def test_nothing_is_sent_when_the_tab_that_wanted_it_goes_away(here: Here) -> None:
    tab = await here.page.context.new_page()
    await tab.goto(f"{here.site.url}/other")
    await tab.evaluate(
        "() => { fetch('/orders', {method: 'POST', keepalive: true}); navigator.sendBeacon('/orders', 'x') }"
    )
    await here.held(2)
    await tab.close()
    await here.page.goto(f"{here.site.url}/other")
    assert here.site.effects() == []


async def test_a_page_that_sends_without_end_can_still_be_read(here: Here) -> None:
    await here.run("for (let i = 0; i < 20; i++) fetch('/orders', {method: 'POST', body: String(i)})")
    held = await here.held(MAX_WAITING)
    assert len(held) == MAX_WAITING
    assert await here.page.evaluate("fetch('/other').then(r => r.status)") == 200
    assert here.site.effects() == []


async def test_several_held_requests_have_one_commit_set_with_numbered_values(here: Here) -> None:
    await here.run("fetch('/orders', {method: 'POST', body: 'a'})")
    await here.held()
    await here.run("fetch('/orders', {method: 'PUT', body: 'b'})")
    assert commit_of(await here.held(2)) == CommitSet(
        address=f"POST {here.site.url}/orders and PUT {here.site.url}/orders",
        values=(("1: body", "a"), ("2: body", "b")),
    )


async def test_requests_of_a_person_at_the_browser_are_sent_and_recorded(here: Here) -> None:
    here.outbox.attended = True
    await here.page.evaluate("fetch('/orders', {method: 'POST', body: 'a'}).then(r => r.text())")
    assert here.site.effects() == ["POST /orders"]
    assert [sent.response.status for sent in here.outbox.sent] == [200]


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
async def test_only_the_expected_request_passes(here: Here, script: str, passes: bool) -> None:
    expected = CommitSet(address=EXPECTED.address.format(here.site.url), values=EXPECTED.values)
    with here.outbox.expect(expected):
        await here.run(script)
        if passes:
            await until(lambda: here.site.effects() == ["POST /orders"])
            await here.page.wait_for_function("document.title === 'Ordered'")
            await here.run(script)
        await here.held()
    assert here.site.effects() == (["POST /orders"] if passes else [])
    assert not any(asked.path == "/other" for asked in here.site.asked)


async def test_a_server_that_swallows_a_post_gets_it_once(here: Here) -> None:
    """Chromium would send it again: on a connection that was used before, it takes silence for a stale connection."""

    def swallow(asked: Asked) -> Answer:
        return Answer(hang_up=True)

    here.site.pages["/swallow"] = swallow
    here.outbox.attended = True
    await here.page.evaluate("fetch('/other').then(r => r.text())")
    status = await here.page.evaluate("fetch('/swallow', {method: 'POST', body: 'a'}).then(r => r.status)")
    assert status == 502
    assert here.site.effects() == ["POST /swallow"]
