"""What-if questions: a recorded run under other settings, replayed or continued live as a fork."""

import asyncio

from fastapi import APIRouter

from midcourse.agent.start import new_run_id
from midcourse.config.settings import format_value
from midcourse.history.journal import journal_of
from midcourse.history.replay import replay_journal
from midcourse.presentation.replay import describe_replay
from midcourse.server.models.records import ForkBody, ForkedView, ReplayBody, ReplayView
from midcourse.server.problems import problem_responses
from midcourse.server.routes.runs import RunPath
from midcourse.server.starting import check_fork, read_settings
from midcourse.server.state import Operator, TheRuns

router = APIRouter(tags=["what if"])


@router.post("/runs/{run_id}/replay", responses=problem_responses(400, 404, 409, 410, 413, 415, 422))
async def replay_run(run_id: RunPath, body: ReplayBody, tenant_runs: TheRuns) -> ReplayView:
    """Replay the recorded decisions under other settings. Nothing is executed, and no model is called."""
    journal = await journal_of(tenant_runs.store, run_id)
    changes = {name: format_value(value) for name, value in read_settings(body.settings).items()}
    again = await asyncio.to_thread(replay_journal, journal, changes)
    words = describe_replay(journal, again)
    return ReplayView(
        verdict=again.verdict,
        event=again.at or None,
        events=len(journal.rows),
        detail=again.detail,
        headline=words.headline,
        recorded_there=words.recorded,
        saved_words=words.saved,
        lost_words=words.lost,
        hint=words.hint or words.this_is,
        recorded=again.recorded,
        until=again.until,
        saved=again.saved,
        lost=again.lost,
        final_reason=again.reached,
    )


@router.post("/runs/{run_id}/fork", status_code=201, responses=problem_responses(400, 404, 409, 410, 413, 415, 422))
async def fork_run(run_id: RunPath, body: ForkBody, tenant_runs: TheRuns, caller: Operator) -> ForkedView:
    """Start a new run that continues a recorded one from an event, in a fresh world. It asks for approvals again."""
    journal = await journal_of(tenant_runs.store, run_id)
    changes = {name: format_value(value) for name, value in read_settings(body.settings).items()}
    recorded = await tenant_runs.job_of(run_id)
    if recorded is not None:
        check_fork(caller, journal, recorded, changes, tenant_runs.settings)
    run = body.run_id or new_run_id()
    forked = await tenant_runs.fork(journal, body.at, run, changes, by=caller.name, by_id=caller.id)
    return ForkedView(run=forked.run_id, at=forked.at)
