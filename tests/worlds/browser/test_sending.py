"""From a call of a skill to the request that leaves the browser: held, shown, released unchanged, judged."""

from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Any

import pytest
import pytest_asyncio

from midcourse.domain.approval import CommitSet
from midcourse.domain.observation import HELD_FOR
from midcourse.domain.outcome import Outcome
from midcourse.ports.world import Call
from midcourse.worlds.browser import Browser
from tests.worlds.browser.guarded_page import until
from tests.worlds.browser.site import Answer, Site
from tests.worlds.browser.visitor import page_of
from tests.worlds.support import Hand, ok

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

FORM = "<form method=post action=/orders><input type=hidden name=item value=1><button>Continue</button></form>"


def rejects(status: int, text: str = "") -> Answer:
    return Answer(f"<title>Rejected</title>{text}", status=status)


@pytest.fixture(scope="module")
def site() -> Site:
    return Site({"/": "<title>Start</title>", "/orders": "<title>Ordered</title>", "/other": "<title>Other</title>"})


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def hand(site: Site) -> AsyncGenerator[Hand]:
    async with site.served():
        entry: dict[str, Any] = {
            "safe": ["POST /draft*"],
            "unsafe": ["GET /delete*"],
            "navigate": ["/orders/*"],
            "secrets": ["password"],
            "evidence": [{"request": "POST /orders", "status": 422, "text": "field-error"}],
        }
        browser = Browser(f"{site.url}/", origins={site.url: entry}, quiet_seconds=0.03)
        await browser.open()
        yield Hand(browser)
        await browser.close()


async def show(hand: Hand, site: Site, body: str) -> None:
    site.pages["/page"] = Answer(f"<!doctype html><title>Page</title>{body}")
    site.pages["/orders"] = "<title>Ordered</title>"
    site.pages["/delete"] = "<title>Deleted</title>"
    ok(await hand.do("navigate", url=f"{site.url}/page"))
    site.forget()


async def try_skill(hand: Hand, label: str, skill: str = "click") -> tuple[Call, Outcome]:
    call = hand.call(skill, await hand.zone(label))
    return call, await hand.world.act(call)


async def repeat_allowed(hand: Hand, call: Call) -> Outcome:
    hand.command += 1
    return await hand.world.act(replace(call, command=hand.command, allowed=True))


def is_held(outcome: Outcome) -> bool:
    return (outcome.status, outcome.reason) == ("no_effect", "would_send")


# --- a click


async def test_allowed_click_sends_the_held_request_without_a_second_click(hand: Hand, site: Site) -> None:
    script = "this.disabled = true; clicks = (window.clicks || 0) + 1; fetch('/orders', {method: 'POST', body: 'n=' + clicks})"
    await show(hand, site, f'<button onclick="{script}">Continue</button>')
    call, outcome = await try_skill(hand, "Continue")
    assert is_held(outcome)
    assert await hand.world.commit_set(call) == CommitSet(address=f"POST {site.url}/orders", values=(("body", "n=1"),))
    ok(await repeat_allowed(hand, call))
    assert [asked.body for asked in site.asked] == [b"n=1"]
    assert await page_of(hand).evaluate("clicks") == 1


async def test_form_is_sent_as_it_was_held_although_the_page_changed(hand: Hand, site: Site) -> None:
    await show(hand, site, FORM)
    call, outcome = await try_skill(hand, "Continue")
    assert is_held(outcome)
    assert await hand.title() == "Page"
    await page_of(hand).evaluate("document.forms[0].item.value = '1000'")
    assert await hand.world.commit_set(call) == CommitSet(address=f"POST {site.url}/orders", values=(("item", "1"),))
    ok(await repeat_allowed(hand, call))
    assert (await hand.title(), [asked.body for asked in site.asked]) == ("Ordered", [b"item=1"])


async def test_call_that_is_not_allowed_sends_nothing_however_often(hand: Hand, site: Site) -> None:
    await show(hand, site, FORM)
    call, _ = await try_skill(hand, "Continue")
    for _ in range(3):
        await hand.world.commit_set(call)
        assert is_held(await hand.world.act(replace(call, command=hand.command + 1)))
    assert site.asked == []


