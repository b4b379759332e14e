"""Midcourse: a runtime for agents whose actions have consequences.

The public modules are this one and `midcourse.expect`, `frameworks`, `planners`, `records`, `roles`, `settings`, `stores`, `tasks`,
`testing`, `worlds` and `errors`. All others are internal, and their names may change.
"""

from midcourse.lazy import lazy_imports

with lazy_imports(globals()):
    from midcourse.agent.agent import Agent as Agent
    from midcourse.agent.guarded import guarded as guarded
    from midcourse.agent.one_line import DryRun as DryRun
    from midcourse.agent.one_line import do as do
    from midcourse.agent.run_in_progress import RunInProgress as RunInProgress
    from midcourse.config.settings import Settings as Settings
    from midcourse.domain.approval import Decision as Decision
    from midcourse.domain.budget import Limits as Limits
    from midcourse.domain.expectation import Expectation as Expectation
    from midcourse.domain.expectation import Probe as Probe
    from midcourse.domain.observation import Zone as Zone
    from midcourse.domain.outcome import Outcome as Outcome
    from midcourse.domain.plan import Draft as Draft
    from midcourse.domain.result import Result as Result
    from midcourse.domain.task import Task as Task
    from midcourse.planners import Plan as Plan
    from midcourse.planners import Step as Step
    from midcourse.ports.planner import PlanDraft as PlanDraft
    from midcourse.terminal.approver import TerminalApprover as TerminalApprover
    from midcourse.worlds.base import BaseWorld as BaseWorld
    from midcourse.worlds.base import Scene as Scene
    from midcourse.worlds.base import probe as probe
    from midcourse.worlds.base import skill as skill
    from midcourse.worlds.browser import Browser as Browser
