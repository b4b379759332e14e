"""A world in another process. Its session outlives this process, and another process can take it over by its handle."""

import asyncio
import contextlib
import logging
import os
import secrets
import subprocess
import sys
import time
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import IO

from midcourse.codec import decode, decode_any, encode
from midcourse.domain.approval import CommitSet
from midcourse.domain.argument import Pairs
from midcourse.domain.observation import Observation, Unseen
from midcourse.domain.outcome import Outcome
from midcourse.errors import TaskInvalid
from midcourse.files import private_folder, private_opener
from midcourse.ports.viewing import Gesture, Handled, NotAttended, View
from midcourse.ports.world import UNSENT, Call, Catalogue, Finding, Turn, WorldAway, WorldFull
from midcourse.worlds.host.wire import (
    Ask,
    AttachAsk,
    Attached,
    BarAsk,
    Barred,
    CallAsk,
    ConcealAsk,
    Handle,
    HandleAnswer,
    HandleAsk,
    OpenAsk,
    Opened,
    ProbeAsk,
    RereadAsk,
    ScreenshotAsk,
    ViewAsk,
    Viewed,
    read_host_file,
)
from midcourse.worlds.host_client import (
    HostAway,
    HostFailure,
    HostFull,
    HostTimeout,
    HostUnreachable,
    SessionTaken,
    WorldNotServed,
    post,
)

log = logging.getLogger(__name__)

_PAUSE = 0.05
_ATTACH_SECONDS = 10.0
_HANDLE_SECONDS = 30.0
_IDLE = 600.0
_ONLY_ONE = "world"
"""The key of the session at a host that was started for this session only."""


