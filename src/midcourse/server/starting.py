"""Starts runs over HTTP: decides which tasks may be named and how far a request may change their settings.

It also stores which run an idempotency key started.
"""

import asyncio
import json
import sqlite3
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from hashlib import sha256
from pathlib import Path
from weakref import WeakValueDictionary

from midcourse.agent.fork import job_of_fork, limits_of_fork
from midcourse.agent.start import is_stored, new_run_id
from midcourse.agent.wiring import Job, load_job, packaged_tasks, parse_job, with_inputs
from midcourse.codec import replace_surrogates
from midcourse.config.bounds import ADMINISTRATORS, BOUNDS, Change, Loosened, find_loosened
from midcourse.config.settings import Settings
from midcourse.domain.argument import Scalar
from midcourse.errors import FleetUnavailable, MidcourseError, StoreUnusable, TaskInvalid
from midcourse.files import private_file, private_folder
from midcourse.history.journal import Journal
from midcourse.policy.spelling import describe_unknown
from midcourse.server.access.identity import RIGHTS, Caller, Right
from midcourse.server.models.runs import RunStarted, StartRun, TaskRow
from midcourse.server.problems import Refusal
from midcourse.tenants.runs import TenantRuns

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


async def start_once(
    starts: Starts, tenant_runs: TenantRuns, tenant: str, key: str, body: StartRun, job: Job
) -> RunStarted:
    """Start the job of a request, or return the run that was started under its idempotency key or business key."""
    earlier_run = False

    async def start(run_id: str) -> str:
        nonlocal earlier_run
        if key and await is_stored(tenant_runs.store, run_id):
            earlier_run = True
            await tenant_runs.continue_start(run_id)
            return run_id
        started = await tenant_runs.start(job, run_id, again=body.again)
        earlier_run = started.earlier
        return started.run

    run, earlier = await starts.start_under_key(tenant, key, body, body.run_id or new_run_id(), start)
    return RunStarted(run=run, earlier=earlier or earlier_run)


# --- tasks


def task_names(folder: Path | None) -> dict[str, Path | None]:
    """The tasks that may be started, by name: those in the registered folder, and those that ship with Midcourse."""
    own = {path.stem: path for path in sorted(folder.glob("*.toml"))} if folder else {}
    return {**dict.fromkeys(packaged_tasks()), **own}


def list_task_rows(folder: Path | None) -> tuple[TaskRow, ...]:
    """The rows of these tasks. A file that is no task gets a row that says why, so that it does not take the others away."""
    return tuple(_find_task_row(name, path) for name, path in task_names(folder).items())


def _find_task_row(name: str, path: Path | None) -> TaskRow:
    try:
        if path is not None and not path.is_file():
            raise TaskInvalid(f"{path.name}: is not a file")
        return _read_task_row(name, str(path or name), path.stat().st_mtime_ns if path else 0)
    except (TaskInvalid, OSError) as problem:
        readable = replace_surrogates(str(problem))
        return TaskRow(name=replace_surrogates(name), goal="", world="", inputs={}, secrets=(), problem=readable)


@lru_cache(maxsize=500)
def _read_task_row(name: str, reference: str, changed_at: int) -> TaskRow:
    """The row of a task. The task is parsed once for each version of its file."""
    task = load_job(reference, {}).file.task
    return TaskRow(name=name, goal=task.goal, world=task.world, inputs=dict(task.inputs), secrets=task.secrets)


def job_for(body: StartRun, caller: Caller, settings: Settings, folder: Path | None) -> Job:
    """The job that a request asks for. Raises `TaskInvalid` or `Refusal`."""
    wanted = read_settings(body.settings)
    own: dict[str, object] = {"home": str(settings.home)}
    if not settings.ask_for_more:
        own["ask_for_more"] = False
    if bool(body.task) == bool(body.text):
        raise TaskInvalid("give the name of a task in `task`, or a whole task file in `text`")
    if body.text:
        _check_text(caller, own)
        load = partial(parse_job, body.text, "text")
    else:
        names = task_names(folder)
        if body.task not in names:
            raise TaskInvalid(
                f"{describe_unknown('task', body.task, names)}; a file on the server is not named by its path"
            )
        path = names[body.task]
        load = partial(load_job, str(path) if path else body.task)
    bound = load(own)
    job = load({**wanted, **own}) if wanted else bound
    four_eyes = bound.settings.agreement().four_eyes
    loosened = find_loosened(bound.settings, _values_of_request(job.settings))
    _check_loosened(caller, loosened, four_eyes=four_eyes)
    if body.again:
        _check_again(caller, four_eyes=four_eyes)
    return replace(_with_inputs(job, body.inputs), by=caller.name, by_id=caller.id)


