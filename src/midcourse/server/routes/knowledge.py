"""What is kept beyond single runs: lessons and the audit log."""

from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import Field

from midcourse.codec import decode_any
from midcourse.domain.events import Event
from midcourse.domain.records.audit import Head
from midcourse.domain.records.lesson import Lesson
from midcourse.policy.audit import verify_log
from midcourse.presentation.narration import describe_input
from midcourse.server.models.base import Model
from midcourse.server.problems import Refusal, problem_responses
from midcourse.server.state import Admin, TheRuns

router = APIRouter(tags=["knowledge"])
LessonKey = Annotated[str, Path(pattern=r"^[0-9a-f]{8,128}$", description="The full key of the lesson.")]


class LessonView(Model):
    """A lesson of one agent. Its texts come from a world or a model and are not verified."""

    lesson: Lesson
    fixed: int
    """The number of runs in which a new plan fixed the failure."""
    not_fixed: int
    """The number of runs in which a new plan did not fix it."""


class ShareBody(Model):
    """The lesson to share."""

    agent: Annotated[str, Field(min_length=1, max_length=200)]
    """The agent whose lesson is shared, with its current text."""


class Forgotten(Model):
    """The number of lessons that were deleted."""

    lessons: int


class AuditEntry(Model):
    """A row of the audit log: something that a person decided."""

    n: int
    run: str
    seq: int
    at: float
    says: str
    event: Event
    hash: str


class AuditPage(Model):
    """A page of the audit log."""

    rows: tuple[AuditEntry, ...]
    next: int | None
    """Pass this as `above` to get the next page. None on the last page."""


class AuditVerdict(Model):
    """Whether the audit log is intact."""

    holds: bool
    problem: str
    rows: int
    head: Head
    """The last intact row. Keep a copy outside this system: it reveals whether the log is rewritten later."""


@router.get("/lessons", responses=problem_responses())
async def list_lessons(tenant_runs: TheRuns) -> tuple[LessonView, ...]:
    """The lessons that failures taught, latest first."""
    return tuple(
        LessonView(lesson=lesson, fixed=lesson.track.fixed, not_fixed=lesson.track.not_fixed)
        for lesson in await tenant_runs.lessons().lessons()
    )


@router.post("/lessons/{key}/share", responses=problem_responses(400, 404, 413, 415, 422))
async def share_lesson(key: LessonKey, body: ShareBody, tenant_runs: TheRuns, caller: Admin) -> LessonView:
    """Let the planners of the tenant's other agents read the current text of a lesson."""
    if not await tenant_runs.lessons().share(key, body.agent, caller.name):
        raise Refusal(
            404, "not_found", f"agent {body.agent} has no lesson {key}", next="GET /api/v1/lessons lists them"
        )
    shared = next(
        lesson for lesson in await tenant_runs.lessons().lessons() if (lesson.key, lesson.agent) == (key, body.agent)
    )
    return LessonView(lesson=shared, fixed=shared.track.fixed, not_fixed=shared.track.not_fixed)


@router.delete("/lessons/{key}", responses=problem_responses(404, 422))
async def forget_lesson(key: LessonKey, tenant_runs: TheRuns, _: Admin) -> Forgotten:
    """Delete a lesson and its statistics, for all agents."""
    forgotten = await tenant_runs.lessons().forget(key)
    if not forgotten:
        raise Refusal(404, "not_found", f"there is no lesson {key}", next="GET /api/v1/lessons lists them")
    return Forgotten(lessons=forgotten)


@router.get("/audit", responses=problem_responses(422))
async def list_audit(
    tenant_runs: TheRuns,
    above: Annotated[int, Query(ge=0, le=2**62, description="Only rows with a higher number.")] = 0,
    run: Annotated[str, Query(max_length=80, description="Only rows of this run.")] = "",
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
) -> AuditPage:
    """The decisions of people, earliest first."""
    rows = [row for row in (await tenant_runs.store.audit()).rows if row.n > above and run in ("", row.run)]
    entries: list[AuditEntry] = []
    for row in rows[:limit]:
        event = decode_any(Event, row.body)
        entries.append(
            AuditEntry(
                n=row.n, run=row.run, seq=row.seq, at=event.at, says=describe_input(event), event=event, hash=row.hash
            )
        )
    return AuditPage(rows=tuple(entries), next=rows[limit - 1].n if len(rows) > limit else None)


@router.get("/audit/verdict", responses=problem_responses())
async def verify_audit(tenant_runs: TheRuns) -> AuditVerdict:
    """Check whether the audit log is intact."""
    log = await tenant_runs.store.audit()
    found = verify_log(log)
    return AuditVerdict(holds=not found.problem, problem=found.problem, rows=len(log.rows), head=found.head)