async def test_the_same_call_after_a_crash_does_not_even_click_again(hand: Hand, site: Site) -> None:
    await show(
        hand,
        site,
        "<button onclick=\"clicks = (window.clicks || 0) + 1; fetch('/orders', {method: 'POST'})\">Go</button>",
    )
    call, outcome = await try_skill(hand, "Go")
    assert is_held(outcome)
    assert is_held(await hand.world.act(replace(call, command=hand.command + 1)))
    assert await page_of(hand).evaluate("clicks") == 1
    ok(await repeat_allowed(hand, call))
    assert site.effects() == ["POST /orders"]


async def test_another_act_drops_the_held_request(hand: Hand, site: Site) -> None:
    await show(hand, site, FORM + "<button>Something else</button>")
    call, outcome = await try_skill(hand, "Continue")
    assert is_held(outcome)
    assert (await hand.zone(f"POST {site.url}/orders", "request")).get(HELD_FOR) == "click"
    ok(await hand.on("Something else", "click"))
    assert [zone for zone in (await hand.see()).zones if zone.role == "request"] == []
    outcome = await repeat_allowed(hand, call)
    assert is_held(outcome), "it is carried out again, without what was allowed"
    assert site.asked == []


@pytest.mark.parametrize("shown", [True, False])
async def test_request_that_the_page_aborted_is_not_sent_although_it_was_allowed(
    hand: Hand, site: Site, *, shown: bool
) -> None:
    await show(
        hand,
        site,
        "<button onclick=\"stop = new AbortController(); fetch('/orders', {method: 'POST', signal: stop.signal})\">Go</button>",
    )
    call, outcome = await try_skill(hand, "Go")
    assert is_held(outcome)
    commit = await hand.world.commit_set(call) if shown else None
    await page_of(hand).evaluate("() => stop.abort()")
    assert isinstance(hand.world, Browser)
    guard = hand.world._running.guard
    await until(lambda: not guard.outbox.waiting)
    assert await hand.world.commit_set(call) == commit, "what a person was shown, to compare it with the approval"
    outcome = await repeat_allowed(hand, call)
    assert (outcome.status, outcome.reason, outcome.evidence) == ("no_effect", "transient", "rule")
    assert outcome.detail == f"the page stopped waiting for POST {site.url}/orders, so it was not sent"
    assert site.asked == []
    outcome = await repeat_allowed(hand, call)
    assert is_held(outcome) != shown, "it is carried out again, and may send only what was shown"
    assert site.effects() == (["POST /orders"] if shown else [])


async def test_approved_act_that_sends_nothing_when_it_is_carried_out_again_had_no_effect(
    hand: Hand, site: Site
) -> None:
    script = "stop = new AbortController(); if (!window.sent) fetch('/orders', {method: 'POST', signal: stop.signal}); sent = true"
    await show(hand, site, f'<button onclick="{script}">Go</button>')
    call, outcome = await try_skill(hand, "Go")
    assert is_held(outcome)
    await hand.world.commit_set(call)
    await page_of(hand).evaluate("() => stop.abort()")
    assert isinstance(hand.world, Browser)
    guard = hand.world._running.guard
    await until(lambda: not guard.outbox.waiting)
    await repeat_allowed(hand, call)
    outcome = await repeat_allowed(hand, call)
    assert (outcome.status, outcome.reason, outcome.evidence) == ("no_effect", "not_sent", "rule")
    assert site.asked == []


async def test_looking_and_reading_drop_nothing(hand: Hand, site: Site) -> None:
    await show(hand, site, FORM + "<p>Text</p>")
    call, _ = await try_skill(hand, "Continue")
    ok(await hand.on("Text", "read"))
    await hand.see()
    ok(await repeat_allowed(hand, call))
    assert site.effects() == ["POST /orders"]


