"""The ports of a durable run, built by the worker that drives it from the job stored with the run."""

from pathlib import Path

from midcourse.app.defaults import EnvironmentVault
from midcourse.app.fleet.settings import FleetSettings
from midcourse.app.models.roles import embedder_for
from midcourse.app.settings.run import Settings
from midcourse.app.wiring import job_from, pictures_in, remote_world, roles_for, world_class
from midcourse.codec import decode
from midcourse.domain.approval import Question
from midcourse.errors import TaskInvalid
from midcourse.perform import Lessons, Ports
from midcourse.ports.clock import SystemClock
from midcourse.ports.vault import reveal_all
from midcourse.redact import keep_out_of_logs
from midcourse.store.postgres import PostgresStore
from midcourse.worlds.host.registry import session_folder
from midcourse.worlds.host.wire import Handle, Ready

NO_HOST = Handle(url="http://127.0.0.1:1", token="")
"""In place of a host that has not started yet: connections to it are refused, so runs wait as in any outage."""


class PortsMaker:
    """`home` is where worlds in processes of their own write what they write."""

    def __init__(self, store: PostgresStore, settings: FleetSettings, home: Path) -> None:
        self._store = store
        self._settings = settings
        self._home = home

    async def ports_for(self, run_id: str) -> Ports:
        task, text = await self._store.job(run_id)
        if not text:
            raise TaskInvalid(
                f"run {run_id} was not begun from a task file; drive it with a worker of your own program"
            )
        job = job_from(text)
        spec, key = job.file.world, f"{self._settings.tenant}/{run_id}"
        host, vault = self._host_of(world_class(spec)), EnvironmentVault()
        folder = self._home / (session_folder(key) if host else f"runs/{run_id}")
        secrets = reveal_all(vault, task.secrets)
        keep_out_of_logs(secrets)
        return Ports(
            run_id=run_id,
            task=task,
            world=remote_world(spec, folder, host=host, key=key),
            pictures=pictures_in(folder),
            approver=Posting(self._store),
            store=self._store,
            clock=SystemClock(),
            vault=vault,
            segments=self._store.segments if job.settings.reuse else None,
            lessons=self._lessons(job.settings),
            step_delay_seconds=job.settings.step_delay_seconds,
            **roles_for(job, secrets, run_id).as_ports(),
        )

    def _lessons(self, settings: Settings) -> Lessons | None:
        if not settings.lessons:
            return None
        memory = self._store.memory(settings.agent)
        return Lessons(memory=memory, embedder=embedder_for(settings), above=settings.lesson_similarity)

    def _host_of(self, world: str) -> Handle | None:
        """Read the host file each time: a restarted host has a new address. Without the file, runs wait for a host."""
        if self._settings.host_file is None:
            return None
        try:
            ready = decode(Ready, self._settings.host_file.read_bytes())
        except FileNotFoundError:
            return NO_HOST
        return Handle(url=ready.url, token=ready.token) if world in ready.worlds else None


class Posting:
    """Asks by putting the question where `midcourse approve` finds it; the decision comes through the mailbox."""

    def __init__(self, store: PostgresStore) -> None:
        self._store = store

    async def ask(self, question: Question) -> None:
        await self._store.save_question(question)
