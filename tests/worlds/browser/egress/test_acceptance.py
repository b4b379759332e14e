"""Which answers count as evidence that a request was accepted, and which leave the outcome unknown."""

from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest
import pytest_asyncio

from midcourse.domain.outcome import ANSWERED_WITH_ERROR, SIGN_IN_REFUSED, SIGNED_IN, Outcome
from midcourse.worlds.browser import Browser
from tests.worlds.browser.site import Answer, Site
from tests.worlds.support import Hand, ok

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

TOKEN = "<input type=hidden name=csrf value=8d1f0c2ab9>"
STEP = "<input type=hidden name=step value="
FORM = f"""<form method=post action=/orders>{TOKEN}{STEP}1><label>Item <input name=item value=Lamp></label>
<button name=go value=1>Order</button></form>"""
SIGN_IN = "<form method=post action=/enter><label>Password <input type=password name=password></label><button>Enter</button></form>"
SCRIPTED = """<label>Search <input type=search></label><div id=all><label>Item <input name=item value=Lamp></label><button onclick="order()">Order</button></div>
<script>async function order() { const answer = await fetch('/orders', {method: 'POST', body: '{}'});
  document.getElementById('all').innerHTML = '<p>' + SAYS + '</p>' }</script>"""


def html(body: str, *, status: int = 200, language: str = "en") -> Answer:
    return Answer(f"<!doctype html><html lang={language}><title>Page</title>{body}</html>", status=status)


def redirect(to: str) -> Answer:
    return Answer("", status=303, fields={"location": to})


@pytest.fixture(scope="module")
def site() -> Site:
    return Site({"/": "<title>Start</title>"})


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def hand(site: Site) -> AsyncGenerator[Hand]:
    async with site.served():
        browser = Browser(f"{site.url}/", quiet_seconds=0.05)
        await browser.open()
        yield Hand(browser)
        await browser.close()


async def send_allowed_order(hand: Hand, site: Site, page: str = FORM, at: str = "/page") -> Outcome:
    """Send an allowed order from a page at this address and return its outcome."""
    site.pages[at] = html(page)
    ok(await hand.do("navigate", url=f"{site.url}{at}"))
    site.forget()
    call = hand.call("click", await hand.zone("Order"))
    held = await hand.world.act(call)
    assert held.reason == "would_send"
    await hand.world.commit_set(call)
    hand.command += 1
    outcome = await hand.world.act(replace(call, command=hand.command, allowed=True))
    assert site.effects() == ["POST /orders"]
    return outcome


ACCEPTED = {
    "a redirect to another page": {"/orders": redirect("/thanks"), "/thanks": html("<p>Thank you, order 7")},
    "another page at once": {"/orders": html("<p>Thank you, order 7")},
    "the next page of a wizard at the same address": {
        "/orders": html(f"<form method=post action=/orders>{TOKEN}<input name=street><button>Next</button></form>")
    },
    "the next page of a wizard whose buttons have the same name": {
        "/orders": html(
            "<form method=post action=/orders><input name=street><button name=go value=2>Next</button></form>"
        )
    },
    "a page of a wizard without fields": {
        "/orders": html(f"<form method=post action=/orders>{TOKEN}{STEP}2><button name=go>Send</button></form>")
    },
    "a page in German": {"/orders": html("<p>Vielen Dank, Bestellung 7", language="de-AT")},
}
UNKNOWN = {
    "a redirect to a sign-in": {"/orders": redirect("/enter"), "/enter": html(SIGN_IN)},
    "a redirect to the first page of a sign-in in two steps": {
        "/orders": redirect("/account/login?next=/orders"),
        "/account/login": html("<form method=post><input name=email><button>Next</button></form>"),
    },
    "out of stock": {"/orders": html("<p>We are sorry: the lamp is out of stock.")},
    "home, with an error message": {
        "/orders": redirect("/"),
        "/": html("<h1>Home</h1><div>Your card was declined</div>"),
    },
    "the same form again": {"/orders": html(FORM)},
    "the same form with new tokens and fewer fields": {"/orders": redirect("/page")},
    "the same form without fields and with a new token": {
        "/orders": html(f"<form method=post action=/orders>{TOKEN}{STEP}1><button name=go>Order</button></form>")
    },
    "a server error": {"/orders": html("<p>Bad gateway", status=502)},
    "a redirect to a page that is missing": {"/orders": redirect("/gone"), "/gone": html("<p>Nothing", status=404)},
    "words of failure in German": {"/orders": html("<p>Die Bestellung konnte nicht gespeichert werden", language="de")},
    "a language whose words are not known": {"/orders": html("<p>Takk for bestillingen", language="nb")},
}


