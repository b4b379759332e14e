"""Midcourse: a runtime for agents whose actions have consequences.

The public modules are this one and `midcourse.expect`, `frameworks`, `planners`, `records`, `roles`, `settings`, `tasks`, `testing`,
`worlds` and `errors`. All others are internal, and their names may change.
"""

from typing import TYPE_CHECKING

from midcourse.lazy import lazy_exports

if TYPE_CHECKING:
    from midcourse.agent.agent import Agent as Agent
    from midcourse.agent.guarded import guarded as guarded
    from midcourse.agent.one_line import DryRun as DryRun
    from midcourse.agent.one_line import do as do
    from midcourse.config.settings import Settings as Settings
    from midcourse.domain.approval import Decision as Decision
    from midcourse.domain.expectation import Expectation as Expectation
    from midcourse.domain.expectation import Probe as Probe
    from midcourse.domain.observation import Zone as Zone
    from midcourse.domain.outcome import Outcome as Outcome
    from midcourse.domain.plan import Draft as Draft
    from midcourse.domain.result import Result as Result
    from midcourse.domain.task import Task as Task
    from midcourse.ports.planner import PlanDraft as PlanDraft
    from midcourse.terminal.approver import TerminalApprover as TerminalApprover
    from midcourse.worlds.base import BaseWorld as BaseWorld
    from midcourse.worlds.base import Scene as Scene
    from midcourse.worlds.base import probe as probe
    from midcourse.worlds.base import skill as skill

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "midcourse.agent.agent": "Agent",
        "midcourse.agent.guarded": "guarded",
        "midcourse.agent.one_line": "DryRun do",
        "midcourse.config.settings": "Settings",
        "midcourse.terminal.approver": "TerminalApprover",
        "midcourse.domain.approval": "Decision",
        "midcourse.domain.expectation": "Expectation Probe",
        "midcourse.domain.observation": "Zone",
        "midcourse.domain.outcome": "Outcome",
        "midcourse.domain.plan": "Draft",
        "midcourse.domain.result": "Result",
        "midcourse.domain.task": "Task",
        "midcourse.ports.planner": "PlanDraft",
        "midcourse.worlds.base": "BaseWorld Scene probe skill",
    },
)
