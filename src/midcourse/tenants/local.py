"""The runs of a home: in its SQLite file, driven by this process if it started or resumed them, else by others."""

import asyncio
import logging
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Literal

from midcourse.agent.agent import Agent, build_agent
from midcourse.agent.control import LocalControl, list_open_questions
from midcourse.agent.fork import Forked, fork, job_of_fork, limits_of_fork
from midcourse.agent.live_run import LiveRun
from midcourse.agent.start import StartedRun, find_earlier, prepare_run
from midcourse.agent.wiring import Job, load_run_job, load_saved_job, load_saved_name, save_job
from midcourse.config.defaults import LeaveOpen
from midcourse.config.settings import Settings
from midcourse.domain.approval import Question
from midcourse.errors import MidcourseError, NotForkable, RunUnknown
from midcourse.exception_text import format_traceback
from midcourse.files import atomic_write, private_folder
from midcourse.history.journal import Journal, export
from midcourse.home.folder import JOB_FILE, run_folder
from midcourse.home.stores import LocalStore, open_blobs, open_lessons, open_store
from midcourse.ports.blobs import Blobs
from midcourse.ports.memory import Memory
from midcourse.ports.store import RunQuery, RunSummary
from midcourse.ports.viewing import Gesture, Handled, View
from midcourse.tenants.runs import RunState, driven_state

log = logging.getLogger(__name__)

SERVED = "served"
"""A file in the folder of each run that a server drives, so that the next server resumes it after kill -9."""


