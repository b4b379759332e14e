"""Forms that sign in without approval: those that send a bound secret to its origin, and nothing else of weight."""

from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest
import pytest_asyncio

from midcourse.domain.observation import Observation
from midcourse.domain.outcome import Outcome
from midcourse.worlds.browser import Browser
from tests.worlds.browser.site import Answer, Site
from tests.worlds.browser.visitor import page_of
from tests.worlds.support import Hand, ok

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

SECRET = "lovelace-1843"
USER = "<label>User <input name=user></label>"
PASSWORD = "<label>Password <input type=password name=password></label>"
TOKEN = "<input type=hidden name=csrf value=8d1f0c2ab9>"


def form(*parts: str, action: str = "/login", method: str = "post") -> str:
    return f"<form method={method} action='{action}'>{''.join(parts)}<button>Sign in</button></form>"


@pytest.fixture(scope="module")
def site() -> Site:
    return Site({"/": "<title>Start</title>"})


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def elsewhere() -> AsyncGenerator[Site]:
    async with Site({"/login": "<title>Taken</title>"}).served() as other:
        yield other


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def hand(site: Site, elsewhere: Site) -> AsyncGenerator[Hand]:
    async with site.served():
        known = {site.url: {"unsafe": ["POST /guarded"]}, elsewhere.url: {}}
        browser = Browser(f"{site.url}/", origins=known, quiet_seconds=0.05)
        await browser.open()
        await browser.conceal(((f"password@{site.url}", SECRET),))
        yield Hand(browser)
        await browser.close()


async def press(
    hand: Hand, site: Site, body: str, *, password: str = SECRET, script: str = "", label: str = "Password"
) -> Outcome:
    site.pages["/page"] = Answer(f"<!doctype html><html lang=en><title>Page</title>{body}")
    for path in ("/login", "/guarded"):
        site.pages[path] = Answer("", status=303, fields={"location": "/home"})
    site.pages["/home"] = "<!doctype html><title>Home</title><p>Welcome"
    ok(await hand.do("navigate", url=f"{site.url}/page"))
    if "name=user" in body:
        ok(await hand.do("type", await hand.zone("User"), text="ada"))
    ok(await hand.do("type", await hand.zone(label), text=password))
    if script:
        await page_of(hand).evaluate(script)
    site.forget()
    return await hand.world.act(hand.call("click", await hand.zone("Sign in")))


@pytest.mark.parametrize(
    "body",
    [
        form(USER, PASSWORD, TOKEN),
        form(PASSWORD, "<button name=act value=go>Sign in</button>").replace("<button>Sign in</button>", ""),
    ],
    ids=["with a token", "without a user, with a named button"],
)
async def test_a_sign_in_with_a_bound_secret_is_not_asked_about(hand: Hand, site: Site, body: str) -> None:
    outcome = await press(hand, site, body)
    assert (outcome.status, outcome.reason) == ("ok", "")
    assert site.effects() == ["POST /login"]
    assert await hand.title() == "Home"


REFRESH = "for (const field of document.querySelectorAll('form input[name=csrf]')) field.value = document.querySelector('meta[name=csrf-token]').content"
"""What jquery_ujs does when a page of Rails is ready: the document has one token for the form, and one for its scripts."""
LABEL = "Password Lost password"
RAILS = "<meta name=csrf-param content=csrf><meta name=csrf-token content='7RBhY/kGIhmsVE89=='>" + form(
    "<input type=hidden name=utf8 value='&#x2713;'>",
    TOKEN,
    "<input type=hidden name=back_url value='/'>",
    USER,
    "<label for=password>Password <a href=/lost>Lost password</a></label><input type=password name=password id=password>",
    "<label><input type=checkbox name=autologin value=1> Stay signed in</label>",
    "<input type=submit name=login value='Sign in'>",
).replace("<button>Sign in</button>", "")


async def test_sign_in_with_the_token_that_its_document_has_for_scripts_is_not_asked_about(
    hand: Hand, site: Site
) -> None:
    """Redmine's form."""
    outcome = await press(hand, site, f"{RAILS}<script>{REFRESH}</script>", label=LABEL)
    assert (outcome.status, outcome.reason) == ("ok", "")
    (sent,) = [asked.body for asked in site.asked if asked.method == "POST"]
    assert b"csrf=7RBhY%2FkGIhmsVE89%3D%3D&" in sent
    assert await hand.title() == "Home"


async def test_sign_in_with_a_token_for_scripts_that_a_script_changed_is_held(hand: Hand, site: Site) -> None:
    changed = "document.querySelector('meta[name=csrf-token]').content = '6d61696e'"
    outcome = await press(hand, site, f"{RAILS}<script>{changed};{REFRESH}</script>", label=LABEL)
    assert outcome.reason == "would_send"
    assert site.effects() == []


HELD = {
    "another value": form(USER, PASSWORD, "<label>Amount <input name=amount value=100></label>"),
    "a choice": form(USER, PASSWORD, "<input type=checkbox name=remember checked>"),
    "two passwords": form(PASSWORD, "<input type=password name=repeat value=x>"),
    "a request that the policy declares unsafe": form(USER, PASSWORD, action="/guarded"),
}


@pytest.mark.parametrize("name", HELD)
async def test_sign_in_with_any_other_value_is_held(hand: Hand, site: Site, name: str) -> None:
    outcome = await press(hand, site, HELD[name])
    assert outcome.reason == "would_send"
    assert site.effects() == []