@pytest.mark.parametrize(
    ("label", "body"),
    [
        ("See details", "<a href='/delete?id=3'>See details</a>"),
        ("Help", "<button onclick=\"location.href = '/delete?id=3'\">Help</button>"),
        ("Next", "<button onclick=\"new Image().src = '/delete?id=3'\">Next</button>"),
        ("Show", "<a href='/innocent'>Show</a>"),
        ("Open", "<a href='/delete?id=3' target=_blank>Open</a>"),
    ],
)
async def test_a_declared_get_waits_whatever_its_control_is_called(
    hand: Hand, site: Site, label: str, body: str
) -> None:
    """Trial 14b."""
    site.pages["/innocent"] = Answer(status=302, fields={"Location": "/delete?id=3"})
    await show(hand, site, body)
    call, outcome = await try_skill(hand, label)
    assert is_held(outcome)
    assert not any("delete" in asked.path for asked in site.asked)
    assert await hand.world.commit_set(call) == CommitSet(address=f"GET {site.url}/delete", values=(("id", "3"),))
    ok(await repeat_allowed(hand, call))
    assert [asked.path for asked in site.asked if "delete" in asked.path] == ["/delete?id=3"]
    if len(tabs := [zone for zone in (await hand.see()).zones if zone.role == "tab"]):
        await hand.do("close_tab", tabs[0])


async def test_a_declared_get_waits_also_if_it_is_navigated_to(hand: Hand, site: Site) -> None:
    await show(hand, site, "")
    call = hand.call("navigate", url=f"{site.url}/delete?id=3")
    assert is_held(await hand.world.act(call))
    assert site.asked == []
    ok(await repeat_allowed(hand, call))
    assert [asked.path for asked in site.asked] == ["/delete?id=3"]
    assert await hand.title() == "Deleted"


async def test_a_page_from_the_browsers_cache_is_not_taken_for_what_was_sent(hand: Hand, site: Site) -> None:
    await show(hand, site, FORM)
    site.pages["/orders"] = Answer("<title>List</title>", fields={"Cache-Control": "max-age=3600"})
    ok(await hand.do("navigate", url=f"{site.url}/orders"))
    ok(await hand.do("navigate", url=f"{site.url}/page"))
    call, outcome = await try_skill(hand, "Continue")
    assert is_held(outcome)
    ok(await repeat_allowed(hand, call))
    assert site.effects() == ["POST /orders"]


async def test_a_frame_gets_the_answer_to_its_own_form(hand: Hand, site: Site) -> None:
    site.pages["/inner"] = f"<title>Inner</title>{FORM}"
    await show(hand, site, "<iframe src=/inner></iframe>")
    call, outcome = await try_skill(hand, "Continue")
    assert is_held(outcome)
    site.pages["/orders"] = "<p>Thank you</p>"
    ok(await repeat_allowed(hand, call))
    assert (await hand.title(), site.effects()) == ("Page", ["POST /orders"])
    await hand.zone("Thank you")


async def test_approved_destination_is_opened(hand: Hand, site: Site) -> None:
    """A destination that only the plan names needs approval, which covers nothing else."""
    await show(hand, site, "")
    call = hand.call("navigate", url=f"{site.url}/other")
    assert await hand.world.commit_set(call) == CommitSet(values=(("url", f"{site.url}/other"),))
    ok(await repeat_allowed(hand, call))
    assert await hand.title() == "Other"


async def test_form_that_the_page_stopped_is_not_sent_later(hand: Hand, site: Site) -> None:
    """It was released, and the page asks whether to leave it. The next navigation does not send it."""
    await show(hand, site, FORM)
    call, outcome = await try_skill(hand, "Continue")
    assert is_held(outcome)
    await page_of(hand).evaluate("() => { onbeforeunload = event => event.preventDefault() }")
    outcome = await repeat_allowed(hand, call)
    assert (outcome.status, outcome.evidence, site.effects()) == ("no_effect", "rule", [])
    other = await page_of(hand).context.new_page()
    await other.goto(f"{site.url}/orders")
    await other.close()
    ok(await hand.do("accept", (await hand.see()).zones[1]))
    assert site.effects() == []


# --- what is sent without waiting for a call