class LocalRuns:
    """The runs of one home. Use it in one event loop only, because the store has one connection."""

    kind: Literal["local"] = "local"

    def __init__(self, settings: Settings) -> None:
        private_folder(settings.home)
        self.settings = settings
        self.store: LocalStore = open_store(settings.home)
        self.blobs: Blobs = open_blobs(settings.home)
        self._driven: dict[str, asyncio.Task[None]] = {}
        self._live: dict[str, LiveRun] = {}

    def state_of(self, run: RunSummary) -> RunState:
        ended = run.phase == "ended" and run.final_reason
        driven = ended or run.id in self._driven or self.store.is_claimed(run.id) is not False
        return driven_state(run) if driven else "interrupted"

    def control(self, run_id: str) -> LocalControl:
        return LocalControl(self.store, run_id)

    async def refresh(self) -> None:
        """Nothing to do: `state_of` reads the locks."""

    async def task_of(self, run: RunSummary) -> str:
        return load_saved_name(run_folder(self.settings, run.id))

    async def job_of(self, run_id: str) -> Job | None:
        folder = run_folder(self.settings, run_id)
        return load_saved_job(folder) if (folder / JOB_FILE).is_file() else None

    async def start(self, job: Job, run_id: str, *, again: bool = False) -> StartedRun:
        found = await find_earlier(job, self.store, again=again)
        if isinstance(found, StartedRun):
            return found
        async with prepare_run(job, run_id, self.store) as prepared:
            agent = build_agent(job, prepared.folder, LeaveOpen())
            started = await prepared.begin(again=again)
        if not started.earlier:
            await self._drive(started.run, agent)
        return started

    async def continue_start(self, run_id: str) -> None:
        if await self._is_left(run_id) and not await self.store.events(run_id, 0):
            await self.resume(run_id)

    async def _is_left(self, run_id: str) -> bool:
        """Whether the run has not ended, and no process drives it."""
        return await self.store.result(run_id) is None and self.store.is_claimed(run_id) is False

    async def resume(self, run_id: str) -> str:
        if await self._is_left(run_id):
            job = load_run_job(self.settings, run_id)
            await self._drive(run_id, build_agent(job, run_folder(self.settings, run_id), LeaveOpen()))
            return ""
        return await self.control(run_id).resume()

    async def resume_served(self) -> None:
        """Resume the runs that an earlier server drove when it was killed."""
        for mark in sorted((self.settings.home / "runs").glob(f"*/{SERVED}")):
            run_id = mark.parent.name
            try:
                if await self._is_left(run_id):
                    await self.resume(run_id)
                    continue
            except MidcourseError as why_not:
                log.warning("run %s was not resumed: %s", run_id, why_not)
            mark.unlink(missing_ok=True)

    async def open_questions(self, limit: int) -> tuple[Question, ...]:
        asking = await self.store.find_runs(RunQuery(status=("asking",), limit=limit))
        driven = {run.id for run in asking if self.state_of(run) == "asking"}
        oldest_first = sorted(asking, key=lambda run: run.waiting_since or 0.0)
        return await list_open_questions(self.store, oldest_first, lambda run_id: run_id in driven)

    def folder(self, run_id: str) -> Path:
        return run_folder(self.settings, run_id)

    def driven_here(self) -> tuple[str, ...]:
        return tuple(self._driven)

    async def has_workers(self) -> None:
        """None: the runs of a home are driven by processes, not by workers."""

    def broken(self) -> tuple[str, ...]:
        return ()

    async def fork(
        self, journal: Journal, at: int, run_id: str, changes: Mapping[str, str], *, by: str, by_id: str
    ) -> Forked:
        recorded = await self.job_of(journal.opening.id)
        if recorded is None:
            raise NotForkable(
                "it was not started from a task file, so its world and planner are unknown; fork it from Python"
            )
        job = replace(job_of_fork(recorded, self.settings, changes), by=by, by_id=by_id)
        folder = private_folder(run_folder(self.settings, run_id))
        agent = replace(build_agent(job, folder, LeaveOpen()), store=self.store)
        save_job(job, folder)
        try:
            limits = limits_of_fork(journal, changes)
            forked = await fork(
                journal, at, agent=agent, store=self.store, run_id=run_id, limits=limits, by=by, by_id=by_id
            )
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        await self._drive(run_id, agent, world_is_open=True)
        return forked

    async def take_over(self, run_id: str) -> str:
        live = self._live.get(run_id)
        return await live.attend() if live else await self.control(run_id).attend()

    async def view(self, run_id: str, since: str) -> View | None:
        return await (await self._find_world_access(run_id)).view(since)

    async def handle(self, run_id: str, gestures: tuple[Gesture, ...], since: str | None) -> Handled:
        return await (await self._find_world_access(run_id)).handle(gestures, since)

    async def _find_world_access(self, run_id: str) -> LiveRun | LocalControl:
        """What reaches the run's world: the live run in this process, or the control with the session's handle."""
        live = self._live.get(run_id)
        return live if live and not await self.store.session(run_id) else self.control(run_id)

    def lessons(self, agent: str = "default") -> Memory:
        return open_lessons(self.settings.home, agent=agent)

    async def ping(self) -> None:
        await self.store.audit_head()

    async def close(self) -> None:
        driven = list(self._driven.values())
        for task in driven:
            task.cancel()
        await asyncio.gather(*driven, return_exceptions=True)
        self.store.close()

    async def _drive(self, run_id: str, agent: Agent, *, world_is_open: bool = False) -> None:
        atomic_write(run_folder(self.settings, run_id) / SERVED, "")
        live = replace(agent, store=self.store).pick_up(run_id, world_is_open=world_is_open)
        self._live[run_id] = live
        task = asyncio.create_task(self._drive_to_end(live), name=f"drive {run_id}")
        self._driven[run_id] = task
        task.add_done_callback(lambda _: self._forget(run_id))
        await asyncio.sleep(0)  # let it claim the run in its first step, so that it accepts messages from now on

    def _forget(self, run_id: str) -> None:
        self._driven.pop(run_id, None)
        self._live.pop(run_id, None)

    async def _drive_to_end(self, live: LiveRun) -> None:
        """Drive a run to its end. If an error stops it, it can be resumed."""
        folder = run_folder(self.settings, live.run_id)
        try:
            await live.result()
        except asyncio.CancelledError:
            raise
        except Exception as error:
            log.error("run %s stopped\n%s", live.run_id, format_traceback(error))
            return
        (folder / SERVED).unlink(missing_ok=True)
        with suppress(RunUnknown):
            await export(self.store, live.run_id, folder)
