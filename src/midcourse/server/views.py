"""Builds models of the API from what a store knows about a run or a question."""

import time

from midcourse.agent.control import NotDriven
from midcourse.domain.approval import VERDICTS, Decision, Question
from midcourse.domain.budget import Cost
from midcourse.domain.phases import Asking, Ended
from midcourse.domain.plan import REPLAN, PlanVersion
from midcourse.domain.result import Result
from midcourse.domain.run import Run
from midcourse.domain.task import Task
from midcourse.perform.finishing import build_budget_used
from midcourse.policy.approval.objection import needs_all_values, why_may_not_decide
from midcourse.policy.approval.question import (
    Difference,
    QuestionRow,
    find_changes,
    list_digests,
    list_rows,
)
from midcourse.policy.spending import MICRO
from midcourse.policy.task_state import task_state
from midcourse.ports.store import RunSummary
from midcourse.presentation.question import TITLES, before_of, list_notices, title_step
from midcourse.presentation.result import describe_counts, headline, headline_of, suggest_next
from midcourse.presentation.status import run_sentence, run_status, step_status
from midcourse.presentation.vocabulary import REASONS, describe_call, describe_step, plan_reason
from midcourse.server.access.identity import Caller
from midcourse.server.models.questions import AskedStep, More, QuestionView, Row, RowChange
from midcourse.server.models.runs import Action, PlanView, RunRow, RunView, StepView, Verdict
from midcourse.tenants.runs import RunState, TenantRuns


def current_step(run: Run, plan: PlanVersion | None) -> str:
    """The step that the run is at, in words."""
    if plan is None or run.segment is None or run.segment.cursor >= len(plan.steps):
        return ""
    return describe_step(plan.steps[run.segment.cursor])


NOT_DRIVEN = "No process is running it. Resume it to continue."


async def build_run_row(tenant_runs: TenantRuns, summary: RunSummary) -> RunRow:
    """Build the row of a run. Its state is loaded only if it has not ended; the summary has everything else."""
    state = tenant_runs.state_of(summary)
    name = summary.task or await tenant_runs.task_of(summary)
    if state in ("done", "failed"):
        sentence = sentence_of_end(summary)
        return _build_row(summary, state, name, sentence, summary.calls or 0, summary.cost_usd or 0.0)
    run, _ = await tenant_runs.store.load(summary.id)
    plan = await tenant_runs.store.plan(run.id, run.segment.version) if run.segment else None
    sentence = NOT_DRIVEN if state == "interrupted" else run_sentence(run, time.time(), current_step(run, plan))
    return _build_row(summary, state, name, sentence, run.budget.spent.calls, run.budget.spent.microusd / MICRO)


def sentence_of_end(summary: RunSummary) -> str:
    reason = summary.final_reason if summary.final_reason in REASONS else "internal_error"
    words = headline_of(reason, verified=bool(summary.verified), sending=summary.sending)
    return f"{words[:1].upper()}{words[1:]}."


def _build_row(summary: RunSummary, state: RunState, name: str, sentence: str, calls: int, cost_usd: float) -> RunRow:
    return RunRow(
        id=summary.id,
        goal=summary.goal,
        task=name,
        key=summary.key,
        world=summary.world,
        state=state,
        phase=summary.phase,
        final_reason=summary.final_reason,
        verified=summary.verified,
        sending=summary.sending,
        began_at=summary.began_at,
        updated_at=summary.updated_at,
        ended_at=summary.updated_at if state in ("done", "failed") else None,
        waiting_since=summary.waiting_since,
        calls=calls,
        cost_usd=cost_usd,
        sentence=sentence,
    )


async def build_run_view(tenant_runs: TenantRuns, run_id: str, caller: Caller, taken_over_by: str = "") -> RunView:
    store = tenant_runs.store
    run, task = await store.load(run_id)
    result = await store.result(run_id)
    plans = await store.plans(run_id)
    plan = next((stored for stored in plans if run.segment and stored.version == run.segment.version), None)
    row = await build_run_row(tenant_runs, await _build_summary(tenant_runs, run, task, result))
    return RunView(
        **row.model_dump(),
        by=task.by,
        task_state=task_state(run),
        status=run_status(run, time.time(), current_step(run, plan)),
        seq=run.seq,
        wish=run.requested,
        plan=build_plan_view(run, plan) if plan else None,
        plans=tuple(stored.version for stored in plans),
        seen=run.seen,
        question=run.phase.question if isinstance(run.phase, Asking) else None,
        guidance=run.guidance,
        limits=run.limits,
        budget=result.budget if result else build_budget_used(run),
        spent=run.spent,
        result=result,
        verdict=Verdict(headline=headline(result), counts=describe_counts(result), advice=suggest_next(result, False))
        if result
        else None,
        forked_from=run.forked_from.run if run.forked_from else None,
        pruned_at=await store.pruned_at(run_id),
        durable=tenant_runs.kind == "fleet",
        why_not_driven="" if result else await why_not_driven(tenant_runs, run_id),
        taken_over_by=taken_over_by if row.state == "paused" else "",
        may=_list_actions(run, row.state, caller),
    )


