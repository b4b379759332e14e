"""Words that a model reads: expectations without checks, and a done_when in words."""

from dataclasses import replace

import pytest
from pydantic_ai.exceptions import ModelRateLimitError, ModelServerError

from midcourse import Agent, Draft, Expectation, Settings, Task
from midcourse.domain.result import Result
from midcourse.llm.model_client import ModelClient
from midcourse.llm.roles.verifier import ModelVerifier, build_verifier_prompt
from midcourse.ports.planner import PlanDraft
from midcourse.ports.verifier import Claim
from midcourse.testing import FakeClock, MemoryStore, Scripted, ScriptedVerifier
from midcourse.testing.conformance.verifier import VerifierConformance
from midcourse.worlds.base import BaseWorld, Scene, Zone, skill
from tests.llm.scripted import Answer, ScriptedModel
from tests.llm.situations import TASK, form, make_screen


class Lamp(BaseWorld):
    """Says what it says, and counts its presses."""

    def __init__(self) -> None:
        super().__init__()
        self.presses = 0
        self.notes = [Zone(id="note", role="text", label="A new lamp")]

    def look(self) -> Scene:
        lamp = Zone(id="lamp", role="switch", label="Lamp", state=(("presses", self.presses),))
        return Scene("Room", lamp, *self.notes)

    @skill(effect="set_state")
    def press(self, zone: Zone) -> None:
        self.presses += 1

    @skill(effect="set_state")
    def turn(self, zone: Zone) -> None:
        self.presses += 1

    @skill(effect="irreversible")
    def smash(self, zone: Zone) -> None:
        self.presses += 1
        self.notes += [Zone(id="shards", role="text", label="Shards on the floor")]


def load_settings(**more: object) -> Settings:
    return Settings.load(overrides={"approvals": "never", **{name: str(value) for name, value in more.items()}})


async def run(verifier: ScriptedModel, *drafts: PlanDraft, says: str = "", **more: object) -> Result:
    chosen = load_settings(**more)
    task = Task(goal="Light the lamp", done_when=Expectation(says=says) if says else None, limits=chosen.limits())
    agent = Agent(
        world=Lamp(),
        planner=Scripted(*drafts),
        verifier=ModelVerifier(ModelClient([verifier.model], answer_tokens=500)),
        settings=chosen,
        store=MemoryStore(),
        clock=FakeClock(),
    )
    return await agent.run(task)


def plan_press(says: str = "", name: str = "press") -> PlanDraft:
    expect = Expectation(says=says) if says else None
    return PlanDraft(steps=(Draft(zone="lamp", skill=name, expect=expect),), final=True)


async def test_a_done_when_in_words_is_read():
    model = ScriptedModel([{"now": True, "why": "it was pressed once"}])
    result = await run(model, plan_press(), says="the lamp has been pressed")
    assert (result.final_reason, result.verified) == ("goal_reached", True)
    assert result.final_detail == "seen: the lamp has been pressed (it was pressed once)"
    assert 'Statement: "the lamp has been pressed"' in model.prompts[0]
    assert [(line.role, line.cost.calls) for line in result.spent] == [("planner", 1), ("verifier", 1)]


async def test_an_unmet_done_when_in_words_leads_to_a_new_plan():
    model = ScriptedModel([{"now": False, "why": "it is dark"}, {"now": True}])
    result = await run(model, plan_press(), says="the lamp is lit")
    assert (result.final_reason, result.verified, result.budget.error_replans) == ("goal_reached", True, 1)


@pytest.mark.parametrize("answer", [{"now": None}, "perhaps", {"before": True}])
async def test_an_undecided_done_when_stays_unverified(answer: Answer):
    result = await run(ScriptedModel(lambda prompt: answer), plan_press(), says="the lamp is lit")
    assert (result.final_reason, result.verified) == ("plan_complete", False)


async def test_verifier_is_not_called_if_it_is_switched_off():
    model = ScriptedModel([])
    result = await run(model, plan_press("lit"), says="the lamp is lit", reads_words="off")
    assert (result.final_reason, result.verified, model.prompts) == ("plan_complete", False, [])


