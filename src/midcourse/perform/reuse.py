"""Reuse of plans: propose a segment that worked before, drop one that fails, keep those of a run that reached its goal.

Only plans of a run whose `done_when` was verified are kept: without it, they may have done something else.
Reuse is optional: it never fails a run, and calls to the cache have a short timeout.
"""

from collections.abc import Awaitable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from midcourse.containment import CallAborted, Contained
from midcourse.domain.budget import FREE
from midcourse.domain.commands import Act, Finish
from midcourse.domain.events import Acted
from midcourse.domain.observation import Observation
from midcourse.domain.outcome import ELSEWHERE
from midcourse.domain.plan import REPLAN, PlanVersion, Reused, Step
from midcourse.domain.records.ledger import LedgerEntry
from midcourse.domain.records.plan_cache import KeptSegment
from midcourse.domain.replace import replace
from midcourse.domain.run import Run
from midcourse.perform.history import History
from midcourse.perform.ports import Ports
from midcourse.perform.proposal import Planning, Proposal
from midcourse.policy.plan.horizon import resolve
from midcourse.policy.reuse.placeholders import Unclear
from midcourse.policy.reuse.segment import (
    ReuseKey,
    build_segment,
    find_passed_on,
    is_applicable,
    propose_steps,
    repeats_failed_step,
    reuse_key,
)
from midcourse.ports.plan_cache import PlanCache
from midcourse.ports.planner import PlanDraft

T = TypeVar("T")

CACHE_TIMEOUT_SECONDS = 5.0
"""Timeout of each call to the plan cache, in seconds."""

FRESH = ("initial", "adaptive")
"""Causes of plans that reuse may serve. After a failure, guidance or a lost world the planner is asked."""


# --- proposing


async def reuse(planning: Planning) -> Proposal | None:
    """Propose the plan that worked before in the same situation, with the inputs of this task."""
    if planning.ports.segments is None:
        return None
    return await _wait_briefly(_reuse(planning, planning.ports.segments))


async def _reuse(planning: Planning, segments: PlanCache) -> Proposal | None:
    ports, command, history = planning.ports, planning.command, planning.history
    if command.refused:
        refused = await ports.store.plan(ports.run_id, command.version)
        if refused is not None and refused.reused is not None:
            await segments.drop(refused.reused.segment)
    if command.refused or command.guidance or command.stale or command.beyond:
        return None
    past = _build_reuse_history(ports, history)
    situation = past.situation(planning.scope.observation, command.version)
    if isinstance(situation, Unclear):
        return None
    found = await segments.find(situation.task_digest, situation.surface_digest)
    if command.cause not in FRESH:
        for segment in found:
            if not segment.steps:  # it said 'done', but another plan is needed
                await segments.drop(segment.id)
        return None
    used = {plan.reused.segment for plan in history.plans if plan.reused}
    for segment in found:
        if segment.id not in used and is_applicable(segment, situation):
            return await _build_proposal(planning, segments, segment, situation)
    return None


async def _build_proposal(
    planning: Planning, segments: PlanCache, segment: KeptSegment, situation: ReuseKey
) -> Proposal | None:
    reused = Reused(segment=segment.id, run=segment.run, version=segment.version)
    detail = f"kept from run {segment.run}"
    if not segment.steps:
        return Proposal(reused=reused, draft=PlanDraft(verdict="done", detail=detail, cost=FREE))
    drafts = propose_steps(segment, situation)
    if isinstance(drafts, Unclear) or resolve(drafts, segment.final, planning.command.version, planning.scope).repairs:
        await segments.drop(segment.id)
        return None
    if repeats_failed_step(drafts, situation.seen, planning.history.attempts):
        return None
    return Proposal(reused=reused, draft=PlanDraft(steps=drafts, final=segment.final, detail=detail, cost=FREE))


# --- dropping


async def drop_failed(ports: Ports, command: Act, event: Acted) -> None:
    """Drop a reused segment at its first step without the expected outcome, even if a retry succeeds."""
    if ports.segments is None or (event.status == "ok" and not event.unmet) or event.reason == "held":
        return
    plan = await ports.store.plan(ports.run_id, command.version, command.made_by)
    if plan is not None and plan.reused is not None:
        await _wait_briefly(ports.segments.drop(plan.reused.segment))


# --- keeping


async def keep_what_worked(ports: Ports, command: Finish, run: Run) -> None:
    """Keep the plans that worked, except of a run with guidance: its plans contain what the task does not."""
    if ports.segments is not None and command.verified and not run.guidance:
        await _wait_briefly(_keep(ports, ports.segments, command, run))


