"""A world in a process of its own. The session outlives this process; another one takes it over by its handle.

For systems with `fork` (Linux, macOS): the host detaches itself from whoever started it.
"""

import asyncio
import contextlib
import json
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

from midcourse.codec import decode, decode_any, encode
from midcourse.domain.approval import CommitSet
from midcourse.domain.argument import Pairs
from midcourse.domain.observation import Observation, Unseen
from midcourse.domain.outcome import Outcome
from midcourse.errors import TaskInvalid
from midcourse.ports.world import Call, Catalogue, Finding
from midcourse.worlds.host.wire import Ask, AttachAsk, Attached, BarAsk, Barred, CallAsk, Handle, ProbeAsk, Ready
from midcourse.worlds.post import Broken, Lost, Refused, Silent, post

_MISUSED = 2
_PAUSE = 0.05
_ATTACH_SECONDS = 10.0


class RemoteWorld:
    """Starts a host for `spec` ("package.module:Class"), or attaches to one, and speaks to it.

    A host that is gone is a lost world: looks say `world_lost`, acts are unknown. Nothing is ever sent twice.
    """

    fences = True

    def __init__(
        self,
        spec: str,
        *,
        options: Mapping[str, object] | None = None,
        folder: str | Path,
        idle: float = 600.0,
        timeout: float = 60.0,
    ) -> None:
        """`folder` is for the host's log. `idle` seconds without a request, and the host closes the world."""
        self._spec = spec
        self._options = dict(options or {})
        self._folder = Path(folder)
        self._idle = idle
        self._timeout = timeout
        self._handle: Handle | None = None
        self._attached: Attached | None = None

    @property
    def name(self) -> str:
        return self._attached.name if self._attached else self._spec.rpartition(":")[2].lower()

    @property
    def rebuilds(self) -> bool:
        """As the class says that is served."""
        module, _, name = self._spec.partition(":")
        return bool(getattr(getattr(import_module(module), name), "rebuilds", False))

    def catalogue(self) -> Catalogue:
        return self._attached.catalogue if self._attached else Catalogue()

    async def open(self) -> str:
        """Raises `TaskInvalid` for a world that cannot be made, `ConnectionError` for one that does not open.

        A host that somebody started in this folder and never told anyone about is taken over.
        """
        for handle in self._left_behind():
            if await self.attach(handle):
                return handle
        handle = _handle(await asyncio.to_thread(self._start))
        if not await self.attach(handle):
            raise ConnectionError(f"the host of {self._spec} went away as soon as it had come up")
        return handle

    async def attach(self, handle: str) -> bool:
        seconds = min(self._timeout, _ATTACH_SECONDS)
        request = AttachAsk(not_after=time.time() + seconds)
        try:
            to = decode(Handle, handle)
            self._attached = decode(Attached, await post(to, "/attach", encode(request), seconds))
        except (ValueError, Lost, Silent, Refused, Broken):
            return False
        self._handle = to
        return True

    async def observe(self) -> Observation | Unseen:
        try:
            answer = await self._ask("/observe", Ask(epoch=self._epoch))
        except Lost as lost:
            return Unseen(reason="world_lost", detail=str(lost))
        except Silent as silent:
            return Unseen(reason="timeout", detail=str(silent))
        except (Refused, Broken) as trouble:
            return Unseen(reason="failed", detail=str(trouble))
        return decode_any(Observation | Unseen, answer)

    async def commit_set(self, call: Call) -> CommitSet | None:
        try:
            answer = await self._ask("/commit_set", self._call(call))
        except (Lost, Silent, Refused, Broken):
            return None
        return decode_any(CommitSet | None, answer)

    async def act(self, call: Call) -> Outcome:
        try:
            answer = await self._ask("/act", self._call(call))
        except Lost as lost:
            return Outcome(status="unknown", reason="world_lost", detail=str(lost))
        except Silent as silent:
            return Outcome(status="unknown", reason="timeout", detail=str(silent))
        except (Refused, Broken) as trouble:
            return Outcome(status="unknown", reason="error", detail=str(trouble))
        return decode(Outcome, answer)

    async def probe(self, name: str, arguments: Pairs) -> Finding:
        try:
            answer = await self._ask("/probe", ProbeAsk(epoch=self._epoch, name=name, arguments=arguments))
        except (Lost, Silent, Refused, Broken):
            return "unclear"
        return decode_any(Finding, answer)

    async def bar(self, command: int) -> None:
        """Waits for an act under way, however long it takes. A host that is gone can do nothing: it is barred.

        One that is there and does not answer raises `TimeoutError`: it may still act, and nobody must believe it barred.
        """
        over = False
        while not over:
            try:
                over = decode(Barred, await self._ask("/bar", BarAsk(epoch=self._epoch, command=command))).over
            except Refused:
                return
            except Lost as lost:
                if lost.sure:
                    return
                await asyncio.sleep(_PAUSE)
            except (Silent, Broken) as trouble:
                raise TimeoutError(f"command {command} could not be barred: {trouble}") from trouble

    async def close(self) -> None:
        """Ask the host to close the world and go. Whoever has been taken over from closes nothing."""
        if self._attached is not None:
            with contextlib.suppress(Lost, Silent, Refused, Broken):
                await self._ask("/close", Ask(epoch=self._epoch))
        self._handle = None

    @property
    def _epoch(self) -> int:
        return self._attached.epoch if self._attached else 0

    def _call(self, call: Call) -> CallAsk:
        return CallAsk(epoch=self._epoch, call=call, not_after=time.time() + self._timeout)

    async def _ask(self, path: str, request: object) -> bytes:
        if self._handle is None:
            raise Lost("the world is not open")
        return await post(self._handle, path, encode(request), self._timeout)

    def _left_behind(self) -> list[str]:
        handles: list[str] = []
        for ready in sorted(self._folder.glob("host-*.json")):
            with contextlib.suppress(OSError, ValueError):
                handles.append(_handle(decode(Ready, ready.read_bytes())))
        return handles

    def _start(self) -> Ready:
        """Blocks until the host serves. It writes to a file and shares no pipe, so it can outlive us unnoticed."""
        self._folder.mkdir(parents=True, exist_ok=True)
        stem = self._folder / f"host-{secrets.token_hex(4)}"
        ready, log = stem.with_suffix(".json"), stem.with_suffix(".log")
        command = [sys.executable, "-m", "midcourse.worlds.host", "--detach", "--world", self._spec]
        command += ["--options", json.dumps(self._options), "--ready", str(ready), "--idle", str(self._idle)]
        with log.open("ab") as out:
            code = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env=_environment(),
                check=False,
            ).returncode
        if code == 0:
            return decode(Ready, ready.read_bytes())
        said = log.read_text(encoding="utf-8", errors="replace").strip().rpartition("\n")[2]
        raise TaskInvalid(said) if code == _MISUSED else ConnectionError(f"the world did not open: {said}")


def _handle(ready: Ready) -> str:
    return encode(Handle(url=ready.url, token=ready.token))


def _environment() -> dict[str, str]:
    """The host finds modules where this process finds them."""
    path = os.pathsep.join(folder or os.getcwd() for folder in sys.path)
    return {**os.environ, "PYTHONPATH": path}
