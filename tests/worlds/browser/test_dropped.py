"""A request that does not leave looks to its page as if the browser were offline: sent once, no question, nothing lost on the page."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Any

import pytest
import pytest_asyncio

from midcourse.domain.observation import Zone
from midcourse.domain.outcome import Outcome
from midcourse.worlds.browser import Browser
from midcourse.worlds.browser.egress.guard import Guard
from midcourse.worlds.browser.egress.outbox import MAX_WAITING
from tests.worlds.browser.guarded_page import until
from tests.worlds.browser.site import Site
from tests.worlds.browser.visitor import page_of
from tests.worlds.support import Hand, ok

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

PAGE = """<!doctype html><title>Write</title><input aria-label=Note><button onclick="clicks = 1">Note it</button><script>
const ask = how => fetch(URL_, {body: how === 'DELETE' ? null : 'beat', ...(how.method ? how : {method: how})})
    .then(answer => answer.status === 403 ? location.reload() : 'status ' + answer.status, error => error.name)
const ask_by_xhr = method => new Promise(done => { const request = new XMLHttpRequest(); request.open(method, URL_)
    request.onerror = () => done('error, status ' + request.status); request.onload = () => done('status ' + request.status)
    request.send('beat') })
const ask_by_worker = () => new Promise(done => { const worker = new Worker(URL.createObjectURL(new Blob([
    `fetch('${URL_}', {method: 'POST', body: 'beat'}).then(a => postMessage('status ' + a.status), e => postMessage(e.name))`])))
    worker.onmessage = message => done(message.data) })
const ask_by_image = () => new Promise(done => { const image = new Image(); image.onload = () => done('loaded')
    image.onerror = () => done('not loaded'); image.src = URL_.replace('/beat', '/delete') })
const listen = () => new Promise(done => { const events = new EventSource(URL_.replace('/beat', '/delete'))
    events.onerror = () => done('ready state ' + events.readyState) })
