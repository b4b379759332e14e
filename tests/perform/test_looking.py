"""The picture of an observation is stored with the run, or the observation is used without it."""

import asyncio
import logging
from dataclasses import replace

import pytest

from midcourse import Agent, Draft, PlanDraft, Task
from midcourse.domain.expectation import Expectation, TextContains
from midcourse.domain.observation import Observation, Unseen
from midcourse.perform.looking import look
from midcourse.ports.blobs import Blob, digest_of
from midcourse.testing import FakeClock, MemoryBlobs, MemoryStore, Scripted
from midcourse.testing.conformance.reader import white
from midcourse.testing.conformance.store_samples import new_run
from midcourse.worlds.base import BaseWorld, Scene, Zone, skill
from tests.harness import Bench

PICTURE = white(64, 48)


class Mute(BaseWorld):
    """Names a picture in every observation, and cannot deliver any."""

    def look(self) -> Scene:
        return Scene("Poster", Zone(id="door", role="button", label="Door"))

    @skill(effect="set_state")
    def click(self, zone: Zone) -> None:
        """Nothing happens."""

    async def observe(self) -> Observation | Unseen:
        seen = await super().observe()
        return seen if isinstance(seen, Unseen) else replace(seen, screenshot=digest_of(PICTURE))


class Poster(Mute):
    """`answer` is what it delivers when it is asked for the picture."""

    def __init__(self, answer: bytes | Exception | None = PICTURE) -> None:
        super().__init__()
        self.answer = answer

    async def read_screenshot(self, digest: str) -> bytes | None:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class Full(MemoryBlobs):
    async def put(self, run_id: str, blob: Blob) -> str:
        raise OSError(28, "No space left on device")


class Hanging(MemoryBlobs):
    async def put(self, run_id: str, blob: Blob) -> str:
        await asyncio.Event().wait()
        raise AssertionError


async def screenshots(world: BaseWorld, blobs: MemoryBlobs) -> set[str]:
    """What the observations of a run name, which must succeed."""
    store = MemoryStore()
    planner = Scripted(PlanDraft(steps=(Draft(zone="door", skill="click"),), final=True))
    agent = Agent(world, planner, store=store, blobs=blobs)
    result = await agent.run("Open the door", run_id="r1")
    assert result.success, result
    looks = [await store.observation("r1", f"o{number}") for number in range(20)]
    return {look.screenshot for look in looks if look is not None}


async def test_a_picture_is_stored_with_its_run():
    blobs = MemoryBlobs()
    (digest,) = await screenshots(Poster(), blobs)
    assert await blobs.read("r1", digest) == Blob(data=PICTURE, media_type="image/png", width=64, height=48)
    assert await blobs.read("r2", digest) is None


@pytest.mark.parametrize(
    "answer", [None, b"", b"<script>", white(2, 2), ConnectionError("gone"), RuntimeError("a bug of the world's")]
)
async def test_without_the_picture_that_was_named_the_observation_names_none(answer: bytes | Exception | None):
    blobs = MemoryBlobs()
    assert await screenshots(Poster(answer), blobs) == {""}
    assert blobs._kept == {}


async def test_a_world_without_pictures_is_observed_without():
    assert await screenshots(Mute(), MemoryBlobs()) == {""}


async def test_a_full_blob_store_does_not_stop_a_run(caplog: pytest.LogCaptureFixture):
    with caplog.at_level(logging.WARNING):
        assert await screenshots(Poster(), Full()) == {""}
    assert "No space left on device" in caplog.text


async def test_a_blob_store_that_hangs_takes_only_the_time_of_the_look():
    clock, store, task = FakeClock(patience=None), MemoryStore(), Task(goal="Open the door")

    class Slow(Poster):
        async def observe(self) -> Observation | Unseen:
            clock.advance(59.95)
            return await super().observe()

    ports = Agent(Slow(), Scripted(PlanDraft(verdict="done")), store=store, blobs=Hanging(), clock=clock).build_ports(
        store, "r1", task
    )
    await ports.world.open()
    await store.begin(new_run("r1"), task)
    seen = (await look(ports, 1, 60.0)).seen
    assert isinstance(seen, Observation)
    assert seen.screenshot == ""


class Form(BaseWorld):
    """A form in whose field `typed` stands, and that shows `notice`."""

    typed = notice = ""

    def look(self) -> Scene:
        field = Zone(id="name", role="textbox", label="Name", state=(("text", self.typed),))
        return Scene("Form", field, Zone(id="notice", role="status", label=self.notice or "New"))

    @skill(effect="set_state")
    def save(self) -> None:
        """Save it."""


@pytest.mark.parametrize(
    ("typed", "notice", "meets"), [("Ada", "", False), ("Ada", "Saved: Ada", True), ("", "", False)]
)
async def test_a_screen_meets_the_goal_if_more_than_a_field_says_so(typed: str, notice: str, meets: bool):
    world, task = Form(), Task(goal="Save it", done_when=Expectation(checks=(TextContains(text="Ada"),)))
    world.typed, world.notice = typed, notice
    ports = Bench(world=world, task=task).ports
    await world.open()
    await ports.store.begin(new_run("run"), task)
    seen = (await look(ports, 1, 60.0)).ref
    assert seen is not None
    assert seen.meets_goal is meets
