"""Zones that a reader found in a picture, clicked and typed into by their position in a real Chromium."""

from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from midcourse import Agent, Draft, Expectation, Settings, Task
from midcourse.domain.approval import CommitSet
from midcourse.domain.observation import PICTURED, Bounds, Observation, Zone
from midcourse.domain.outcome import Outcome
from midcourse.domain.plan import REPLAN
from midcourse.domain.result import Result
from midcourse.expect import SurfaceMatches
from midcourse.llm.image import read_png_size
from midcourse.llm.model_client import ModelClient
from midcourse.llm.roles.reader import ModelReader
from midcourse.pictures import read_picture, to_png
from midcourse.policy.merging import merge_zones
from midcourse.ports.planner import PlanDraft
from midcourse.ports.reader import Picture
from midcourse.ports.world import Call
from midcourse.testing import Approves, MemoryStore, Rejects, Scripted, ScriptedReader
from midcourse.worlds.browser import Browser
from tests.llm.scripted import ScriptedModel
from tests.worlds.browser.site import Answer, Site
from tests.worlds.browser.visitor import page_of
from tests.worlds.support import Hand, ok

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

CANVAS = """<!doctype html><title>Drawn</title><body style="margin:0"><h1 style="margin:0;height:40px">Shop</h1>
<canvas id=c width=400 height=200 style="display:block"></canvas><script>
const c = document.getElementById('c'), p = c.getContext('2d');
p.fillStyle = '#2563eb'; p.fillRect(100, 60, 120, 40);
p.fillStyle = 'white'; p.font = '20px sans-serif'; p.fillText('Order', 130, 87);
c.addEventListener('click', (e) => {
  const inside = e.offsetX >= 100 && e.offsetX < 220 && e.offsetY >= 60 && e.offsetY < 100;
  if (inside) ACTION; else document.title = 'Missed';
});</script>"""
ORDER = "fetch('/orders', {method: 'POST', body: 'item=lamp'}).then(() => { document.title = 'Ordered' })"
BUTTON: Bounds = (100, 100, 120, 40)
"""Where the canvas draws it, in the visible part of the page."""


def pictured(bounds: Bounds = BUTTON, *, label: str = "Order", role: str = "button") -> Zone:
    return Zone(id=f"{role}-{label.lower()}", role=role, label=label, bounds=bounds, state=((PICTURED, True),))


@pytest.fixture(scope="module")
def site() -> Site:
    return Site({"/": "<title>Start</title>", "/orders": Answer("{}", kind="application/json")})


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def hand(site: Site) -> AsyncGenerator[Hand]:
    async with site.served():
        browser = Browser(f"{site.url}/", screenshots="all", quiet_seconds=0.03)
        await browser.open()
        yield Hand(browser)
        await browser.close()


async def show(hand: Hand, site: Site, body: str) -> None:
    site.pages["/page"] = Answer(body)
    ok(await hand.do("navigate", url=f"{site.url}/page"))
    await hand.see()
    site.forget()


def call_at(hand: Hand, skill: str, zone: Zone, **arguments: str | int | float) -> Call:
    return replace(hand.call(skill, zone, **arguments), bounds=zone.bounds, pictured=zone.pictured)


async def act_at(hand: Hand, skill: str, zone: Zone, **arguments: str | int | float) -> Outcome:
    return await hand.world.act(call_at(hand, skill, zone, **arguments))


# --- acting at a position


async def test_a_button_on_a_canvas_is_clicked_in_the_middle_of_its_bounds(hand: Hand, site: Site) -> None:
    await show(hand, site, CANVAS.replace("ACTION", "document.title = 'Hit'"))
    assert [zone.label for zone in (await hand.see()).zones if zone.role == "button"] == []
    ok(await act_at(hand, "click", pictured()))
    assert await hand.title() == "Hit"
    ok(await act_at(hand, "click", pictured((0, 50, 50, 40))))
    assert await hand.title() == "Missed"


async def test_field_in_a_closed_shadow_root_is_typed_into_and_read(hand: Hand, site: Site) -> None:
    body = """<!doctype html><title>Closed</title><body style="margin:0"><div id=host></div><script>
        const root = document.getElementById('host').attachShadow({mode: 'closed'});
        root.innerHTML = '<input value=old style="display:block;width:200px;height:30px;border:0;padding:0">';
        root.firstChild.addEventListener('input', (e) => { document.title = e.target.value });</script>"""
    await show(hand, site, body)
    assert not [zone for zone in (await hand.see()).zones if zone.role == "textbox"]
    field = pictured((0, 0, 200, 30), label="Name", role="textbox")
    ok(await act_at(hand, "type", field, text="new"))
    assert await hand.title() == "new"
    ok(await act_at(hand, "clear", field))
    assert await hand.title() in ("", f"{site.url}/page")
    read = await act_at(hand, "read", pictured(label="Total 12", role="text"))
    assert dict(read.data) == {"text": "Total 12"}


async def test_a_position_is_not_used_after_the_page_was_scrolled_or_replaced(hand: Hand, site: Site) -> None:
    body = CANVAS.replace("ACTION", "document.title = 'Hit'") + "<div style='height:3000px'></div>"
    await show(hand, site, body)
    await page_of(hand).evaluate("scrollTo(0, 50)")
    assert (await act_at(hand, "click", pictured())).reason == "moved"
    await hand.see()
    ok(await act_at(hand, "click", pictured((100, 50, 120, 40))))
    assert await hand.title() == "Hit"
    await page_of(hand).reload()
    assert (await act_at(hand, "click", pictured())).reason == "moved"
    await hand.see()
    assert (await act_at(hand, "click", pictured((100, 5000, 120, 40)))).reason == "target_not_visible"


