"""One run of a case: its claim, the application's record, and its cost."""

from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.harness.replay_check import check_replay
from benchmarks.reuse_tasks.case import Case, Counted, Started
from midcourse.agent.agent import Agent
from midcourse.config.settings import Settings
from midcourse.domain.argument import Pairs
from midcourse.domain.replace import replace
from midcourse.ports.plan_cache import PlanCache
from midcourse.testing import MemoryStore

SETTINGS = {"max_calls": "60", "max_segments": "40", "max_replans": "10", "max_error_replans": "8"}
"""As the drift suite has them: most of what these runs meet is trouble."""


@dataclass(frozen=True)
class Vault:
    secrets: Mapping[str, str]

    def reveal(self, name: str) -> str:
        return self.secrets[name]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    case: str
    claimed: bool
    """It reported success, verified."""
    right: bool
    """The application has what the task asks for, with the inputs of this run, and nothing else."""
    foreign: bool
    """The application received a value of other inputs."""
    calls: int
    """Of the planner, as it counted them itself."""
    told_calls: int
    """The same, as the run reports it."""
    reused: int
    differing: int
    """1 if the run came out otherwise when its journal was replayed."""
    reason: str
    detail: str

    @property
    def miscounted(self) -> bool:
        return self.calls != self.told_calls

    @property
    def completed(self) -> bool:
        return self.claimed and self.right


async def run(
    case: Case,
    started: Started,
    inputs: Pairs,
    kept: PlanCache | None,
    *,
    others: Pairs = (),
    seed: int | None = None,
    fresh: bool = True,
) -> Outcome:
    """Without `kept` nothing is reused. `others` are inputs that this run has nothing to do with."""
    stage = started.stage(inputs, seed=seed, fresh=fresh)
    settings = Settings.load(overrides={**SETTINGS, "retry_delay_seconds": "0.25", "reuse": "on" if kept else "off"})
    store = MemoryStore()
    agent = Agent(
        world=stage.world,
        planner=stage.planner,
        approver=stage.approver,
        settings=settings,
        store=store,
        clock=stage.clock,
        vault=Vault(stage.secrets),
        segments=kept,
    )
    result = await agent.run(replace(case.task(inputs), limits=settings.limits()))
    recorded = started.records()
    assert isinstance(stage.planner, Counted)
    return Outcome(
        case=case.name,
        claimed=result.success and result.verified,
        right=_right(recorded, case.wanted(inputs)),
        foreign=any(value in record.values() for record in recorded for _, value in case.only_ours(others)),
        calls=stage.planner.calls,
        told_calls=result.planner_calls,
        reused=result.reused,
        differing=(await check_replay(store)).differing,
        reason=result.final_reason,
        detail=result.final_detail,
    )


def _right(recorded: list[Mapping[str, object]], wanted: list[Mapping[str, object]]) -> bool:
    """Each once and no more; a record may contain more than was asked for."""
    if len(recorded) != len(wanted):
        return False
    return all(any(wish.items() <= record.items() for record in recorded) for wish in wanted)