async def test_request_of_a_script_is_a_zone_and_is_sent_only_when_allowed(hand: Hand, site: Site) -> None:
    await show(hand, site, "<p>Calm</p>")
    await page_of(hand).evaluate("() => { fetch('/orders', {method: 'POST', body: JSON.stringify({n: 1})}) }")
    assert isinstance(hand.world, Browser)
    guard = hand.world._running.guard
    await until(lambda: bool(guard.outbox.waiting))
    zone = await hand.zone(f"POST {site.url}/orders", "request")
    assert zone.state == (("n", 1),)
    call = hand.call("send", zone)
    assert is_held(await hand.world.act(call))
    assert await hand.world.commit_set(call) == CommitSet(address=f"POST {site.url}/orders", values=(("n", 1),))
    assert site.asked == []
    ok(await repeat_allowed(hand, call))
    assert site.effects() == ["POST /orders"]


async def test_form_submitted_by_a_script_can_be_sent_and_its_response_is_followed(hand: Hand, site: Site) -> None:
    await show(hand, site, FORM)
    site.pages["/orders"] = Answer(status=303, fields={"Location": "/other"})
    await page_of(hand).evaluate("() => document.forms[0].submit()")
    assert isinstance(hand.world, Browser)
    guard = hand.world._running.guard
    await until(lambda: bool(guard.outbox.waiting))
    call = hand.call("send", await hand.zone(f"POST {site.url}/orders", "request"))
    assert await hand.world.commit_set(call) is not None
    ok(await repeat_allowed(hand, call))
    assert (site.effects(), await hand.title()) == (["POST /orders"], "Other")


async def test_only_held_requests_can_be_sent(hand: Hand, site: Site) -> None:
    await show(hand, site, "<button>Fine</button>")
    call = hand.call("send", await hand.zone("Fine"))
    assert await hand.world.commit_set(call) is None
    assert (await repeat_allowed(hand, call)).status == "no_effect"


# --- what is known afterwards


@pytest.mark.parametrize(
    ("answer", "status", "evidence"),
    [
        (rejects(422, "<p class=field-error>"), "no_effect", "rule"),
        (rejects(422), "unknown", ""),
        (rejects(504), "ok", ""),
        (Answer(hang_up=True), "ok", ""),
    ],
)
@pytest.mark.parametrize("skill", ["click", "submit"])
async def test_an_answer_proves_that_nothing_was_stored_only_if_a_rule_says_so(
    hand: Hand, site: Site, skill: str, answer: Answer, status: str, evidence: str
) -> None:
    await show(hand, site, FORM)
    site.pages["/orders"] = answer
    call = hand.call(skill, await hand.zone("Continue"))
    if skill == "click":
        await hand.world.act(call)
    await hand.world.commit_set(call)
    outcome = await repeat_allowed(hand, call)
    assert (outcome.status, outcome.evidence) == (status, evidence)
    assert f"POST {site.url}" in outcome.detail or "nothing was stored" in outcome.detail
    assert site.effects() == ["POST /orders"]


async def test_request_that_reached_no_server_had_no_effect() -> None:
    site = Site({"/": FORM})
    async with site.served():
        browser = Browser(f"{site.url}/", quiet_seconds=0.03)
        await browser.open()
    hand = Hand(browser)
    try:
        call = hand.call("submit", await hand.zone("Continue"))
        assert await browser.commit_set(call) is not None
        outcome = await repeat_allowed(hand, call)
        assert (outcome.status, outcome.evidence) == ("no_effect", "rule")
        assert "reached no server" in outcome.detail
    finally:
        await browser.close()


async def test_click_with_a_safe_request_is_not_held(hand: Hand, site: Site) -> None:
    await show(hand, site, "<button onclick=\"fetch('/draft/1', {method: 'POST'})\">Save</button>")
    ok((await try_skill(hand, "Save"))[1])
    assert site.effects() == ["POST /draft/1"]


# --- where it may go


async def test_navigation_to_an_origin_that_is_not_allowed_fails_with_the_reason(hand: Hand, site: Site) -> None:
    async with Site({"/": "canary"}).served() as canary:
        outcome = await hand.do("navigate", url=f"{canary.url}/")
        assert (outcome.status, outcome.reason) == ("failed", "not_permitted")
        await show(hand, site, f"<a href='{canary.url}/'>Away</a>")
        assert "is not in the policy file" in (await try_skill(hand, "Away"))[1].detail
        assert canary.connections == 0
    assert (await hand.do("navigate", url="javascript:alert(1)")).reason == "not_permitted"


