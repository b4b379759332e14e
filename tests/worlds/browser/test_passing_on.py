"""A page that passes on what is typed, for suggestions: asked about once for its kind, and the step stays what it is."""

import asyncio
from pathlib import Path

import pytest

from midcourse import Agent, Draft, Settings, Task
from midcourse.domain.agreement import Agreement
from midcourse.domain.agreement import Rule as Permission
from midcourse.domain.approval import Decision, Question
from midcourse.domain.observation import HELD_FOR
from midcourse.domain.replace import replace
from midcourse.domain.skill import Effect
from midcourse.planners import Playbook, Rule
from midcourse.ports.planner import PlanDraft, PlanningContext
from midcourse.ports.world import WOULD_PASS_ON
from midcourse.testing import Approves
from midcourse.worlds import Browser
from midcourse.worlds.browser.egress import guard
from tests.worlds.browser.guarded_page import until
from tests.worlds.browser.site import Site
from tests.worlds.browser.visitor import page_of
from tests.worlds.support import Hand, ok

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

PAGE = """<!doctype html><html lang=en><title>Write</title><label>To <input id=to></label><label>Copy <input id=copy></label><p></p>
<script>let n = 0, pause; const ask = async field => {
    const body = new URLSearchParams({search: field.value, number: ++n, more: MORE})
    const answer = await fetch('/suggest', {method: 'POST', body}).catch(() => 0)
    if (answer) document.querySelector('p').textContent = await answer.text() }
for (const field of document.querySelectorAll('input')) field.oninput = () => {
    clearTimeout(pause); pause = setTimeout(() => ask(field), PAUSE) }
</script></html>"""


def waiting(page: str) -> str:
    """The page, but it passes a text on when it is told to: a busy machine needs longer for a step than any page waits."""
    timer = "clearTimeout(pause); pause = setTimeout(() => ask(field), PAUSE)"
    assert timer in page
    return page.replace(timer, "later = () => ask(field)").replace("pause;", "later;")


class ForRun(Approves):
    async def ask(self, question: Question) -> Decision | None:
        decided = await super().ask(question)
        return decided and replace(decided, once=False)


@pytest.mark.parametrize(
    ("more", "asked"),
    [("''", 1), ("field.value === 'ada' ? '' : document.title", 2), ("btoa('fields: ' + field.value.repeat(2))", 3)],
    ids=["the same kind", "another value", "what was typed, encoded"],
)
async def test_one_answer_covers_suggestions_of_one_kind(tmp_path: Path, more: str, asked: int) -> None:
    site, approver = Site({"/": PAGE.replace("MORE", more).replace("PAUSE", "150"), "/suggest": "Ada"}), ForRun()
    steps = (
        Draft(zone="To", skill="type", arguments={"text": "ada"}),
        Draft(zone="Copy", skill="type", arguments={"text": "grace"}),
        Draft(zone="To", skill="type", arguments={"text": "adam"}),
    )
    planner = Playbook([Rule(on="Write", steps=steps, final=True)])
    async with site.served():
        settings = Settings.load(overrides={"home": str(tmp_path), "step_delay_seconds": "0"})
        result = await Agent(
            Browser(f"{site.url}/", quiet_seconds=0.4), planner, approver=approver, settings=settings
        ).run(Task(goal="Write to ada, with a copy to grace"))
    assert len(site.effects()) >= 3
    assert [len(question.consequences) for question in approver.questions] == [1] * asked
    assert "what is typed" in approver.questions[0].consequences[0].commit.covers or "btoa" in more
    assert not any(step.irreversible for step in result.completed)


class Late:
    """Types on the first page, follows its link, and types on the page that comes, which it has not seen."""

    async def plan(self, context: PlanningContext) -> PlanDraft:
        steps = (
            Draft(
                zone=next(zone.id for zone in context.observation.zones if zone.label == "To"),
                skill="type",
                arguments={"text": "ada"},
                says="Write to ada",
            ),
            Draft(zone=next(zone.id for zone in context.observation.zones if zone.label == "Next"), skill="click"),
            Draft(zone="textbox:To", skill="type", arguments={"text": "grace"}, says="Write to grace", on="Write more"),
        )
        return PlanDraft(steps=steps, final=True)


