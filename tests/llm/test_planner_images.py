"""A planning model that takes images gets the screenshot with zone ids on it, and no other model does."""

from io import BytesIO

import pytest
from PIL import Image
from pydantic_ai.messages import BinaryContent, ModelRequest, UserPromptPart

from midcourse.domain.argument import Scalar
from midcourse.domain.observation import PICTURED, Observation, Surface, Zone
from midcourse.domain.replace import replace
from midcourse.llm.image import COLOUR, PICTURED_COLOUR, draw_zones, read_png_size
from midcourse.llm.model_client import ModelClient
from midcourse.llm.roles.planner import Images, ModelPlanner
from midcourse.testing.conformance.reader import white
from tests.llm.scripted import ScriptedModel
from tests.llm.situations import FIRST

DONE = {"verdict": "done", "reason": "x"}
SAVE = Zone(id="e7", role="button", label="Save", bounds=(10, 30, 40, 20))
DRAWN = Zone(id="p1", role="button", label="Order", bounds=(60, 30, 30, 20), state=((PICTURED, True),))
SEEN = Observation(id="o1", surface=Surface(title="x"), zones=(SAVE, DRAWN), fingerprint="f", size=(100, 80))
CONTEXT = replace(FIRST, observation=SEEN, picture=white(200, 160))


def read_colors(png: bytes, *points: tuple[int, int]) -> list[str]:
    with Image.open(BytesIO(png)) as picture:
        found = [picture.convert("RGB").getpixel(point) for point in points]
    return ["#{:02x}{:02x}{:02x}".format(*colour) for colour in found if isinstance(colour, tuple)]


def make_planner(images: Images, *, takes: bool = True) -> tuple[ModelPlanner, ScriptedModel, list[BinaryContent]]:
    model = ScriptedModel(lambda prompt: DONE)
    vars(model.model)["profile"] = {**model.model.profile, "supports_image_input": takes}  # where it is cached
    sent: list[BinaryContent] = []
    answer = model.model.function
    assert answer is not None

    def watched(messages, info):
        request = messages[-1]
        assert isinstance(request, ModelRequest)
        for part in request.parts:
            if isinstance(part, UserPromptPart):
                sent.extend(one for one in part.content if isinstance(one, BinaryContent))
        return answer(messages, info)

    model.model.function = watched
    return ModelPlanner(ModelClient([model.model], answer_tokens=500), images=images), model, sent


def test_zones_are_drawn_where_they_are_whatever_the_scale():
    drawn = draw_zones(white(200, 160), (SAVE, DRAWN), (100, 80))
    assert drawn
    assert read_png_size(drawn) == (200, 160)
    assert read_colors(drawn, (20, 80), (120, 80), (50, 120)) == [COLOUR, PICTURED_COLOUR, "#ffffff"]


@pytest.mark.parametrize(
    ("images", "takes", "sends"), [("off", True, 0), ("on", False, 1), ("auto", True, 1), ("auto", False, 0)]
)
async def test_the_picture_goes_to_models_that_take_it(images: Images, takes: bool, sends: int):
    seeing, model, sent = make_planner(images, takes=takes)
    assert seeing.sees is bool(sends)
    await seeing.plan(CONTEXT)
    assert len(sent) == sends
    assert ("The picture shows this screen" in model.prompts[0]) is bool(sends)
    if sends:
        assert read_colors(sent[0].data, (20, 80)) == [COLOUR]


LIST = tuple(Zone(id=f"e{n}", role="link", label=f"Order {n}", bounds=(0, 10 * n, 90, 9)) for n in range(20))


def make_icons(count: int, **state: Scalar) -> tuple[Zone, ...]:
    return tuple(Zone(id=f"i{n}", role="button", label="", bounds=(9 * n, 0, 8, 8), state=state) for n in range(count))


@pytest.mark.parametrize(
    ("zones", "worth"),
    [
        (LIST, False),
        (LIST[:3], True),
        ((*LIST, *make_icons(3)), False),
        ((*LIST, *make_icons(5)), True),
        ((*LIST, *make_icons(5, hint="trash")), False),
        ((*LIST, *make_icons(5, seen=False)), False),
        ((*LIST, *make_icons(1, hint="canvas")), True),
    ],
)
async def test_auto_sends_a_picture_only_where_zones_do_not_say_enough(zones: tuple[Zone, ...], worth: bool):
    for images in ("auto", "on"):
        seeing, _, sent = make_planner(images)
        await seeing.plan(replace(CONTEXT, observation=replace(SEEN, zones=zones)))
        assert bool(sent) is (worth or images == "on")


async def test_without_a_screenshot_or_with_a_stale_one_only_the_zones_are_sent():
    seeing, model, sent = make_planner("on")
    await seeing.plan(replace(CONTEXT, picture=b""))
    await seeing.plan(replace(CONTEXT, observation=replace(SEEN, stale=True)))
    assert sent == []
    assert not any("The picture shows" in prompt for prompt in model.prompts)