async def test_destinations_are_marked_and_vouched_for_by_the_policy_file(hand: Hand, site: Site) -> None:
    skills = {skill.name: {each.name: each for each in skill.parameters} for skill in hand.world.catalogue().skills}
    url, path = skills["navigate"]["url"], skills["upload"]["path"]
    assert (url.destination, url.vouched) == (True, (f"{site.url}/", f"{site.url}/orders/*"))
    assert (path.destination, path.vouched) == (True, ())
    assert all(skill.commits == "world" for skill in hand.world.catalogue().skills)


# --- secrets


async def test_a_secret_is_typed_only_where_it_belongs_and_is_pictured_nowhere(hand: Hand, site: Site) -> None:
    await show(hand, site, "<input aria-label=Password><input aria-label=Other>")
    field = await hand.zone("Password")
    call = hand.call("type", field, text="hunter2")
    outcome = await hand.world.act(replace(call, secrets=(("text", "pin"),)))
    assert outcome.reason == "secret_not_allowed_here"
    assert (await hand.zone("Password")).get("value") in (None, "")
    ok(await hand.world.act(replace(call, command=hand.command + 1, secrets=(("text", "password"),))))
    hidden = await page_of(hand).locator("[data-midcourse-secret]").count()
    assert ((await hand.zone("Password")).get("value"), hidden) == ("hunter2", 1)


async def test_secret_is_not_typed_into_a_frame_of_another_origin(site: Site) -> None:
    async with Site({"/": "<input aria-label=Trap>"}).served("localhost") as other, Site().served() as home:
        home.pages["/"] = f"<iframe src='{other.url}/'></iframe>"
        browser = Browser(
            f"{home.url}/", origins={home.url: {"secrets": ["password"]}, other.url: {}}, quiet_seconds=0.03
        )
        await browser.open()
        hand = Hand(browser)
        try:
            call = hand.call("type", await hand.zone("Trap"), text="hunter2")
            assert (
                await browser.act(replace(call, secrets=(("text", "password"),)))
            ).reason == "secret_not_allowed_here"
            keys = hand.call("press_keys", keys="h")
            assert (
                await browser.act(replace(keys, secrets=(("keys", "password"),)))
            ).reason == "secret_not_allowed_here"
            assert (await hand.zone("Trap")).get("value") in (None, "")
        finally:
            await browser.close()


async def test_a_secret_is_not_typed_into_a_frame_that_takes_the_focus(site: Site) -> None:
    takes = "<input id=trap aria-label=Trap><script>setInterval(() => { window.focus(); trap.focus() }, 1)</script>"
    async with Site({"/": takes}).served("localhost") as other, Site().served() as home:
        home.pages["/"] = f"<input aria-label=Password><iframe src='{other.url}/'></iframe>"
        browser = Browser(
            f"{home.url}/", origins={home.url: {"secrets": ["password"]}, other.url: {}}, quiet_seconds=0.03
        )
        await browser.open()
        hand = Hand(browser)
        try:
            call = hand.call("type", await hand.zone("Password"), text="hunter2")
            ok(await browser.act(replace(call, secrets=(("text", "password"),))))
            assert (await hand.zone("Trap")).get("value") in (None, "")
            assert (await hand.zone("Password")).get("value") == "hunter2"
        finally:
            await browser.close()


@pytest.mark.parametrize(
    "fields",
    [
        "<input aria-label=Field type=password value=old>",
        "<input aria-label=Field type=email value=old@example.org>",
        "<textarea aria-label=Field>old</textarea>",
        "<div aria-label=Field role=textbox contenteditable>old</div>",
        "<input aria-label=Field maxlength=1 oninput='this.nextSibling.focus()'><input maxlength=6>",
    ],
)
async def test_secret_replaces_the_text_of_the_field(hand: Hand, site: Site, fields: str) -> None:
    await show(hand, site, fields)
    call = hand.call("type", await hand.zone("Field"), text="hunter2")
    ok(await hand.world.act(replace(call, secrets=(("text", "password"),))))
    typed = "[...document.querySelectorAll('input,textarea,div')].map(one => one.value ?? one.innerText).join('')"
    assert await page_of(hand).evaluate(typed) == "hunter2"
