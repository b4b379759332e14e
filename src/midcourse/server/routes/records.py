"""What a run did: its plans and their differences, its observations with pictures, and what it sent with the evidence."""

from typing import Annotated

from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from midcourse.agent.start import is_stored
from midcourse.domain.budget import Spent
from midcourse.domain.observation import Observation
from midcourse.domain.plan import Step
from midcourse.errors import RunUnknown
from midcourse.history.journal import Journal, journal_of
from midcourse.history.replay import compare_plans
from midcourse.policy.approval.question import list_rows
from midcourse.policy.plan.diff import StepChange
from midcourse.presentation.evidence import sent_acts
from midcourse.presentation.narration import Narrator
from midcourse.presentation.result import EFFECTS, effect_lines
from midcourse.presentation.vocabulary import describe_call, describe_step, plan_reason
from midcourse.replay import count_carried_out, take_turn
from midcourse.server.models.records import (
    ArgumentChange,
    ChangedStep,
    DiffStep,
    Effects,
    EffectView,
    LookPage,
    LookRow,
    PlanDiffView,
    PlanRow,
    TurnLine,
)
from midcourse.server.models.stream import LineView
from midcourse.server.problems import Refusal, problem_responses
from midcourse.server.routes.runs import RunPath
from midcourse.server.state import TheRuns
from midcourse.server.views import build_row_view

router = APIRouter(tags=["records"])
READS = problem_responses(404, 410, 422)
ANSWERED_WITHIN = 100
"""Turns to read before a log that begins in the middle: it needs the commands that were pending there."""
Version = Annotated[int, Path(ge=1, le=1_000_000, description="The version of the plan.")]
ObservationPath = Annotated[str, Path(pattern=r"^[A-Za-z0-9_.-]{1,80}$", description="The observation's id.")]


@router.get("/runs/{run_id}/plans", responses=READS)
async def list_plans(
    run_id: RunPath,
    tenant_runs: TheRuns,
    brief: Annotated[
        bool,
        Query(description="Leave out `carried_out`, `made_at` and `seq`, for which the whole journal must be read."),
    ] = False,
) -> tuple[PlanRow, ...]:
    """All versions of the plan: why each was made, its steps, and how many of them were carried out."""
    reached: dict[int, int] = {}
    made: dict[int, tuple[int, float]] = {}
    if brief:
        state, _ = await tenant_runs.store.load(run_id)
        plans = await tenant_runs.store.plans(run_id)
    else:
        journal = await journal_of(tenant_runs.store, run_id)
        state, plans = journal.state, journal.plans
        reached, made = count_carried_out(journal.opening, journal.rows), _find_creations(journal)
    spent: dict[int, list[Spent]] = {}
    for line in state.spent:
        spent.setdefault(line.version, []).append(line)
    return tuple(
        PlanRow(
            plan=plan,
            reason=plan_reason(plan),
            steps=tuple(map(describe_step, plan.steps)),
            carried_out=None if brief else reached.get(plan.version, 0),
            made_at=made[plan.version][1] if plan.version in made else None,
            seq=made[plan.version][0] if plan.version in made else None,
            spent=tuple(spent.get(plan.version, ())),
        )
        for plan in plans
    )


@router.get("/runs/{run_id}/lines", responses=READS)
async def list_lines(
    run_id: RunPath, tenant_runs: TheRuns, limit: Annotated[int, Query(ge=1, le=1000)] = 200
) -> tuple[TurnLine, ...]:
    """The last lines of the log. The event stream has the whole log but takes longer to start."""
    opening = await tenant_runs.store.initial_state(run_id)
    narrator = Narrator()
    narrator.add_commands(issued.command for issued in opening.pending)
    run, _ = await tenant_runs.store.load(run_id)
    reach = limit + ANSWERED_WITHIN
    for plan in await tenant_runs.store.plans(run_id, max(0, run.segment.version - reach) if run.segment else 0):
        narrator.add_plan(plan)
    rows = await tenant_runs.store.journal(run_id, max(0, run.seq - reach))
    for row in rows[:-limit]:
        narrator.add_commands(row.commands)
    described = ((row, narrator.describe(row.event, row.commands)) for row in rows[-limit:])
    return tuple(
        TurnLine(seq=row.seq, at=row.event.at, line=LineView(text=line.text, tone=line.tone))
        for row, line in described
        if line is not None
    )


def _find_creations(journal: Journal) -> dict[int, tuple[int, float]]:
    """The turn and time at which each plan arrived."""
    narrator = Narrator()
    narrator.add_commands(issued.command for issued in journal.opening.pending)
    made: dict[int, tuple[int, float]] = {}
    for row in journal.rows:
        if version := narrator.new_plan_version(row.event):
            made[version] = (row.seq, row.event.at)
        narrator.add_commands(row.commands)
    return made


