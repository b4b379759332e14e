"""Forms of MCP servers of both generations: they go to the person and no further, and a model cannot fill them in."""

import asyncio
import io
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import BaseModel
from rich.console import Console

from midcourse import Agent, PlanDraft, Task, TerminalApprover
from midcourse.domain.budget import Limits
from midcourse.domain.skill import Parameter
from midcourse.ports.approver import Form
from midcourse.terminal.approver import fill_in_form
from midcourse.terminal.output import UNICODE
from midcourse.terminal.prompt import Keyboard, Prompt
from midcourse.testing import Approves, MemoryStore
from midcourse.worlds import Mcp
from tests.mcp.test_http import served_by
from tests.mcp.test_world import ADD, notes, written

pytestmark = pytest.mark.slow
ONCE = Limits(max_replans=0, max_error_replans=0)


class Person(Approves):
    """Approves, and fills in forms with these values."""

    def __init__(self, values: Mapping[str, Any] | None) -> None:
        super().__init__()
        self.values, self.forms = values, list[Form]()

    async def fill_in(self, form: Form) -> Mapping[str, Any] | None:
        self.forms.append(form)
        return self.values


class Watched:
    """Plans the note, and remembers everything that a planner is shown."""

    def __init__(self) -> None:
        self.shown = ""

    async def plan(self, context: Any) -> PlanDraft:
        self.shown += repr(context)
        return PlanDraft(steps=[ADD])


def run(world: Mcp, person: Approves, planner: Watched | None = None) -> tuple[bool, MemoryStore]:
    store = MemoryStore()
    agent = Agent(world, planner or Watched(), approver=person, store=store)
    return agent.run_sync(Task(goal="Add milk", limits=ONCE)).success, store


def test_a_form_in_the_middle_of_a_call_goes_to_the_person(tmp_path: Path) -> None:
    (tmp_path / "asks").touch()
    planner = Watched()
    success, store = run(notes(tmp_path), person := Person({"kind": "oat", "litres": 2}), planner)
    assert (success, written(tmp_path)) == (True, ["milk-oat-2"])
    (form,) = person.forms
    assert (form.asker, form.skill, form.message[:11]) == ("notes", "add", "Which milk?")
    assert [(one.name, one.type, one.choices, one.required) for one in form.fields] == [
        ("kind", "string", ("oat", "cow"), True),
        ("litres", "integer", (), False),
    ]
    assert "Which milk" not in planner.shown
    assert "oat" not in json.dumps(store.__dict__, default=repr)


@pytest.mark.parametrize("person", [Person(None), Approves()], ids=["declines", "cannot be asked"])
def test_without_an_answer_nothing_is_sent_to_the_server(person: Approves, tmp_path: Path) -> None:
    (tmp_path / "asks").touch()
    success, _ = run(notes(tmp_path), person)
    assert (success, written(tmp_path)) == (False, [])
    assert [question.about for question in person.questions] == ["approve", "happened"]


@pytest.mark.parametrize(
    ("person", "added"),
    [(Person({"kind": "oat"}), ["milk oat"]), (Person(None), []), (Approves(), [])],
    ids=["answers", "declines", "cannot be asked"],
)
def test_a_server_of_the_latest_generation_is_called_again_with_the_answer(person: Approves, added: list[str]) -> None:
    from mcp.server import MCPServer
    from mcp.server.mcpserver import Elicit, Resolve

    class Milk(BaseModel):
        kind: str

    async def which() -> Elicit[Milk]:
        return Elicit("Which milk?", Milk)

    served, found = MCPServer("notes", log_level="ERROR"), list[str]()

    @served.tool()
    async def add(text: str, milk: Annotated[Milk, Resolve(which)]) -> str:
        found.append(f"{text} {milk.kind}")
        return "added"

    with served_by(served) as url:
        success, _ = run(Mcp(url), person)
    assert (success, found) == (bool(added), added)


# --- at the terminal


async def at_terminal(form: Form, typed: str) -> tuple[Mapping[str, Any] | None, str]:
    screen, (reading, typing) = io.StringIO(), os.pipe()
    os.write(typing, typed.encode())
    console = Console(file=screen, width=100, color_system=None)
    try:
        answer = await asyncio.wait_for(
            fill_in_form(form, Prompt(console=console, keyboard=Keyboard(reading), marks=UNICODE)), 30
        )
    finally:
        for end in (reading, typing):
            with suppress(OSError):
                os.close(end)
    return answer, screen.getvalue()


FIELDS = (
    Parameter(name="kind", type="string", choices=("oat", "cow")),
    Parameter(name="litres", type="integer", required=False),
    Parameter(name="cold", type="boolean"),
)


async def test_values_are_typed_in_the_types_of_the_fields() -> None:
    form = Form(asker="notes", skill="add", message="Which\x1b[2J milk?", fields=FIELDS)
    answer, shown = await at_terminal(form, "f\nsoy\noat\ntwo\n2\nmaybe\nyes\n")
    assert answer == {"kind": "oat", "litres": 2, "cold": True}
    assert "notes asks you something, for its tool add" in shown
    assert "\x1b" not in shown
    assert (await at_terminal(form, "f\ncow\n\nn\n"))[0] == {"kind": "cow", "cold": False}


async def test_declining_sends_nothing_and_a_page_is_only_opened_by_the_person() -> None:
    form = Form(asker="notes", skill="add", message="Which milk?", fields=FIELDS)
    assert (await at_terminal(form, "d\n"))[0] is None
    page = Form(asker="notes", skill="add", message="Sign in", address="https://bank.example")
    answer, shown = await at_terminal(page, "o\n")
    assert answer == {}
    assert "https://bank.example" in shown


async def test_without_a_terminal_forms_are_declined() -> None:
    assert await TerminalApprover().fill_in(Form(asker="notes", skill="add", message="Which milk?")) is None