async def test_sign_in_with_another_password_is_held(hand: Hand, site: Site) -> None:
    assert (await press(hand, site, form(USER, PASSWORD), password="guess")).reason == "would_send"


async def test_sign_in_with_a_changed_hidden_field_is_held(hand: Hand, site: Site) -> None:
    changed = "document.forms[0].csrf.value = 'transfer=100'"
    assert (await press(hand, site, form(USER, PASSWORD, TOKEN), script=changed)).reason == "would_send"


CHANGED = {
    "sent where a form of the same document orders": "document.forms[0].action = '/other'",
    "sent elsewhere": "document.forms[0].action = '/comments'",
    "a query": "document.forms[0].action = '/login?at=6d61696e'",
    "a field that was added": "document.forms[0].insertAdjacentHTML('beforeend', '<input type=hidden name=x value=6d61>')",
    "another name": "document.forms[0].csrf.name = 'x6d61696e'",
    "a value that was not typed": "document.forms[0].user.value = 'ada|6d61696e'",
    "another button": "document.forms[0].querySelector('button').name = 'x6d61696e'",
    "another encoding": "document.forms[0].enctype = 'multipart/form-data'",
}


@pytest.mark.parametrize("name", CHANGED)
async def test_sign_in_that_a_script_changed_is_held(hand: Hand, site: Site, name: str) -> None:
    sizes = "<input type=hidden name=screen><input type=hidden name=width>"
    body = form(USER, PASSWORD, TOKEN, sizes) + "<form method=post action=/other><input name=at></form>"
    assert (await press(hand, site, body, script=CHANGED[name])).reason == "would_send"
    assert site.effects() == []


async def test_sign_in_that_orders_by_its_address_is_held(hand: Hand, site: Site) -> None:
    assert (await press(hand, site, form(USER, PASSWORD, action="/do/order"))).reason == "would_send"


@pytest.mark.parametrize("coded", ["kept", "btoa(kept)", "'x-' + kept"])
@pytest.mark.parametrize(
    "field", ["<input type=hidden name=csrf>", "<input name=user>"], ids=["hidden", "the user name"]
)
async def test_sign_in_with_what_was_typed_on_a_page_before_is_held(
    hand: Hand, site: Site, field: str, coded: str
) -> None:
    """A script fills in the field while the page is parsed, so it looks as if it was served like this."""
    keep = "<script>document.querySelector('input').oninput = e => localStorage.kept = e.target.value</script>"
    site.pages["/before"] = Answer(f"<!doctype html><title>Before</title><label>Card <input></label>{keep}")
    ok(await hand.do("navigate", url=f"{site.url}/before"))
    ok(await hand.on("Card", "type", text="4000 1234 5678"))
    fill = f"<script>const kept = localStorage.kept; document.querySelector('input').value = {coded}</script>"
    body = form(f"{field}{fill}", PASSWORD)
    site.pages["/page"] = Answer(f"<!doctype html><html lang=en><title>Page</title>{body}")
    ok(await hand.do("navigate", url=f"{site.url}/page"))
    ok(await hand.do("type", await hand.zone("Password"), text=SECRET))
    site.forget()
    assert (await hand.world.act(hand.call("click", await hand.zone("Sign in")))).reason == "would_send"
    assert site.effects() == []


async def test_sign_in_to_another_origin_is_held(hand: Hand, site: Site, elsewhere: Site) -> None:
    outcome = await press(hand, site, form(USER, PASSWORD, action=f"{elsewhere.url}/login"))
    assert outcome.reason == "would_send"
    assert elsewhere.effects() == []


async def test_password_that_is_not_a_secret_is_masked_in_the_observation(hand: Hand, site: Site) -> None:
    await press(hand, site, form(USER, PASSWORD), password="written in the goal")
    observation = await hand.world.observe()
    assert isinstance(observation, Observation)
    (request,) = [zone for zone in observation.zones if zone.role == "request"]
    assert request.get("user") == "ada"
    assert "written in the goal" not in str(observation)


async def test_password_that_is_not_a_secret_is_masked_in_the_question_and_sent_unchanged(
    hand: Hand, site: Site
) -> None:
    await press(hand, site, form(USER, PASSWORD), password="written in the goal")
    call = replace(hand.call("click", await hand.zone("Sign in")))
    commit = await hand.world.commit_set(call)
    assert commit is not None
    shown = dict(commit.values)
    assert shown["user"] == "ada"
    assert str(shown["password"]).startswith("<password of 19 characters, digest ")
    ok(await hand.world.act(replace(call, command=hand.command + 1, allowed=True)))
    hand.command += 1
    assert [asked.body for asked in site.asked if asked.method == "POST"] == [b"user=ada&password=written+in+the+goal"]


async def test_an_approval_of_a_masked_password_is_void_for_another_of_the_same_length(hand: Hand, site: Site) -> None:
    await press(hand, site, form(USER, PASSWORD), password="first-one")
    call = hand.call("submit", await hand.zone("Sign in"))
    before = await hand.world.commit_set(call)
    assert before == await hand.world.commit_set(call)
    await page_of(hand).evaluate("document.forms[0].password.value = 'other-one'")
    assert before != await hand.world.commit_set(call)
