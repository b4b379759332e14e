"""Logs a browser in at its proxy, once for each context, before the first page is loaded.

Chromium keeps a password that a proxy has accepted and sends it with every later request, tunnel and worker of the context.
So it is enough that one request, to an address that only the proxy answers, gets a 407. Playwright's option for proxy
passwords would intercept every request while the browser is open, and would give the password to any site that asks for one.
"""

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Page

ENTRANCE = "http://gate.midcourse.invalid/"
"""An address that the proxy itself answers, without a body, so that the tab stays as it is."""
USER = "midcourse"
_WITHIN = 30.0


async def log_in(context: "BrowserContext", page: "Page", password: str) -> None:
    """Give the password of the proxy to the browser. Raise `ConnectionError` if the browser does not ask for it."""
    from playwright.async_api import Error

    cdp: Any = await context.new_cdp_session(page)  # Playwright does not declare its types
    asked: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    tasks: set[asyncio.Task[Any]] = set()

    def send(method: str, **values: object) -> None:
        tasks.add(asyncio.create_task(cdp.send(method, values)))

    def on_paused(event: Any) -> None:
        send("Fetch.continueRequest", requestId=event["requestId"])

    def on_auth(event: Any) -> None:
        credentials = {"response": "ProvideCredentials", "username": USER, "password": password}
        if asked.done() or event["authChallenge"].get("source") != "Proxy":
            credentials = {"response": "CancelAuth"}
        else:
            asked.set_result(None)
        send("Fetch.continueWithAuth", requestId=event["requestId"], authChallengeResponse=credentials)

    cdp.on("Fetch.requestPaused", on_paused)
    cdp.on("Fetch.authRequired", on_auth)
    await cdp.send("Fetch.enable", {"handleAuthRequests": True, "patterns": [{"urlPattern": f"{ENTRANCE}*"}]})
    try:
        with suppress(Error):  # an answer without a body ends the navigation
            await page.goto(ENTRANCE, timeout=1000 * _WITHIN)
        if not asked.done():
            raise ConnectionError("the browser did not ask for the password of its proxy")
    finally:
        await asyncio.gather(*tasks, return_exceptions=True)
        with suppress(Error):
            await cdp.send("Fetch.disable")
            await cdp.detach()
