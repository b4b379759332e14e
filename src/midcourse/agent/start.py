"""Starts new runs, or finds the earlier run with the same business key. Used by `Agent`, the CLI and fleets."""

import secrets
import shutil
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TypeVar

from midcourse.agent.models import add_call_reserves
from midcourse.agent.roles import OptionalRoles
from midcourse.agent.wiring import Job, build_job_roles, load_run_job, save_job
from midcourse.config.defaults import EnvironmentVault, check_secrets
from midcourse.domain.argument import Reference
from midcourse.domain.budget import Limits
from midcourse.domain.expectation import Expectation, Probe
from midcourse.domain.result import Result
from midcourse.domain.run import Run
from midcourse.domain.task import Task
from midcourse.errors import KeyTaken, RunPruned, RunUnknown, TaskInvalid
from midcourse.home.folder import run_folder
from midcourse.policy.evidence.verification import needs_reader
from midcourse.policy.failure.recovery import find_ineffective_setting
from midcourse.policy.spelling import describe_unknown
from midcourse.ports.store import Store

T = TypeVar("T")


# --- a new run


def new_run_id() -> str:
    """A new unique id. Ids sort by time."""
    return f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(2)}"


def new_run(task: Task, run_id: str, roles: OptionalRoles | None = None) -> Run:
    """The first state of a run. `roles` are its roles in addition to the planner.

    Raises `TaskInvalid` for a limit that can never take effect, and for four eyes without the name of the user who starts it.
    """
    changed = [field.name for field in fields(Limits) if getattr(task.limits, field.name) != field.default]
    if why := find_ineffective_setting(task.limits, changed):
        raise TaskInvalid(why)
    if task.agreement.four_eyes and not task.by.strip():
        raise TaskInvalid(
            "four_eyes: the user who starts a run must not decide its questions; name that user with `by`"
        )
    roles = roles or OptionalRoles()
    return Run(
        id=run_id,
        limits=task.limits,
        has_done_when=task.done_when is not None,
        has_detours=roles.detour_planner is not None,
        done_in_words=isinstance(task.done_when, Expectation) and needs_reader(task.done_when),
        wants_data=bool(task.output),
        has_outliner=roles.outliner is not None,
        has_reflector=roles.reflector is not None,
        not_by=task.by if task.agreement.four_eyes else "",
        not_by_id=task.by_id if task.agreement.four_eyes else "",
    )


def new_run_of(job: Job, run_id: str) -> tuple[Run, Task]:
    """The first state of a run of this job, and its task with the reserves for model calls. Raises what `new_run` raises."""
    roles = build_job_roles(job)
    task = replace(job.task, limits=add_call_reserves(job.task.limits, roles))
    return new_run(task, run_id, roles), task


def check_references(task: Task) -> None:
    """Raise `TaskInvalid` for a `done_when` that refers to an input, secret or file that the task does not have."""
    known = {"input": tuple(dict(task.inputs)), "secret": task.secrets, "file": (*task.file_paths, *task.files)}
    arguments = task.done_when.arguments if isinstance(task.done_when, Probe) else ()
    for _, value in arguments:
        if isinstance(value, Reference) and value.name not in known.get(value.source, (value.name,)):
            raise TaskInvalid(f"done_when: {describe_unknown(value.source, value.name, known[value.source])}")


# --- the business key


@dataclass(frozen=True, kw_only=True)
class Free:
    """A run may start. `after` is the latest run with this key, if there is one."""

    after: str = ""


@dataclass(frozen=True, kw_only=True)
class Unfinished:
    """A run with this key has not ended, so it is resumed."""

    run: str


@dataclass(frozen=True, kw_only=True)
class Done:
    """A run with this key succeeded."""

    result: Result


