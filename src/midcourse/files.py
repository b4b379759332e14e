"""Private files and folders (0600 and 0700 under any umask), and atomic writes.

Existing paths keep their mode; `home/stores.py` corrects those of earlier versions. On Windows, modes have no effect, and a
file has the rights of its folder.
"""

import os
import re
import secrets
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

FILE, FOLDER = 0o600, 0o700
PUBLIC = 0o666
"""The mode of files that a user asked for elsewhere, before the umask is applied."""
_PLAIN = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}")
DEFAULT_TENANT = "default"


def folder_of_run(key: str) -> Path:
    """Return the folder of a run's files, relative to the home.

    A key is a run's id, or 'tenant/run'. No key leads to a folder outside of the home.
    """
    tenant, _, run = key.rpartition("/")
    if not _PLAIN.fullmatch(run) or (tenant and not _PLAIN.fullmatch(tenant)):
        return Path("runs") / f"key-{sha256(key.encode(errors='surrogatepass')).hexdigest()[:32]}"
    return Path("runs") / run if tenant in ("", DEFAULT_TENANT) else Path("tenants") / tenant / "runs" / run


def atomic_write(path: Path, content: str | bytes, *, private: bool = True, durable: bool = False) -> None:
    """Replace a file in one step: a reader finds the old content or the new, even if the writer is killed halfway.

    With several writers, the last one wins. A `durable` write also survives a power failure. It costs two disk flushes, so it is
    for what cannot be produced again (screenshots as evidence). Other files are derived from the database, which flushes
    by itself, or are written again by the next start.
    """
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    handle = os.open(
        draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), FILE if private else PUBLIC
    )
    try:
        with open(handle, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            if durable:
                file.flush()
                os.fsync(handle)
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    if durable and os.name != "nt":  # Windows can neither open a folder nor needs to
        _flush_folder(path.parent)


def private_folder(path: Path) -> Path:
    """Create the folder and every missing one above it, and return it."""
    for missing in reversed([each for each in (path, *path.parents) if not each.exists()]):
        missing.mkdir(mode=FOLDER, exist_ok=True)
    return path


def private_file(path: Path) -> None:
    """Create an empty private file unless one exists. The library that opens it next keeps its mode, and reports errors."""
    with suppress(OSError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, FILE))


def private_opener(path: str, flags: int) -> int:
    """Open a file and make it private if it is new. Pass this function as `open(…, opener=private_opener)`."""
    return os.open(path, flags, FILE)


def add_private_umask(command: list[str]) -> list[str]:
    """Return the command with a umask under which all files it writes are private. It is meant for `os.posix_spawn`."""
    return ["/bin/sh", "-c", 'umask 077 && exec "$0" "$@"', *command]


def _flush_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