async def _keep(ports: Ports, segments: PlanCache, command: Finish, run: Run) -> None:
    past = _build_reuse_history(ports, await ports.load_history(command.outcome_answers))
    apart = past.unused_inputs
    built = [
        _build_kept(past, await ports.store.observation(ports.run_id, plan.observation), plan, apart)
        for plan in past.successful_plans
    ]
    if run.segment is not None and not run.segment.final and run.seen is not None:
        seen = await ports.store.observation(ports.run_id, run.seen.id)
        built.append(_build_kept(past, seen, None, apart))
    found = [segment for segment in built if segment is not None]
    by_id = {segment.id: segment for segment in found}
    unclear = {segment.id for segment in found if segment.steps != by_id[segment.id].steps}
    for segment_id in sorted(unclear):  # two different plans in one situation: neither is known to be right
        await segments.drop(segment_id)
    updated = [await _update_kept(ports, segments, segment) for segment in by_id.values() if segment.id not in unclear]
    if updated:
        await segments.keep(*updated)


async def _update_kept(ports: Ports, segments: PlanCache, segment: KeptSegment) -> KeptSegment:
    """The segment with its count and time of use updated, if it is already kept."""
    known = [kept for kept in await segments.find(segment.task, segment.surface) if kept.id == segment.id]
    same = bool(known) and known[0].steps == segment.steps
    latest = replace(known[0], worked=known[0].worked + 1) if same else replace(segment, run=ports.run_id)
    return replace(latest, worked_at=ports.clock.now())


def _build_kept(
    past: "_ReuseHistory", seen: Observation | None, plan: PlanVersion | None, apart: tuple[str, ...]
) -> KeptSegment | None:
    if seen is None:
        return None
    situation = past.situation(seen, plan.version if plan else None)
    segment = situation if isinstance(situation, Unclear) else build_segment(situation, plan, apart)
    return None if isinstance(segment, Unclear) else segment


# --- what the run has done so far


@dataclass(frozen=True, kw_only=True)
class _ReuseHistory:
    """The history of a run, in terms of what reuse depends on."""

    ports: Ports
    entries: tuple[LedgerEntry, ...]
    history: History

    def situation(self, seen: Observation, version: int | None) -> ReuseKey | Unclear:
        """The reuse key when this version was made, or now."""
        before = [entry for entry in self.entries if version is None or entry.version < version]
        done = [step for step in self.history.completed if version is None or step.version < version]
        return reuse_key(
            self.ports.task,
            seen,
            passed_on=find_passed_on(self._steps_of(before), self.ports.task.inputs),
            after=sum(step.irreversible for step in done),
        )

    @property
    def successful_plans(self) -> list[PlanVersion]:
        """Plans in which every step had the expected outcome in the end, except plans of detours."""
        last = {(entry.version, entry.index): entry for entry in self.entries}
        return [
            plan
            for plan in self.history.plans
            if plan.cause != "detour"
            and all(_had_expected_outcome(step, last.get((step.version, step.index))) for step in plan.steps)
        ]

    @property
    def unused_inputs(self) -> tuple[str, ...]:
        """Names of inputs that no step has used."""
        names = find_passed_on(self._steps_of(self.entries), self.ports.task.inputs)
        return tuple(name for name, _ in self.ports.task.inputs if name not in names)

    def _steps_of(self, entries: Iterable[LedgerEntry]) -> list[Step]:
        plans = {plan.version: plan for plan in self.history.plans}
        return [plans[entry.version].steps[entry.index] for entry in entries]


def _had_expected_outcome(step: Step, entry: LedgerEntry | None) -> bool:
    if step.zone == REPLAN:
        return True
    outcome = entry.outcome if entry else None
    if outcome is None or outcome.status != "ok" or outcome.reason == ELSEWHERE:
        return False
    return step.expect is None or outcome.evidence in ("", "expectation")


def _build_reuse_history(ports: Ports, history: History) -> _ReuseHistory:
    return _ReuseHistory(ports=ports, entries=tuple(ports.history_cache.entries), history=history)


async def _wait_briefly(call: Awaitable[T]) -> T | None:
    """Await the call; None if the cache cannot be reached or read in time."""
    try:
        async with Contained(CACHE_TIMEOUT_SECONDS):
            return await call
    except (TimeoutError, OSError, ValueError, CallAborted):
        return None
