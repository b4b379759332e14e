"""A world of pictures: a model reads them, what it made out takes the place of what was seen, and what it could not leaves it stale."""

import pytest
from pydantic_ai.exceptions import ModelRateLimitError
from pydantic_ai.messages import BinaryContent, ModelRequest, UserPromptPart

from midcourse import Agent, Draft, Settings, Task
from midcourse.domain.budget import Cost
from midcourse.domain.observation import Observation, Surface, Unseen
from midcourse.domain.plan import REPLAN
from midcourse.domain.result import Result
from midcourse.llm.model_client import ModelClient
from midcourse.llm.roles.reader import ModelReader
from midcourse.ports.blobs import digest_of
from midcourse.ports.planner import PlanDraft
from midcourse.ports.reader import Picture
from midcourse.ports.world import Call
from midcourse.testing import FakeClock, MemoryBlobs, MemoryStore, Scripted, ScriptedReader
from midcourse.testing.conformance.reader import ReaderConformance, white
from midcourse.worlds.base import BaseWorld, Outcome, Zone, skill
from tests.llm.scripted import ScriptedModel

SAVE = {"role": "button", "label": "Save", "place": [10, 10, 60, 30]}
NAME = {"role": "textbox", "label": "Name", "place": [10, 40, 90, 60], "state": {"text": "Ada"}}


