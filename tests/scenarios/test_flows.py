"""Seed 000, section 10: the same rolling horizon in a browser, in an ERP and in a game.

The seed's plans, cut where the screen changes: the fields of a form that is not open yet cannot be planned.
"""

import pytest

from midcourse.agent.wiring import build_planner, load_job
from midcourse.config.task.file import parse_task_file
from midcourse.domain.argument import Scalar
from midcourse.domain.plan import REPLAN
from midcourse.errors import TaskInvalid
from midcourse.testing import FakeClock
from midcourse.worlds.simulated import Erp, Fault
from tests.scenarios.stage import Played, Stage, example


@pytest.fixture(autouse=True)
def password(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("MIDCOURSE_SECRET_PASSWORD", "lovelace")
    return "lovelace"


def segments(played: Played) -> list[list[str]]:
    """What each plan says, `__replan__` by its name."""
    return [[REPLAN if step.zone == REPLAN else step.says for step in plan.steps] for plan in played.plans]


def screens(played: Played) -> list[str]:
    """What each plan was made from."""
    return [context.observation.surface.title for context in played.contexts]


async def play(stage: Stage) -> Played:
    played = await stage.play()
    assert played.ended == (True, True, "goal_reached")
    assert played.result.replans == played.result.extensions, "every replan follows a transition that was seen"
    assert played.result.attempts == ()
    assert len(played.completed) == len(set(played.completed)), "nothing is done twice"
    return played


# --- web automation


WEB = [
    ["Open the browser", "Go to the application", REPLAN],
    ["Click the user name", "Type the user name", "Click the password", "Type the password", "Log in", REPLAN],
    ["Click the tab Reports", "Click the period", "Type the period", "Generate the report", REPLAN],
    ["Read the total"],
]


async def test_a_report_is_made_in_a_browser_in_three_segments() -> None:
    """A: to the login page. B: log in. C: on the dashboard, the Reports tab and Generate; and the figure, on a page of its own."""
    stage = example("report")
    played = await play(stage)
    assert segments(played) == WEB
    assert screens(played) == ["Desktop", "Log in", "Dashboard", "Report 2026-Q1"]
    (report,) = stage.effects
    assert (report.effect, report.get("period")) == ("report", "2026-Q1")
    assert played.result.data == (("total", report.get("total")),)


async def test_the_password_is_typed_and_written_down_nowhere(password: str) -> None:
    stage = example("report")
    played = await stage.play()
    kept = [*played.turns, *played.plans, *played.contexts, played.result]
    assert password not in repr(kept)
    assert "Type the password" in played.completed


async def test_without_the_password_the_run_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MIDCOURSE_SECRET_PASSWORD")
    stage = example("report")
    with pytest.raises(TaskInvalid, match="MIDCOURSE_SECRET_PASSWORD: not set, and the task needs it"):
        await stage.play()
    assert stage.effects == ()


async def test_a_wrong_password_is_an_honest_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIDCOURSE_SECRET_PASSWORD", "turing")
    stage = example("report")
    played = await stage.play()
    assert not played.result.success
    assert stage.effects == ()


@pytest.mark.parametrize("nth", range(1, 5))
async def test_a_session_that_expires_is_logged_in_again(nth: int) -> None:
    """Wherever it happens, the report is generated once, and what was typed before is typed again."""
    stage = example("report", faults=[Fault(kind="expired", nth=nth)])
    played = await stage.play()
    assert played.ended == (True, True, "goal_reached")
    assert len(stage.effects) == 1
    assert played.completed.count("Log in") == 2
    assert played.completed.count("Generate the report") == 1


# --- robotic process automation


FIELDS = ["supplier", "invoice number", "amount", "date", "cost centre"]
RPA = [
    ["Open the ERP", REPLAN],
    ["Type the user", "Type the password", "Log in", REPLAN],
    ["Click the menu Invoices", REPLAN],
    ["Click New invoice", REPLAN],
    [*(f"Fill in the {field}" for field in FIELDS), "Submit the invoice", REPLAN],
    ["Read the document number"],
]


async def test_an_invoice_is_booked_in_an_erp_in_three_segments() -> None:
    """A: open the ERP. B: log in. C: Invoices, New Invoice, fill in, Submit; a screen each."""
    stage = example("invoice")
    played = await play(stage)
    assert segments(played) == RPA
    (invoice,) = stage.effects
    assert played.result.data == (("document", invoice.get("document")),)
    inputs = dict(stage.task.inputs)
    assert {name: invoice.get(name) for name in ("supplier", "number", "amount", "date", "cost_centre")} == {
        name: inputs[name] for name in ("supplier", "number", "amount", "date", "cost_centre")
    }


def invoice(**inputs: Scalar) -> Stage:
    """Another invoice than the one in the task file."""
    file = parse_task_file(load_job("invoice", {}).source, inputs=tuple(inputs.items()))
    clock = FakeClock()
    planner = build_planner(file.planner)
    return Stage(world=Erp(clock=clock), planner=planner, task=file.task, clock=clock, settings=file.settings)


@pytest.mark.parametrize(
    ("name", "value"), [("amount", 0.0), ("date", "31.3.2026"), ("number", "1001"), ("cost_centre", "HQ")]
)
async def test_an_invoice_that_the_erp_rejects_is_never_booked(name: str, value: str | float) -> None:
    """'Not booked' is evidence: nothing was sent twice without a check, and no person needs to be asked."""
    stage = invoice(**{name: value})
    played = await stage.play()
    assert not played.result.success
    assert stage.effects == ()
    assert {a.reason for a in played.result.attempts if a.says == "Submit the invoice"} == {"no_effect"}


# --- game


GAME = [
    ["Walk to the elder", REPLAN],
    ["Accept the quest", REPLAN],
    ["Walk to the old mill", "Take the lantern", REPLAN],
    ["Turn in the quest", REPLAN],
]


async def test_a_quest_is_completed_in_a_game() -> None:
    """A: to the quest giver. B: accept. C: to the objective, interact; then the dialog that says it is complete."""
    stage = example("quest")
    played = await play(stage)
    assert segments(played) == GAME
    assert [effect.effect for effect in stage.effects] == ["quest_accepted", "quest_completed"]
    assert screens(played) == ["Village", "Elder Mara", "Village", "Quest complete", "Old mill"]


async def test_the_map_that_changed_is_what_the_third_plan_is_made_from() -> None:
    played = await example("quest").play()
    first, third = (
        {zone.label for zone in played.contexts[index].observation.zones if zone.role in ("place", "object")}
        for index in (0, 2)
    )
    assert third - first == {"Old mill", "Lantern"}