async def test_an_expectation_in_words_that_is_not_met_is_a_failure_of_the_step():
    model = ScriptedModel([{"now": False}, {"now": True}])
    result = await run(model, plan_press("the lamp is lit"), plan_press("the lamp is lit", "turn"))
    assert result.final_reason == "plan_complete"
    assert [attempt.reason for attempt in result.attempts] == ["expectation_unmet"]
    assert [(line.role, line.version) for line in result.spent if line.role == "verifier"] == [
        ("verifier", 1),
        ("verifier", 2),
    ]


async def test_of_an_irreversible_step_only_quoted_words_that_were_not_there_before_are_evidence():
    shards = ScriptedModel([{"now": True, "quote": "shards on the floor"}])
    new = await run(shards, plan_press("it is broken", "smash"))
    assert (new.final_reason, new.verified, new.completed[0].doubtful) == ("plan_complete", False, False)
    assert "copied exactly from one line of the screen now" in " ".join(shards.prompts[0].split())
    for quote in ("A new lamp", "Glass everywhere", ""):
        old = await run(ScriptedModel([{"now": True, "quote": quote}] * 9), plan_press("it is broken", "smash"))
        assert (old.final_reason, old.completed[0].doubtful) == ("needs_human", True)


async def test_a_no_is_never_evidence_that_nothing_happened():
    result = await run(ScriptedModel([{"now": False, "before": False}] * 9), plan_press("it is broken", "smash"))
    assert result.completed[0].doubtful
    assert result.executions == 1


async def test_whoever_reads_at_a_rate_limit_is_waited_for():
    busy = ModelRateLimitError("m", "too much", retry_after=30.0)
    result = await run(ScriptedModel([*[busy] * 9, {"now": True}]), plan_press(), says="the lamp is lit")
    assert (result.final_reason, result.verified) == ("goal_reached", True)
    assert result.wall_seconds > 9 * 30
    assert result.budget.calls == 2


async def test_a_verifier_that_stays_away_ends_the_run_as_an_outage():
    down = ModelServerError("m", "down")
    model = ScriptedModel(lambda prompt: down)
    result = await run(model, plan_press(), says="the lamp is lit")
    assert (result.final_reason, result.verified) == ("outage", False)
    assert len(model.prompts) > 4, "it is waited for, longer than a step is retried"


async def test_calls_of_the_verifier_count_against_the_ceiling():
    model = ScriptedModel(lambda prompt: {"now": True})
    result = await run(model, plan_press("lit"), says="the lamp is lit", max_calls=2)
    assert (result.final_reason, result.budget.calls) == ("budget_exhausted", 2)


def test_another_screen_is_shown_in_full_and_the_same_one_as_what_changed():
    other = Claim(
        says="x",
        task=TASK,
        before=make_screen(*form()),
        now=make_screen(*form("a"), title="Thanks"),
    )
    same = replace(other, now=make_screen(*form("1 Harbour Street")))
    assert build_verifier_prompt(other, 20_000).text.count("<<<SCREEN") == 2
    assert build_verifier_prompt(same, 20_000).text.count("<<<SCREEN") == 1
    assert "<<<CHANGES" in build_verifier_prompt(same, 20_000).text


@pytest.mark.slow
class TestConformance(VerifierConformance):
    def make_verifier(self) -> ModelVerifier:
        return ModelVerifier(ModelClient([ScriptedModel(lambda prompt: {"now": True}).model], answer_tokens=500))


class TestConformanceInAnOutage(VerifierConformance):
    def make_verifier(self) -> ModelVerifier:
        return ModelVerifier(
            ModelClient([ScriptedModel(lambda prompt: ModelServerError("m", "down")).model], answer_tokens=500)
        )


class TestConformanceOfTheFake(VerifierConformance):
    def make_verifier(self) -> ScriptedVerifier:
        return ScriptedVerifier(True, None, False)
