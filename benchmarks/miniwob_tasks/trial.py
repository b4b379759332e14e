"""One episode of one task in one arm, from the first look to the reward that the page gives."""

from dataclasses import dataclass
from typing import Literal

from benchmarks.miniwob_tasks.episode import Episodes
from benchmarks.miniwob_tasks.planner import RulePlanner
from benchmarks.miniwob_tasks.rules import RULES
from midcourse.agent.agent import Agent
from midcourse.config.settings import Settings
from midcourse.domain.budget import Limits
from midcourse.domain.result import Result
from midcourse.domain.task import Task
from midcourse.testing import MemoryStore

Arm = Literal["fixed", "segments"]
ARMS: tuple[Arm, ...] = ("fixed", "segments")
LIMITS = Limits(max_plan_steps=150, max_calls=40, retry_delay_seconds=0.2)
ONE_PLAN = Limits(max_plan_steps=150, max_calls=40, retry_delay_seconds=0.2, max_segments=1, visible_plans=0)
"""What the first screen gives rise to is carried out to its end, however the page may change."""

MOST_RESTARTS = 3


@dataclass(frozen=True, kw_only=True)
class Trial:
    task: str
    seed: int
    arm: Arm
    reward: float
    """What the page gave, without its discount for time. Full marks are 1."""
    plans: int
    reason: str
    """Why the run ended."""
    detail: str
    restarts: int
    """How often the browser had ended, and the episode was restarted in another."""

    @property
    def solved(self) -> bool:
        return self.reward > 0.999


async def run_episode(episodes: Episodes, task: str, seed: int, arm: Arm) -> Trial:
    episodes.next(task, seed)
    result = await _run(episodes, task, arm)
    restarts = 0
    while episodes.gone and restarts < MOST_RESTARTS:
        restarts += 1
        episodes.next(task, seed)
        result = await _run(episodes, task, arm)
    return Trial(
        task=task,
        seed=seed,
        arm=arm,
        reward=episodes.reward,
        plans=result.planner_calls,
        reason=result.final_reason,
        detail=result.final_detail,
        restarts=restarts,
    )


async def _run(episodes: Episodes, task: str, arm: Arm) -> Result:
    planner = RulePlanner(RULES[task].rule, episodes)
    agent = Agent(world=episodes, planner=planner, store=MemoryStore(), settings=Settings())
    limits = ONE_PLAN if arm == "fixed" else LIMITS
    return await agent.run(Task(goal=f"MiniWoB++ {task}", limits=limits), run_id="episode")
