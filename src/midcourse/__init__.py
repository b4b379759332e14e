"""Midcourse: a runtime for agents that act in a world that changes under them.

Importing this has no side effect: each name is fetched from its module when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from midcourse.app.agent import Agent as Agent
    from midcourse.app.settings.run import Settings as Settings
    from midcourse.cli.one_line import do as do
    from midcourse.cli.session.approver import TerminalApprover as TerminalApprover
    from midcourse.domain.approval import Decision as Decision
    from midcourse.domain.expectation import Expectation as Expectation
    from midcourse.domain.expectation import Probe as Probe
    from midcourse.domain.observation import Zone as Zone
    from midcourse.domain.outcome import Outcome as Outcome
    from midcourse.domain.plan import Draft as Draft
    from midcourse.domain.result import Result as Result
    from midcourse.domain.task import Task as Task
    from midcourse.ports.planner import PlanDraft as PlanDraft
    from midcourse.worlds.base import BaseWorld as BaseWorld
    from midcourse.worlds.base import Scene as Scene
    from midcourse.worlds.base import probe as probe
    from midcourse.worlds.base import skill as skill

_HOMES = {
    "Agent": "midcourse.app.agent",
    "BaseWorld": "midcourse.worlds.base",
    "Decision": "midcourse.domain.approval",
    "Draft": "midcourse.domain.plan",
    "Expectation": "midcourse.domain.expectation",
    "Outcome": "midcourse.domain.outcome",
    "PlanDraft": "midcourse.ports.planner",
    "Probe": "midcourse.domain.expectation",
    "Result": "midcourse.domain.result",
    "Scene": "midcourse.worlds.base",
    "Settings": "midcourse.app.settings.run",
    "Task": "midcourse.domain.task",
    "TerminalApprover": "midcourse.cli.session.approver",
    "Zone": "midcourse.domain.observation",
    "do": "midcourse.cli.one_line",
    "probe": "midcourse.worlds.base",
    "skill": "midcourse.worlds.base",
}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'midcourse' has no attribute '{name}'")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted(_HOMES)
