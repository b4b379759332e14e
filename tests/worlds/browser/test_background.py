"""What an application sends by itself: it works without questions, its steps are just what they are, and nothing leaves unasked."""

import json
from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest
import pytest_asyncio

from midcourse.domain.outcome import SIGN_IN_REFUSED, Outcome
from midcourse.worlds.browser import Browser
from tests.worlds.browser.guarded_page import until
from tests.worlds.browser.site import Answer, ReceivedRequest, Site
from tests.worlds.browser.visitor import page_of
from tests.worlds.support import Hand, ok

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

SECRET = "lovelace-1843"

APP = """<!doctype html><html lang=en><title>App</title><main>Loading</main><script>
const post = (path, body, method = 'POST', more = {}) => fetch(path, {method, body: JSON.stringify(body),
    headers: {'Content-Type': 'application/json', ...more}})
const main = document.querySelector('main')
const show = () => { document.title = 'Items'; main.innerHTML = `<button id=settings>Settings</button><button id=beacon>Help</button>
    <button id=order>Order</button><input aria-label=Note><nav></nav>`
  settings.onclick = () => { post('/users/me/track/page', {last_page: '/settings'}, 'PATCH').catch(() => 0)
      main.querySelector('nav').innerHTML = '<a href=#>Roles</a>' }
  beacon.onclick = () => { navigator.sendBeacon('/events', 'help'); main.querySelector('nav').textContent = 'Helped' }
  order.onclick = () => { beat(); post('/items', {name: 'x'}) } }
const beat = () => post('/alive', {at: Date.now(), n: Math.floor(1000 * Math.random())}).catch(() => 0)
const login = () => { document.title = 'Sign in'; main.innerHTML = `<form><label>E-mail <input type=email></label>
    <label>Password <input type=password></label><button>Log in</button></form>`
  main.querySelector('form').onsubmit = async event => { event.preventDefault()
    const [email, password] = main.querySelectorAll('input')
    const answer = await post('/auth/login', {email: email.value, password: password.value, mode: 'session', ...EXTRA}, 'POST', MORE)
    if (answer.ok) show() } }
post('/auth/refresh', {mode: 'session'}).then(answer => answer.ok ? show() : login(), () => main.textContent = 'Offline')
</script></html>"""


def make_site() -> Site:
    """A single-page application that shows nothing before its session is renewed, by a cookie that is replaced each time."""
    sessions: list[str] = []

    def give(fields: dict[str, str] | None = None) -> Answer:
        sessions.append(f"s{len(sessions) + 1}")
        return Answer("{}", fields={"set-cookie": f"session={sessions[-1]}; HttpOnly; Path=/", **(fields or {})})

    def refresh(asked: ReceivedRequest) -> Answer:
        known = sessions and f"session={sessions[-1]}" in asked.fields.get("cookie", "")
        return give() if known else Answer("{}", status=401)

    def login(asked: ReceivedRequest) -> Answer:
        return give() if json.loads(asked.body)["password"] == SECRET else Answer("{}", status=401)

    pages = dict.fromkeys(("/alive", "/events", "/users/me/track/page", "/items"), "{}")
    return Site({**pages, "/auth/refresh": refresh, "/auth/login": login, "/": ""})


@pytest_asyncio.fixture(loop_scope="session")
async def site() -> AsyncGenerator[Site]:
    async with make_site().served() as site:
        site.pages["/"] = APP.replace("EXTRA", "{}").replace("MORE", "{}")
        yield site


@pytest_asyncio.fixture(loop_scope="session")
async def hand(site: Site) -> AsyncGenerator[Hand]:
    browser = Browser(f"{site.url}/", quiet_seconds=0.05)
    await browser.open()
    await browser.conceal(((f"password@{site.url}", SECRET),))
    yield Hand(browser)
    await browser.close()


async def sign_in(hand: Hand) -> Outcome:
    ok(await hand.on("E-mail", "type", text="ada@example.org"))
    ok(await hand.on("Password", "type", text=SECRET))
    return await hand.on("Log in", "click")


def is_waiting(hand: Hand) -> bool:
    """Whether the browser holds a request."""
    assert isinstance(hand.world, Browser)
    return bool(hand.world._running.guard.outbox.waiting)


async def requests(hand: Hand) -> list[str]:
    return [zone.label.rpartition("/")[2] for zone in (await hand.see()).zones if zone.role == "request"]


async def test_application_shows_its_sign_in_and_signs_in_without_a_question(hand: Hand, site: Site) -> None:
    assert await hand.title() == "Sign in"
    ok(await sign_in(hand))
    assert await hand.title() == "Items"
    assert site.effects() == ["POST /auth/refresh", "POST /auth/login"]


