"""The proxy of a browser is a port of this machine: other accounts cannot use it, or pass for the page."""

import asyncio
import sys
from base64 import b64encode
from urllib.parse import urlsplit

import pytest

from midcourse.worlds.browser.egress.outbox import Outbox
from midcourse.worlds.browser.egress.policy import read_origins
from midcourse.worlds.browser.egress.proxy import USER, Proxy
from midcourse.worlds.browser.egress.tls import Certificate
from tests.worlds.browser.guarded_page import chromium, open_guarded_page, until
from tests.worlds.browser.site import Answer, Site
from tests.worlds.browser.tls import loopback_tls

WRONG = b64encode(f"{USER}:guessed".encode()).decode()


@pytest.mark.parametrize("field", ["", f"Proxy-Authorization: Basic {WRONG}\r\n", "Proxy-Authorization: \xff\r\n"])
@pytest.mark.parametrize("line", ["GET {url}/private", "POST {url}/transfer", "CONNECT {netloc}"])
async def test_without_the_password_nothing_passes_and_nothing_waits(line: str, field: str) -> None:
    async with Site({"/private": "for the owner"}).served() as site:
        origins = read_origins(None, site.url)
        proxy = Proxy(origins, Outbox(origins))
        where = urlsplit(await proxy.open())
        reader, writer = await asyncio.open_connection(where.hostname, where.port)
        try:
            asked = line.format(url=site.url, netloc=urlsplit(site.url).netloc)
            head = f"{asked} HTTP/1.1\r\nHost: x\r\nUpgrade-Insecure-Requests: 1\r\n{field}Content-Length: 9\r\n\r\n"
            writer.write(head.encode("latin-1") + b"amount=99")
            async with asyncio.timeout(10):
                answer = await reader.read()
            assert answer.startswith(b"HTTP/1.1 407 ")
            assert (site.asked, proxy.outbox.waiting, proxy.outbox.take_refusals()) == ([], (), ())
        finally:
            writer.close()
            await proxy.close()


@pytest.mark.slow
async def test_a_browser_is_asked_for_the_password_once_and_gives_it_to_no_site(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Requests, tunnels, sockets and workers bring it by themselves: none is answered with 407 first."""
    take_refused: list[str] = []
    admits = Proxy.admits

    def counted(proxy: Proxy, credentials: str) -> bool:
        if not admits(proxy, credentials):
            take_refused.append(credentials)
            return False
        return True

    monkeypatch.setattr(Proxy, "admits", counted)
    certificate, (server, trusted) = Certificate(), loopback_tls()
    wants = Answer(status=401, fields={"WWW-Authenticate": 'Basic realm="midcourse"'})
    worker = Answer("fetch('/from-worker')", kind="text/javascript")
    pages = {"/": "<title>Page</title>", "/worker.js": worker, "/wants": wants, "/from-worker": "x", "/plain": "x"}
    async with (
        Site(pages).served(tls=server) as secure,
        Site(pages).served() as plain,
        chromium(certificate) as browser,
        open_guarded_page(browser, secure, {plain.url: {}}, trusted=trusted, certificate=certificate) as opened,
    ):
        await opened.run(
            "new Worker('/worker.js'); fetch('/wants'); for (const n of [1, 2, 3, 4, 5]) fetch('/plain?' + n)"
        )
        await opened.run("new WebSocket(location.origin.replace('http', 'ws') + '/live')")
        wanted = {"/worker.js", "/from-worker", "/wants", "/plain?5", "/live"}
        await until(lambda: wanted <= {asked.path for asked in secure.asked})
        await opened.page.goto(plain.url)
        assert take_refused == [""]
        seen = [*secure.asked, *plain.asked]
        assert len(seen) > len(wanted)
        assert not [asked for asked in seen if {"authorization", "proxy-authorization"} & {*asked.fields}]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the proxy is at the address of local sites")
@pytest.mark.parametrize("host", ["127.0.0.1", "shop.localhost"])
async def test_a_site_that_clears_its_data_does_not_make_the_browser_forget_the_password(host: str) -> None:
    out = Answer("<title>Signed out</title>", fields={"Clear-Site-Data": '"*"', "Set-Cookie": "a=b"})
    certificate = Certificate()
    async with (
        Site({"/": "<title>Page</title>", "/out": out}).served(host) as site,
        chromium(certificate) as browser,
        open_guarded_page(browser, site, certificate=certificate) as opened,
    ):
        for path, title in (("/out", "Signed out"), ("/", "Page"), ("/out", "Signed out"), ("/", "Page")):
            await opened.page.goto(site.url + path)
            assert await opened.page.title() == title
