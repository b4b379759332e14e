"""A task in a real browser, planned by a model behind a real server, on both runtimes. The site says what was done."""

from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

import pytest

from midcourse.agent.agent import build_agent
from midcourse.agent.wiring import Job, build_planner, build_remote_world, load_job
from midcourse.config.defaults import EnvironmentVault
from midcourse.domain.result import Result
from midcourse.testing import Approves
from midcourse.testing.models import Fails, ModelServer
from midcourse.testing.sites import PASSWORD, Tickets, serve
from tests.llm.clerk import Clerk
from tests.runtimes.fleet import Cast, Fleet

pytestmark = pytest.mark.slow

RUDE = [Fails(429, retry_after=0.2), "I would rather not say it in JSON."]

TASK = """
goal = "Report that the lamp of customer C-4711 hums"
secrets = ["password"]
[inputs]
customer = "C-4711"
[done_when]
surface_matches = "Ticket *: Lamp hums"
[world]
name = "browser"
options.start = "{site}"
options.origins."{site}".secrets = ["password"]
[planner]
model = "openai:scripted"
base_url = "{model}"
"""


@dataclass(frozen=True, kw_only=True)
class Stage:
    site: Tickets
    server: ModelServer
    job: Job
    person: Approves
    folder: Path


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Stage]:
    monkeypatch.setenv("MIDCOURSE_SECRET_PASSWORD", PASSWORD)
    site = Tickets()
    with serve(site) as address, ModelServer(Clerk(RUDE)) as server:
        file = tmp_path / "ticket.toml"
        file.write_text(TASK.format(site=address, model=server.url))
        job = load_job(str(file), {"home": str(tmp_path), "retry_delay_seconds": "0.1"})
        yield Stage(site=site, server=server, job=job, person=Approves(), folder=tmp_path / "run")


async def test_a_model_completes_a_task_in_a_browser_locally(stage: Stage):
    result = await build_agent(stage.job, stage.folder, stage.person).run(stage.job.task)
    assert_reported(stage, result)


async def test_a_model_completes_a_task_in_a_browser_on_temporal(stage: Stage, fleet: Fleet):
    spec, settings = stage.job.file, stage.job.settings
    cast = Cast(
        world=build_remote_world(spec.world, stage.folder),
        planner=build_planner(spec.planner, settings),
        task=stage.job.task,
        approver=stage.person,
        vault=EnvironmentVault(),
    )
    async with fleet.worker():
        handle = await fleet.begin(cast)
        result = await handle.result()
    assert_reported(stage, result)


def assert_reported(stage: Stage, result: Result) -> None:
    assert (result.final_reason, result.verified) == ("goal_reached", True), result
    (ticket,) = [effect.values for effect in stage.site.effects if effect.name == "ticket"]
    assert (ticket["customer"], ticket["subject"]) == ("C-4711", "Lamp hums")
    asked = stage.server.requests
    assert len(asked) == 5, (
        "a 429, an answer that is none, and a plan for each of three screens; the last shows that it is done"
    )
    assert result.budget.calls == 4, "a call that is refused at once has cost nothing"
    assert result.budget.tokens > 0
    assert not any(PASSWORD in request.text for request in asked)
    assert stage.person.questions
