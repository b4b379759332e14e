"""A page that confirms an order only after a person was asked about it: the question is withdrawn, and there is one order."""

import asyncio
from pathlib import Path

import pytest

from midcourse import Agent, Draft, Expectation, Settings, Task
from midcourse.domain.approval import Decision, Question
from midcourse.expect import TextContains
from midcourse.planners import Playbook, Rule
from midcourse.testing import Approves
from midcourse.worlds import Browser
from tests.worlds.browser.site import Answer, Site

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

CHECKOUT = """<!doctype html><html lang=en><title>Checkout</title><p id=note>Your cart: one lamp</p>
<button onclick="order()">Order now</button><script>
async function order() {
  await fetch('/orders', {method: 'POST', body: 'lamp=1'});
  document.querySelector('#note').textContent = 'One moment: your order is being processed';
  while (!(await (await fetch('/state')).json()).done) await new Promise((after) => setTimeout(after, 200));
  document.querySelector('#note').textContent = 'Thank you! Your order has been placed';
}</script></html>"""
PLANNER = Playbook(
    [
        Rule(
            on="Checkout",
            when=Expectation(checks=[TextContains(text="Your cart")]),
            steps=(
                Draft(
                    zone="button:Order now", skill="click", expect=Expectation(checks=[TextContains(text="Thank you")])
                ),
            ),
        ),
        Rule(on="Checkout", done=True),
    ]
)


class LetsThePageFinish(Approves):
    """Approves; when it is asked whether it happened, the shop finishes the order, and no answer is ever given."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = asyncio.Event()
        self.withdrawn = False

    async def ask(self, question: Question) -> Decision | None:
        decision = await super().ask(question)
        if question.about != "happened":
            return decision
        self.asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.withdrawn = True
        return None


async def test_a_question_is_withdrawn_when_the_page_shows_that_it_happened(tmp_path: Path) -> None:
    approver = LetsThePageFinish()
    site = Site(
        {
            "/checkout": CHECKOUT,
            "/orders": Answer("{}", status=202, kind="application/json"),
            "/state": lambda _: Answer(f'{{"done": {str(approver.asked.is_set()).lower()}}}', kind="application/json"),
        }
    )
    async with site.served():
        settings = Settings.load(overrides={"home": str(tmp_path), "step_delay_seconds": "0"})
        agent = Agent(Browser(f"{site.url}/checkout"), PLANNER, approver=approver, settings=settings)
        async with asyncio.timeout(60):
            result = await agent.run(Task(goal="Order one lamp"))
    (question,) = [question for question in approver.questions if question.about == "happened"]
    assert question.page == "Checkout"
    assert question.appeared == ("One moment: your order is being processed",)
    assert question.unmet == ("expected the text 'Thank you': that is not to be seen",)
    assert approver.withdrawn
    assert (site.effects(), result.success) == (["POST /orders"], True), result.final_detail