</script>"""

OFFLINE = {
    "fetch POST": ("ask('POST')", "TypeError"),
    "fetch PUT": ("ask('PUT')", "TypeError"),
    "fetch PATCH": ("ask('PATCH')", "TypeError"),
    "fetch DELETE": ("ask('DELETE')", "TypeError"),
    "fetch that outlives its page": ("ask({method: 'POST', keepalive: true})", "TypeError"),
    "fetch without CORS": ("ask({method: 'POST', mode: 'no-cors'})", "TypeError"),
    "XMLHttpRequest POST": ("ask_by_xhr('POST')", "error, status 0"),
    "XMLHttpRequest PUT": ("ask_by_xhr('PUT')", "error, status 0"),
    "beacon": ("navigator.sendBeacon(URL_, 'beat')", True),
    "worker": ("ask_by_worker()", "TypeError"),
    "image": ("ask_by_image()", "not loaded"),
    "stream of events": ("listen()", "ready state 2"),
}
"""What a page does, and what it then finds out. A stream of events in the ready state 2 is not asked for again."""
QUIET_SECONDS = 0.5
"""Chromium sends again at once what a connection has lost, when it does."""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def site() -> AsyncGenerator[Site]:
    async with Site(
        {"/": "<title>Start</title>", "/write": "", "/ok": "ok", "/beat": "", "/orders": ""}
    ).served() as site:
        yield site


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def canary() -> AsyncGenerator[Site]:
    async with Site({"/beat": "", "/delete": ""}).served() as canary:
        yield canary


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def opened(site: Site) -> AsyncGenerator[Hand]:
    entry: dict[str, Any] = {"unsafe": ["GET /delete*"]}
    browser = Browser(f"{site.url}/", origins={site.url: entry}, quiet_seconds=0.03)
    await browser.open()
    yield Hand(browser)
    await browser.close()


@pytest_asyncio.fixture(loop_scope="session")
async def hand(opened: Hand, site: Site) -> Hand:
    """A page with something typed into it, and kept connections to its server."""
    await show(opened, site, site)
    return opened


async def show(hand: Hand, site: Site, target: Site, form: str = "") -> None:
    page = PAGE.replace("<script>", f"{form}<script>const URL_ = '{target.url}/beat'\n", 1)
    site.pages["/write"] = page
    ok(await hand.do("navigate", url=f"{site.url}/write"))
    for _ in range(3):
        await page_of(hand).evaluate("fetch('/ok').then(answer => answer.text())")
    ok(await hand.on("Note", "type", text="half a mail"))
    site.forget()


def guard_of(hand: Hand) -> Guard:
    assert isinstance(hand.world, Browser)
    return hand.world._running.guard


async def held_zones(hand: Hand) -> list[Zone]:
    return [zone for zone in (await hand.see()).zones if zone.role == "request"]


async def press_button(hand: Hand) -> Outcome:
    """Do something that sends nothing."""
    return await hand.on("Note it", "click")


async def send_several(hand: Hand, number: int, *, failing: int, path: str = "/beat") -> None:
    """Let the page send as many of different kinds by itself, and wait until so many have failed, because too many are held."""
    body = "new URLSearchParams({about: 'abcdefghijkl'[i]})"
    script = f"() => {{ failed = 0; for (let i = 0; i < {number}; i++) fetch(`{path}`, {{method: 'POST', body: {body}}}).catch(() => failed++) }}"
    await page_of(hand).evaluate(script)
    await page_of(hand).wait_for_function(f"failed === {failing}")


async def written(hand: Hand) -> object:
    return (await hand.zone("Note")).get("value")


# --- held, and dropped by the next act


@pytest.mark.parametrize("way", OFFLINE)
async def test_what_the_page_sent_by_itself_is_held_once_and_the_next_act_asks_nothing(
    hand: Hand, site: Site, way: str
) -> None:
    script, finds = OFFLINE[way]
    asking = asyncio.create_task(page_of(hand).evaluate(script))
    await until(lambda: bool(guard_of(hand).outbox.waiting))
    (held,) = guard_of(hand).outbox.waiting
    outcome = await press_button(hand)
    ok(outcome)
    assert outcome.dropped == (f"the page's own {held.request.commit.address} was not sent",)
    assert await asking == finds
    await asyncio.sleep(QUIET_SECONDS)
    again = await press_button(hand)
    assert (again.status, again.dropped) == ("ok", ())
    asking = asyncio.create_task(page_of(hand).evaluate("navigator.sendBeacon(URL_, 'beat')"))
    await until(lambda: bool(guard_of(hand).outbox.waiting))
    assert guard_of(hand).outbox.waiting[0].number == held.number + 1, "nothing was held in between"
    assert await written(hand) == "half a mail"
    assert [asked.path for asked in site.asked] == []


async def test_page_that_reloads_on_403_keeps_what_was_typed(hand: Hand, site: Site) -> None:
    for _ in range(2):
        asking = asyncio.create_task(page_of(hand).evaluate("ask('POST')"))
        await until(lambda: bool(guard_of(hand).outbox.waiting))
        ok(await press_button(hand))
        assert await asking == "TypeError"
    assert await written(hand) == "half a mail"
    assert [asked.path for asked in site.asked] == []


async def test_requests_held_while_a_question_is_open_stay_until_the_approved_one_was_sent(
    hand: Hand, site: Site
) -> None:
    await show(
        hand, site, site, "<button onclick=\"fetch('/orders', {method: 'POST', body: 'item=1'})\">Order</button>"
    )
    call = hand.call("click", await hand.zone("Order"))
    assert (await hand.world.act(call)).reason == "would_send"
    beat = asyncio.create_task(page_of(hand).evaluate("ask('POST')"))
    await until(lambda: len(guard_of(hand).outbox.waiting) == 2)
    commit = await hand.world.commit_set(call)
    assert commit is not None
    assert commit.address == f"POST {site.url}/orders", "the question is about the order alone"
    outcome = await hand.world.act(replace(call, command=hand.command + 1, allowed=True))
    assert (outcome.status, outcome.dropped) == ("ok", ())
    assert not beat.done(), "the page would say that it is offline while the answer to the order is judged"
    outcome = await press_button(hand)
    assert outcome.dropped == (f"the page's own POST {site.url}/beat was not sent",)
    assert await beat == "TypeError"
    assert site.effects() == ["POST /orders"]


async def test_step_says_what_was_held_for_an_earlier_one_and_how_often(hand: Hand, site: Site) -> None:
    await show(
        hand, site, site, "<button onclick=\"fetch('/orders', {method: 'POST', body: 'item=1'})\">Order</button>"
    )
    assert (await hand.on("Order", "click")).reason == "would_send"
    await send_several(hand, 6, failing=2)
    outcome = await press_button(hand)
    assert sorted(outcome.dropped) == sorted(
        [
            f"POST {site.url}/beat was not sent, because {MAX_WAITING} others were held (2 times)",
            f"POST {site.url}/orders, held for 'click', was not sent",
            f"the page's own POST {site.url}/beat was not sent (4 times)",
        ]
    )
    assert site.effects() == []


async def test_step_describes_only_a_few_dropped_requests(hand: Hand, site: Site) -> None:
    await send_several(hand, 12, failing=7, path="/beat/${i}")
    outcome = await press_button(hand)
    assert len(outcome.dropped) == 6
    assert outcome.dropped[-1].startswith("another request was not sent (")
    assert site.effects() == []


@pytest.mark.parametrize("target", ["", "target=inner"], ids=["in the page", "in a frame"])
async def test_dropped_form_leaves_the_page_and_what_was_typed_into_it(hand: Hand, site: Site, target: str) -> None:
    form = f"<iframe name=inner></iframe><form method=post action=/orders {target}><input name=to><button>Send</button></form>"
    await show(hand, site, site, form)
    assert (await hand.on("Send", "click")).reason == "would_send"
    outcome = await press_button(hand)
    assert outcome.dropped == (f"POST {site.url}/orders, held for 'click', was not sent",)
    assert (await hand.title(), await written(hand), site.effects()) == ("Write", "half a mail", [])


# --- refused, because the origin is not allowed


@pytest.mark.parametrize("way", OFFLINE)
async def test_request_to_an_origin_off_the_list_fails_once_and_no_act_asks(
    hand: Hand, site: Site, canary: Site, way: str
) -> None:
    script, finds = OFFLINE[way]
    await show(hand, site, canary)
    outbox = guard_of(hand).outbox
    outbox.take_refusals()
    assert await page_of(hand).evaluate(script) == finds
    await asyncio.sleep(QUIET_SECONDS)
    assert len(outbox.take_refusals()) == 1
    outcome = await press_button(hand)
    assert (outcome.status, outcome.dropped, await held_zones(hand)) == ("ok", (), [])
    assert await written(hand) == "half a mail"
    assert canary.connections == 0


async def test_act_says_what_it_could_not_send_to_an_origin_off_the_list(hand: Hand, site: Site, canary: Site) -> None:
    await show(hand, site, canary, "<button onclick=\"ask('POST')\">Report</button>")
    outcome = await hand.on("Report", "click")
    assert (outcome.status, outcome.reason) == ("ok", "")
    assert outcome.detail.startswith(f"not let through: POST {canary.url}/beat: ")
    assert "more)" not in outcome.detail, "it was refused once"
    ok(await press_button(hand))
    assert (await held_zones(hand), canary.connections) == ([], 0)


async def test_form_to_an_origin_off_the_list_leaves_the_page_and_what_was_typed_into_it(
    hand: Hand, site: Site, canary: Site
) -> None:
    await show(hand, site, site, f"<form method=post action={canary.url}/beat><button>Send</button></form>")
    outcome = await hand.on("Send", "click")
    assert f"not let through: POST {canary.url}/beat" in outcome.detail
    assert (await hand.title(), await written(hand), canary.connections) == ("Write", "half a mail", 0)
