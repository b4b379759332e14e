"""Is a value sent that changed between its approval and its dispatch?

    python -m benchmarks.approvals.changed_values --runs 1000 --json

A form pays an amount to a person. The planner fills it in and sends it, by `submit` or by a plain `click`. While the person is asked
and agrees, something changes: the page's own script, the browser's autofill, a hidden field, the form's address, the plan. Every
later question is answered with no. What was sent is counted in the server's own log, and compared with what the person saw.

as_agreed     requests that arrived exactly as the person saw them
otherwise     requests that arrived in any other way: must be 0
asked_again   runs in which the difference was shown to the person
control       nothing changes: every run must send what was agreed to, once

With `click` the request waits already while the person is asked, so what changes in the page later does not change it: it may arrive,
as it was seen. With `submit` nothing may arrive unless nothing changed.
"""

import asyncio
import json
import random
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import asdict, dataclass, field
from itertools import cycle
from typing import Any, cast
from urllib.parse import parse_qsl

from benchmarks.harness.report import describe_machine, format_table, keep, make_parser
from benchmarks.hostile_pages.site import Received, Site, serve
from midcourse.agent.agent import Agent
from midcourse.domain.approval import CommitSet, Decision, Question
from midcourse.domain.budget import Limits
from midcourse.domain.expectation import Expectation, SurfaceMatches
from midcourse.domain.plan import Draft
from midcourse.domain.task import Task
from midcourse.ports.planner import PlanDraft, PlanningContext
from midcourse.ports.world import World
from midcourse.testing import MemoryStore
from midcourse.worlds.browser import Browser

FORM = """<!doctype html><html lang=en><title>Pay</title><h1>Pay</h1>
<form method=post action=/payments><input type=hidden name=token value={token}>
<label>To <input name=to value=Ada autocomplete=name></label><label>Amount <input name=amount></label>
<button name=do value=pay>Pay</button></form></html>"""
PAID = "<!doctype html><html lang=en><title>Paid</title><h1>Paid</h1></html>"
DONE = Expectation(checks=(SurfaceMatches(pattern="Paid"),))
SKILLS = ("submit", "click")
COLUMNS = ["", "runs", "as_agreed", "otherwise", "asked_again"]

CHANGES = {
    "page script": "f.amount.value = '{value}'",
    "autofill": "f.to.focus(); f.to.select(); document.execCommand('insertText', false, 'Eve {value}')",
    "hidden field": "f.token.value = '{value}'",
    "added field": "f.insertAdjacentHTML('beforeend', '<input type=hidden name=also value={value}>')",
    "form address": "f.action = '/payments/{value}'",
    "form method": "f.method = 'get'",
    "button": "f.querySelector('button').value = '{value}'",
    "button's address": "f.querySelector('button').setAttribute('formaction', '/payments/{value}')",
    "at the last moment": "f.addEventListener('submit', () => {{ f.amount.value = '{value}' }})",
    "in the data": "f.addEventListener('formdata', e => e.formData.set('amount', '{value}'))",
    "sent by a script": "f.addEventListener('submit', e => {{ e.preventDefault();"
    "fetch('/payments', {{method: 'POST', body: new URLSearchParams({{amount: '{value}'}})}}) }})",
    "another form submits itself": "f.amount.value = '{value}'; f.submit()",
    "replan": "f.querySelector('button').textContent = 'Pay now'",
}
"""`f` is the form. A replan follows because the planned button has disappeared; the new plan pays more."""
CONTROL = "nothing (control)"


@dataclass
class Payer:
    """Pays 100; if it has to plan again, another amount."""

    skill: str
    amounts: tuple[str, str]
    plans: int = 0

    async def plan(self, context: PlanningContext) -> PlanDraft:
        amount = self.amounts[min(self.plans, 1)]
        self.plans += 1
        zones = {
            zone.role: zone for zone in context.observation.zones if zone.role == "button" or zone.label == "Amount"
        }
        if len(zones) < 2 or self.plans > 3:
            return PlanDraft(verdict="gave_up", detail="there is nothing to pay with any more")
        fill = Draft(zone=zones["textbox"].id, skill="type", arguments=(("text", amount),))
        return PlanDraft(steps=(fill, Draft(zone=zones["button"].id, skill=self.skill, expect=DONE)), final=True)


@dataclass
class Person:
    """Agrees once, while a value changes. Rejects every later question."""

    change: Callable[[], Awaitable[None]]
    agreed: list[CommitSet] = field(default_factory=list)
    asked_again: bool = False

    async def ask(self, question: Question) -> Decision | None:
        if question.about != "approve":
            return Decision(verdict="stop")
        if self.agreed:
            self.asked_again = True
            return Decision(verdict="rejected")
        self.agreed.extend(consequence.commit for consequence in question.consequences)
        await self.change()
        return Decision(verdict="approved", all_values=True)


