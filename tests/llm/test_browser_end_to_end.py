"""A task in a real browser, planned by a model behind a real server, on both runtimes. The site says what was done."""

import re
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from midcourse.app.vault import EnvironmentVault
from midcourse.app.wiring import Job, agent_for, load_job, planner_for, remote_world
from midcourse.domain.result import Result
from midcourse.testing import Approves
from midcourse.testing.models import ChatRequest, Fails, ModelServer
from midcourse.testing.models.answer import Line
from midcourse.testing.sites import PASSWORD, USER, Tickets, serve
from tests.runtimes.fleet import Cast, Fleet

pytestmark = pytest.mark.slow

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


class Clerk:
    """What the model says. It reads zone ids off the screen that it is sent, as a model has to."""

    def __init__(self) -> None:
        self.rude = [Fails(429, retry_after=0.2), "I would rather not say it in JSON."]

    def __call__(self, request: ChatRequest) -> Line:
        if self.rude:
            return self.rude.pop(0)
        title = re.search(r'^surface "([^":]*)', request.text, re.MULTILINE)
        assert title, request.text
        match title[1]:
            case "Sign in":
                steps = [
                    typing(request, "User name", USER),
                    typing(request, "Password", "$secret.password"),
                    clicking(request, "button", "Sign in", "Tickets"),
                ]
            case "Tickets":
                steps = [clicking(request, "link", "New ticket", "New ticket")]
            case "New ticket":
                steps = [
                    typing(request, "Customer number", "$input.customer"),
                    typing(request, "Subject", "Lamp hums"),
                    typing(request, "Description", "In B flat."),
                    clicking(request, "button", "Create ticket", "Ticket *"),
                ]
            case _:
                return {"verdict": "done"}
        return {"verdict": "steps", "steps": [*steps, {"zone": "__replan__"}]}


def typing(request: ChatRequest, label: str, text: str) -> dict[str, Any]:
    return {
        "zone": zone(request, "textbox", label),
        "skill": "type",
        "arguments": {"text": text},
        "says": f"Fill in {label}",
    }


def clicking(request: ChatRequest, role: str, label: str, then: str) -> dict[str, Any]:
    seen = {"checks": [{"kind": "surface_matches", "text": then}]}
    return {"zone": zone(request, role, label), "skill": "click", "says": label, "expect": seen, "transition": True}


def zone(request: ChatRequest, role: str, label: str) -> str:
    found = re.search(rf'^(\S+) {role} "{label}"', request.text, re.MULTILINE)
    assert found, f"no {role} {label} in\n{request.text}"
    return found[1]


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
    with serve(site) as address, ModelServer(Clerk()) as server:
        file = tmp_path / "ticket.toml"
        file.write_text(TASK.format(site=address, model=server.url))
        job = load_job(str(file), {"home": str(tmp_path), "retry_delay_seconds": "0.1"})
        yield Stage(site=site, server=server, job=job, person=Approves(), folder=tmp_path / "run")


async def test_on_the_local_runtime(stage: Stage):
    result = await agent_for(stage.job, stage.folder, stage.person).run(stage.job.task)
    assert_reported(stage, result)


async def test_on_temporal(stage: Stage, fleet: Fleet):
    spec, settings = stage.job.file, stage.job.settings
    cast = Cast(
        world=remote_world(spec.world, stage.folder),
        planner=planner_for(spec.planner, settings),
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
    assert len(asked) == 6, "a 429, an answer that is none, a plan for each of three screens, and that it is done"
    assert result.budget.calls == 5, "whoever is turned away at the door has spent nothing"
    assert result.budget.tokens > 0
    assert not any(PASSWORD in request.text for request in asked)
    assert stage.person.questions
