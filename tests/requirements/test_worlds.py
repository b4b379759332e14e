"""Document 004: the planner gets the picture, and the simulation can be reset between attempts."""

from dataclasses import replace
from pathlib import Path

import pytest

from midcourse import Agent, Settings
from midcourse.agent.agent import build_agent
from midcourse.agent.wiring import load_job
from midcourse.domain.observation import Observation, Surface, Unseen, Zone
from midcourse.testing import MemoryBlobs, MemoryStore
from midcourse.testing.models import ModelServer
from midcourse.worlds.simulated import read_effects
from tests.llm.test_reader import Pixels, white
from tests.requirements.test_prompts import DONE

SAVE = Zone(id="save", role="button", label="Save", bounds=(10, 10, 50, 20))


def test_a_planner_model_gets_the_picture_and_the_objects() -> None:
    class Listed(Pixels):
        async def observe(self) -> Observation | Unseen:
            digest = self.show(white(100))
            surface = Surface(title="Editor")
            return Observation(id="", surface=surface, zones=(SAVE,), fingerprint="", screenshot=digest)

    with ModelServer([DONE]) as server:
        settings = Settings(model="openai:any", model_base_url=server.url, images="on")
        Agent(Listed(), settings=settings, store=MemoryStore(), blobs=MemoryBlobs()).run_sync("Save it")
    request = server.requests[0]
    assert len(request.images) == 1
    assert 'save button "Save"' in request.text


@pytest.mark.slow
async def test_the_simulation_is_reset_between_attempts_if_the_task_asks_for_it(tmp_path: Path) -> None:
    job = load_job("moved_cube", {"home": str(tmp_path / "home"), "retry_delay_seconds": 0})
    options = {**job.file.world.options, "reset_after_failure": True}
    job = replace(job, file=replace(job.file, world=replace(job.file.world, options=options)))
    result = await build_agent(job, tmp_path, None).run(job.task, run_id="run")
    assert result.verified
    assert [one.effect for one in read_effects(tmp_path / "effects.jsonl")][:2] == ["pushed", "reset"]
