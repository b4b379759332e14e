"""A form and the draft that its page saves at the same click: the page does not wait for the draft while a person reads the question."""

from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from midcourse import Agent, Draft, Settings, Task
from midcourse.domain.approval import Decision, Question
from midcourse.domain.outcome import Outcome
from midcourse.ports.planner import PlanDraft, PlanningContext
from midcourse.ports.world import Call
from midcourse.worlds.browser import Browser
from tests.worlds.browser.guarded_page import until
from tests.worlds.browser.site import Answer, ReceivedRequest, Site
from tests.worlds.browser.visitor import page_of
from tests.worlds.support import Hand, ok

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

PAGE = """<!doctype html><html lang=en><title>Edit</title><form method=post action=/index><label>Text <input name=text value=old></label>
<button>Save</button></form><button id=two>Save twice</button><script>
const stop = new AbortController()
const draft = (url, text) => fetch(url, {method: 'POST', body: JSON.stringify({text}), signal: stop.signal}).catch(() => 0)
document.forms[0].onsubmit = () => { draft('/api', document.forms[0].text.value) }
document.querySelector('#two').onclick = () => { draft('/api', 'one'); fetch('/save', {method: 'POST'}).catch(() => 0) }
START</script></html>"""


def make_site(start: str = "") -> Site:
    return Site({"/": PAGE.replace("START", start), "/index": "<title>Saved</title>", "/api": "{}", "/save": "{}"})


@pytest_asyncio.fixture(loop_scope="session")
async def site() -> AsyncGenerator[Site]:
    async with make_site().served() as site:
        yield site


@pytest_asyncio.fixture(loop_scope="session")
async def hand(site: Site) -> AsyncGenerator[Hand]:
    browser = Browser(f"{site.url}/", quiet_seconds=0.05)
    await browser.open()
    yield Hand(browser)
    await browser.close()


async def hold(hand: Hand, label: str, *, shown: bool = True) -> Call:
    """Click, read what it would send as for a question, and let the page give up its draft."""
    call = hand.call("click", await hand.zone(label))
    assert (await hand.world.act(call)).reason == "would_send"
    commit = await hand.world.commit_set(call) if shown else None
    await give_up(hand)
    if shown:
        assert await hand.world.commit_set(call) == commit, "it is compared with the approval"
    return call


async def give_up(hand: Hand) -> None:
    assert isinstance(hand.world, Browser)
    outbox = hand.world._running.guard.outbox
    before = len(outbox.waiting)
    await page_of(hand).evaluate("() => stop.abort()")
    await until(lambda: len(outbox.waiting) < before)


async def allow(hand: Hand, call: Call) -> Outcome:
    hand.command += 1
    return await hand.world.act(replace(call, command=hand.command, allowed=True))


async def test_form_is_sent_as_approved_without_the_draft_that_was_given_up(hand: Hand, site: Site) -> None:
    ok(await hand.on("Text", "type", text="new"))
    outcome = await allow(hand, await hold(hand, "Save"))
    assert [(asked.path, asked.body) for asked in site.asked if asked.method == "POST"] == [("/index", b"text=new")]
    assert outcome.status == "ok"
    assert outcome.dropped == (f"POST {site.url}/api, which the page gave up, was not sent",)
    assert await hand.title() == "Saved"


async def test_form_that_the_page_has_changed_meanwhile_is_sent_as_approved(hand: Hand, site: Site) -> None:
    call = await hold(hand, "Save")
    await page_of(hand).evaluate("() => { document.forms[0].text.value = 'evil'; draft('/api', 'evil') }")
    await allow(hand, call)
    assert [(asked.path, asked.body) for asked in site.asked if asked.method == "POST"] == [("/index", b"text=old")]


async def test_without_a_form_nothing_is_sent(hand: Hand, site: Site) -> None:
    """Of two requests by scripts, nobody knows which one the step is for."""
    outcome = await allow(hand, await hold(hand, "Save twice"))
    assert (outcome.status, outcome.reason) == ("no_effect", "transient")
    assert site.effects() == []


async def test_what_was_not_shown_is_not_sent(hand: Hand, site: Site) -> None:
    outcome = await allow(hand, await hold(hand, "Save", shown=False))
    assert (outcome.status, site.effects()) == ("no_effect", [])


async def test_nothing_is_sent_without_an_approval_or_by_another_step(hand: Hand, site: Site) -> None:
    call = await hold(hand, "Save")
    assert (await hand.world.act(replace(call, command=call.command + 5))).reason == "would_send"
    ok(await hand.on("Text", "type", text="new"))
    await allow(hand, call)
    assert site.effects() == []


async def test_form_waits_while_a_dialog_is_open(hand: Hand, site: Site) -> None:
    call = await hold(hand, "Save")
    await page_of(hand).evaluate("() => { setTimeout(() => alert('The draft was not saved')) }")
    assert isinstance(hand.world, Browser)
    tab = hand.world._running.tab
    await until(lambda: tab.dialog is not None)
    assert (await allow(hand, call)).reason == "dialog_open"
    assert site.effects() == []


class Reader:
    """Approves after the page has given up its draft."""

    def __init__(self) -> None:
        self.questions: list[Question] = []
        self.given_up = False

    async def ask(self, question: Question) -> Decision:
        self.questions.append(question)
        await until(lambda: self.given_up)
        return Decision(verdict="approved", by="the reader")


class Editor:
    """Plans like a model: one click, with or without `says`."""

    def __init__(self, says: str) -> None:
        self.says = says

    async def plan(self, context: PlanningContext) -> PlanDraft:
        zones = {zone.label: zone.id for zone in context.observation.zones}
        if "Save" not in zones:
            return PlanDraft(verdict="done")
        return PlanDraft(steps=(Draft(zone=zones["Save"], skill="click", says=self.says),), final=True)


@pytest.mark.parametrize("says", ["Save the page", ""])
async def test_save_is_asked_about_once_and_sent_once(tmp_path: Path, says: str) -> None:
    """Also where the plan does not say that the step sends something: a form is what it is for."""
    reader = Reader()
    site = make_site("stop.signal.onabort = () => fetch('/gone'); setTimeout(() => stop.abort(), 1500)")

    def note(_: ReceivedRequest) -> Answer:
        reader.given_up = True
        return Answer("{}")

    site.pages["/gone"] = note
    async with site.served():
        settings = Settings.load(overrides={"home": str(tmp_path), "step_delay_seconds": "0"})
        agent = Agent(Browser(f"{site.url}/", quiet_seconds=0.05), Editor(says), approver=reader, settings=settings)
        result = await agent.run(Task(goal="Save the page"))
    assert [question.about for question in reader.questions] == ["approve"]
    assert site.effects() == ["POST /index"]
    assert result.success
