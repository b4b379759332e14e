"""A reverse proxy with one fault for each run, in front of an unchanged application.

overlay     a dialog covers one of the pages until its button is clicked
renamed     every control has another name, the links are below the page and the buttons above their fields
expired     the session ends: with the page after the effect, with the request for it, or before it, by seed
lost        the application stores the effect, and the client gets a 504 with the advice to try again
killed      the application stores the effect, and the system is killed with -9 before it gets the answer
model       the application is not disturbed; the model answers 429 and 500 (`model.py`)
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from html import escape
from random import Random
from urllib.parse import urlsplit

from benchmarks.llm.sites import OTHER_NAMES
from benchmarks.web_apps.wagtail.proxy import OVERLAY, Answer, Proxy, Request

WHEN = ("after", "at", "before")


@dataclass(kw_only=True)
class FaultyProxy(Proxy):
    fault: str
    seed: int
    session: str
    """Name of the session cookie."""
    is_effect: Callable[[Request], bool]
    on_killed: Callable[[], None] = lambda: None

    def __post_init__(self) -> None:
        chance = Random(f"{self.fault} {self.seed}")
        self.happened = self.fault in ("clean", "renamed", "model")
        self.when = WHEN[self.seed % len(WHEN)]
        self._wording = chance.randint(0, 1)
        self._page = chance.randint(3, 5)
        """The number of the page with the overlay, or without a session."""
        self._pages = 0
        self._stored = False

    async def _spoiled(self, request: Request) -> Answer:
        is_effect = self.is_effect(request)
        is_due = not self.happened and self._takes_fault(request, is_effect)
        self.happened |= is_due
        if is_due and self.fault == "expired":
            request = replace(request, headers=tuple(map(self._drop_session, request.headers)))
        answer = await self._forward(request)
        self._stored |= is_effect
        if self.fault == "renamed":
            return replace(answer, body=rename_controls(answer.body, self._wording))
        return self._disturb(request, answer) if is_due else answer

    def _takes_fault(self, request: Request, is_effect: bool) -> bool:
        page = is_page(request)
        self._pages += page
        match self.fault:
            case "overlay":
                return page and self._pages == self._page
            case "expired" if self.when == "before":
                return page and self._pages == self._page
            case "expired" if self.when == "after":
                return page and self._stored
            case _:
                return is_effect

    def _disturb(self, request: Request, answer: Answer) -> Answer:
        match self.fault:
            case "overlay":
                return replace(answer, body=answer.body.replace(b"</body>", OVERLAY + b"</body>"))
            case "expired":
                expired_cookie = ("Set-Cookie", f"{self.session}=; Path=/; Max-Age=0")
                return replace(answer, headers=(*answer.headers, expired_cookie))
            case "killed":
                self.on_killed()
                return answer
            case _:
                return gateway_timeout(urlsplit(request.get("referer")).path)

    def _drop_session(self, header: tuple[str, str]) -> tuple[str, str]:
        name, value = header
        return (name, re.sub(rf"\b{self.session}=[^;]*;? ?", "", value)) if name.lower() == "cookie" else header


def is_page(request: Request) -> bool:
    return request.method == "GET" and "text/html" in request.get("accept")


def gateway_timeout(back: str) -> Answer:
    """Return the page of a gateway that got no answer in time, with a link to the form that was sent."""
    title = "504 Gateway Timeout"
    advice = "<p role=alert>The server took too long to answer. Please try again.</p>"
    link = f"<p><a href='{escape(back)}'>Try again</a></p>"
    page = f"<!doctype html><title>{title}</title><link rel=icon href='data:,'><h1>{title}</h1>{advice}{link}<p><a href='/'>Home</a></p>"
    return Answer(status=title, headers=(("Content-Type", "text/html; charset=utf-8"),), body=page.encode())


def rename_controls(body: bytes, wording: int) -> bytes:
    """Return the page with other names for its controls, and with its parts in another order."""
    page = body.decode()
    for usual, others in OTHER_NAMES.items():
        page = re.sub(rf">{usual}(</(?:a|button|label)>)", rf">{others[wording]}\1", page)
    page = re.sub(r"(<nav>.*?</nav>)(<main>.*?</main>)", r"\2\1", page, flags=re.DOTALL)
    return re.sub(r"(<form[^>]*>)(.*?)(<p><button.*?</p>)", r"\1\3\2", page, flags=re.DOTALL).encode()
