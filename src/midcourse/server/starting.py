"""Starts runs over HTTP: decides which tasks may be named, and stores which run an idempotency key started."""

import asyncio
import json
import sqlite3
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from weakref import WeakValueDictionary

from midcourse.app.desk.desk import Desk
from midcourse.app.settings.run import Settings
from midcourse.app.start import is_stored, new_run_id
from midcourse.app.wiring import Job, load_job, packaged_tasks, parse_job, with_inputs
from midcourse.domain.argument import Scalar
from midcourse.errors import FleetUnavailable, MidcourseError, StoreUnusable, TaskInvalid
from midcourse.files import private_file, private_folder
from midcourse.policy.spelling import describe_unknown
from midcourse.server.access.identity import Caller
from midcourse.server.models.runs import RunStarted, StartRun, TaskRow
from midcourse.server.problems import Refusal

SERVER_ONLY = frozenset({"home", "record", "cassette", "approval_policy", "model_base_url", "embedder_base_url"})
"""Settings that name files or addresses of the server: only its own configuration and task files may give them."""

OUTCOME_UNKNOWN = (FleetUnavailable, StoreUnusable)
"""Errors after which the run may have been stored, so its key is kept."""


class Starts:
    """Records which run each idempotency key started. It is stored, so that a repeated request finds its run after a restart."""

    def __init__(self, folder: Path) -> None:
        private_folder(folder)
        path = folder / "server.db"
        private_file(path)
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute(
            "CREATE TABLE IF NOT EXISTS starts (tenant TEXT, key TEXT, body TEXT, run TEXT, PRIMARY KEY (tenant, key))"
        )
        self._locks = WeakValueDictionary[tuple[str, str], asyncio.Lock]()

    def close(self) -> None:
        self._db.close()

    async def start_under_key(
        self, tenant: str, key: str, body: StartRun, run_id: str, start: Callable[[str], Awaitable[str]]
    ) -> tuple[str, bool]:
        """Start a run under this key, or find the earlier one. Returns its id, and whether it existed.

        The run's id is stored before the run: if the server is killed in between, the repeated request starts the same run.
        Raises `Refusal` if the key was used with another body.
        """
        if not key:
            return await start(run_id), False
        digest = sha256(json.dumps(body.model_dump(), sort_keys=True).encode()).hexdigest()
        async with self._locks.setdefault((tenant, key), asyncio.Lock()):
            sql = "SELECT body, run FROM starts WHERE tenant = ? AND key = ?"
            found = self._db.execute(sql, (tenant, key)).fetchone()
            if found and found[0] != digest:
                raise Refusal(
                    409,
                    "idempotency_conflict",
                    f"the idempotency key was used for another request, which started run {found[1]}",
                    next="use a new key for a new request",
                )
            earlier = found is not None
            wanted = found[1] if found else run_id
            if not found:
                self._db.execute("INSERT INTO starts VALUES (?, ?, ?, ?)", (tenant, key, digest, wanted))
            try:
                started = await start(wanted)
            except OUTCOME_UNKNOWN:
                raise
            except (MidcourseError, Refusal):
                if not earlier:
                    self._db.execute("DELETE FROM starts WHERE tenant = ? AND key = ?", (tenant, key))
                raise
            if started != wanted:
                self._db.execute("UPDATE starts SET run = ? WHERE tenant = ? AND key = ?", (started, tenant, key))
            return started, earlier


async def start_once(starts: Starts, desk: Desk, tenant: str, key: str, body: StartRun, job: Job) -> RunStarted:
    """Start the job of a request, or return the run that was started under its idempotency key or business key."""
    earlier_run = False

    async def start(run_id: str) -> str:
        nonlocal earlier_run
        if key and await is_stored(desk.store, run_id):
            earlier_run = True
            await desk.continue_start(run_id)
            return run_id
        started = await desk.start(job, run_id, again=body.again)
        earlier_run = started.earlier
        return started.run

    run, earlier = await starts.start_under_key(tenant, key, body, body.run_id or new_run_id(), start)
    return RunStarted(run=run, earlier=earlier or earlier_run)


def task_names(folder: Path | None) -> dict[str, Path | None]:
    """The tasks that may be started, by name: those in the registered folder, and those that ship with Midcourse."""
    own = {path.stem: path for path in sorted(folder.glob("*.toml"))} if folder else {}
    return {**dict.fromkeys(packaged_tasks()), **own}


def list_task_rows(folder: Path | None) -> tuple[TaskRow, ...]:
    names = task_names(folder).items()
    return tuple(_task_row(name, str(path or name), path.stat().st_mtime_ns if path else 0) for name, path in names)


@lru_cache(maxsize=500)
def _task_row(name: str, reference: str, changed_at: int) -> TaskRow:
    """The row of a task. The task is parsed once for each version of its file."""
    task = load_job(reference, {}).file.task
    return TaskRow(name=name, goal=task.goal, world=task.world, inputs=dict(task.inputs), secrets=task.secrets)


def job_for(body: StartRun, caller: Caller, settings: Settings, folder: Path | None) -> Job:
    """The job that a request asks for. Raises `TaskInvalid` or `Refusal`."""
    overrides = read_settings(body.settings)
    overrides["home"] = str(settings.home)
    if bool(body.task) == bool(body.text):
        raise TaskInvalid("give the name of a task in `task`, or a whole task file in `text`")
    if body.text:
        if not caller.may("administer"):
            raise Refusal(
                403, "forbidden", f"the role {caller.role} may start only tasks that the server knows by name"
            )
        job = parse_job(body.text, "text", overrides)
    else:
        names = task_names(folder)
        if body.task not in names:
            raise TaskInvalid(
                f"{describe_unknown('task', body.task, names)}; a file on the server is not named by its path"
            )
        path = names[body.task]
        job = load_job(str(path) if path else body.task, overrides)
    return replace(_with_inputs(job, body.inputs), by=caller.name)


def read_settings(given: Mapping[str, Scalar]) -> dict[str, object]:
    """The settings of a request. Raises `TaskInvalid` for settings that only the server's own configuration may give."""
    for name in given:
        if name in SERVER_ONLY:
            raise TaskInvalid(f"settings.{name}: only the server's own settings may say this")
    return {name: "none" if value is None else value for name, value in given.items()}


def _with_inputs(job: Job, given: Mapping[str, Scalar]) -> Job:
    """The job with these inputs. Each is converted to the type of the job's own input."""
    own = dict(job.file.task.inputs)
    for name, value in given.items():
        if name not in own:
            raise TaskInvalid(f"inputs: {describe_unknown('input', name, own)}")
        like = own[name]
        number = isinstance(like, float) and isinstance(value, int) and not isinstance(value, bool)
        if not number and like is not None and type(value) is not type(like):
            raise TaskInvalid(f"inputs.{name}: has to be {type(like).__name__}, as in the task")
    fitted = tuple(
        (name, float(value) if isinstance(own[name], float) and isinstance(value, int) else value)
        for name, value in given.items()
    )
    return with_inputs(job, fitted) if given else job
