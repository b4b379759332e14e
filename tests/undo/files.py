"""A world of real files: rename, trash, write and send, with a log of its own, and a plan of ten effects."""

import os
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Any

from midcourse import Agent, BaseWorld, Draft, Settings, probe, skill
from midcourse.expect import Reference, Undo
from midcourse.planners import SamePlan
from midcourse.testing import Approves

SWAPPED = Undo(
    skill="rename",
    arguments={
        "source": Reference(source="argument", name="destination"),
        "destination": Reference(source="argument", name="source"),
    },
)
AS_BEFORE = Undo(skill="set_mode", arguments={"mode": Reference(source="result", name="before")})


class Files(BaseWorld):
    """Files in `folder`; trash, outbox and log are beside it."""

    def __init__(self, folder: str) -> None:
        super().__init__()
        self._files = Path(folder) / "files"
        self._trash = Path(folder) / "trash"
        self._outbox = Path(folder) / "outbox"
        self._log = Path(folder) / "log"

    def _note(self, *words: str) -> None:
        with self._log.open("a") as log:
            log.write(" ".join(words) + "\n")

    @skill(effect="reversible", undo=SWAPPED, probe="is_renamed")
    def rename(self, source: str, destination: str) -> None:
        """Rename a file."""
        self._note("rename", source, destination)
        (self._files / source).rename(self._files / destination)

    @probe
    def is_renamed(self, source: str, destination: str) -> bool:
        return (self._files / destination).exists() and not (self._files / source).exists()

    @skill(effect="reversible", undo="restore", probe="is_trashed")
    def trash(self, path: str) -> None:
        """Move a file to the trash."""
        self._note("trash", path)
        (self._files / path).rename(self._trash / path)

    @probe
    def is_trashed(self, path: str) -> bool:
        return (self._trash / path).exists()

    @skill(effect="reversible", undo="trash")
    def restore(self, path: str) -> None:
        """Move a file back from the trash."""
        self._note("restore", path)
        (self._trash / path).rename(self._files / path)

    @skill(effect="irreversible", undo="remove", probe="is_written")
    def write(self, path: str, text: str) -> None:
        """Write a new file."""
        self._note("write", path)
        (self._files / path).write_text(text)

    @probe
    def is_written(self, path: str, text: str) -> bool:
        return (self._files / path).exists() and (self._files / path).read_text() == text

    @skill(effect="irreversible")
    def remove(self, path: str) -> None:
        """Delete a file for good."""
        self._note("remove", path)
        (self._files / path).unlink()

    @skill(effect="set_state", undo=AS_BEFORE)
    def set_mode(self, path: str, mode: int) -> dict[str, int]:
        """Set the mode of a file."""
        self._note("set_mode", path, str(mode))
        before = (self._files / path).stat().st_mode & 0o777
        (self._files / path).chmod(mode)
        return {"before": before}

    @skill
    def touch(self, path: str) -> None:
        """Set the time of a file."""
        (self._files / path).touch()

    @skill(effect="irreversible", probe="is_sent")
    def send(self, text: str) -> None:
        """Send a message, which cannot be taken back."""
        self._note("send", text)
        with self._outbox.open("a") as outbox:
            outbox.write(text + "\n")

    @probe
    def is_sent(self, text: str) -> bool:
        return self._outbox.exists() and text in self._outbox.read_text().splitlines()


TEN = (
    Draft(skill="rename", arguments={"source": "a", "destination": "b"}),
    Draft(skill="rename", arguments={"source": "b", "destination": "c"}),
    Draft(skill="write", arguments={"path": "a", "text": "new"}),
    Draft(skill="trash", arguments={"path": "d"}),
    Draft(skill="send", arguments={"text": "moved"}),
    Draft(skill="rename", arguments={"source": "e", "destination": "d"}),
    Draft(skill="write", arguments={"path": "f", "text": "new"}),
    Draft(skill="rename", arguments={"source": "f", "destination": "g"}),
    Draft(skill="set_mode", arguments={"path": "g", "mode": 0o600}),
    Draft(skill="trash", arguments={"path": "g"}),
)
"""Ten effects, of which later ones depend on earlier ones; one cannot be undone."""


def create(folder: Path) -> None:
    for name in ("files", "trash"):
        (folder / name).mkdir(parents=True)
    for name in ("a", "d", "e"):
        (folder / "files" / name).write_text(name)


def state(folder: Path) -> dict[str, tuple[str, int]]:
    """What is in the folders of files and trash: text and mode by path."""
    found = [path for name in ("files", "trash") for path in (folder / name).iterdir()]
    return {str(path.relative_to(folder)): (path.read_text(), path.stat().st_mode & 0o777) for path in found}


def log(folder: Path) -> list[str]:
    return (folder / "log").read_text().splitlines()


def agent(folder: Path, *steps: Draft, **options: Any) -> Agent:
    settings = Settings(home=folder / "home", retry_delay_seconds=0.05)
    given: dict[str, Any] = {"approver": Approves(), "settings": settings, **options}
    return Agent(Files(str(folder)), SamePlan(steps), **given)


def undo_and_die(folder: str, run_id: str, left: int) -> None:
    """Undo a run in this process, and kill it after so many lines of Midcourse's code and of the world's."""

    def count(frame: FrameType, event: str, _argument: object) -> Any:
        nonlocal left
        own = "midcourse" in frame.f_code.co_filename or frame.f_code.co_filename == __file__
        if event == "line":
            left -= 1
            if left <= 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return count if own else None

    sys.settrace(count)
    agent(Path(folder)).undo_sync(run_id)
