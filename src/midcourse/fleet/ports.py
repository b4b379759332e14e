"""The ports of a durable run, built by the worker that drives it from the job stored with the run."""

import logging
from collections.abc import Iterable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from midcourse.agent.models import build_embedder
from midcourse.agent.wiring import (
    BUILT_IN,
    Job,
    build_job_roles,
    build_remote_world,
    build_telemetry,
    decode_job,
    world_class,
)
from midcourse.codec import decode
from midcourse.config.defaults import EnvironmentVault, LeaveOpen
from midcourse.config.fleet_settings import FleetSettings
from midcourse.config.settings import Settings
from midcourse.config.task.modules import AllowedModules
from midcourse.domain.task import Task
from midcourse.errors import TaskInvalid
from midcourse.files import folder_of_run
from midcourse.fleet.blobs import open_tenant_blobs
from midcourse.perform import Lessons, Ports
from midcourse.ports.clock import SystemClock
from midcourse.ports.vault import reveal_all
from midcourse.ports.world import World
from midcourse.redact import keep_out_of_logs
from midcourse.store.postgres import PostgresStore
from midcourse.worlds.host.wire import Handle, Ready

log = logging.getLogger(__name__)

NO_HOST = Handle(url="http://127.0.0.1:1", token="")
"""Stands for a host that has not started yet. Connections to it are refused, so runs wait as in any outage."""


class PortsMaker:
    """Builds the ports of runs. Worlds in separate processes write below `home`; `shared` says whether other tenants' worlds do, too."""

    def __init__(self, store: PostgresStore, settings: FleetSettings, home: Path, *, shared: bool = False) -> None:
        self._store = store
        self._settings = settings
        self._home = home
        self._shared = shared
        self._blobs = open_tenant_blobs(settings, store, home)
        self._modules = AllowedModules(settings.task_modules)

    async def build_ports(self, run_id: str) -> Ports:
        task, job = await self.load_job(run_id)
        vault = EnvironmentVault()
        secrets = reveal_all(vault, task.secrets)
        keep_out_of_logs(secrets)
        return Ports(
            run_id=run_id,
            task=task,
            world=self.build_world(run_id, job),
            blobs=self._blobs,
            approver=LeaveOpen(),
            store=self._store,
            clock=SystemClock(),
            vault=vault,
            segments=self._store.segments if job.settings.reuse else None,
            lessons=self._lessons(job.settings),
            step_delay_seconds=job.settings.step_delay_seconds,
            telemetry=build_telemetry(run_id, task, job.settings, secrets),
            **build_job_roles(job, secrets, run_id).as_ports(),
        )

    async def load_job(self, run_id: str) -> tuple[Task, Job]:
        """The task of a run and the job it was started from. Raises `TaskInvalid` if a program started it."""
        task, text = await self._store.job(run_id)
        if not text:
            raise TaskInvalid(
                f"run {run_id} was not begun from a task file; drive it with a worker of your own program"
            )
        job = decode_job(text)
        self._modules.check(job.file.named_objects(), BUILT_IN)  # before anything that it names is imported
        return task, job

    def build_world(self, run_id: str, job: Job) -> World:
        """The world of a run, as the run left it: at the host, or in a separate process."""
        spec, key = job.file.world, f"{self._settings.tenant}/{run_id}"
        host = self._host_of(world_class(spec), key)
        folder = self._home / (folder_of_run(key) if host or self._shared else f"runs/{run_id}")
        return build_remote_world(spec, folder, host=host, key=key)

    def _lessons(self, settings: Settings) -> Lessons | None:
        if not settings.lessons:
            return None
        memory = self._store.memory(settings.agent)
        return Lessons(memory=memory, embedder=build_embedder(settings), above=settings.lesson_similarity)

    def _host_of(self, world: str, key: str) -> Handle | None:
        """The host that opens this world under this key, if any. Without a host's file, runs wait for one.

        The files are read each time, since a restarted host has a new address. The one file of a single host names all worlds that
        are opened at a host; of several, the one that serves this world may be away, so its runs wait.
        """
        place = self._settings.host_file
        if place is None:
            return None
        hosts = _read_hosts(place)
        serving = {name: ready for name, ready in hosts.items() if world in ready.worlds}
        if serving:
            return serving[choose_host(serving, key)].handle
        return None if hosts and not place.is_dir() else NO_HOST


def choose_host(names: Iterable[str], key: str) -> str:
    """Choose a host for the sessions under a key: the same one each time. If one is removed, only its keys get another one.

    A host remembers what a run has done and the cookies of a browser that it has closed meanwhile.
    """
    return max(names, key=lambda name: sha256(f"{name}/{key}".encode()).digest())


def _read_hosts(place: Path) -> dict[str, Ready]:
    """What hosts wrote into this file, or into the files of this folder, by file name."""
    if not place.is_dir():
        with suppress(FileNotFoundError):
            return {place.name: decode(Ready, place.read_bytes())}
        return {}
    found: dict[str, Ready] = {}
    for file in sorted(place.glob("*.json")):
        try:
            found[file.name] = decode(Ready, file.read_bytes())
        except (OSError, ValueError) as problem:  # it is being written or removed, or is not from a host
            log.warning("%s is not the file of a host: %s", file, problem)
    return found
