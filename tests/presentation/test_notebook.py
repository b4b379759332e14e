"""HTML of results, plans and differences: everything that a world, a planner or a user wrote is escaped."""

import re
from pathlib import Path

import pytest

from midcourse import Agent, Draft, PlanDraft, Settings, Task
from midcourse.presentation.result import shorten_value
from midcourse.testing import Approves
from midcourse.worlds import Functions

EVIL = "<script>alert(1)</script><img src=x onerror=alert(1)>\u202e"
TAGS = {"div", "style", "strong", "bdi", "p", "br", "span", "ul", "ol", "li", "table", "tr", "th", "td", "del", "ins"}


class TwoOrders:
    """Orders a little one, then plans again and orders another."""

    async def plan(self, context):
        number = len(context.completed)
        if number == 2:
            return PlanDraft(verdict="done")
        steps = [Draft(skill="order", arguments={"product": f"{EVIL}{n}"}, says=EVIL) for n in (number, number + 5)]
        return PlanDraft(
            steps=[steps[0], *(() if number else (Draft(zone="__replan__"), steps[1]))], final=bool(number)
        )


def order(product: str) -> str:
    return EVIL


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    import asyncio

    async def run() -> list[str]:
        home: Path = tmp_path_factory.mktemp("home")
        agent = Agent(Functions(order), TwoOrders(), approver=Approves(), settings=Settings(home=home))
        result = await agent.run(Task(goal=EVIL))
        plans = await agent.plans(result.run)
        compared = await agent.compare_plans(result.run, 1, 2)
        return [each._repr_html_() for each in (result, *plans, compared)]  # pyrefly: ignore[missing-attribute]

    return asyncio.run(run())


def test_results_plans_and_differences_are_shown(shown: list[str]) -> None:
    result, first, _, compared = shown
    assert "done, and it was accepted" in result
    assert "Plan 1" in first
    assert "Plan 2 compared with plan 1" in compared
    assert all("alert(1)" in html for html in shown)


def test_text_of_others_is_escaped(shown: list[str]) -> None:
    for html in shown:
        assert set(re.findall(r"</?([a-zA-Z]+)", html)) <= TAGS
        assert "\u202e" not in html
        assert "U+202E" in html
        assert not re.search(r"<[^>]*\son\w+=", html)


def test_a_long_value_is_cut_with_the_command_that_prints_all() -> None:
    assert shorten_value("x" * 2000, "r1") == "x" * 2000
    assert shorten_value(7, "r1") == 7
    assert (
        shorten_value("x" * 2001, "r1")
        == "x" * 2000 + "… cut here, of 2001 characters: `midcourse show r1 --json` prints all"
    )