@router.get("/runs/{run_id}/plans/{version}/diff", responses=READS)
async def diff_plans(
    run_id: RunPath,
    version: Version,
    tenant_runs: TheRuns,
    since: Annotated[
        int | None,
        Query(ge=1, le=1_000_000, description="The earlier version; by default the plan that this one replaced."),
    ] = None,
) -> PlanDiffView:
    """Compare a plan with an earlier one: the steps that it kept, changed, dropped and added, and why it was made."""
    journal = await journal_of(tenant_runs.store, run_id)
    plan = journal.plan(version)
    if plan is None:
        raise Refusal(404, "not_found", f"run {run_id} has no plan {version}")
    earlier = since or plan.parent
    if earlier is None or journal.plan(earlier) is None:
        raise Refusal(
            404, "not_found", f"plan {version} has no earlier plan {since or ''} to be compared with".replace("  ", " ")
        )
    found = compare_plans(journal, earlier, version)
    return PlanDiffView(
        before=earlier,
        after=version,
        cause=plan.cause,
        reason=plan_reason(plan),
        context=plan.context,
        kept=tuple(map(_build_diff_step, found.found.kept)),
        done=tuple(map(_build_diff_step, found.found.done)),
        dropped=tuple(map(_build_diff_step, found.found.dropped)),
        new=tuple(map(_build_diff_step, found.found.new)),
        changed=tuple(map(_build_changed_step, found.found.changed)),
    )


def _build_diff_step(step: Step) -> DiffStep:
    return DiffStep(
        index=step.index,
        says=describe_step(step),
        call=describe_call(step),
        effect=step.effect,
        arguments=step.arguments,
    )


def _build_changed_step(change: StepChange) -> ChangedStep:
    was, now = dict(change.before.arguments), dict(change.after.arguments)
    return ChangedStep(
        before=_build_diff_step(change.before),
        after=_build_diff_step(change.after),
        arguments=tuple(
            ArgumentChange(name=name, was=was.get(name), now=now.get(name))
            for name in {**was, **now}
            if repr(was.get(name)) != repr(now.get(name))
        ),
    )


@router.get("/runs/{run_id}/observations", responses=READS)
async def list_observations(
    run_id: RunPath,
    tenant_runs: TheRuns,
    above: Annotated[int, Query(ge=0, le=10_000_000, description="Only observations of later turns.")] = 0,
    limit: Annotated[int, Query(ge=1, le=500)] = 200,
) -> LookPage:
    """The observations, each with the plan and step at that turn."""
    run = await tenant_runs.store.initial_state(run_id)
    looks: list[LookRow] = []
    following = None
    for row in await tenant_runs.store.events(run_id, run.seq):
        run, _ = take_turn(run, row.event)
        seen = getattr(row.event, "seen", None)
        if row.seq <= above or seen is None:
            continue
        if len(looks) == limit:
            following = looks[-1].seq
            break
        full = await tenant_runs.store.observation(run_id, seen.id)
        looks.append(
            LookRow(
                seq=row.seq,
                at=row.event.at,
                seen=seen,
                plan=run.segment.version if run.segment else None,
                step=run.segment.cursor if run.segment else None,
                picture=full.screenshot if full else "",
                size=full.size if full else None,
            )
        )
    return LookPage(looks=tuple(looks), next=following)


@router.get("/runs/{run_id}/observations/{observation}", responses=READS)
async def get_observation(run_id: RunPath, observation: ObservationPath, tenant_runs: TheRuns) -> Observation:
    """An observation: its surface, and every zone with label, state and bounds."""
    if not await is_stored(tenant_runs.store, run_id):
        raise RunUnknown(f"no run is called '{run_id}'")
    found = await tenant_runs.store.observation(run_id, observation)
    if found is None:
        await tenant_runs.store.initial_state(run_id)  # raises if the run was pruned
        raise Refusal(404, "not_found", f"run {run_id} has no observation {observation}")
    return found


@router.get(
    "/runs/{run_id}/observations/{observation}/picture",
    response_class=Response,
    responses={
        200: {
            "description": "The screenshot.",
            "content": {
                kind: {"schema": {"type": "string", "format": "binary"}} for kind in ("image/png", "image/webp")
            },
        },
        **READS,
    },
)
async def get_picture(run_id: RunPath, observation: ObservationPath, tenant_runs: TheRuns) -> Response:
    """The screenshot of an observation. Secrets in it were covered before it was stored."""
    found = await get_observation(run_id, observation, tenant_runs)
    picture = await tenant_runs.blobs.read(run_id, found.screenshot)
    if picture is None or not picture.media_type.startswith("image/"):
        raise Refusal(404, "not_found", f"observation {observation} has no picture")
    headers = {"Cache-Control": "private, max-age=31536000, immutable", "ETag": f'"{found.screenshot}"'}
    return Response(picture.data, media_type=picture.media_type, headers=headers)


@router.get("/runs/{run_id}/effects", responses=READS)
async def list_effects(run_id: RunPath, tenant_runs: TheRuns) -> Effects:
    """The acts that were sent into the world, with every attempt to find out whether they happened."""
    journal = await journal_of(tenant_runs.store, run_id)
    sent = await sent_acts(tenant_runs.store, journal)
    folder = tenant_runs.folder(run_id)
    return Effects(
        sent=tuple(
            EffectView(act=act, rows=tuple(map(build_row_view, list_rows(act.consequence))) if act.consequence else ())
            for act in sent
        ),
        world=effect_lines(folder / EFFECTS) if folder else (),
    )