# --- what a request may change


LOOSENING_NEEDS: Mapping[Change, Right] = {
    "only lower": "administer",
    "only stricter": "decide",
    "administrators": "administer",
}
"""The right that a user needs to loosen a setting beyond what the task and the server's own settings say."""
FOUR_EYES = "where four_eyes requires two people, no user who starts a run may loosen it, not even an administrator"
IN_SERVER = "only the server's own settings and its task files can loosen it"


def _values_of_request(settings: Settings) -> dict[str, object]:
    """The settings that a request may have changed."""
    return {name: getattr(settings, name) for name in BOUNDS if name not in SERVER_ONLY}


def _check_loosened(caller: Caller, loosened: tuple[Loosened, ...], *, four_eyes: bool) -> None:
    """Raise `Refusal` if this user may not loosen these settings for a run that they start."""
    needs = {change.name: LOOSENING_NEEDS[BOUNDS[change.name].change] for change in loosened}
    refused = [change for change in loosened if four_eyes or not caller.may(needs[change.name])]
    if not refused:
        return
    detail = "; ".join(map(str, refused))
    if four_eyes:
        raise Refusal(403, "forbidden", f"{detail}; {FOUR_EYES}", next=f"send a value within the bound; {IN_SERVER}")
    roles = [role for role, has in RIGHTS.items() if {"operate", *(needs[each.name] for each in refused)} <= {*has}]
    raise Refusal(
        403,
        "forbidden",
        f"{detail}; the role {caller.role} may not loosen it",
        next=f"send a value within the bound, or have a user with the role {' or '.join(roles)} start the run",
    )


def _check_text(caller: Caller, own: Mapping[str, object]) -> None:
    """Raise `Refusal` if this user may not send the text of a task. It says which world is opened, and what there needs no approval."""
    if not caller.may("administer"):
        raise Refusal(403, "forbidden", f"the role {caller.role} may start only tasks that the server knows by name")
    if Settings.load(overrides=own).agreement().four_eyes:
        raise Refusal(
            403,
            "forbidden",
            f"text: the text of a task says what is asked about, and {FOUR_EYES}",
            next="put the text into a file in the folder of --tasks, and start it by its name",
        )


def _check_again(caller: Caller, *, four_eyes: bool) -> None:
    """Raise `Refusal` if this user may not say that something irreversible may be done once more."""
    if four_eyes:
        raise Refusal(
            403,
            "forbidden",
            f"again: it says that what an earlier run did may be done once more, and {FOUR_EYES}",
            next="after another person has checked what the earlier run left behind, on the server's machine: midcourse run TASK --again",
        )
    if not caller.may("decide"):
        raise Refusal(
            403,
            "forbidden",
            f"again: the role {caller.role} may not decide that what an earlier run did may be done once more",
            next="leave it out, or have a user with the role admin start the run",
        )


def check_fork(caller: Caller, journal: Journal, recorded: Job, changes: Mapping[str, str], settings: Settings) -> None:
    """Raise `Refusal` if this user may not continue the recorded run under these settings.

    The bound is what a new run of its task would have. So a run that an administrator had loosened does not stay loosened when
    another user forks it. Settings that only administrators change are compared with those of the recorded run: the fork keeps them.
    """
    bound = parse_job(recorded.source, recorded.name, {"home": str(settings.home)}).settings
    now = _values_of_request(job_of_fork(recorded, settings, changes).settings)
    limits = limits_of_fork(journal, changes)
    kept = {name for name in now if BOUNDS[name] == ADMINISTRATORS and now[name] == getattr(recorded.settings, name)}
    decided = {
        name: getattr(limits, name) for name in BOUNDS if hasattr(limits, name) and BOUNDS[name] != ADMINISTRATORS
    }
    loosened = find_loosened(bound, {name: value for name, value in (now | decided).items() if name not in kept})
    agreement = bound.agreement()
    four_eyes = agreement.four_eyes or journal.task.agreement.four_eyes
    _check_loosened(caller, loosened, four_eyes=four_eyes)
    if four_eyes and agreement != journal.task.agreement:
        raise Refusal(
            403,
            "forbidden",
            f"the approval policy has changed since this run was recorded, and {FOUR_EYES}",
            next="start the task as a new run",
        )


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
