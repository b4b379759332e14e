"""Steps for a screen that was not seen yet: they are done if that screen comes, and a page that pretends to be it sends nothing unasked."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from midcourse.agent.agent import Agent
from midcourse.domain.approval import Decision, Question
from midcourse.domain.argument import Reference
from midcourse.domain.plan import Draft
from midcourse.domain.replace import replace
from midcourse.domain.result import Result
from midcourse.domain.task import Task
from midcourse.ports.planner import PlanDraft, PlanningContext
from midcourse.settings import Settings
from midcourse.store.memory import MemoryStore
from midcourse.testing import Approves
from midcourse.worlds import Browser
from tests.worlds.browser.site import Answer, Page, ReceivedRequest, Site

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

FORM = """<title>Rename {name}</title><form method=post action="{to}"><label>New name <input name=to></label>
<input type=hidden name=name value="{name}">{more}<button>Save</button></form>"""
LATE = """<title>Rename {name}</title><div></div><script>fetch('/form?name={name}').then(async (answer) => {{
  document.querySelector('div').innerHTML = await answer.text(); }});</script>"""


class Files(Site):
    """A list of files; each is renamed on a page of its own."""

    def __init__(self, names: list[str], page: Page | None = None) -> None:
        self.names = dict.fromkeys(names, "")
        super().__init__({"/": self._list, "/rename": page or self._rename, "/save": self._save, "/form": self._rename})

    def _list(self, _: ReceivedRequest) -> Answer:
        items = (f'<li>{new or old} <a href="/rename?name={old}">Rename {old}</a>' for old, new in self.names.items())
        return Answer(f"<title>Files</title><ul>{''.join(items)}</ul>")

    def _rename(self, asked: ReceivedRequest, to: str = "/save", more: str = "") -> Answer:
        return Answer(FORM.format(name=name_of(asked), to=to, more=more))

    def _save(self, asked: ReceivedRequest) -> Answer:
        sent = {name: values[0] for name, values in parse_qs(asked.body.decode()).items()}
        self.names[sent["name"]] = sent["to"]
        return self._list(asked)


def name_of(asked: ReceivedRequest) -> str:
    return parse_qs(asked.path.partition("?")[2])["name"][0]


class Renamer:
    """Renames each file to its name in capitals, with one plan each."""

    def __init__(self) -> None:
        self.contexts: list[PlanningContext] = []

    async def plan(self, context: PlanningContext) -> PlanDraft:
        self.contexts.append(context)
        seen = context.observation
        done = {step.target.removeprefix("Rename ") for step in context.completed if step.target.startswith("Rename ")}
        links = [zone for zone in seen.zones if zone.label.startswith("Rename ")]
        left = [zone for zone in links if zone.label.removeprefix("Rename ") not in done]
        if seen.surface.title != "Files":
            return PlanDraft(verdict="gave_up", detail="another page")
        if not left:
            return PlanDraft(verdict="done")
        name = left[0].label.removeprefix("Rename ")
        on, text = f"Rename {name}*", name.upper()
        return PlanDraft(
            steps=(
                Draft(zone=left[0].id, skill="click"),
                Draft(zone="textbox:New name", skill="type", arguments={"text": text}, on=on),
                Draft(zone="button:Save", skill="click", on=on),
            )
        )


class Watches(Approves):
    """Approves, after it has noted what had been sent until then and what it was shown."""

    def __init__(self, site: Site) -> None:
        super().__init__()
        self.site = site
        self.before: list[list[str]] = []

    async def ask(self, question: Question) -> Decision | None:
        self.before.append(self.site.effects())
        return await super().ask(question)


async def rename(files: Files, folder: Path, **options: Any) -> tuple[Result, Renamer, Watches]:
    async with files.served():
        planner, approver = Renamer(), Watches(files)
        browser = Browser(f"{files.url}/", quiet_seconds=0.05, **options)
        settings = Settings.load(overrides={"home": str(folder), "max_segments": 50})
        agent = Agent(browser, planner, approver=approver, store=MemoryStore(), settings=settings)
        return await agent.run(Task(goal="Write the names of all files in capitals")), planner, approver


async def test_each_file_takes_one_plan_and_one_question(tmp_path: Path) -> None:
    files = Files(["a", "b", "c"])
    result, planner, approver = await rename(files, tmp_path)
    assert files.names == {"a": "A", "b": "B", "c": "C"}
    assert (result.final_reason, len(planner.contexts)) == ("plan_complete", 4)
    assert [len(sent) for sent in approver.before] == [0, 1, 2], "nothing left before it was allowed"
    assert result.budget.error_replans == 0


class Guesser(Renamer):
    """Knows only the beginnings of the names."""

    async def plan(self, context: PlanningContext) -> PlanDraft:
        draft = await super().plan(context)
        steps = tuple(
            replace(step, zone=f"{step.zone[:-2]}*", on="*" if step.skill == "type" else step.on) if step.on else step
            for step in draft.steps
        )
        return replace(draft, steps=steps)


async def test_what_was_found_under_a_pattern_is_asked_about_once_and_by_its_name(tmp_path: Path) -> None:
    files = Files(["a", "b"])
    async with files.served():
        planner, approver = Guesser(), Watches(files)
        settings = Settings.load(overrides={"home": str(tmp_path), "max_segments": 50})
        agent = Agent(
            Browser(f"{files.url}/", quiet_seconds=0.05),
            planner,
            approver=approver,
            store=MemoryStore(),
            settings=settings,
        )
        await agent.run(Task(goal="Write the names of all files in capitals"))
    assert files.names == {"a": "A", "b": "B"}
    asked = [question.consequences[0].target for question in approver.questions]
    assert [(target.surface, target.label) for target in asked] == [("Rename a", "Save"), ("Rename b", "Save")]


async def test_a_form_that_comes_later_than_its_page_is_waited_for(tmp_path: Path) -> None:
    files = Files(["a"], lambda asked: Answer(LATE.format(name=name_of(asked))))
    result, planner, _ = await rename(files, tmp_path)
    assert (files.names, len(planner.contexts), result.final_reason) == ({"a": "A"}, 2, "plan_complete")


OTHERS: dict[str, tuple[Callable[[ReceivedRequest], Answer], str]] = {
    "another screen": (lambda _: Answer("<title>Sign in</title><p>Who?"), "the screen is 'Sign in', not 'Rename a*'"),
    "no such field": (lambda _: Answer("<title>Rename a</title><button>Save</button>"), "lists no textbox:New name"),
    "two of them": (
        lambda _: Answer("<title>Rename a</title>" + 2 * "<label>New name <input></label>"),
        "lists textbox:New name 2 times",
    ),
}


@pytest.mark.parametrize("other", OTHERS)
async def test_another_screen_gets_nothing_and_the_planner_is_told_what_was_not_done(
    other: str, tmp_path: Path
) -> None:
    page, said = OTHERS[other]
    result, planner, approver = await rename(Files(["a"], page), tmp_path)
    assert (approver.before, result.budget.error_replans) == ([], 0)
    told = planner.contexts[1]
    assert [step.target for step in told.completed] == ["Rename a"]
    assert told.attempts == ()
    assert told.why.startswith("not done: type textbox:New name; click button:Save (")
    assert said in told.why


async def test_a_page_that_pretends_to_be_the_screen_sends_nothing_unasked(tmp_path: Path) -> None:
    """It has the right title and names, and its button pays."""
    hidden = '<input type=hidden name=amount value=1000><input type=hidden name=iban value="XX99">'
    files = Files(["a"])
    files.pages["/rename"] = lambda asked: files._rename(asked, to="/pay", more=hidden)
    files.pages["/pay"] = "<title>Paid</title>"
    _, _, approver = await rename(files, tmp_path)
    assert approver.before == [[]], "asked once, before anything was sent"
    shown = str(approver.questions[0])
    assert all(words in shown for words in ("/pay", "amount", "1000", "iban", "XX99"))


async def test_the_same_screen_at_another_origin_gets_nothing(tmp_path: Path) -> None:
    there = Site({"/": FORM.format(name="a", to="/take", more="")})
    async with there.served("evil.localhost"):
        files = Files(["a"], Answer("", 302, fields={"location": f"{there.url}/"}))
        origins = {there.url: {"private": True}}
        _, planner, approver = await rename(files, tmp_path, origins=origins)
        assert (approver.before, there.effects()) == ([], [])
        assert "where the step was not planned" in planner.contexts[1].why


class Portal(Site):
    """A page with a link to its sign-in, and behind that a list that only a signed-in user sees."""

    def __init__(self, field: str) -> None:
        form = f"<label>User <input name=user></label><label>Password <input name=password {field}></label>"
        super().__init__(
            {
                "/": "<title>Start</title><a href=/login>Log in</a>",
                "/login": f"<title>Log in</title><form method=post action=/enter>{form}<button>Log in</button></form>",
                "/enter": Answer("", 303, fields={"location": "/home"}),
                "/home": "<title>Home of ada</title><a href=/ships>Ships</a>",
                "/ships": "<title>Ships</title><a href=/ships/7>Fram of 1892</a>",
                "/ships/7": "<title>Fram</title><p>39 m",
            }
        )


class OnePassword:
    def reveal(self, name: str) -> str | None:
        return "lovelace-1815"


class FarSighted:
    """Plans from the first page to the ship that it wants to see."""

    def __init__(self) -> None:
        self.contexts: list[PlanningContext] = []

    async def plan(self, context: PlanningContext) -> PlanDraft:
        self.contexts.append(context)
        if len(self.contexts) > 1:
            return PlanDraft(verdict="done")
        (link,) = (zone.id for zone in context.observation.zones if zone.role == "link")
        password = Reference(source="secret", name=context.task.secrets[0])
        return PlanDraft(
            steps=(
                Draft(zone=link, skill="click"),
                Draft(zone="textbox:User", skill="type", arguments={"text": "ada"}, on="*"),
                Draft(zone="textbox:Password", skill="type", arguments={"text": password}, on="Log in"),
                Draft(zone="button:Log in", skill="click", on="Log in", says="Sign in"),
                Draft(zone="link:Ships", skill="click", on="*"),
                Draft(zone="link:Fram*", skill="click", on="/ships"),
            )
        )


@pytest.mark.parametrize(
    ("field", "ends_on", "why"),
    [("type=password", "Fram", ""), ("", "Log in", "textbox:Password is no field for passwords")],
)
async def test_a_plan_signs_in_and_goes_on_screen_by_screen_but_shows_no_secret(
    field: str, ends_on: str, why: str, tmp_path: Path
) -> None:
    site, planner, approver = Portal(field), FarSighted(), Approves()
    async with site.served():
        secret = f"password@{site.url}"
        browser = Browser(f"{site.url}/", quiet_seconds=0.05)
        agent = Agent(
            browser,
            planner,
            approver=approver,
            store=MemoryStore(),
            vault=OnePassword(),
            settings=Settings.load(overrides={"home": str(tmp_path)}),
        )
        await agent.run(Task(goal="How long is the Fram?", secrets=(secret,)))
    assert planner.contexts[1].observation.surface.title == ends_on
    assert why in planner.contexts[1].why
    assert ("click Fram of 1892" in [step.says for step in planner.contexts[1].completed]) == (not why)
    typed = b"".join(asked.body for asked in site.asked)
    assert (b"lovelace-1815" in typed, approver.questions) == (not why, [])


class StandsStill:
    """Follows two links, the second of which leads nowhere, and clicks on whatever would come then."""

    def __init__(self) -> None:
        self.contexts: list[PlanningContext] = []

    async def plan(self, context: PlanningContext) -> PlanDraft:
        self.contexts.append(context)
        if len(self.contexts) > 1:
            return PlanDraft(verdict="done")
        (link,) = (zone.id for zone in context.observation.zones if zone.role == "link")
        return PlanDraft(
            steps=(
                Draft(zone=link, skill="click"),
                Draft(zone="link:Nowhere", skill="click", on="*"),
                Draft(zone="link:Delete", skill="click", on="*"),
            )
        )


async def test_a_step_that_left_its_screen_as_it_was_is_not_followed_there(tmp_path: Path) -> None:
    lists = "<title>List</title><a href='#'>Nowhere</a> <a href=/gone>Delete</a>"
    site, planner = Site({"/": "<title>Start</title><a href=/list>List</a>", "/list": lists}), StandsStill()
    async with site.served():
        settings = Settings.load(overrides={"home": str(tmp_path)})
        browser = Browser(f"{site.url}/", quiet_seconds=0.05)
        await Agent(browser, planner, approver=Approves(), store=MemoryStore(), settings=settings).run(
            Task(goal="Look")
        )
    assert "/gone" not in [asked.path for asked in site.asked]
    assert planner.contexts[1].why == "not done: click link:Delete (the screen is still 'List')"
