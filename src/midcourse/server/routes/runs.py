"""Runs: start, list, read."""

from typing import Annotated

from fastapi import APIRouter, Header, Path, Query
from starlette.responses import Response

from midcourse.agent.start import is_stored
from midcourse.domain.result import Result
from midcourse.errors import RunUnknown
from midcourse.history.journal import journal_of, journal_text
from midcourse.presentation.page.page import page_of_run
from midcourse.server.models.runs import RunPage, RunStarted, RunView, StartRun, TaskRow
from midcourse.server.problems import Refusal, problem_responses
from midcourse.server.starting import job_for, list_task_rows, start_once
from midcourse.server.state import Operator, Reader, SharedState, TheRuns
from midcourse.server.views import build_run_row, build_run_view
from midcourse.tenants.runs import PageQuery, RunState, count_states, list_page

router = APIRouter(tags=["runs"])
RunPath = Annotated[str, Path(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$", description="The id of the run.")]


@router.post("/runs", status_code=201, responses=problem_responses(400, 409, 413, 415, 422))
async def start_run(
    body: StartRun,
    shared: SharedState,
    caller: Operator,
    tenant_runs: TheRuns,
    idempotency_key: Annotated[str, Header(max_length=200, pattern=r"^[\x21-\x7e]*$")] = "",
) -> RunStarted:
    """Start a run. Requests with the same `Idempotency-Key` and body start only one run, even if the server crashes in between."""
    job = job_for(body, caller, tenant_runs.settings, shared.tasks)
    return await start_once(shared.starts, tenant_runs, caller.tenant, idempotency_key, body, job)


@router.get("/runs", responses=problem_responses(422))
async def list_runs(
    tenant_runs: TheRuns,
    state: Annotated[list[RunState] | None, Query(max_length=10, description="Only runs in these states.")] = None,
    world: Annotated[str, Query(max_length=200, description="Only runs in this world.")] = "",
    q: Annotated[
        str, Query(max_length=200, description="A part of the id, goal or business key; case does not matter.")
    ] = "",
    after: Annotated[str, Query(pattern=r"^[0-9]{0,18}$", description="`next` of the previous page.")] = "",
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> RunPage:
    """The runs, newest first, in pages."""
    await tenant_runs.refresh()
    before = int(after) if after else None
    query = PageQuery(states=tuple(state or ()), world=world, text=q, before=before, limit=limit)
    page = await list_page(tenant_runs, query)
    rows = [await build_run_row(tenant_runs, run) for run in page.runs]
    following = str(page.following) if page.following is not None else None
    return RunPage(runs=tuple(rows), next=following, counts=await count_states(tenant_runs))


@router.get("/runs/{run_id}", responses=problem_responses(404, 422))
async def get_run(run_id: RunPath, tenant_runs: TheRuns, shared: SharedState, caller: Reader) -> RunView:
    """Everything about one run except its journal."""
    held = shared.take_overs.find(caller.tenant, run_id)
    return await build_run_view(tenant_runs, run_id, caller, held.by.name if held else "")


@router.get("/runs/{run_id}/result", responses=problem_responses(404, 409, 422))
async def get_result(run_id: RunPath, tenant_runs: TheRuns) -> Result:
    """The result of a run; 409 if the run has not ended."""
    if not await is_stored(tenant_runs.store, run_id):
        raise RunUnknown(f"no run is called '{run_id}'")
    result = await tenant_runs.store.result(run_id)
    if result is None:
        raise Refusal(409, "refused", f"run {run_id} has not ended", next=f"follow /api/v1/runs/{run_id}/events")
    return result


@router.get(
    "/runs/{run_id}/journal",
    response_class=Response,
    responses={
        200: {
            "content": {"application/jsonl": {"schema": {"type": "string"}}},
            "description": "One JSON object per line.",
        },
        **problem_responses(404, 410, 422),
    },
)
async def get_journal(run_id: RunPath, tenant_runs: TheRuns) -> Response:
    """The whole journal, as `midcourse replay` and `midcourse show` read it."""
    text = journal_text(await journal_of(tenant_runs.store, run_id))
    name = f'attachment; filename="{run_id}.jsonl"'
    return Response(text, media_type="application/jsonl", headers={"Content-Disposition": name})


@router.get(
    "/runs/{run_id}/export.html",
    response_class=Response,
    responses={
        200: {"content": {"text/html": {"schema": {"type": "string"}}}, "description": "A self-contained page."},
        **problem_responses(404, 410, 422),
    },
)
async def export_run(run_id: RunPath, tenant_runs: TheRuns) -> Response:
    """The run as one HTML file with its pictures and without scripts. It is sent as a download, so that browsers do not open it here."""
    job = await tenant_runs.job_of(run_id)
    page = await page_of_run(tenant_runs.store, tenant_runs.blobs, run_id, name=job.name if job else "")
    name = f'attachment; filename="{run_id}.html"'
    return Response(page, media_type="text/html", headers={"Content-Disposition": name})


@router.get("/tasks", responses=problem_responses())
async def list_tasks(shared: SharedState, _: Reader) -> tuple[TaskRow, ...]:
    """The tasks that can be started by name."""
    return list_task_rows(shared.tasks)
