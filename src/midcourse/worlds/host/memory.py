"""Records the irreversible acts that a host begins, on disk before each of them begins.

The ledger of a run is in a database, which may lose its last commits in a fail-over. The run would then repeat what it has sent.
The host keeps a second record: it refuses an act if it has begun the same act under a command that is not in the caller's ledger.
"""

import json
import logging
import os
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeAlias

from midcourse.files import atomic_write, private_opener

log = logging.getLogger(__name__)

KEPT_SECONDS = 7 * 86_400.0
"""How long an act is remembered. A fail-over loses seconds, and the runs continue within minutes."""
KEPT_ACTS = 100_000
"""How many acts are remembered; the oldest is forgotten first."""

Act: TypeAlias = tuple[str, str]
"""The key of a session, which names its run, and the identity of an act."""


class ActMemory:
    """Remembers acts by identity, with the commands that began them. Without a file, they are forgotten with the process.

    The methods block while the disk writes, and may be called from several threads.
    """

    def __init__(
        self,
        file: Path | None = None,
        *,
        most: int = KEPT_ACTS,
        seconds: float = KEPT_SECONDS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Read the file. Raise `OSError` if it exists and cannot be read."""
        self._file = file
        self._most = most
        self._seconds = seconds
        self._clock = clock
        self._lock = threading.Lock()
        self._begun: dict[Act, dict[int, float]] = {}
        """The commands that began each act, with their times; the oldest act is first."""
        self._lines = 0
        if file is not None and file.exists():
            self._read(file)

    def __len__(self) -> int:
        return len(self._begun)

    def begin(self, key: str, identity: str, command: int, known: Iterable[int]) -> str:
        """Record that this command begins an act. Return why it must not begin, or an empty string if it may.

        `known` are the commands in the caller's ledger that sent the same. After a refusal, this command replaces the earlier ones
        in the record: once it is in the caller's ledger, the caller knows of them. Raise `OSError` if the record cannot be written;
        then the act must not begin.
        """
        with self._lock:
            self._forget_old()
            act = key, identity
            earlier = sorted(self._begun.get(act, {}).keys() - (set(known) - {command}))
            self._write(act, command, instead=bool(earlier))
            self._add(act, command, self._clock(), instead=bool(earlier))
        if not earlier:
            return ""
        names = ", ".join(map(str, earlier))
        return f"the same was begun before (command {names}), which the run has no record of"

    def _add(self, act: Act, command: int, at: float, *, instead: bool) -> None:
        commands = self._begun.pop(act, {})
        self._begun[act] = {command: at} if instead else {**commands, command: at}

    def _forget_old(self) -> None:
        since = self._clock() - self._seconds
        while self._begun:
            oldest = next(iter(self._begun))
            if len(self._begun) < self._most and max(self._begun[oldest].values()) >= since:
                return
            del self._begun[oldest]

    # --- the file

    def _write(self, act: Act, command: int, *, instead: bool) -> None:
        if self._file is None:
            return
        if self._lines > 2 * len(self._begun) + 1000:
            self._rewrite(self._file)
        if not self._file.exists():
            atomic_write(self._file, b"", durable=True)
        line = _format_line(act, command, self._clock(), instead=instead)
        with open(self._file, "ab", opener=private_opener) as out:
            out.write(line)
            out.flush()
            os.fsync(out.fileno())
        self._lines += 1

    def _rewrite(self, file: Path) -> None:
        """Write the file again without the acts that are forgotten."""
        lines = [
            _format_line(act, command, at, instead=False)
            for act, commands in self._begun.items()
            for command, at in commands.items()
        ]
        atomic_write(file, b"".join(lines), durable=True)
        self._lines = len(lines)

    def _read(self, file: Path) -> None:
        for line in file.read_bytes().splitlines():
            self._lines += 1
            if not line:
                continue
            try:
                found: dict[str, Any] = json.loads(line)
                act = str(found["key"]), str(found["identity"])
                self._add(act, int(found["command"]), float(found["at"]), instead=bool(found["instead"]))
            except (ValueError, KeyError, TypeError):  # the power failed while it was written, so its act did not begin
                log.warning("%s has a line that cannot be read", file)
        self._forget_old()


def _format_line(act: Act, command: int, at: float, *, instead: bool) -> bytes:
    """Return one line of the file. It begins with a line break, because the line before may be incomplete."""
    key, identity = act
    found = {"key": key, "identity": identity, "command": command, "at": at, "instead": instead}
    return f"\n{json.dumps(found)}".encode()