class RemoteWorld:
    """A world at a host: opens a session of `spec` ("package.module:Class") there, or takes one over, and sends it requests.

    If the host is gone, the world is lost: looks report `world_lost`, and the outcome of an act is unknown. No act is ever sent twice.
    """

    fences = True

    def __init__(
        self,
        spec: str,
        *,
        options: Mapping[str, object] | None = None,
        host: Handle | None = None,
        key: str = "",
        folder: str | Path | None = None,
        idle: float | None = None,
        timeout: float = 60.0,
    ) -> None:
        """`key` names the session at `host`, for example by a run's id. Opening it twice returns the same session.

        Without a host, one is started for this session only, and writes its log in `folder`. The world is closed after `idle` seconds
        without a request (600, unless the host sets less).
        """
        if (host is None) == (folder is None):
            raise TypeError("a remote world needs a host, or a folder to start one in")
        self._spec = spec
        self._options = dict(options or {})
        self._host = host
        self._folder = Path(folder or "")
        self._key = _ONLY_ONE if host is None else key or secrets.token_hex(8)
        self._idle = idle
        self._timeout = timeout
        self._handle: Handle | None = None
        self._attached: Attached | None = None
        self._turn: Turn = (0, 0)

    @property
    def name(self) -> str:
        return self._attached.name if self._attached else self._spec.rpartition(":")[2].lower()

    @property
    def rebuilds(self) -> bool:
        """What the class of the world declares as `rebuilds`."""
        module, _, name = self._spec.partition(":")
        return bool(getattr(getattr(import_module(module), name), "rebuilds", False))

    def catalogue(self) -> Catalogue:
        return self._attached.catalogue if self._attached else Catalogue()

    def set_turn(self, turn: Turn) -> None:
        self._turn = turn

    async def open(self) -> str:
        """Open a session. A host that an earlier process started in this folder before it died is taken over.

        Raise `TaskInvalid` if the world cannot be made, `ConnectionError` if it does not open, and `WorldAway` if its host cannot be
        reached or has no room.
        """
        if self._host is not None:
            return await self._open_at(self._host, self._timeout)
        for ready in sorted(self._folder.glob("host-*.json")):
            try:
                host = read_host_file(ready)
            except (OSError, ValueError):
                continue
            with contextlib.suppress(ConnectionError, TaskInvalid):
                return await self._open_at(host, min(self._timeout, _ATTACH_SECONDS))
        host = await asyncio.to_thread(_start_host, self._spec, self._folder, self._idle or _IDLE)
        return await self._open_at(host, self._timeout)

    async def attach(self, handle: str) -> bool:
        try:
            found = decode(Handle, handle)
            if self._host is not None and found.url.startswith(f"{self._host.url}/"):
                # The worker that opened the session may have used another file with certificates.
                found = replace(found, ca=self._host.ca)
            await self._attach_to(found)
        except (ValueError, HostFailure) as trouble:
            log.info("no session of %s to attach to: %s: %s", self._spec, type(trouble).__name__, trouble)
            return False
        return True

    async def conceal(self, secrets: Pairs) -> None:
        """Send the secrets to the host. Raise `ConnectionError` unless it has received them, because without them it must not observe."""
        try:
            await self._ask("/conceal", ConcealAsk(epoch=self._epoch, secrets=secrets))
        except HostFailure as trouble:
            raise ConnectionError(f"the world did not receive the values to conceal: {trouble}") from trouble

    async def observe(self) -> Observation | Unseen:
        try:
            answer = await self._ask("/observe", Ask(epoch=self._epoch))
        except HostUnreachable as lost:
            return Unseen(reason="world_lost", detail=str(lost))
        except HostTimeout as silent:
            return Unseen(reason="timeout", detail=str(silent))
        except HostFailure as trouble:
            return Unseen(reason="failed", detail=str(trouble))
        return decode_any(Observation | Unseen, answer)

    async def settle(self) -> None:
        with contextlib.suppress(HostFailure):  # the observation says what is wrong
            await self._ask("/settle", Ask(epoch=self._epoch))

    async def read_screenshot(self, digest: str) -> bytes | None:
        try:
            answer = await self._ask("/screenshot", ScreenshotAsk(epoch=self._epoch, digest=digest))
        except HostFailure as trouble:
            log.warning("the screenshot is lost: %s", trouble)
            return None
        picture = decode_any(str | None, answer)
        return None if picture is None else b64decode(picture)

    async def commit_set(self, call: Call) -> CommitSet | None:
        try:
            answer = await self._ask("/commit_set", self._build_call_ask(call))
        except HostFailure:
            return None
        return decode_any(CommitSet | None, answer)

    async def reread(self, call: Call, names: tuple[str, ...]) -> tuple[str, ...] | None:
        try:
            answer = await self._ask("/reread", RereadAsk(epoch=self._epoch, call=call, names=names))
        except HostFailure:
            return None
        return decode_any(tuple[str, ...] | None, answer)

    async def act(self, call: Call) -> Outcome:
        try:
            answer = await self._ask("/act", self._build_call_ask(call))
        except HostUnreachable as lost:
            if isinstance(lost, HostAway) and lost.unsent:
                return Outcome(status="no_effect", reason=UNSENT, detail=str(lost))
            return Outcome(status="unknown", reason="world_lost", detail=str(lost))
        except HostTimeout as silent:
            return Outcome(status="unknown", reason="timeout", detail=str(silent))
        except HostFailure as trouble:
            return Outcome(status="unknown", reason="error", detail=str(trouble))
        return decode(Outcome, answer)

    async def probe(self, name: str, arguments: Pairs) -> Finding:
        try:
            answer = await self._ask("/probe", ProbeAsk(epoch=self._epoch, name=name, arguments=arguments))
        except HostFailure:
            return "unclear"
        return decode_any(Finding, answer)

    async def attend(self) -> str:
        """Hand the session over to a person. Raise `ConnectionError` if the host does not answer."""
        return await hand_over(encode(self._handle) if self._handle else "")

    async def bar(self, command: int) -> None:
        """Bar a command, and wait without a time limit for an act under way. If the host is gone, the command counts as barred.

        Raise `TimeoutError` if the host does not answer. It may still act, so the command does not count as barred.
        """
        over = False
        while not over:
            try:
                over = decode(Barred, await self._ask("/bar", BarAsk(epoch=self._epoch, command=command))).over
            except SessionTaken:
                return
            except HostUnreachable as lost:
                if lost.sure:
                    return
                await asyncio.sleep(_PAUSE)
            except HostFailure as trouble:
                raise TimeoutError(f"command {command} could not be barred: {trouble}") from trouble

    async def close(self) -> None:
        """Ask the host to close the world. After a takeover by another process this has no effect."""
        if self._attached is not None:
            with contextlib.suppress(HostFailure):
                await self._ask("/close", Ask(epoch=self._epoch))
        self._handle = None

    @property
    def _epoch(self) -> int:
        return self._attached.epoch if self._attached else 0

    def _build_call_ask(self, call: Call) -> CallAsk:
        return CallAsk(epoch=self._epoch, call=call, not_after=time.time() + self._timeout)

    async def _ask(self, path: str, request: object) -> bytes:
        if self._handle is None:
            raise HostUnreachable("the world is not open")
        return await post(self._handle, path, encode(request), self._timeout)

    async def _open_at(self, host: Handle, seconds: float) -> str:
        request = OpenAsk(world=self._spec, options=self._options, key=self._key, idle=self._idle)
        try:
            opened = decode(Opened, await post(host, "/sessions", encode(request), seconds))
        except (WorldNotServed, SessionTaken) as refusal:
            raise TaskInvalid(str(refusal)) from refusal
        except HostFull as full:
            raise WorldFull(f"the world did not open: {full}") from full
        except HostAway as away:
            raise WorldAway(f"the world did not open: {away}") from away
        except HostFailure as trouble:
            raise ConnectionError(f"the world did not open: {trouble}") from trouble
        handle = Handle(url=f"{host.url}/sessions/{opened.session}", token=opened.token, ca=host.ca)
        try:
            await self._attach_to(handle)
        except HostAway as away:
            raise WorldAway(f"the session of {self._spec} was opened, then its host went: {away}") from away
        except HostFailure as trouble:
            raise ConnectionError(
                f"the session of {self._spec} was opened and could not be entered: {trouble}"
            ) from trouble
        return encode(handle)

    async def _attach_to(self, handle: Handle) -> None:
        seconds = min(self._timeout, _ATTACH_SECONDS)
        request = AttachAsk(not_after=time.time() + seconds, turn=self._turn)
        self._attached = decode(Attached, await post(handle, "/attach", encode(request), seconds))
        self._handle = handle


