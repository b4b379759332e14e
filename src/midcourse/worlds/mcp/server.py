"""The process of a stdio server, the processes that it started, and the streams to it."""

import asyncio
import contextlib
import os
import signal
from collections import deque
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage
from mcp.types import jsonrpc_message_adapter

from midcourse.errors import TaskInvalid
from midcourse.process import end_marked

MARK = "MIDCOURSE_TOOL_SERVER"
"""The environment variable by which the processes of a session are found, even by another process of Midcourse."""
LONGEST_LINE = 64 * 2**20
LEAVES_WITHIN = 2.0
"""Seconds that a server has to end after its input was closed."""
KEPT_LINES = 20


class Server:
    """A server that was started for one session. All processes that it started end with it."""

    def __init__(self, process: asyncio.subprocess.Process, session: str) -> None:
        self._process = process
        self._session = session
        self._errors: deque[str] = deque(maxlen=KEPT_LINES)
        self.ended = asyncio.Event()
        """Set when the server has closed its output, so that no answer can arrive any more."""

    @classmethod
    async def start(cls, command: Sequence[str], environment: Mapping[str, str], folder: str, session: str) -> "Server":
        """Start the program. Raise `TaskInvalid` if it cannot be started."""
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                limit=LONGEST_LINE,
                env={**get_default_environment(), **environment, MARK: session},
                cwd=folder or None,
                start_new_session=True,
            )
        except OSError as problem:
            raise TaskInvalid(f"the MCP server cannot be started: {' '.join(command)}: {problem}") from None
        return cls(process, session)

    @property
    def last_error_line(self) -> str:
        """The last line of its error output."""
        return next((line for line in reversed(self._errors) if line.strip()), "")

    @asynccontextmanager
    async def streams(
        self,
    ) -> AsyncGenerator[
        tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]
    ]:
        """Open the streams that are the transport of an `mcp.Client`."""
        arriving, received = anyio.create_memory_object_stream[SessionMessage | Exception](16)
        sending, leaving = anyio.create_memory_object_stream[SessionMessage](16)
        tasks = [
            asyncio.create_task(self._receive(arriving)),
            asyncio.create_task(self._send(leaving)),
            asyncio.create_task(self._listen_to_errors()),
        ]
        try:
            yield received, sending
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            for stream in (arriving, received, sending, leaving):
                stream.close()

    async def _receive(self, arriving: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        assert self._process.stdout
        with arriving:
            try:
                async for line in self._process.stdout:
                    await arriving.send(_parse_line(line))
            except (OSError, ValueError, anyio.BrokenResourceError):
                pass  # the stream is closed or has a line that is too long, so nothing more can be read
            finally:
                self.ended.set()

    async def _send(self, leaving: MemoryObjectReceiveStream[SessionMessage]) -> None:
        assert self._process.stdin
        with leaving:
            async for message in leaving:
                self._process.stdin.write(message.message.model_dump_json(by_alias=True, exclude_unset=True).encode())
                self._process.stdin.write(b"\n")
                with contextlib.suppress(OSError):  # the end of the output shows that the server has ended
                    await self._process.stdin.drain()

    async def _listen_to_errors(self) -> None:
        assert self._process.stderr
        with contextlib.suppress(ValueError):
            async for line in self._process.stderr:
                self._errors.append(line.decode(errors="replace").rstrip())

    def kill(self) -> None:
        """Kill the process group of the server without waiting, so that what it was asked to do does not happen later."""
        self.ended.set()
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    async def end(self) -> None:
        """Close the server's input, wait shortly, and kill the processes that are left. Return when none is left."""
        assert self._process.stdin
        self._process.stdin.close()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), 0 if self.ended.is_set() else LEAVES_WITHIN)
        self.kill()
        await end_session(self._session)
        await self._process.wait()  # last, since it also waits for processes that inherited its pipes


async def end_session(session: str) -> None:
    """End all processes of a session, whichever process started them."""
    await asyncio.to_thread(end_marked, MARK, session)


def _parse_line(line: bytes) -> SessionMessage | Exception:
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as unfit:
        return unfit