class Pixels(BaseWorld):
    """Shows a picture and takes clicks at places."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: dict[str, bytes] = {}
        self.clicks: list[object] = []

    def show(self, picture: bytes) -> str:
        self.shown = {digest_of(picture): picture}
        return digest_of(picture)

    async def read_screenshot(self, digest: str) -> bytes | None:
        return self.shown.get(digest)

    async def observe(self) -> Observation | Unseen:
        digest = self.show(white(100 + len(self.clicks)))
        return Observation(id="", surface=Surface(title="Editor"), fingerprint="", screenshot=digest)

    @skill(effect="set_state")
    def click(self, zone: Zone) -> None:
        """Click in the middle of it."""

    async def act(self, call: Call) -> Outcome:
        self.clicks.append(call.bounds)
        return Outcome()


def click(zone: str) -> Draft:
    return Draft(zone=zone, skill="click")


class PictureRun:
    """A run in the world of pictures."""

    def __init__(self) -> None:
        self.world: Pixels = Pixels()

    async def run(
        self, model: ScriptedModel, *drafts: PlanDraft, planner: Scripted | None = None, **more: object
    ) -> Result:
        chosen = Settings.load(overrides={"vision": "on", **{name: str(value) for name, value in more.items()}})
        agent = Agent(
            world=self.world,
            planner=planner or Scripted(*drafts),
            reader=ModelReader(ModelClient([model.model], answer_tokens=500)),
            settings=chosen,
            store=MemoryStore(),
            clock=FakeClock(),
            blobs=MemoryBlobs(),
        )
        return await agent.run(Task(goal="Save it", limits=chosen.limits()))


@pytest.fixture
def picture_run() -> PictureRun:
    return PictureRun()


async def test_what_is_made_out_can_be_acted_on_where_it_was_seen(picture_run: PictureRun):
    model = ScriptedModel(lambda prompt: {"zones": [SAVE, NAME]})
    result = await picture_run.run(model, PlanDraft(steps=(click("button-save"),), final=True))
    assert (result.final_reason, picture_run.world.clicks) == ("plan_complete", [(10, 10, 50, 20)])
    assert [(line.role, line.cost.calls) for line in result.spent] == [("reader", 1), ("planner", 1), ("reader", 1)]
    assert "100 pixels wide and 80 pixels high" in model.prompts[0]


async def test_a_picture_in_which_nothing_is_made_out_leaves_the_last_screen_stale(picture_run: PictureRun):
    readings = iter([{"zones": [SAVE]}, {"zones": []}, "?", {"zones": [SAVE]}])
    model = ScriptedModel(lambda prompt: next(readings))
    drafts = (PlanDraft(steps=(click("button-save"), Draft(zone=REPLAN))), PlanDraft(verdict="done"))
    result = await picture_run.run(model, *drafts)
    assert result.final_reason == "plan_complete"
    assert len(picture_run.world.clicks) == 1


async def test_a_rate_limit_is_waited_for(picture_run: PictureRun):
    busy = ModelRateLimitError("m", "too much", retry_after=30.0)
    answers = iter([*[busy] * 9, {"zones": [SAVE]}])
    result = await picture_run.run(ScriptedModel(lambda prompt: next(answers)), *[PlanDraft(verdict="done")] * 2)
    assert (result.final_reason, result.budget.calls) == ("plan_complete", 3)


async def test_every_look_is_paid_for_and_the_first_one_too(picture_run: PictureRun):
    result = await picture_run.run(
        ScriptedModel(lambda prompt: {"zones": [SAVE]}), PlanDraft(verdict="done"), max_calls=1
    )
    assert (result.final_reason, result.budget.calls) == ("budget_exhausted", 1)


class Waiting(Pixels):
    """Shows the same picture all the time, with a button of its own."""

    async def observe(self) -> Observation | Unseen:
        own = Zone(id="own", role="button", label="Stop", bounds=(0, 60, 20, 20))
        surface = Surface(title="Editor")
        return Observation(id="", surface=surface, fingerprint="", zones=(own,), screenshot=self.show(white()))


async def test_the_same_picture_is_read_once(picture_run: PictureRun):
    picture_run.world = Waiting()
    model = ScriptedModel([{"zones": [SAVE]}])
    drafts = (PlanDraft(steps=(click("own"), Draft(zone=REPLAN))), PlanDraft(steps=(click("button-save"),), final=True))
    result = await picture_run.run(model, *drafts)
    assert (result.final_reason, len(picture_run.world.clicks), len(model.prompts)) == ("plan_complete", 2, 1)
    assert 'Task of the agent: "Save it"' in model.prompts[0]
    assert 'button "Stop" [0, 60, 20, 80]' in model.prompts[0]


async def test_a_picture_that_was_not_read_is_read_again_and_the_planner_is_told(picture_run: PictureRun):
    picture_run.world = Waiting()
    misplaced = {"zones": [{**SAVE, "place": [900, 900, 990, 990]}]}
    model = ScriptedModel([misplaced, {"zones": [SAVE]}])
    planner = Scripted(PlanDraft(steps=(click("own"), Draft(zone=REPLAN))), PlanDraft(verdict="done"))
    await picture_run.run(model, planner=planner)
    assert [context.observation.unread for context in planner.contexts] == [
        "every place in the answer is outside of it",
        "",
    ]


async def read(*zones: object) -> tuple[Zone, ...]:
    reader = ModelReader(ModelClient([ScriptedModel([{"zones": list(zones)}]).model], answer_tokens=500))
    return (await reader.read(Picture(png=white(), surface=Surface(title="x")))).zones


async def test_ids_are_the_same_as_long_as_role_and_label_are():
    first, second = await read(SAVE, NAME, SAVE), await read({**SAVE, "place": [0, 0, 9, 9]}, NAME)
    assert [zone.id for zone in first] == ["button-save", "button-save-2", "textbox-name"]
    assert [zone.id for zone in second] == ["button-save", "textbox-name"]
    assert first[2].get("text") == "Ada"


@pytest.mark.parametrize("place", [[200, 10, 260, 30], [60, 10, 10, 30], [-9, -9, -1, -1], [0, 0, 0, 0]])
async def test_what_is_nowhere_on_the_picture_is_left_out(place: list[int]):
    assert await read({**SAVE, "place": place}) == ()


async def test_what_sticks_out_is_cut_off():
    assert (await read({**SAVE, "place": [-5, 70, 300, 300]}))[0].bounds == (0, 70, 100, 10)


async def test_places_are_converted_to_the_unit_of_the_screen():
    model = ScriptedModel(lambda prompt: {"zones": [SAVE]})
    reader = ModelReader(ModelClient([model.model], answer_tokens=500))
    sighting = await reader.read(Picture(png=white(200, 160), surface=Surface(title="x"), size=(100, 80)))
    assert sighting.zones[0].bounds == (5, 5, 25, 10)
    assert "200 pixels wide" in model.prompts[0]
    assert "One pixel of the screen is 2 pixels of it." in model.prompts[0]


async def test_a_picture_that_models_would_shrink_is_sent_smaller_and_its_places_are_converted_back():
    model = ScriptedModel(lambda prompt: {"zones": [{**SAVE, "place": [784, 0, 1568, 392]}]})
    reader = ModelReader(ModelClient([model.model], answer_tokens=500))
    sighting = await reader.read(Picture(png=white(3136, 1568), surface=Surface(title="x")))
    assert "1568 pixels wide and 784 pixels high" in model.prompts[0]
    assert sighting.zones[0].bounds == (1568, 0, 1568, 784)


async def test_data_that_is_not_an_image_is_not_sent():
    model = ScriptedModel([])
    reader = ModelReader(ModelClient([model.model], answer_tokens=500))
    sighting = await reader.read(Picture(png=b"GIF89a", surface=Surface(title="x")))
    assert (sighting.zones, sighting.cost, model.prompts) == ((), Cost(), [])


async def test_the_model_gets_the_bytes_of_the_picture():
    sent: list[object] = []
    model = ScriptedModel([{"zones": [SAVE]}])
    answer = model.model.function
    assert answer is not None

    def watched(messages, info):
        request = messages[-1]
        assert isinstance(request, ModelRequest)
        assert isinstance(request.parts[0], UserPromptPart)
        sent.extend(part for part in request.parts[0].content if isinstance(part, BinaryContent))
        return answer(messages, info)

    model.model.function = watched
    await ModelReader(ModelClient([model.model], answer_tokens=500)).read(
        Picture(png=white(), surface=Surface(title="x"))
    )
    assert sent == [BinaryContent(data=white(), media_type="image/png")]


@pytest.mark.slow
class TestConformance(ReaderConformance):
    def make_reader(self) -> ModelReader:
        zones = {"zones": [SAVE, NAME, SAVE, {**SAVE, "label": ""}]}
        return ModelReader(ModelClient([ScriptedModel(lambda prompt: zones).model], answer_tokens=500))


class TestConformanceOfTheFake(ReaderConformance):
    def make_reader(self) -> ScriptedReader:
        return ScriptedReader((Zone(id="a", role="button", label="Save", bounds=(0, 0, 9, 9)),))
