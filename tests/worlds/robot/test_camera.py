"""Pictures of the cell: where objects are in them, and what is said when nothing can render."""

import logging
from io import BytesIO

import pytest
from PIL import Image

from midcourse.domain.observation import Observation
from midcourse.worlds.robot import camera
from tests.worlds.robot.cells import TWO, open_robot
from tests.worlds.support import ok


@pytest.mark.slow
async def test_every_object_is_where_its_bounds_say() -> None:
    async with open_robot(TWO, screenshots="all") as (hand, world):
        seen = await hand.see()
        png = await world.read_screenshot(seen.screenshot)
        assert png is not None
        picture = Image.open(BytesIO(png)).convert("RGB")
        assert picture.size == (640, 480)
        for name, channel in (("red_cube", 0), ("blue_cube", 2)):
            zone = next(zone for zone in seen.zones if zone.label == name)
            assert zone.bounds is not None
            left, top, width, height = zone.bounds
            colour = picture.getpixel((left + width // 2, top + height // 2))
            assert isinstance(colour, tuple)
            assert colour[channel] == max(colour)
            assert colour[channel] > 2 * min(colour), f"{name} is not at {zone.bounds}: {colour}"


@pytest.mark.slow
async def test_pictures_are_taken_when_they_are_asked_for() -> None:
    async with open_robot(screenshots="on_change") as (hand, _):
        assert (await hand.see()).screenshot == "", "the same as when it was opened"
        ok(await hand.do("pick", object="red_cube"))
        assert (await hand.see()).screenshot
        assert dict((await hand.do("perceive")).data)["picture"] == ""
        ok(await hand.do("home"))
        named = dict((await hand.do("perceive")).data)["picture"]
        assert named
        assert (await hand.see()).screenshot == named, "what an act names, the next observation has"
    async with open_robot(screenshots="on_failure") as (hand, _):
        assert (await hand.see()).screenshot == ""
        await hand.do("pick", object="cup")
        assert (await hand.see()).screenshot


async def test_without_a_library_there_is_no_picture_and_a_message(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(camera, "find_library", lambda _: None)
    monkeypatch.delenv("MUJOCO_GL", raising=False)
    with caplog.at_level(logging.WARNING):
        async with open_robot(screenshots="all") as (hand, world):
            seen = await world.observe()
            assert isinstance(seen, Observation)
            assert seen.screenshot == ""
            assert "apt install libegl1" in str(dict((await hand.do("perceive")).data)["picture"])
            ok(await hand.do("pick", object="red_cube"))
    assert caplog.text.count("apt install libegl1") == 1
