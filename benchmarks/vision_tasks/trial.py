"""One episode of one task, seen through the page's accessibility tree or through its picture only."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from benchmarks.miniwob_tasks.episode import Episodes
from benchmarks.miniwob_tasks.planner import RulePlanner
from benchmarks.miniwob_tasks.rules import RULES
from benchmarks.miniwob_tasks.trial import LIMITS
from benchmarks.vision_tasks.planner import PicturePlanner
from benchmarks.vision_tasks.reader import ProcessReader
from midcourse.agent.agent import Agent
from midcourse.config.settings import Settings
from midcourse.domain.task import Task
from midcourse.testing import MemoryBlobs, MemoryStore
from midcourse.worlds.base import Scene, Unseen

Arm = Literal["tree", "picture"]
ARMS: tuple[Arm, ...] = ("tree", "picture")
SIZE = {"width": 480, "height": 320}
SCALE = 4.0
"""Pixels of a picture for each CSS pixel: the pages have small print."""
SEEING = replace(LIMITS, vision=True, max_calls=80)


class Pictured(Episodes):
    """Episodes without an accessibility tree: a look reports the page as a whole and none of its elements."""

    name = "miniwob-pictured"

    async def look(self) -> Scene | Unseen:
        seen = await super().look()
        if isinstance(seen, Unseen):
            return seen
        kept = (zone for zone in seen.zones if zone.role in ("page", "dialog") and zone.bounds is None)
        return Scene(seen.surface.title, *kept, address=seen.surface.address, origin=seen.surface.origin)


@dataclass(frozen=True, kw_only=True)
class Trial:
    task: str
    seed: int
    arm: Arm
    reward: float
    plans: int
    pictures: int
    reason: str
    detail: str

    @property
    def solved(self) -> bool:
        return self.reward > 0.999


class Trials:
    """A browser for each arm, and the process that reads pictures."""

    def __init__(self, origin: str, folder: Path) -> None:
        self._reader = ProcessReader()
        self._episodes: dict[Arm, Episodes] = {
            "tree": Episodes(origin, **SIZE),
            "picture": Pictured(origin, screenshots="all", scale=SCALE, **SIZE),
        }

    async def end(self) -> None:
        for episodes in self._episodes.values():
            await episodes.end()
        await self._reader.end()

    async def attempt(self, task: str, seed: int, arm: Arm) -> Trial:
        episodes, before = self._episodes[arm], self._reader.pictures
        episodes.next(task, seed)
        planner = (RulePlanner if arm == "tree" else PicturePlanner)(RULES[task].rule, episodes)
        seeing = arm == "picture"
        agent = Agent(
            world=episodes,
            planner=planner,
            reader=self._reader if seeing else None,
            store=MemoryStore(),
            blobs=MemoryBlobs(),
            settings=Settings(),
        )
        limits = SEEING if seeing else LIMITS
        result = await agent.run(Task(goal=f"MiniWoB++ {task}", limits=limits), run_id="episode")
        return Trial(
            task=task,
            seed=seed,
            arm=arm,
            reward=episodes.reward,
            plans=result.planner_calls,
            pictures=self._reader.pictures - before,
            reason=result.final_reason,
            detail=result.final_detail,
        )


@asynccontextmanager
async def begin_trials(origin: str, folder: Path) -> AsyncGenerator[Trials]:
    trials = Trials(origin, folder)
    try:
        yield trials
    finally:
        await trials.end()