async def _build_summary(tenant_runs: TenantRuns, run: Run, task: Task, result: Result | None) -> RunSummary:
    """The summary of a run from its loaded state."""
    asked = await tenant_runs.store.open_question(run.id) if isinstance(run.phase, Asking) else None
    return RunSummary(
        id=run.id,
        goal=task.goal,
        phase=run.phase.kind,
        final_reason=run.phase.reason if isinstance(run.phase, Ended) else "",
        began_at=run.started_at,
        key=task.key,
        world=task.world,
        updated_at=run.now,
        verified=result.verified if result else None,
        sending=result.sending if result else "",
        calls=run.budget.spent.calls,
        cost_usd=run.budget.spent.microusd / MICRO,
        waiting_since=asked.expires_at - run.limits.approval_seconds if asked else None,
    )


async def why_not_driven(tenant_runs: TenantRuns, run_id: str) -> str:
    try:
        return await tenant_runs.control(run_id).why_not_driven()
    except NotDriven as why:
        return str(why)


ACTIONS: dict[RunState, tuple[Action, ...]] = {
    "running": ("pause", "cancel", "guide"),
    "asking": ("pause", "cancel", "guide"),
    "paused": ("resume", "cancel", "guide"),
    "interrupted": ("resume",),
    "done": ("fork",),
    "failed": ("fork",),
}
"""What operators may do with a run in each state."""
DECISIONS: dict[RunState, tuple[Action, ...]] = {
    "running": ("take_over",),
    "asking": ("take_over", "decide"),
    "paused": ("take_over",),
}
"""What approvers may do. Nothing is held while a person acts in the world, so taking it over is a decision, too."""


def _list_actions(run: Run, state: RunState, caller: Caller) -> tuple[Action, ...]:
    operating = ACTIONS[state] if caller.may("operate") else ()
    deciding = DECISIONS.get(state, ()) if caller.may("decide") else ()
    if why_may_not_decide(run, Decision(verdict="take_over", by=caller.name, by_id=caller.id)):
        deciding = tuple(action for action in deciding if action != "take_over")
    return (*operating, *deciding)


def build_plan_view(run: Run, plan: PlanVersion) -> PlanView:
    return PlanView(
        version=plan.version,
        cause=plan.cause,
        reason=plan_reason(plan),
        cursor=run.segment.cursor if run.segment else 0,
        observation=plan.observation,
        steps=tuple(
            StepView(
                index=step.index,
                says=describe_step(step),
                call=describe_call(step),
                skill=step.skill,
                zone=step.zone,
                effect=step.effect,
                status=step_status(run, step.index),
                look_again=step.zone == REPLAN,
            )
            for step in plan.steps
        ),
    )


# --- questions


def build_question_view(question: Question) -> QuestionView:
    return QuestionView(
        run=question.run,
        id=question.id,
        about=question.about,
        title=TITLES[question.about],
        notices=list_notices(question),
        goal=question.goal,
        detail=question.detail,
        steps=tuple(_build_asked_step(question, number) for number in range(len(question.consequences))),
        shown=list_digests(question),
        verdicts=VERDICTS[question.about],
        expires_at=question.expires_at,
        needs_all_values=needs_all_values(question, "glance"),
        not_by=question.not_by,
        revision=question.revision,
        earlier=question.earlier,
        page=question.page,
        appeared=question.appeared,
        unmet=question.unmet,
        picture=question.picture,
        contradicted=question.contradicted,
        more=_build_more_view(question.more) if question.more else None,
        voids_approval=question.changed_from is not None,
    )


def _build_more_view(more: Cost) -> More:
    return More(calls=more.calls, tokens=more.tokens, cost_usd=more.microusd / MICRO)


def _build_asked_step(question: Question, number: int) -> AskedStep:
    consequence, before = question.consequences[number], before_of(question, number)
    return AskedStep(
        says=title_step(question, number),
        digest=list_digests(question)[number],
        abridged=consequence.commit.abridged,
        effect=consequence.effect,
        skill=consequence.skill,
        origin=consequence.origin,
        address=consequence.commit.address,
        rows=tuple(map(build_row_view, list_rows(consequence))),
        changed=tuple(map(build_change_view, find_changes(before, consequence))) if before else (),
    )


def build_row_view(row: QuestionRow) -> Row:
    return Row(kind=row.kind, name=row.name, value=row.value, number=row.number, of=row.of)


def build_change_view(change: Difference) -> RowChange:
    return RowChange(
        was=build_row_view(change.was) if change.was else None, now=build_row_view(change.now) if change.now else None
    )