async def test_the_wheel_turns_and_the_mouse_drags_at_a_position(hand: Hand, site: Site) -> None:
    drawn = CANVAS.replace("ACTION", "0") + "<div style='height:3000px'></div>"
    follow = (
        "<script>c.addEventListener('mouseup', (e) => { document.body.dataset.at = `${e.offsetX},${e.offsetY}` });"
        "c.addEventListener('mousemove', () => { document.body.dataset.over = 1 });</script>"
    )
    await show(hand, site, drawn + follow)
    ok(await act_at(hand, "hover", pictured()))
    assert await page_of(hand).evaluate("document.body.dataset.over") == "1"
    ok(await act_at(hand, "drag", pictured(), right=30.0, down=20.0))
    assert await page_of(hand).evaluate("document.body.dataset.at") == "190,100"
    ok(await act_at(hand, "scroll", pictured()))
    await page_of(hand).wait_for_function("scrollY > 100")


async def test_other_skills_say_which_ones_work_at_a_position(hand: Hand, site: Site) -> None:
    await show(hand, site, CANVAS.replace("ACTION", "0"))
    refused = await act_at(hand, "select", pictured(), option="A")
    assert refused.reason == "not_by_position"
    assert "click, type, append, clear, hover, scroll, drag, read, extract" in refused.detail


async def test_a_secret_is_not_typed_at_a_position(hand: Hand, site: Site) -> None:
    await show(hand, site, CANVAS.replace("ACTION", "0"))
    call = replace(call_at(hand, "type", pictured(), text="hunter2"), secrets=(("text", "password"),))
    assert (await hand.world.act(call)).reason == "secret_not_allowed_here"


async def test_bounds_are_css_pixels_whatever_the_scale_of_the_picture(site: Site, hand: Hand) -> None:
    site.pages["/page"] = Answer(CANVAS.replace("ACTION", "document.title = 'Hit'"))
    browser = Browser(f"{site.url}/page", screenshots="all", width=600, height=400, scale=2.0, quiet_seconds=0.03)
    await browser.open()
    try:
        seen = await browser.observe()
        assert isinstance(seen, Observation)
        picture = read_picture(await browser.read_screenshot(seen.screenshot) or b"")
        assert picture
        png = to_png(picture)
        assert (seen.size, read_png_size(png)) == ((600, 400), (1200, 800))
        model = ScriptedModel([{"zones": [{"role": "button", "label": "Order", "place": [200, 200, 440, 280]}]}])
        reader = ModelReader(ModelClient([model.model], answer_tokens=500))
        sighting = await reader.read(Picture(png=png, surface=seen.surface, size=seen.size))
        [order] = [zone for zone in merge_zones(seen, sighting.zones).zones if zone.pictured]
        assert order.bounds == BUTTON
        second = Hand(browser)
        ok(await act_at(second, "click", order))
        assert await second.title() == "Hit"
    finally:
        await browser.close()


# --- the gate


async def test_request_of_a_click_on_a_canvas_is_held_and_sent_once_unchanged(hand: Hand, site: Site) -> None:
    await show(hand, site, CANVAS.replace("ACTION", ORDER))
    call = call_at(hand, "click", pictured())
    outcome = await hand.world.act(call)
    assert (outcome.status, outcome.reason, site.effects()) == ("no_effect", "would_send", [])
    shown = await hand.world.commit_set(call)
    assert shown == CommitSet(address=f"POST {site.url}/orders", values=(("body", "item=lamp"),))
    hand.command += 1
    ok(await hand.world.act(replace(call, command=hand.command, allowed=True)))
    assert site.effects() == ["POST /orders"]


# --- a whole run


FOUND = replace(pictured(), state=())
DONE = Zone(id="text-thank-you", role="text", label="Thank you", bounds=(10, 300, 100, 20))


async def run(site: Site, folder: Path, approver: Approves | Rejects) -> Result:
    """Run a task in which a reader finds the button and a planner clicks it. The site's log has the effects."""
    site.pages["/page"] = Answer(CANVAS.replace("ACTION", ORDER))
    click = Draft(
        zone="button-order",
        skill="click",
        says="Order it",
        expect=Expectation(checks=[SurfaceMatches(pattern="Ordered")]),
    )
    agent = Agent(
        Browser(f"{site.url}/page", quiet_seconds=0.03),
        Scripted(PlanDraft(steps=(click, Draft(zone=REPLAN))), PlanDraft(verdict="done")),
        reader=ScriptedReader((FOUND,)),
        approver=approver,
        store=MemoryStore(),
        settings=Settings.load(overrides={"vision": "on", "home": str(folder)}),
    )
    site.forget()
    return await agent.run(Task(goal="Order a lamp"))


async def test_an_order_that_a_canvas_sends_is_asked_about_like_one_of_a_button(
    hand: Hand, site: Site, tmp_path: Path
) -> None:
    refusing = Rejects()
    result = await run(site, tmp_path, refusing)
    assert (result.final_reason, len(refusing.questions), site.effects()) == ("rejected", 1, [])
    agreeing = Approves()
    result = await run(site, tmp_path, agreeing)
    assert (result.final_reason, site.effects()) == ("plan_complete", ["POST /orders"])
    [question] = agreeing.questions
    assert question.consequences[0].commit == CommitSet(
        address=f"POST {site.url}/orders", values=(("body", "item=lamp"),)
    )