async def test_step_for_an_unseen_screen_is_asked_about_although_its_kind_was_allowed(tmp_path: Path) -> None:
    page = PAGE.replace("MORE", "''").replace("PAUSE", "150").replace("<p>", "<a href=/more>Next</a><p>")
    more = page.replace("Write</title>", "Write more</title>")
    site, approver = Site({"/": page, "/more": more, "/suggest": "Ada"}), ForRun()
    async with site.served():
        settings = Settings.load(overrides={"home": str(tmp_path), "step_delay_seconds": "0"})
        agent = Agent(Browser(f"{site.url}/", quiet_seconds=0.4), Late(), approver=approver, settings=settings)
        await agent.run(Task(goal="Write to ada, then to grace"))
    assert [asked.body.split(b"&")[0] for asked in site.asked if asked.method == "POST"] == [
        b"search=ada",
        b"search=grace",
    ]
    first, second = (question.consequences[0].commit for question in approver.questions)
    assert (dict(first.values)["search"], dict(second.values)["search"]) == ("ada", "grace")
    assert first.covers
    assert not second.covers


@pytest.mark.parametrize(
    ("effects", "asked"), [((), 1), (("set_state",), 1), (("irreversible",), 0)], ids=["any", "harmless", "what sends"]
)
async def test_rule_that_frees_harmless_steps_does_not_free_what_a_page_passes_on(
    tmp_path: Path, effects: tuple[Effect, ...], asked: int
) -> None:
    site, approver = Site({"/": PAGE.replace("MORE", "''").replace("PAUSE", "150"), "/suggest": "Ada"}), ForRun()
    planner = Playbook(
        [Rule(on="Write", steps=(Draft(zone="To", skill="type", arguments={"text": "ada"}),), final=True)]
    )
    rule = Permission(ask=False, skill="type", effects=effects)
    async with site.served():
        settings = Settings.load(overrides={"home": str(tmp_path), "step_delay_seconds": "0"})
        agent = Agent(Browser(f"{site.url}/", quiet_seconds=0.4), planner, approver=approver, settings=settings)
        await agent.run(Task(goal="Write to ada", agreement=Agreement(rules=(rule,))))
    assert (len(site.effects()), len(approver.questions)) == (1, asked)


async def test_what_a_page_passes_on_a_moment_after_the_text_was_typed_belongs_to_that_step(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(guard, "PAUSE_SECONDS", 20.0)
    site = Site({"/": waiting(PAGE.replace("MORE", "''")), "/suggest": "Ada"})
    async with site.served():
        hand = Hand(browser := Browser(f"{site.url}/", quiet_seconds=0.05))
        await browser.open()
        try:
            ok(await hand.on("To", "type", text="ada"))
            await page_of(hand).evaluate("() => { later(); later = null }")
            await until(lambda: bool(browser._running.guard.outbox.waiting))
            (held,) = (zone for zone in (await hand.see()).zones if zone.role == "request")
            assert held.get(HELD_FOR) == "type"
            again = await hand.on("To", "type", text="ada")
            assert (again.status, again.reason) == ("no_effect", WOULD_PASS_ON)
            # From now on it is known that this page waits a moment, so the step waits for it, too.
            typing = asyncio.create_task(hand.on("Copy", "type", text="grace"))
            await page_of(hand).wait_for_function("later !== null")
            await page_of(hand).evaluate("() => { later() }")
            other = await typing
            assert (other.status, other.reason) == ("no_effect", WOULD_PASS_ON)
            assert site.effects() == []
        finally:
            await browser.close()


async def test_what_carries_no_typed_text_stays_the_page_s_own() -> None:
    site = Site({"/": waiting(PAGE.replace("MORE", "''").replace("search: field.value", "beat: 7")), "/suggest": "Ada"})
    async with site.served():
        hand = Hand(browser := Browser(f"{site.url}/", quiet_seconds=0.05))
        await browser.open()
        try:
            ok(await hand.on("To", "type", text="ada"))
            await page_of(hand).evaluate("() => { later() }")
            await until(lambda: bool(browser._running.guard.outbox.waiting))
            (held,) = (zone for zone in (await hand.see()).zones if zone.role == "request")
            assert held.get(HELD_FOR) is None
        finally:
            await browser.close()