async def check_key(store: Store, key: str, *, again: bool = False) -> Free | Unfinished | Done:
    """Look up what earlier runs with this key did. An empty key is always free.

    A run that ended without success and without an irreversible step frees its key. A run that did something irreversible, or
    may have, does not: the next run would not know and could do it a second time. Then `KeyTaken` is raised, until a person
    has checked and passes `again`.
    """
    run_id = await store.run_with_key(key) if key else None
    if run_id is None:
        return Free()
    result = await store.result(run_id)
    if result is None:
        return Unfinished(run=run_id)
    if result.success:
        return Done(result=result)
    run, _ = await store.load(run_id)
    left = [step for step in result.completed if step.irreversible]
    if again or not (left or run.finished_irreversible):
        return Free(after=run_id)
    may_have = "may have done" if any(step.doubtful for step in left) or not left else "did"
    what = ", ".join(f"'{step.says or step.skill}'" for step in left) or "something irreversible"
    raise KeyTaken(
        f"run {run_id} has the key '{key}' and ended without success ({result.final_reason}), but {may_have} {what}; "
        f"check what it left behind, and if it may be done once more, repeat with --again (in Python again=True)"
    )


async def start_under_key(
    store: Store,
    key: str,
    *,
    begin: Callable[[str], Awaitable[T]],
    resume: Callable[[str], Awaitable[T | None]],
    again: bool = False,
) -> T | Result:
    """Call `begin(after)` if the key is free, or `resume(run)` if a run with it has not ended; otherwise return its result.

    `begin` raises `KeyTaken`, and `resume` returns None, if another process was faster: then the key is checked again.
    """
    while True:
        match await check_key(store, key, again=again):
            case Done(result=result):
                return result
            case Unfinished(run=earlier):
                if (resumed := await resume(earlier)) is not None:
                    return resumed
            case Free(after=after):
                with suppress(KeyTaken):
                    return await begin(after)


# --- runs of jobs


@dataclass(frozen=True, kw_only=True)
class StartedRun:
    """A run in the store, new or earlier, with its result if it has ended."""

    run: str
    job: Job
    result: Result | None = None
    """The result, if it is an earlier run that succeeded."""
    earlier: bool = False
    """Whether it is an earlier run with the same key."""


async def find_earlier(job: Job, store: Store, *, again: bool = False) -> StartedRun | Free:
    """Find the earlier run with the job's key that has to be resumed, or did the task already. Raises `KeyTaken` like `check_key`."""
    match await check_key(store, job.task.key, again=again):
        case Done(result=result):
            return StartedRun(run=result.run, job=job, result=result, earlier=True)
        case Unfinished(run=earlier):
            return StartedRun(run=earlier, job=load_run_job(job.settings, earlier), earlier=True)
        case Free() as free:
            return free


@dataclass(kw_only=True)
class PreparedRun:
    """A run that can begin: its folder has the job, and what it needs can be built there. `prepare_run` makes one."""

    job: Job
    store: Store
    run: Run
    task: Task
    folder: Path
    may_be_stored: bool = False

    async def begin(self, *, again: bool = False) -> StartedRun:
        """Store the run; or return the one that another process began under the same key in the meantime."""
        while True:
            found = await find_earlier(self.job, self.store, again=again)
            if isinstance(found, StartedRun):
                return found
            try:
                self.may_be_stored = True
                await self.store.begin(self.run, self.task, after=found.after)
            except KeyTaken:  # only after this error it is certain that nothing was stored
                self.may_be_stored = False
                continue
            return StartedRun(run=self.run.id, job=self.job)


@asynccontextmanager
async def prepare_run(job: Job, run_id: str, store: Store) -> AsyncGenerator[PreparedRun]:
    """Prepare a new run of the job. If it does not begin within this context, its folder is removed: no trace is left.

    Raises `TaskInvalid` for an id that is taken and for a secret without a value.
    """
    if await is_stored(store, run_id):
        raise TaskInvalid(f"there is a run '{run_id}' already; choose another --run-id, or midcourse resume {run_id}")
    run, task = new_run_of(job, run_id)
    check_secrets(task.secrets, EnvironmentVault())
    prepared = PreparedRun(job=job, store=store, run=run, task=task, folder=run_folder(job.settings, run_id))
    save_job(job, prepared.folder)
    try:
        yield prepared
    finally:
        if not prepared.may_be_stored:
            shutil.rmtree(prepared.folder)


async def is_stored(store: Store, run_id: str) -> bool:
    try:
        await store.initial_state(run_id)
    except RunUnknown:
        return False
    except RunPruned:
        pass
    return True