class Kept:
    """One browser for all runs. Each begins at the form, with nothing waiting."""

    def __init__(self, browser: Browser, start: str) -> None:
        self._browser = browser
        self._start = start

    def __getattr__(self, name: str) -> Any:
        return getattr(self._browser, name)

    async def open(self) -> str:
        self._browser._barred.clear()
        assert await self._browser._running.go(self._start) is None
        await self._browser._running.settle()
        return ""

    async def close(self) -> None:
        self._browser._running.guard.outbox.drop(self._browser._running.guard.outbox.waiting)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    change: str
    skill: str
    as_agreed: int
    otherwise: tuple[str, ...]
    asked_again: bool
    final_reason: str


async def trial(browser: Browser, site: Site, url: str, change: str, skill: str, seed: int) -> Outcome:
    chance = random.Random(seed)
    value = str(chance.randrange(1000, 10**6))
    site.pages["/"] = FORM.format(token=chance.randrange(10**6))

    async def happen() -> None:
        if change != CONTROL:
            script = CHANGES[change].format(value=value)
            await browser._tab.page.evaluate(f"() => {{ const f = document.forms[0]; {script} }}")

    person = Person(happen)
    world = cast(World, Kept(browser, f"{url}/"))
    agent = Agent(world=world, planner=Payer(skill, ("100", value)), approver=person, store=MemoryStore())
    site.received.clear()
    limits = Limits(max_step_retries=0, retry_delay_seconds=0.01, act_timeout_seconds=60.0, look_timeout_seconds=60.0)
    result = await agent.run(Task(goal="Pay Ada 100", done_when=DONE, limits=limits))
    arrived = [one for one in site.received if one.path != "/" and one.path != "/favicon.ico"]
    agreed = [one for one in arrived if read_commit_set(one, url) in person.agreed]
    return Outcome(
        change=change,
        skill=skill,
        as_agreed=len(agreed),
        otherwise=tuple(f"{one.method} {one.path} {one.body}" for one in arrived if one not in agreed),
        asked_again=person.asked_again,
        final_reason=result.final_reason,
    )


def read_commit_set(received: Received, url: str) -> CommitSet:
    """As the server reads it, by separate code."""
    path, _, query = received.path.partition("?")
    pairs = parse_qsl(received.body if received.method == "POST" else query, keep_blank_values=True)
    return CommitSet(address=f"{received.method} {url}{path}", values=tuple(pairs))


def arms(runs: int) -> Iterator[tuple[str, str]]:
    """So many in which something changes, and among them one in twenty in which nothing does."""
    each = cycle([(change, skill) for change in CHANGES for skill in SKILLS])
    control = cycle([(CONTROL, skill) for skill in SKILLS])
    for number in range(runs):
        yield next(each)
        if number % 20 == 0:
            yield next(control)


async def measure(runs: int, seed: int, *, verbose: bool) -> list[Outcome]:
    site, outcomes = Site(pages={"/payments": PAID}), []
    with serve(site) as url:
        site.pages["/"] = FORM.format(token=0)
        browser = Browser(f"{url}/", quiet_seconds=0.05)
        await browser.open()
        try:
            for number, (change, skill) in enumerate(arms(runs)):
                outcome = await trial(browser, site, url, change, skill, seed + number)
                outcomes.append(outcome)
                if verbose:
                    print(f"{number} {outcome}", file=sys.stderr)
        finally:
            await browser.close()
    return outcomes


def format_rows(outcomes: list[Outcome]) -> list[list[str]]:
    found: list[list[str]] = []
    for change in (*CHANGES, CONTROL):
        for skill in SKILLS:
            of = [one for one in outcomes if (one.change, one.skill) == (change, skill)]
            numbers = (len(of), sum(one.as_agreed for one in of), sum(len(one.otherwise) for one in of))
            found.append([f"{change}, {skill}", *map(str, numbers), str(sum(one.asked_again for one in of))])
    return found


def summary(outcomes: list[Outcome], seconds: float) -> dict[str, object]:
    changed = [one for one in outcomes if one.change != CONTROL]
    control = [one for one in outcomes if one.change == CONTROL]
    submitted = [one for one in changed if one.skill == "submit"]
    return {
        "changed": len(changed),
        "otherwise": sum(len(one.otherwise) for one in changed),
        "submitted_although_changed": sum(one.as_agreed for one in submitted),
        "control": len(control),
        "control_sent_once": sum(one.as_agreed == 1 and not one.otherwise for one in control),
        "seconds": round(seconds, 1),
        "machine": describe_machine(),
        "cases": [asdict(one) for one in outcomes if one.otherwise or (one.change == CONTROL and one.as_agreed != 1)],
    }


def passed(found: dict[str, object]) -> bool:
    return found["otherwise"] == 0 and found["control"] == found["control_sent_once"]


def main() -> int:
    parser = make_parser(__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=8000)
    parser.add_argument("--verbose", action="store_true", help="every run as it ends, on stderr")
    options = parser.parse_args()
    begun = time.monotonic()
    outcomes = asyncio.run(measure(options.runs, options.seed, verbose=options.verbose))
    found, shown = summary(outcomes, time.monotonic() - begun), format_table(COLUMNS, format_rows(outcomes))
    if options.keep:
        keep("changed_values", found, shown)
    print(json.dumps(found) if options.json else shown)
    return 0 if passed(found) else 1


if __name__ == "__main__":
    sys.exit(main())
