"""Each setting that is about models changes whom they are, where they are asked, or what they may answer."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from midcourse import Agent, Expectation, Settings, Task
from midcourse.agent.models import add_call_reserves, build_model_planner, build_roles
from midcourse.agent.roles import RoleModels
from midcourse.agent.wiring import build_planner, decode_job
from midcourse.domain.budget import Limits
from midcourse.errors import TaskInvalid
from midcourse.llm.cassette import read_exchanges
from midcourse.llm.roles.extractor import ModelExtractor
from midcourse.llm.roles.planner import ModelPlanner
from midcourse.llm.roles.verifier import ModelVerifier
from midcourse.policy.spending import worst_look
from midcourse.ports.planner import PlanDraft
from midcourse.testing import MemoryStore, Scripted
from midcourse.testing.models import ModelServer
from midcourse.worlds.simulated.shop import Shop
from tests.llm.scripted import ScriptedModel

MODEL_SETTINGS: dict[str, Callable[[], Awaitable[None]]] = {}


def shows(demonstration: Callable[[], Awaitable[None]]) -> Callable[[], Awaitable[None]]:
    MODEL_SETTINGS[demonstration.__name__] = demonstration
    return demonstration


def make_planner(**settings: object) -> ModelPlanner:
    loaded = Settings.load(overrides={name: str(value) for name, value in settings.items()})
    planner = build_model_planner(loaded.model, loaded)
    assert isinstance(planner, ModelPlanner)
    return planner


@shows
async def model() -> None:
    one, two = make_planner(model="openai:gpt-5"), make_planner(model="openai:gpt-5-mini | openai-chat:gpt-4o")
    assert [model.model_name for model in one.client.models] == ["gpt-5"]
    assert [model.model_name for model in two.client.models] == ["gpt-5-mini", "gpt-4o"]


@shows
async def model_base_url() -> None:
    planner = make_planner(model="openai:anything", model_base_url="http://127.0.0.1:8080/v1")
    assert planner.client.models[0].base_url == "http://127.0.0.1:8080/v1/"


@shows
async def answer_tokens() -> None:
    scripted = ScriptedModel(lambda prompt: {"verdict": "done"})
    planner = make_planner(model="openai:gpt-5", answer_tokens=321)
    planner.client.models = (scripted.model,)
    await Agent(world=Shop(), planner=planner, store=MemoryStore()).run("Show it")
    assert scripted.infos[0].model_settings == {"max_tokens": 321, "max_retries": 0, "timeout": 120.0}, (
        "as long as ours"
    )


def _models_that_think(**settings: object) -> RoleModels:
    """With a server of our own, so that nothing is known of its models."""
    own = {"model": "openai:some", "model_base_url": "http://127.0.0.1:8080/v1", **settings}
    return build_roles(Settings.load(overrides={name: str(value) for name, value in own.items()}))


@shows
async def thinking_tokens() -> None:
    limits = [
        add_call_reserves(Limits(), _models_that_think(answer_tokens=1000, thinking_tokens=500, **more)).plan_tokens
        for more in ({}, {"model_effort": "low"}, {"model_effort": "off"})
    ]
    assert limits == [60_000, 60_500, 60_000]


@shows
async def model_effort() -> None:
    with ModelServer([{"verdict": "done"}]) as server:
        for effort in ("", "low, reflector=high", "planner=high", "off"):
            minds = _models_that_think(model_base_url=server.url, answer_tokens=1000, model_effort=effort)
            await Agent(world=Shop(), planner=minds.planner, store=MemoryStore()).run("Show it")
    asked = [
        (request.body.get("reasoning_effort"), request.body["max_completion_tokens"]) for request in server.requests
    ]
    assert list(dict.fromkeys(asked)) == [(None, 1000), ("low", 9000), ("high", 9000)]
    for wrong in ("hard", "planer=low"):
        with pytest.raises(TaskInvalid, match="model_effort: no such"):
            _models_that_think(model_effort=wrong)


@shows
async def model_output() -> None:
    with ModelServer([{"verdict": "done"}]) as server:
        for output in ("auto", "native", "tool", "verifier=native, prompted"):
            minds = _models_that_think(model_base_url=server.url, model_output=output)
            await Agent(world=Shop(), planner=minds.planner, store=MemoryStore()).run("Show it")
    forms = [
        "tool" if request.body.get("tools") else request.body["response_format"]["type"] for request in server.requests
    ]
    assert list(dict.fromkeys(forms)) == ["json_schema", "tool", "json_object"]
    assert '"verdict"' in server.requests[-1].text, "its schema"


@shows
async def role_models() -> None:
    loaded = Settings.load(overrides={"model": "openai:gpt-5", "role_models": "verifier=openai:gpt-5-mini"})
    minds = build_roles(loaded)
    assert isinstance(minds.verifier, ModelVerifier)
    assert isinstance(minds.extractor, ModelExtractor)
    assert [model.model_name for model in minds.verifier.client.models] == ["gpt-5-mini"]
    assert [model.model_name for model in minds.extractor.client.models] == ["gpt-5"]


@shows
async def trace_content() -> None:
    quiet, telling = (
        build_roles(Settings(model="openai:gpt-5", trace_content=on), secrets=(("pin", "4711-0815"),))
        for on in (False, True)
    )
    for minds, content in ((quiet, False), (telling, True)):
        assert isinstance(minds.planner, ModelPlanner)
        assert minds.planner.client.tracing.content is content
        assert minds.planner.client.tracing.mask("4711-0815, not-a-key") == "<secret pin>, <secret OPENAI_API_KEY>"


@shows
async def reads_words() -> None:
    assert await run_and_check() == ("goal_reached", 2)
    assert await run_and_check(reads_words="off") == ("plan_complete", 1)


async def run_and_check(**more: str) -> tuple[str, int]:
    with ModelServer([{"verdict": "done"}, {"now": True}]) as server:
        loaded = Settings.load(overrides={"model": "openai:m", "model_base_url": server.url, **more})
        task = Task(goal="Look", done_when=Expectation(says="it was looked at"), limits=loaded.limits())
        result = await Agent(world=Shop(), settings=loaded, store=MemoryStore()).run(task)
        return result.final_reason, len(server.requests)


@shows
async def detours() -> None:
    plain, trying = (
        build_roles(Settings.load(overrides={"model": "openai:gpt-5", "detours": on})) for on in ("off", "on")
    )
    assert (plain.detour_planner, plain.closeness_judge) == (None, None)
    assert trying.detour_planner
    assert trying.closeness_judge


@shows
async def vision() -> None:
    plain, seeing = (
        add_call_reserves(loaded.limits(), build_roles(loaded))
        for loaded in (Settings.load(overrides={"model": "openai:gpt-5", "vision": on}) for on in ("off", "on"))
    )
    assert (worst_look(plain).calls, worst_look(seeing).calls) == (0, 1)


@shows
async def record() -> None:
    with ModelServer([{"verdict": "done"}]) as server:
        await run_with(record="tape.jsonl", model_base_url=server.url)
    assert len(read_exchanges(Path("tape.jsonl"))) == len(server.requests) > 0


@shows
async def cassette() -> None:
    with ModelServer([{"verdict": "impossible"}]) as server:
        first = await run_with(record="tape.jsonl", model_base_url=server.url)
    assert await run_with(cassette="tape.jsonl") == first == "structural_failure"


async def run_with(**settings: object) -> str:
    loaded = Settings.load(overrides={"model": "openai:m", **{name: str(value) for name, value in settings.items()}})
    return (await Agent(world=Shop(), settings=loaded, store=MemoryStore()).run("Show it")).final_reason


@pytest.fixture(autouse=True)
def _only_a_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-key")


@pytest.mark.parametrize("name", MODEL_SETTINGS)
async def test_the_setting_has_an_effect(name: str) -> None:
    await MODEL_SETTINGS[name]()


def test_run_without_model_and_planner_is_refused():
    with pytest.raises(TaskInvalid, match="no planner: pass planner=…"):
        Agent(world=Shop(), settings=Settings()).run_sync("Show it")


@pytest.mark.parametrize("name", ["gpt-5", "nobody:gpt-5", "", "openai:", "anthropic:claude-opus-5"])
def test_a_model_that_cannot_be_asked_is_refused_before_anything_runs(name: str):
    with pytest.raises(TaskInvalid, match="model"):
        build_model_planner(name, Settings())


@pytest.mark.parametrize(
    ("written", "wrong"),
    [
        ("verifer=openai:m", "did you mean 'verifier'"),
        ("verifier", "role=provider:name"),
        ("verifier=", "role=provider"),
    ],
)
def test_a_role_that_means_nothing_is_refused(written: str, wrong: str):
    with pytest.raises(TaskInvalid, match=wrong):
        build_roles(Settings(model="openai:gpt-5", role_models=written))


def test_whoever_is_to_read_pictures_has_to_be_named():
    with pytest.raises(TaskInvalid, match="detours"):
        build_roles(Settings(detours=True), planner=Scripted(PlanDraft(verdict="done")))
    with pytest.raises(TaskInvalid, match="vision"):
        add_call_reserves(Limits(vision=True), build_roles(Settings(), planner=Scripted(PlanDraft(verdict="done"))))


def test_a_prompt_needs_room_beside_the_answer():
    with pytest.raises(TaskInvalid, match="leaves no room"):
        add_call_reserves(Limits(plan_tokens=9_000), build_roles(Settings(model="openai:gpt-5")))


def test_a_missing_key_is_said_before_anything_runs(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(TaskInvalid, match="OPENAI_API_KEY"):
        build_model_planner("openai:gpt-5", Settings())


def test_what_is_played_cannot_be_recorded_at_once():
    with pytest.raises(TaskInvalid, match="record and cassette"):
        make_planner(model="openai:gpt-5", record="a.jsonl", cassette="b.jsonl")


def test_any_worker_makes_the_planner_from_the_job():
    source = 'goal = "x"\n[world]\nname = "shop"\n[planner]\nmodel = "openai:m"\nbase_url = "http://127.0.0.1:9/v1"'
    job = decode_job(json.dumps({"name": "x", "overrides": {}, "inputs": [], "source": source}))
    assert isinstance(build_planner(job.file.planner, job.settings), ModelPlanner)
