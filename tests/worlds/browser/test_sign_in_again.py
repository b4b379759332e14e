"""A run whose session is lost with its sign-in: it signs in again if a person agrees, and does not ask what happened."""

from pathlib import Path

import pytest

from midcourse import Agent, Draft, Settings, Task
from midcourse.domain.approval import Decision, Question
from midcourse.planners import Playbook, Rule
from midcourse.testing import Approves
from midcourse.worlds import Browser
from tests.worlds.browser.site import Answer, ReceivedRequest, Site

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]


class Repeats(Approves):
    """Also agrees to repetitions, which `Approves` rejects."""

    async def ask(self, question: Question) -> Decision | None:
        decided = await super().ask(question)
        return Decision(verdict="send_again", by="testing") if question.about == "repeat" else decided


def make_site(*, tokens: bool) -> Site:
    """The first sign-in leads to the sign-in again, as if its cookie had been lost."""
    shown = 0

    def show_form(_: ReceivedRequest) -> Answer:
        nonlocal shown
        shown += 1
        token = f"<input type=hidden name=csrf value=8d1f0c2ab{shown}>" if tokens else ""
        return Answer(
            f"<!doctype html><html lang=en><title>Sign in</title><form method=post action=/enter>{token}"
            "<label>User name <input name=user></label><label>Password <input type=password name=password></label>"
            "<button>Sign in</button></form></html>"
        )

    def enter(_: ReceivedRequest) -> Answer:
        again = len(site.effects()) == 1
        return Answer("", status=303, fields={"location": "/" if again else "/home"})

    home = "<!doctype html><html lang=en><title>Welcome</title><p>Welcome, Ada</html>"
    site = Site({"/": show_form, "/enter": enter, "/home": home})
    return site


PLANNER = Playbook(
    [
        Rule(
            on="Sign in",
            steps=(
                Draft(zone="User name", skill="type", arguments={"text": "ada"}),
                Draft(zone="Password", skill="type", arguments={"text": "lovelace"}),
                Draft(zone="button:Sign in", skill="click"),
            ),
        ),
        Rule(on="Welcome", done=True),
    ]
)


@pytest.mark.parametrize("tokens", [True, False], ids=["token", "no token"])
@pytest.mark.parametrize("repeats", [True, False], ids=["agreed", "refused"])
async def test_a_sign_in_that_comes_again_is_repeated_only_if_a_person_agrees(
    tmp_path: Path, *, tokens: bool, repeats: bool
) -> None:
    site, approver = make_site(tokens=tokens), Repeats() if repeats else Approves()
    async with site.served():
        settings = Settings.load(overrides={"home": str(tmp_path), "step_delay_seconds": "0"})
        agent = Agent(Browser(f"{site.url}/"), PLANNER, approver=approver, settings=settings)
        result = await agent.run(Task(goal="Sign in"))
    asked = [question.about for question in approver.questions]
    assert asked[:2] == ["approve", "repeat"], result.final_detail
    assert "happened" not in asked
    assert result.success == repeats
    assert site.effects() == ["POST /enter"] * (2 if repeats else 1)