@pytest.mark.parametrize("name", ACCEPTED)
async def test_an_answer_that_leads_on_is_evidence(hand: Hand, site: Site, name: str) -> None:
    site.pages.update(ACCEPTED[name])
    outcome = await send_allowed_order(hand, site)
    assert (outcome.status, outcome.evidence) == ("ok", "response")


@pytest.mark.parametrize("name", UNKNOWN)
async def test_an_answer_that_may_be_a_refusal_is_not(hand: Hand, site: Site, name: str) -> None:
    site.pages.update(UNKNOWN[name])
    outcome = await send_allowed_order(hand, site)
    assert outcome.evidence == ""


@pytest.mark.parametrize(
    ("answer", "says", "evidence"),
    [
        ('{"ok": true, "order": 7}', "'Order 7'", "response"),
        ('{"ok": false}', "'Order 7'", ""),
        ('{"data": {"errors": ["no stock"]}}', "'Order 7'", ""),
        ('{"status": "rejected"}', "'Order 7'", ""),
        ('{"order": 7}', "'Something failed'", ""),
        ('{"order": 7}', "'<label>Item <input></label> Order another'", ""),
        ('{"order": 7}', "'<label>Street <input></label> Where do you live?'", "response"),
    ],
)
async def test_an_answer_to_a_script_is_evidence_if_it_and_the_page_say_no_failure(
    hand: Hand, site: Site, answer: str, says: str, evidence: str
) -> None:
    site.pages["/orders"] = Answer(answer, kind="application/json")
    assert (await send_allowed_order(hand, site, SCRIPTED.replace("SAYS", says))).evidence == evidence


FILLING = """<label>To <input oninput="fetch('/look-up', {method: 'POST', body: this.value})"></label><label>Note <input></label>"""
SENDING = FILLING.replace("oninput", "onkeydown")
MARKED = "<label>Amount <input aria-invalid=true value=64.80></label>"
MARKS_LATER = FILLING.replace("})", "}).then(() => this.setAttribute('aria-invalid', true))")


@pytest.mark.parametrize(
    ("body", "status", "says", "evidence", "reason"),
    [
        (FILLING, 200, '{"found": ["ann@example.org"]}', "response", ""),
        (FILLING + MARKED, 200, '{"found": ["ann@example.org"]}', "response", ""),
        (MARKS_LATER, 200, '{"found": ["ann@example.org"]}', "", ""),
        (FILLING, 200, '{"error": "sign in"}', "", ""),
        (FILLING, 500, "oops", "", ANSWERED_WITH_ERROR),
        (SENDING, 200, '{"found": ["ann@example.org"]}', "", ""),
    ],
)
async def test_a_form_that_is_only_filled_in_stays_without_speaking_against_its_request(
    hand: Hand, site: Site, body: str, status: int, says: str, evidence: str, reason: str
) -> None:
    """As with an autocompletion or an upload. A pressed key may send all of it: there the same form still means nothing."""
    site.pages["/form"] = html(f"<h1>Mail</h1>{body}")
    site.pages["/look-up"] = Answer(says, status=status, kind="application/json")
    ok(await hand.do("navigate", url=f"{site.url}/form"))
    site.forget()
    to = await hand.zone("To")
    typing = body is not SENDING
    call = hand.call("type", to, text="a") if typing else hand.call("press", to, keys="Enter")
    assert (await hand.world.act(call)).reason == ("would_pass_on" if typing else "would_send")
    await hand.world.commit_set(call)
    hand.command += 1
    outcome = await hand.world.act(replace(call, command=hand.command, allowed=True))
    assert site.effects() == ["POST /look-up"]
    assert (outcome.evidence, outcome.reason) == (evidence, reason)


