"""Sign-ins that come again or lead elsewhere than expected: the run asks before it signs in again, and not what happened."""

from pathlib import Path

import pytest

from midcourse import Agent, Draft, Expectation, Result, Settings, Task
from midcourse.domain.approval import Decision, Question
from midcourse.expect import SurfaceMatches
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
        return Answer("", status=303, fields={"location": "/login" if again else "/home"})

    home = "<!doctype html><html lang=en><title>Welcome</title><p>Welcome, Ada</html>"
    site = Site({"/login": show_form, "/enter": enter, "/home": home})
    return site


PLANNER = Playbook(
    [
        Rule(
            on="Sign in",
            steps=(
                Draft(zone="User name", skill="type", arguments={"text": "ada"}),
                Draft(zone="Password", skill="type", arguments={"text": "lovelace"}),
                Draft(
                    zone="button:Sign in", skill="click", expect=Expectation(checks=[SurfaceMatches(pattern="Welcome")])
                ),
            ),
        ),
        Rule(on="Welcome", done=True),
        Rule(on="Reports", done=True),
    ]
)


async def sign_in(site: Site, approver: Approves, folder: Path) -> Result:
    async with site.served():
        settings = Settings.load(overrides={"home": str(folder), "step_delay_seconds": "0"})
        return await Agent(Browser(f"{site.url}/login"), PLANNER, approver=approver, settings=settings).run(
            Task(goal="Sign in")
        )


@pytest.mark.parametrize("tokens", [True, False], ids=["token", "no token"])
@pytest.mark.parametrize("repeats", [True, False], ids=["agreed", "refused"])
async def test_a_sign_in_that_comes_again_is_repeated_only_if_a_person_agrees(
    tmp_path: Path, *, tokens: bool, repeats: bool
) -> None:
    site, approver = make_site(tokens=tokens), Repeats() if repeats else Approves()
    result = await sign_in(site, approver, tmp_path)
    asked = [question.about for question in approver.questions]
    assert asked[:2] == ["approve", "repeat"], result.final_detail
    assert "happened" not in asked
    assert result.success == repeats
    assert site.effects() == ["POST /enter"] * (2 if repeats else 1)


async def test_a_sign_in_that_leads_elsewhere_than_expected_is_planned_on_without_a_question(tmp_path: Path) -> None:
    """As when a session ends: the sign-in then leads back to the page that asked for it, and not to the start page."""
    site, approver = make_site(tokens=True), Approves()
    site.pages |= {
        "/enter": Answer("", status=303, fields={"location": "/reports"}),
        "/reports": "<title>Reports</title><p>None yet",
    }
    result = await sign_in(site, approver, tmp_path)
    assert result.success, result.final_detail
    assert [question.about for question in approver.questions] == ["approve"]
    assert site.effects() == ["POST /enter"]
