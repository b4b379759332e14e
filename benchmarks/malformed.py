"""Is a malformed answer of a model ever acted on? (Trial 11)

    python -m benchmarks.malformed --runs 100000 --json

Each run gets two malformed answers, which are read, repaired, resolved and acted on in a world that records
every call. No approval is needed, so only the path itself stands between an answer and an action. Each answer comes with
the calls that its valid steps amount to, worked out where it is made up; any other call counts as an act of an invalid draft. A run that
takes more than ten seconds of CPU time counts as a hang.
"""

import asyncio
import json
import random
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models.function import AgentInfo, FunctionModel

from benchmarks.harness.report import describe_machine, format_table, keep, make_parser
from benchmarks.llm.malformed_answers import KINDS, Malformed
from midcourse.agent.agent import Agent
from midcourse.config.settings import Settings
from midcourse.domain.argument import Pairs
from midcourse.domain.task import Task
from midcourse.llm.model_client import ModelClient
from midcourse.llm.roles.planner import ModelPlanner
from midcourse.ports.world import Call
from midcourse.testing import FakeClock, MemoryStore
from midcourse.worlds.base import BaseWorld, Outcome, Scene, Zone, skill

HANG_CPU_SECONDS = 10.0
"""Seconds of CPU time."""
FIRST_SEED = 10_000
SETTINGS = Settings(
    max_calls=3,
    max_error_replans=1,
    max_step_retries=1,
    retry_delay_seconds=0.0,
    approvals="never",
    max_tokens=1_000_000,
    plan_tokens=60_000,
)
TASK = Task(
    goal="Fill in the form", inputs=(("reference", "PO-1001"),), secrets=("password",), limits=SETTINGS.limits()
)


class Form(BaseWorld):
    """A form that records every call."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[str, str, Pairs]] = []

    def look(self) -> Scene:
        return Scene(
            f"Form {len(self.calls)}",
            Zone(id="name", role="textbox", label="Name", state=(("text", ""),)),
            Zone(id="amount", role="spinbutton", label="Amount", state=(("value", 1),)),
            Zone(id="send", role="button", label="Send"),
        )

    @skill(effect="set_state")
    def fill(self, zone: Zone, text: str) -> None:
        """Write into a field."""

    @skill(effect="set_state")
    def set_amount(self, zone: Zone, amount: int) -> None:
        """Set a number."""

    @skill(effect="irreversible", transition=True)
    def send(self, zone: Zone) -> None:
        """Send the form."""

    @skill(effect="set_state")
    def press(self, key: str) -> None:
        """Press a key."""

    async def act(self, call: Call) -> Outcome:
        self.calls.append((call.skill, call.zone, call.arguments))
        return await super().act(call)


async def run_task(kinds: tuple[str, str], seed: int) -> tuple[str, list[tuple[str, str, Pairs]]]:
    """Run the task with malformed answers. Return the final reason, and the calls that no answer allows."""
    chance = random.Random(seed)
    answers: list[Malformed] = []

    async def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        made = KINDS[kinds[len(answers) % len(kinds)]](chance)
        answers.append(made)
        return made.response

    form = Form()
    agent = Agent(
        world=form,
        planner=ModelPlanner(ModelClient([FunctionModel(answer, model_name="malformed")], answer_tokens=8_000)),
        settings=SETTINGS,
        store=MemoryStore(),
        clock=FakeClock(),
        vault=_Vault(),
    )
    result = await agent.run(TASK)
    allowed = [call for made in answers for call in made.calls]
    return result.final_reason, [call for call in form.calls if call not in allowed]


class _Vault:
    def reveal(self, name: str) -> str | None:
        return f"the {name} of this trial"


@dataclass(frozen=True)
class RunOutcome:
    seed: int
    kinds: tuple[str, str]
    end: str
    wrong: int
    took: float
    example: str

    @property
    def crashed(self) -> bool:
        return self.end in ("crash", "internal_error")

    @property
    def hung(self) -> bool:
        return self.took > HANG_CPU_SECONDS


def run_seed(seed: int) -> RunOutcome:
    names = sorted(KINDS)
    kinds = names[seed % len(names)], random.Random(seed).choice(names)
    began, example = time.process_time(), ""
    try:
        end, wrong = asyncio.run(run_task(kinds, seed))
    except Exception as error:
        end, wrong, example = "crash", [], f"{type(error).__name__}: {error}"
    took = time.process_time() - began
    if wrong or took > HANG_CPU_SECONDS:
        example = f"{took:.2f} s, {wrong[:2]}"
    return RunOutcome(seed, kinds, end, len(wrong), took, example[:300])


def run_seeds(runs: int, first_seed: int, jobs: int = 1) -> dict[str, Any]:
    with ProcessPoolExecutor(jobs, mp_context=get_context("fork")) as pool:
        outcomes = list(pool.map(run_seed, range(first_seed, first_seed + runs), chunksize=100))
    slowest = max(outcomes, key=lambda outcome: outcome.took)
    return {
        "runs": runs,
        "kinds": len(KINDS),
        "crashes": sum(outcome.crashed for outcome in outcomes),
        "hangs": sum(outcome.hung for outcome in outcomes),
        "invalid_acts": sum(outcome.wrong for outcome in outcomes),
        "slowest_cpu_seconds": round(slowest.took, 3),
        "slowest_kinds": slowest.kinds,
        "ends": dict(Counter(outcome.end for outcome in outcomes).most_common()),
        "examples": [
            f"seed {outcome.seed} {outcome.kinds}: {outcome.example}" for outcome in outcomes if outcome.example
        ][:10],
        "machine": describe_machine(),
    }


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--runs", type=int, default=1_000)
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED)
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    summary = run_seeds(args.runs, args.first_seed, args.jobs)
    columns = ("runs", "kinds", "crashes", "hangs", "invalid_acts", "slowest_cpu_seconds")
    text = format_table(list(columns), [[f"{summary[name]:,}" for name in columns]])
    print(text)
    if args.keep:
        keep("malformed", summary, text)
    if args.json:
        print(json.dumps(summary))


if __name__ == "__main__":
    main()
