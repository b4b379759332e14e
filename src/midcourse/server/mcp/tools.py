"""The tools of an MCP host: start runs of known tasks, watch and control them, and read their questions.

The caller is a model. It chooses a task that the owner of this server wrote, and the task's inputs. It cannot change settings. It can
decide questions only if the server was started with that option, because an agent must not approve its own requests.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import Field

from midcourse.agent.start import is_stored
from midcourse.domain.approval import Verdict
from midcourse.domain.argument import Scalar
from midcourse.domain.phases import Asking
from midcourse.domain.records.summary import Sending
from midcourse.errors import MidcourseError, RunUnknown
from midcourse.presentation.result import LONGEST_FOR_MODELS, shorten_value
from midcourse.server.access.identity import Caller
from midcourse.server.models.base import Model
from midcourse.server.models.questions import Accepted, DecisionBody, QuestionPage, QuestionView
from midcourse.server.models.runs import RunRow, RunStarted, StartRun, TaskRow
from midcourse.server.problems import Refusal
from midcourse.server.routes import questions
from midcourse.server.starting import Starts, job_for, list_task_rows, start_once
from midcourse.server.views import build_question_view, build_run_row, build_run_view
from midcourse.tenants.runs import PageQuery, RunState, TenantRuns, list_page

LONGEST_WAIT = 50.0
"""The maximum seconds of a wait: hosts give up a call after a minute."""
LOOKS_EVERY = 0.2
TAKEN_WITHIN = 10.0
"""Seconds to wait until the run has read a message. After that, the run reads it later."""
READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
STARTS = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=True)
CONTROLS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
DECIDES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=True)

RunId = Annotated[str, Field(description="The run's id.", pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$")]
Key = Annotated[
    str,
    Field(
        description="Names this request: the same key again returns the same run. Use a new one only for new work.",
        pattern=r"^[\x21-\x7e]{1,200}$",
    ),
]


class RunReport(Model):
    """A run as a model needs it."""

    run: str
    goal: str
    state: RunState
    says: str
    """The state in one sentence."""
    final_reason: str
    verified: bool | None
    """Whether a check or a probe found that the task is done. A done run without it is only claimed: say so to the user."""
    sending: Sending
    """What it sent: `nothing`, only a `sign_in`, or `effects`; `call` for one call of a function. Empty while it has not ended."""
    answer: str
    """What the planner tells the user."""
    data: dict[str, Scalar]
    """What it returned."""
    advice: str
    question: QuestionView | None
    next: str
    """What has to happen before it continues, if it waits."""


class TaskList(Model):
    tasks: tuple[TaskRow, ...]


class RunList(Model):
    runs: tuple[RunRow, ...]


def report_refusals(call: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    """Wrap a tool so that refusals become errors that a model can read."""

    @wraps(call)
    async def reported(*args: Any, **kwargs: Any) -> Any:
        try:
            return await call(*args, **kwargs)
        except Refusal as refused:
            raise ToolError(f"{refused} ({refused.problem.next})" if refused.problem.next else str(refused)) from None
        except MidcourseError as error:
            raise ToolError(str(error)) from None

    return reported


@dataclass(frozen=True, kw_only=True)
class RunTools:
    """The tools, over the runs of one tenant."""

    tenant_runs: TenantRuns
    starts: Starts
    caller: Caller
    tasks: Path | None
    """The folder of the tasks that may be started; None: those that ship."""

    def list_tools(self) -> list[tuple[Callable[..., Any], ToolAnnotations]]:
        """Every tool that this caller may use, with its hints."""
        reading = [self.list_tasks, self.list_runs, self.get_run, self.wait_for_run, self.list_questions]
        operates = self.caller.may("operate")
        starting = [self.start_run] if operates else []
        controlling = [self.guide_run, self.pause_run, self.resume_run, self.cancel_run] if operates else []
        deciding = [self.answer_question] if self.caller.may("decide") else []
        return [
            *((report_refusals(tool), READS) for tool in reading),
            *((report_refusals(tool), STARTS) for tool in starting),
            *((report_refusals(tool), CONTROLS) for tool in controlling),
            *((report_refusals(tool), DECIDES) for tool in deciding),
        ]

    # --- reading

    async def list_tasks(self) -> TaskList:
        """List the tasks that can be started, with their inputs. One with a problem cannot be started."""
        return TaskList(tasks=self._list_own_tasks())

    async def list_runs(self, limit: Annotated[int, Field(ge=1, le=50)] = 10) -> RunList:
        """List runs, the latest first."""
        await self.tenant_runs.refresh()
        page = await list_page(self.tenant_runs, PageQuery(states=(), world="", text="", before=None, limit=limit))
        return RunList(runs=tuple([await build_run_row(self.tenant_runs, run) for run in page.runs]))

    async def get_run(self, run: RunId) -> RunReport:
        """Report the state of a run: what it does or did, its result, and what it waits for."""
        await self.tenant_runs.refresh()
        view = await build_run_view(self.tenant_runs, run, self.caller)
        question = await self.tenant_runs.store.open_question(run) if view.question is not None else None
        return RunReport(
            run=run,
            goal=view.goal,
            state=view.state,
            says=view.sentence,
            final_reason=view.final_reason,
            verified=view.verified,
            sending=view.sending,
            answer=view.result.answer if view.result else "",
            data={
                name: shorten_value(value, run, LONGEST_FOR_MODELS)
                for name, value in (view.result.data if view.result else ())
            },
            advice=view.verdict.advice if view.verdict else "",
            question=build_question_view(question) if question else None,
            next=self._describe_next(run, view.state),
        )

    async def wait_for_run(
        self, run: RunId, seconds: Annotated[float, Field(ge=0, le=LONGEST_WAIT)] = LONGEST_WAIT
    ) -> RunReport:
        """Wait until a run has ended or waits for a person, at most so many seconds, and report its state."""
        await self._check_known(run)
        give_up_at = time.monotonic() + seconds
        while time.monotonic() < give_up_at:
            state, _ = await self.tenant_runs.store.load(run)
            if isinstance(state.phase, Asking) or await self.tenant_runs.store.result(run) is not None:
                break
            await asyncio.sleep(LOOKS_EVERY)
        return await self.get_run(run)

    async def list_questions(self) -> QuestionPage:
        """List what runs ask a person. Tell the user about them; a person decides."""
        return QuestionPage(questions=tuple(map(build_question_view, await self.tenant_runs.open_questions(50))))

    # --- starting and controlling

    async def start_run(self, task: str, key: Key, inputs: dict[str, Scalar] | None = None) -> RunStarted:
        """Start a task by its name and return the run at once. The same key again returns that run and starts nothing."""
        body = StartRun(task=task, inputs=inputs or {})
        rows = {row.name: row for row in self._list_own_tasks()}
        if task not in rows:
            names = ", ".join(name for name, row in rows.items() if not row.problem)
            raise ToolError(f"there is no task '{task}'; there are: {names}")
        if rows[task].problem:
            raise ToolError(f"task '{task}' cannot be started until its file is corrected: {rows[task].problem}")
        job = job_for(body, self.caller, self.tenant_runs.settings, self.tasks)
        return await start_once(self.starts, self.tenant_runs, self.caller.tenant, f"mcp:{key}", body, job)

    async def guide_run(self, run: RunId, text: Annotated[str, Field(min_length=1, max_length=10_000)]) -> Accepted:
        """Give the planner of a run advice for its next plan."""
        return await self._send(run, lambda: self.tenant_runs.control(run).guide(text.strip()), "the planner reads it")

    async def pause_run(self, run: RunId) -> Accepted:
        """Pause a run after the current step."""
        return await self._send(run, lambda: self.tenant_runs.control(run).pause(), "it pauses after the current step")

    async def resume_run(self, run: RunId) -> Accepted:
        """End the pause of a run, or continue one that was interrupted."""
        return await self._send(run, lambda: self.tenant_runs.resume(run), "it observes the world and continues")

    async def cancel_run(self, run: RunId) -> Accepted:
        """End a run after the current step."""
        return await self._send(run, lambda: self.tenant_runs.control(run).cancel(), "it ends after the current step")

    async def answer_question(
        self, run: RunId, question: int, shown: tuple[str, ...], verdict: Verdict, guidance: str = ""
    ) -> Accepted:
        """Decide a question for the user, who has been shown exactly the steps with these digests and has decided so."""
        body = DecisionBody(verdict=verdict, shown=shown, guidance=guidance)
        accepted: list[Accepted] = []

        async def decide() -> str:
            accepted.append(await questions.decide(run, question, body, self.tenant_runs, self.caller))
            return ""

        await self._send(run, decide, "")
        return accepted[0]

    async def _send(self, run: str, tell: Callable[[], Awaitable[str]], says: str) -> Accepted:
        """Send a message to a run and wait until it was read, so that the next report does not show the state before it."""
        await self._check_known(run)
        before = (await self.tenant_runs.store.load(run))[0].seq
        if why_not := await tell():
            raise ToolError(why_not)
        give_up_at = time.monotonic() + TAKEN_WITHIN
        while time.monotonic() < give_up_at:
            if (await self.tenant_runs.store.load(run))[0].seq > before:
                break
            await asyncio.sleep(LOOKS_EVERY)
        return Accepted(run=run, says=says)

    def _list_own_tasks(self) -> tuple[TaskRow, ...]:
        rows = list_task_rows(self.tasks)
        own = {path.stem for path in self.tasks.glob("*.toml")} if self.tasks else {row.name for row in rows}
        return tuple(row for row in rows if row.name in own)

    async def _check_known(self, run: str) -> None:
        if not await is_stored(self.tenant_runs.store, run):
            raise RunUnknown(f"no run is called '{run}'")

    def _describe_next(self, run: str, state: RunState) -> str:
        match state:
            case "asking" if self.caller.may("decide"):
                return "show the question to the user, then call answer_question with what they decided"
            case "asking":
                return f"a person decides: midcourse approve {run}, midcourse answer {run}, or the console (midcourse serve)"
            case "interrupted":
                return "no process is running it: resume_run continues it"
            case "paused":
                return "resume_run continues it"
            case _:
                return ""