def _start_host(world: str, folder: Path, idle: float) -> Handle:
    """Start a host in a detached process, which outlives this one, and wait until it listens.

    It writes its log to a file and shares no pipe. This needs `fork` (Linux, macOS), because the host detaches itself from the process
    that started it.
    """
    private_folder(folder)
    stem = folder / f"host-{secrets.token_hex(4)}"
    ready, log_file = stem.with_suffix(".json"), stem.with_suffix(".log")
    command = [sys.executable, "-m", "midcourse.worlds.host", "--detach", "--world", world]
    command += ["--ready", str(ready), "--idle", str(idle)]
    with open(log_file, "ab", opener=private_opener) as out:
        code = _execute(command, out)
    if code:
        last_line = log_file.read_text(encoding="utf-8", errors="replace").strip().rpartition("\n")[2]
        raise ConnectionError(f"the host of {world} did not start: {last_line}")
    return read_host_file(ready)


def _execute(command: list[str], out: IO[bytes]) -> int:
    """Run a command in its own session, with its output in a file, and return its exit code."""
    path = os.pathsep.join(
        folder or os.getcwd() for folder in sys.path
    )  # the host finds modules where this process does
    return subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        umask=0o077,  # a world may write files next to those of the run
        env={**os.environ, "PYTHONPATH": path},
        check=False,
    ).returncode


async def view_session(handle: str, since: str) -> View | None:
    """Return what the session shows now, or None if its world has no pictures for persons.

    Raise `ConnectionError` if there is no such session, or if its host cannot be reached from here.
    """
    if not handle:
        raise ConnectionError("the world is not open")
    try:
        answer = await post(decode(Handle, handle), "/view", encode(ViewAsk(since=since)), _ATTACH_SECONDS)
    except (ValueError, HostFailure) as trouble:
        raise ConnectionError(f"the world cannot be watched: {trouble}") from trouble
    seen = decode(Viewed, answer)
    return _view_of(seen) if seen.watchable else None


def _view_of(seen: Viewed) -> View:
    return View(stamp=seen.stamp, picture=b64decode(seen.picture))


async def handle_in_session(handle: str, gestures: tuple[Gesture, ...], since: str | None) -> Handled:
    """Carry out the gestures of a person who has taken over this session.

    Raise `NotAttended` if no person has taken it over, `ConnectionError` if the session cannot be reached.
    """
    if not handle:
        raise ConnectionError("the world is not open")
    request = HandleAsk(gestures=gestures, since=since)
    try:
        answer = await post(decode(Handle, handle), "/handle", encode(request), _HANDLE_SECONDS)
    except SessionTaken as over:
        raise NotAttended(str(over)) from over
    except (ValueError, HostFailure) as trouble:
        raise ConnectionError(f"the world cannot be reached: {trouble}") from trouble
    done = decode(HandleAnswer, answer)
    return Handled(view=_view_of(done.viewed), deeds=done.deeds, dialog=done.dialog)


async def hand_over(handle: str) -> str:
    """Hand the session over to a person without taking it from its worker. See `World.attend`.

    Raise `ConnectionError` if there is no such session, or if its host cannot be reached from here.
    """
    if not handle:
        raise ConnectionError("the world is not open")
    try:
        return decode(str, await post(decode(Handle, handle), "/attend", "", _ATTACH_SECONDS))
    except (ValueError, HostFailure) as trouble:
        raise ConnectionError(f"the world cannot be handed over: {trouble}") from trouble
