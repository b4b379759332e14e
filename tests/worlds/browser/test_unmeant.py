"""What scripts of a page send beside a step that was not meant to send anything: it waits, is dropped, and nobody is asked."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from midcourse import Agent, Draft, Settings, Task
from midcourse.domain.result import Result
from midcourse.expect import Expectation, TextContains
from midcourse.ports.planner import PlanDraft, PlanningContext
from midcourse.testing import Approves
from midcourse.worlds import Browser
from tests.worlds.browser.site import Site

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

PAGE = """<!doctype html><html lang=en><title>Desk</title><button id=open>Reports</button><button id=gone>Delete</button>
<label>To <input id=to></label><form action=/order method=post><button>Order</button></form><p></p>
<script>let n = 0; const say = text => document.querySelector('p').textContent += text + ' '
const send = (method, url, body) => fetch(url, {method, body: JSON.stringify(body)}).then(answer => say(method + ' ' + answer.status), () => say('offline'))
document.querySelector('#open').onclick = () => { say('opened'); send('PUT', '/layout/default', {open: ++n}) }
document.querySelector('#gone').onclick = () => send('DELETE', '/tickets/17', {})
document.querySelector('#to').oninput = event => send('POST', '/suggest', {search: event.target.value})
</script></html>"""


class Model:
    """Plans like a model: the zones by their labels, without `says` unless it is given."""

    def __init__(self, *plans: Sequence[Draft], final: bool = True) -> None:
        self.plans, self.final = plans, final
        self.whys: list[str] = []
        self.screens: list[str] = []

    async def plan(self, context: PlanningContext) -> PlanDraft:
        self.whys.append(context.why)
        self.screens.append(" ".join(f"{zone.id}:{zone.label}" for zone in context.observation.zones))
        if context.version > len(self.plans):
            return PlanDraft(verdict="done")
        named = {zone.label: zone.id for zone in context.observation.zones}
        steps = tuple(
            Draft(
                zone=next((zone for label, zone in named.items() if label.startswith(step.zone)), step.zone),
                skill=step.skill,
                arguments=step.arguments,
                says=step.says,
                transition=bool(step.transition),
                on=step.on,
            )
            for step in self.plans[context.version - 1]
        )
        return PlanDraft(steps=steps, final=self.final)


VIEWER = """<!doctype html><html lang=en><title>Files</title><button class=file>a.csv</button><button class=file>b.csv</button>
<button class=file>c.csv</button><button id=order>Take it</button><button id=calm>Rename</button><a href=/else>Elsewhere</a><main>nothing</main><p></p>
<script>const main = document.querySelector('main'), told = document.querySelector('p')
for (const one of document.querySelectorAll('.file')) one.onclick = () => {
  main.textContent = 'rows of ' + one.textContent
  fetch('/files/' + one.textContent + '/checkpoints', {method: 'POST'}).then(
    answer => told.textContent += ' stored ' + one.textContent, () => main.textContent = 'Load error ' + one.textContent)
}
document.querySelector('#order').onclick = () => fetch('/orders/7/place', {method: 'POST'}).catch(() => main.textContent = 'Load error')
document.querySelector('#calm').onclick = () => told.textContent += ' renamed'
</script></html>"""


async def run(site: Site, model: Model, home: Path, approver: Approves, done_when: str = "") -> Result:
    settings = Settings.load(overrides={"home": str(home), "step_delay_seconds": "0"})
    task = Task(goal="Go on", done_when=Expectation(checks=(TextContains(text=done_when),)) if done_when else None)
    return await Agent(Browser(f"{site.url}/"), model, approver=approver, settings=settings).run(task)


def make_site() -> Site:
    return Site({"/": PAGE, **dict.fromkeys(("/layout/default", "/tickets/17", "/suggest"), "{}"), "/order": PAGE})


CLICK = Draft(zone="Reports", skill="click")
TYPE = Draft(zone="To", skill="type", arguments={"text": "ada"})


async def test_layout_that_a_page_stores_is_neither_sent_nor_asked_about(tmp_path: Path) -> None:
    site, approver, model = make_site(), Approves(), Model([CLICK], [CLICK, CLICK, TYPE])
    async with site.served():
        result = await run(site, model, tmp_path, approver)
    assert (site.effects(), approver.questions, result.success) == ([], [], True)
    assert model.whys[1] == f"not sent: click 'Reports' would send PUT {site.url}/layout/default; it waits as request1"
    assert model.screens[1].count("opened") == 1
    # Both clicks of the second plan were carried out without a line; what was typed after them has one.
    assert "would send POST" in model.whys[2]
    assert (model.screens[2].count("opened"), model.screens[2].count("offline")) == (3, 3)
    assert f"request1:PUT {site.url}/layout/default" in model.screens[1]


async def test_delete_by_a_script_is_not_done_until_it_was_sent_with_an_approval(tmp_path: Path) -> None:
    site, approver = make_site(), Approves()
    model = Model([Draft(zone="Delete", skill="click")], [Draft(zone="DELETE ", skill="send", says="Delete it")])
    async with site.served():
        result = await run(site, model, tmp_path, approver)
    assert "would send DELETE" in model.whys[1]
    assert [question.consequences[0].commit.address for question in approver.questions[:1]] == [
        f"DELETE {site.url}/tickets/17"
    ]
    assert site.effects() == ["DELETE /tickets/17"]
    assert result.sending == "effects"


async def test_delete_that_the_planner_does_not_send_has_not_happened(tmp_path: Path) -> None:
    site, approver, model = make_site(), Approves(), Model([Draft(zone="Delete", skill="click")])
    async with site.served():
        result = await run(site, model, tmp_path, approver)
    assert (site.effects(), approver.questions, result.verified, result.sending) == ([], [], False, "nothing")


async def test_what_is_typed_stays_and_its_suggestions_wait(tmp_path: Path) -> None:
    site, approver, model = make_site(), Approves(), Model([TYPE], [TYPE])
    async with site.served():
        await run(site, model, tmp_path, approver)
    assert (site.effects(), approver.questions) == ([], [])
    assert model.whys[1:] == [
        f"not sent: type 'To' would send POST {site.url}/suggest; they wait as request1 and request2 and request3"
    ]


@pytest.mark.parametrize(
    ("step", "sent"),
    [
        (Draft(zone="Order", skill="click"), "POST /order"),
        (Draft(zone="Reports", skill="click", says="Open it"), "PUT /layout/default"),
    ],
    ids=["a form", "it says so"],
)
async def test_forms_and_what_was_meant_are_asked_about(tmp_path: Path, step: Draft, sent: str) -> None:
    site, approver = make_site(), Approves()
    async with site.served():
        await run(site, Model([step]), tmp_path, approver)
    assert approver.questions[0].about == "approve"
    assert site.effects() == [sent]


# --- empty requests: a page that sends one when it opens something takes a dropped one for a failure


def make_files() -> Site:
    answers = dict.fromkeys((*(f"/files/{name}.csv/checkpoints" for name in "abc"), "/orders/7/place"), "{}")
    return Site({"/": VIEWER, "/else": "<title>Else</title><p>Elsewhere</p>", **answers})


def click(label: str, says: str = "") -> Draft:
    return Draft(zone=label, skill="click", says=says)


async def test_empty_request_stays_unanswered_so_that_what_it_belongs_to_stays_open(tmp_path: Path) -> None:
    site, approver = make_files(), Approves()
    model = Model([click("a.csv")], [click("Rename"), click("Rename")], final=False)
    async with site.served():
        result = await run(site, model, tmp_path, approver)
    assert (site.effects(), approver.questions, result.success) == ([], [], True)
    assert "would send POST" in model.whys[1]
    assert ("rows of a.csv" in model.screens[2], "renamed renamed" in model.screens[2]) == (True, True)
    # It is listed as before, and neither click counts as what sends it.
    assert f"request1:POST {site.url}/files/a.csv/checkpoints" in model.screens[2]
    assert len(model.whys) == 3


async def test_empty_request_that_the_planner_has_passed_over_does_not_contradict_done_when(tmp_path: Path) -> None:
    site, model = make_files(), Model([click("a.csv")], [click("Rename")])
    async with site.served():
        result = await run(site, model, tmp_path, Approves(), done_when="renamed")
    assert (site.effects(), result.verified, len(model.whys)) == ([], True, 2)


async def test_of_three_empty_requests_the_oldest_is_dropped(tmp_path: Path) -> None:
    site, model = (
        make_files(),
        Model([click("a.csv")], [click("b.csv")], [click("c.csv")], [click("Rename")], final=False),
    )
    async with site.served():
        await run(site, model, tmp_path, Approves())
    assert site.effects() == []
    assert [f"request{number}:" in model.screens[-1] for number in (1, 2, 3)] == [False, True, True]
    assert "Load error a.csv" in model.screens[-1]


async def test_empty_request_that_stayed_can_be_sent_once_it_is_approved(tmp_path: Path) -> None:
    site, approver = make_files(), Approves()
    model = Model(
        [click("a.csv")], [click("Rename")], [Draft(zone="POST ", skill="send", says="Store it")], final=False
    )
    async with site.served():
        await run(site, model, tmp_path, approver)
    assert site.effects() == ["POST /files/a.csv/checkpoints"]
    assert [question.consequences[0].commit.address for question in approver.questions] == [
        f"POST {site.url}/files/a.csv/checkpoints"
    ]
    assert "stored a.csv" in model.screens[-1]


async def test_empty_request_is_gone_with_its_page(tmp_path: Path) -> None:
    site, model = make_files(), Model([click("a.csv")], [click("Rename")], [click("Elsewhere")], final=False)
    async with site.served():
        await run(site, model, tmp_path, Approves())
    assert site.effects() == []
    assert "request1:" in model.screens[2]
    assert "request1:" not in model.screens[3]


async def test_request_that_names_an_effect_is_dropped_although_it_is_empty(tmp_path: Path) -> None:
    site, model = make_files(), Model([click("Take it")], [click("Rename")], final=False)
    async with site.served():
        await run(site, model, tmp_path, Approves())
    assert site.effects() == []
    assert "Load error" in model.screens[2]
    assert "request1:" not in model.screens[2]


# --- steps that are not for sending: their plan goes on


async def test_plan_goes_on_after_going_back_from_a_page_that_releases_its_lock(tmp_path: Path) -> None:
    listed = "<!doctype html><title>List</title><a href=/edit>Article</a><button onclick='document.title = \"Opened\"'>Next</button>"
    editor = """<!doctype html><title>Editor</title><p>Text</p><script>addEventListener('pagehide', () => {
      const form = new FormData(); form.set('token', 'abc'); navigator.sendBeacon('/lock/release', form) })</script>"""
    site, approver = Site({"/": listed, "/edit": editor, "/lock/release": "{}"}), Approves()
    back = Draft(skill="go_back", transition=True)
    following = Draft(zone="button:Next", skill="click", on="*", transition=True)
    model = Model([Draft(zone="Article", skill="click", transition=True)], [back, following], final=False)
    async with site.served():
        result = await run(site, model, tmp_path, approver)
    assert (site.effects(), approver.questions, result.success) == ([], [], True)
    assert [step.skill for step in result.completed if step.unsent] == ["go_back"]
    assert [why for why in model.whys if why.startswith("not ")] == []
    assert len(model.whys) == 3