async def test_an_error_status_is_reported_for_a_page_that_says_it_worked(hand: Hand, site: Site) -> None:
    site.pages["/orders"] = html("<h1>Thank you, your order was placed", status=500)
    outcome = await send_allowed_order(hand, site)
    assert (outcome.evidence, outcome.reason) == ("", ANSWERED_WITH_ERROR)


@pytest.mark.parametrize(("status", "evidence"), [(200, ""), (201, "response"), (204, "response")])
async def test_status_201_or_204_is_evidence_although_the_form_stays(
    hand: Hand, site: Site, status: int, evidence: str
) -> None:
    site.pages["/orders"] = Answer("" if status == 204 else '{"order": 7}', kind="application/json", status=status)
    page = SCRIPTED.replace("SAYS", "'<label>Item <input></label> Order another'")
    assert (await send_allowed_order(hand, site, page)).evidence == evidence


async def test_a_sign_in_and_what_follows_it_may_have_the_same_address(hand: Hand, site: Site) -> None:
    site.pages["/orders"] = Answer('{"user": "Ada"}', kind="application/json")
    page = SCRIPTED.replace("Item <input name=item value=Lamp>", "Password <input type=password value=x>")
    outcome = await send_allowed_order(hand, site, page.replace("SAYS", "'<label>Street <input></label>'"))
    assert outcome.evidence == "response"


LOG_IN = f"""<form method=post action=/orders>{TOKEN}<label>E-mail <input type=email name=email value=ada@example.org></label>
<label>Password <input type=password name=password value=wrong></label><label><input type=checkbox name=stay> Stay</label>
<button>Order</button></form>"""
CONFIRM = "<form method=post action=/orders><input type=password name=password value=x><button>Order</button></form>"
REGISTER = LOG_IN.replace("<button>", "<label>Name <input name=name value=Ada></label><button>")


@pytest.mark.parametrize(
    ("page", "answers", "reason"),
    [
        pytest.param(LOG_IN, {"/orders": html(f"<p>Wrong password{LOG_IN}")}, SIGN_IN_REFUSED, id="at once"),
        pytest.param(LOG_IN, {"/orders": redirect("/page")}, SIGN_IN_REFUSED, id="by a redirect"),
        pytest.param(
            LOG_IN, {"/orders": redirect("/enter"), "/enter": html(LOG_IN)}, SIGN_IN_REFUSED, id="at another address"
        ),
        pytest.param(LOG_IN, {"/orders": redirect("/enter"), "/enter": html(SIGN_IN)}, "signed_out", id="another form"),
        pytest.param(CONFIRM, {"/orders": redirect("/page")}, "", id="a password that confirms something"),
        pytest.param(REGISTER, {"/orders": redirect("/page")}, "", id="a form with other fields"),
    ],
)
async def test_a_sign_in_that_comes_again_was_refused(
    hand: Hand, site: Site, page: str, answers: dict[str, Answer], reason: str
) -> None:
    site.pages.update(answers)
    outcome = await send_allowed_order(hand, site, page)
    assert (outcome.reason, outcome.evidence) == (reason, "")


@pytest.mark.parametrize(
    ("page", "at", "answer", "reason"),
    [
        pytest.param(LOG_IN, "/login", redirect("/orders/new"), SIGNED_IN, id="on to another page"),
        pytest.param(LOG_IN, "/login", html("<h1>Welcome"), SIGNED_IN, id="at once"),
        pytest.param(LOG_IN, "/users/add", redirect("/orders/new"), "", id="a form that adds a user"),
        pytest.param(REGISTER, "/login", redirect("/orders/new"), "", id="a form with other fields"),
        pytest.param(CONFIRM, "/login", redirect("/orders/new"), "", id="a password that confirms something"),
    ],
)
async def test_a_sign_in_that_leads_on_is_recognised(
    hand: Hand, site: Site, page: str, at: str, answer: Answer, reason: str
) -> None:
    site.pages.update({"/orders": answer, "/orders/new": html(FORM.replace("/orders", "/orders/send"))})
    outcome = await send_allowed_order(hand, site, page, at)
    assert (outcome.status, outcome.reason, outcome.evidence) == ("ok", reason, "response")
