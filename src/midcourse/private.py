"""Folders and files that only their owner may read: 0700 and 0600, whatever the umask is.

What exists keeps its mode; `app/home.py` corrects a home that was created otherwise. On Windows modes mean nothing, and a
file has the rights of its folder.
"""

import os
from contextlib import suppress
from pathlib import Path

FILE, FOLDER = 0o600, 0o700
PUBLIC = 0o666
"""As the umask has it: for files that a person asked for elsewhere."""


def private_folder(path: Path) -> Path:
    """The folder, created with every missing one above it."""
    for missing in reversed([each for each in (path, *path.parents) if not each.exists()]):
        missing.mkdir(mode=FOLDER, exist_ok=True)
    return path


def private_file(path: Path) -> None:
    """Create an empty file, unless there is one: a library that opens it keeps its mode, and says what is wrong with it."""
    with suppress(OSError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, FILE))


def private_opener(path: str, flags: int) -> int:
    """For `open(…, opener=private_opener)`."""
    return os.open(path, flags, FILE)


def privately(command: list[str]) -> list[str]:
    """The same command with a umask under which all that it writes is private, for `os.posix_spawn`."""
    return ["/bin/sh", "-c", 'umask 077 && exec "$0" "$@"', *command]


def write_whole(path: Path, text: str, mode: int = FILE) -> None:
    """Replace a file in one step: whenever its writer is killed, it is there as a whole or not at all.

    Two writers at once do no harm: one of them is last.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.unlink(missing_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    with open(os.open(draft, flags, mode), "w", encoding="utf-8", newline="") as file:
        file.write(text)
    draft.replace(path)