async def test_sign_in_that_the_server_refuses_has_failed_although_it_left_without_a_question(
    hand: Hand, site: Site
) -> None:
    site.pages["/auth/login"] = Answer("{}", status=401)
    refused = await sign_in(hand)
    assert (refused.status, refused.reason) == ("failed", SIGN_IN_REFUSED)
    assert site.effects() == ["POST /auth/refresh", "POST /auth/login"]


async def test_session_is_renewed_again_when_the_page_is_loaded_again(hand: Hand, site: Site) -> None:
    ok(await sign_in(hand))
    ok(await hand.on("Note", "type", text="half a note"))
    for _ in range(2):
        ok(await hand.do("navigate", url=f"{site.url}/"))
        assert await hand.title() == "Items"
    assert site.effects() == ["POST /auth/refresh", "POST /auth/login", *["POST /auth/refresh"] * 2]


@pytest.mark.parametrize(
    ("way", "extra"),
    [
        ("what was typed, in a value", "post('/auth/refresh', {mode: 'half a note'})"),
        ("what was typed, encoded", "post('/auth/refresh', {refresh_token: btoa('half a note half a note')})"),
        ("what was typed, in a header", "post('/auth/refresh', {mode: 'session'}, 'POST', {'X-Page': btoa('half')})"),
        ("what was typed, in a usual header", "post('/auth/refresh', {}, 'POST', {Accept: 'text/half'})"),
        ("what was typed, in the query", "post('/auth/refresh?half', {})"),
        ("what was typed, in a cookie", "document.cookie = 'x=half a note'; post('/auth/refresh', {mode: 'session'})"),
        ("another method", "post('/auth/refresh', {}, 'PUT')"),
        ("another address", "post('/auth/refresh/all/orders', {})"),
    ],
)
async def test_renewal_that_could_carry_what_was_typed_waits(hand: Hand, site: Site, way: str, extra: str) -> None:
    ok(await sign_in(hand))
    ok(await hand.on("Note", "type", text="half a note"))
    site.forget()
    await page_of(hand).evaluate(f"() => {{ {extra} }}")
    await until(lambda: is_waiting(hand))
    assert site.effects() == []


async def test_step_that_the_page_reports_is_not_held(hand: Hand, site: Site) -> None:
    ok(await sign_in(hand))
    site.forget()
    ok(await hand.on("Settings", "click"))
    await hand.zone("Roles", "link")
    assert await requests(hand) == ["page"]
    ok(await hand.on("Help", "click"))
    assert site.effects() == []


async def test_heartbeat_does_not_become_part_of_a_step(hand: Hand, site: Site) -> None:
    """A beat that was seen while no act was under way is the page's own; what the click sends is still held, and leaves alone."""
    ok(await sign_in(hand))
    await page_of(hand).evaluate("() => { beat() }")
    await until(lambda: is_waiting(hand))
    site.forget()
    ok(await hand.on("Note", "type", text="a note"))
    call = hand.call("click", await hand.zone("Order"))
    assert (await hand.world.act(call)).reason == "would_send"
    commit = await hand.world.commit_set(call)
    assert commit is not None
    assert commit.address == f"POST {site.url}/items"
    ok(await hand.world.act(replace(call, command=hand.command + 1, allowed=True)))
    assert site.effects() == ["POST /items"]


@pytest.mark.parametrize(
    ("name", "extra", "more", "asks"),
    [
        ("a token in a header", "{remember: true, otp: ''}", "{'X-CSRF-Token': '9f86d081884c7d659a2f'}", False),
        ("a time zone", "{timezone: 'Europe/Berlin', offset: -120}", "{}", False),
        ("another value", "{amount: 100}", "{}", True),
        ("words", "{timezone: 'half a note'}", "{}", True),
        ("the secret twice", "{again: document.querySelectorAll('input')[1].value}", "{}", True),
    ],
)
async def test_script_that_signs_in_is_held_if_it_sends_another_value(
    site: Site, name: str, extra: str, more: str, *, asks: bool
) -> None:
    site.pages["/"] = APP.replace("EXTRA", extra).replace("MORE", more)
    browser = Browser(f"{site.url}/", quiet_seconds=0.05)
    await browser.open()
    try:
        await browser.conceal(((f"password@{site.url}", SECRET),))
        outcome = await sign_in(Hand(browser))
        assert (outcome.reason, "POST /auth/login" in site.effects()) == (("would_send", False) if asks else ("", True))
    finally:
        await browser.close()
