"""Worlds that tests of the host serve in a separate process."""

import asyncio
import time
from pathlib import Path

from midcourse.domain.argument import Pairs
from midcourse.errors import NotSent
from midcourse.worlds.base import BaseWorld, Scene, Zone, probe, skill


class Diary(BaseWorld):
    """Leaves a file when it is closed; three of its skills raise."""

    def __init__(self, folder: str, opens: bool = True) -> None:
        super().__init__()
        self._closed = Path(folder) / "closed"
        self._opens = opens

    async def open(self) -> str:
        if not self._opens:
            raise OSError("the lock is jammed")
        return await super().open()

    async def close(self) -> None:
        self._closed.touch()

    def look(self) -> Scene:
        return Scene("Diary", Zone(id="page", role="page", label="Page"))

    async def conceal(self, secrets: Pairs) -> None:
        self._closed.with_name("concealed").write_text(repr(secrets))

    @skill
    def write(self, text: str) -> None:
        """Do nothing."""

    @skill
    def look_up(self, word: str) -> None:
        """Raise a KeyError."""
        raise KeyError(word)

    @skill
    def tear(self) -> None:
        """Raise a RuntimeError."""
        raise RuntimeError("torn")

    @skill(effect="irreversible")
    def publish(self) -> None:
        """Refuse."""
        raise NotSent("permission", "the diary is private")

    @probe
    def torn(self) -> None:
        """Is always unclear."""


class Leaver(BaseWorld):
    """Raises what is not an `Exception`, at a chosen method. Its acts are lines of a file."""

    def __init__(self, folder: str, where: str, what: str) -> None:
        super().__init__()
        self._acts, self._where, self._what = Path(folder) / "acts", where, what
        self._may_leave("made")

    def _may_leave(self, where: str) -> None:
        if where == self._where:
            raise {"exit": SystemExit(3), "cancel": asyncio.CancelledError(), "generator": GeneratorExit()}[self._what]

    async def open(self) -> str:
        self._may_leave("open")
        return await super().open()

    async def close(self) -> None:
        self._may_leave("close")

    def look(self) -> Scene:
        self._may_leave("look")
        return Scene("Leaver", Zone(id="page", role="page", label="Page"))

    @skill
    def write(self) -> None:
        """Write a line, and then perhaps leave."""
        with self._acts.open("a") as file:
            file.write("written\n")
        self._may_leave("act")


class SharingLeaver(Leaver):
    """The same in the event loop of the host."""

    blocks = False


class Gate(BaseWorld):
    """Has a skill that ends once there is a file called `go`. Files show that it began and ended."""

    def __init__(self, folder: str) -> None:
        super().__init__()
        self._folder = Path(folder)

    def look(self) -> Scene:
        return Scene("Gate", Zone(id="gate", role="gate", label="Gate"))

    @skill
    async def work(self, name: str) -> None:
        """Wait for the file `go`."""
        (self._folder / f"{name}.begun").touch()
        while not (self._folder / "go").exists():
            await asyncio.sleep(0.005)
        (self._folder / f"{name}.done").touch()


class Sleeper(Gate):
    """As `Gate`, but its skill blocks the thread, as a driver without `async` would."""

    @skill
    def work(self, name: str) -> None:  # pyrefly: ignore[bad-override]
        """Block until there is a file `go`."""
        (self._folder / f"{name}.begun").touch()
        while not (self._folder / "go").exists():
            time.sleep(0.005)
        (self._folder / f"{name}.done").touch()


class Letterbox(BaseWorld):
    """Has an irreversible skill. The letters are in a file, so that they outlive a host."""

    def __init__(self, folder: str) -> None:
        super().__init__()
        self._letters = Path(folder) / "letters"

    def look(self) -> Scene:
        posted = (("posted", self._letters.exists()),)
        return Scene("Letterbox", Zone(id="slot", role="slot", label="Slot", state=posted))

    @skill(effect="irreversible")
    def post(self, zone: Zone) -> None:
        """Post a letter."""
        with self._letters.open("a", encoding="utf-8") as file:
            file.write("letter\n")


class Notebook(BaseWorld):
    """Shows the last note, keeps it while it is parked, and can end by itself."""

    blocks = False

    def __init__(self, folder: str, stays: bool = False) -> None:
        super().__init__()
        self._closed = Path(folder) / "closed"
        self._stays = stays
        self._text = "empty"
        self._burnt = asyncio.Event()

    def look(self) -> Scene:
        return Scene(self._text, Zone(id="page", role="page", label=self._text))

    @skill
    def note(self, text: str) -> None:
        """Note something."""
        self._text = text

    @skill
    def burn(self) -> None:
        """End this world."""
        self._burnt.set()

    async def wait_until_lost(self) -> None:
        await self._burnt.wait()

    async def park(self) -> str | None:
        return None if self._stays else self._text

    def unpark(self, stored: str) -> None:
        self._text = stored

    async def close(self) -> None:
        self._closed.touch()
