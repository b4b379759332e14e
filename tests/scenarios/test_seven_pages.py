"""A form of seven pages, filled in without a mistake. Under seed 000's shared counter it could not be finished."""

from midcourse.domain.expectation import Expectation, SurfaceMatches
from midcourse.domain.observation import Zone
from midcourse.domain.plan import Draft
from midcourse.domain.task import Task
from midcourse.planners import Playbook, Rule
from midcourse.worlds.base import BaseWorld, Scene, skill
from tests.scenarios.stage import AGAIN, Stage

PAGES = 7


class Form(BaseWorld):
    """One field and one button a page; what was sent is in `sent`."""

    def __init__(self) -> None:
        super().__init__()
        self.answers = [""]
        self.sent: list[list[str]] = []

    def look(self) -> Scene:
        page = len(self.answers)
        if self.sent:
            return Scene("Sent", Zone(id="thanks", role="text", label="Thank you"))
        button = "Next" if page < PAGES else "Send"
        return Scene(
            f"Page {page} of {PAGES}",
            Zone(id="field", role="textbox", label="Answer", state=(("text", self.answers[-1]),)),
            Zone(id="button", role="button", label=button),
        )

    @skill
    def fill(self, zone: Zone, text: str) -> None:
        self.answers[-1] = text

    @skill(transition=True)
    def click(self, zone: Zone) -> None:
        if zone.label == "Send":
            self.sent.append(self.answers)
        else:
            self.answers = [*self.answers, ""]


def seven_pages(**settings: object) -> tuple[Stage, Form]:
    fill = Draft(zone="textbox:Answer", skill="fill", arguments=(("text", "yes"),), says="Fill in the answer")
    rules = [
        Rule(on="Page 7*", steps=(fill, Draft(zone="button:Send", skill="click", says="Send it")), final=True),
        Rule(on="Page *", steps=(fill, Draft(zone="button:Next", skill="click", says="Turn the page"), AGAIN)),
    ]
    sent = Expectation(checks=(SurfaceMatches(pattern="Sent"),))
    world = Form()
    task = Task(goal="Fill in the form", done_when=sent)
    return Stage(world=world, planner=Playbook(rules), task=task, settings=settings), world


async def test_a_perfect_task_of_seven_pages_finishes_under_the_defaults() -> None:
    stage, form = seven_pages()
    played = await stage.play()
    assert played.ended == (True, True, "goal_reached")
    assert form.sent == [["yes"] * PAGES]
    assert (played.result.extensions, played.result.budget.replans) == (PAGES - 1, 0)
    assert (played.result.steps, played.result.planner_calls) == (2 * PAGES, PAGES)


async def test_under_the_seeds_shared_counter_it_ends_on_page_six() -> None:
    stage, form = seven_pages(count_extensions=True)
    played = await stage.play()
    assert played.ended == (False, False, "replan_exhausted")
    assert played.result.replans == 5
    assert form.sent == []
    assert len(played.completed) == 2 * 6


async def test_segments_have_a_ceiling_of_their_own() -> None:
    stage, _ = seven_pages(max_segments=6)
    played = await stage.play()
    assert played.ended == (False, False, "budget_exhausted")
    assert played.result.final_detail == "all 6 segments are used up"
    assert len(played.plans) == 6
