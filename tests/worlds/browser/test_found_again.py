"""A page that reloads itself, so that its elements have other ids: a step finds its target again without a new plan."""

import asyncio
from pathlib import Path

import pytest

from midcourse.agent.agent import Agent
from midcourse.domain.plan import Draft
from midcourse.domain.result import Result
from midcourse.domain.task import Task
from midcourse.ports.planner import PlanDraft, PlanningContext
from midcourse.settings import Settings
from midcourse.store.memory import MemoryStore
from midcourse.worlds import Browser
from tests.worlds.browser.site import Answer, ReceivedRequest, Site

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

INBOX = """<!doctype html><title>Inbox</title><ul id=list></ul><script>
(async () => {
  document.querySelector('#list').innerHTML = await (await fetch('/rows')).text();
})();
</script>"""
INVOICE = '<li><a href="/mail/7">Invoice 4711 overdue</a></li>'
NEWS = '<li><a href="/mail/8">News</a></li>'


class Mailbox(Site):
    """When its page was loaded again, its `later` rows come a second after it."""

    def __init__(self, first: str, later: str) -> None:
        self.reloaded = asyncio.Event()
        self.first, self.later = first, later
        mail = {f"/mail/{number}": f"<title>Mail {number}</title><p>Read me" for number in (7, 8, 9)}
        super().__init__({"/inbox": INBOX, "/rows": self._answer_rows} | mail)

    @property
    def read(self) -> list[str]:
        return [asked.path for asked in self.asked if asked.path.startswith("/mail")]

    async def _answer_rows(self, _: ReceivedRequest) -> Answer:
        if sum(asked.path == "/rows" for asked in self.asked) == 1:
            return Answer(self.first)
        self.reloaded.set()
        await asyncio.sleep(1)
        return Answer(self.later)


class Reader:
    """Opens the invoice. While it plans, the page is loaded again."""

    def __init__(self, box: Mailbox, browser: Browser) -> None:
        self.box, self.browser = box, browser
        self.contexts: list[PlanningContext] = []

    async def plan(self, context: PlanningContext) -> PlanDraft:
        self.contexts.append(context)
        seen = context.observation
        if seen.surface.title != "Inbox":
            return PlanDraft(verdict="done")
        if len(self.contexts) > 1:
            return PlanDraft(verdict="gave_up")
        await self.browser._tab.page.evaluate("setTimeout(() => location.reload())")
        await self.box.reloaded.wait()
        link = next(zone.id for zone in seen.zones if zone.label == "Invoice 4711 overdue")
        return PlanDraft(steps=(Draft(zone=link, skill="click"),))


async def read_the_invoice(box: Mailbox, folder: Path) -> tuple[Result, Reader]:
    async with box.served():
        browser = Browser(f"{box.url}/inbox", quiet_seconds=0.05)
        reader = Reader(box, browser)
        settings = Settings.load(overrides={"home": str(folder)})
        agent = Agent(browser, reader, store=MemoryStore(), settings=settings)
        return await agent.run(Task(goal="Read the mail about the overdue invoice")), reader


async def test_a_link_is_found_again_by_its_address_after_the_list_was_loaded_again(tmp_path: Path) -> None:
    box = Mailbox(NEWS + INVOICE, '<li><a href="/mail/9">New since then</a></li>' + NEWS + INVOICE)
    result, reader = await read_the_invoice(box, tmp_path)
    assert box.read == ["/mail/7"]
    assert (len(reader.contexts), result.budget.error_replans, result.final_reason) == (2, 0, "plan_complete")


@pytest.mark.parametrize(
    ("later", "said"),
    [
        (
            INVOICE + INVOICE,
            "any more; link 'Invoice 4711 overdue' is listed there as {}, and it is not certain that one of them",
        ),
        (
            INVOICE.replace("7", "9", 1),
            "any more; link 'Invoice 4711 overdue' is listed there as {}, and it is not certain that this",
        ),
        (NEWS, "link 'Invoice 4711 overdue' is not on 'Inbox'"),
    ],
    ids=["twice", "with another address", "not at all"],
)
async def test_what_is_not_certainly_the_same_is_not_touched_and_the_planner_is_told_the_truth(
    later: str, said: str, tmp_path: Path
) -> None:
    box = Mailbox(NEWS + INVOICE, later)
    _, reader = await read_the_invoice(box, tmp_path)
    assert box.read == []
    context = reader.contexts[1]
    listed = " and ".join(zone.id for zone in context.observation.zones if zone.label == "Invoice 4711 overdue")
    assert said.format(listed) in context.attempts[-1].detail


async def test_a_settled_page_has_what_was_requested_before_the_last_act() -> None:
    box = Mailbox(NEWS, INVOICE)
    async with box.served():
        browser = Browser(f"{box.url}/inbox", quiet_seconds=0.05)
        await browser.open()
        try:
            page = browser._tab.page
            await page.evaluate("void fetch('/rows').then(async (rows) => { list.innerHTML = await rows.text(); })")
            await box.reloaded.wait()
            await browser._running.begin_act()
            await browser._running.settle()
            assert "Invoice" not in str(await browser.observe()), "what an act did not begin is not waited for"
            await browser.settle()
            assert "Invoice" in str(await browser.observe())
        finally:
            await browser.close()
