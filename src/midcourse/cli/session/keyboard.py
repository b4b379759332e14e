"""Reads lines from the terminal without blocking the event loop."""

import asyncio
import os
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager

if sys.platform != "win32":
    import termios


class Interrupted(Exception):
    """Ctrl-C instead of an answer."""


class InputEnded(Exception):
    """The input has ended: Ctrl-D, or the terminal is gone."""


class Keyboard:
    """Reads lines from a file descriptor, for one question at a time."""

    def __init__(self, fd: int = 0) -> None:
        self._fd = fd
        self._buffer = b""
        self._ended = False
        self._awaited: asyncio.Future[None] | None = None
        self._pump: threading.Thread | None = None

    def interrupt(self) -> bool:
        """Raise `Interrupted` in the pending call of `line`. Returns whether there is one."""
        waiting = self._awaited is not None and not self._awaited.done()
        if waiting and self._awaited is not None:
            self._awaited.set_exception(Interrupted())
        return waiting

    def forget(self) -> None:
        """Drop what was typed before the question was on the screen: it cannot be an answer."""
        if os.isatty(self._fd):
            self._buffer = b""
            if sys.platform != "win32":
                termios.tcflush(self._fd, termios.TCIFLUSH)

    async def line(self) -> str:
        """The next line. If this is cancelled, what was typed is left for the next question."""
        while b"\n" not in self._buffer and not self._ended:
            await self._wait_for_input()
        line, newline, self._buffer = self._buffer.partition(b"\n")
        if not newline and not line:
            raise InputEnded
        return line.decode(errors="replace").strip()

    async def _wait_for_input(self) -> None:
        loop = asyncio.get_running_loop()
        self._awaited = loop.create_future()
        try:
            loop.add_reader(self._fd, lambda: self._add_input(self._read()))
        except (NotImplementedError, PermissionError):  # Windows; a plain file
            self._start_pump(loop)
            await self._awaited
            return
        try:
            await self._awaited
        finally:
            loop.remove_reader(self._fd)

    def _read(self) -> bytes:
        try:
            return os.read(self._fd, 4096)
        except OSError:  # the terminal is gone
            return b""

    def _add_input(self, read: bytes) -> None:
        self._buffer += read
        self._ended = not read
        if self._awaited is not None and not self._awaited.done():
            self._awaited.set_result(None)

    def _start_pump(self, loop: asyncio.AbstractEventLoop) -> None:
        """Start a thread that reads the input, where the event loop cannot watch it. Nothing waits for the thread at the end."""
        if self._pump is None:
            self._pump = threading.Thread(target=self._pump_lines, args=(loop,), daemon=True)
            self._pump.start()

    def _pump_lines(self, loop: asyncio.AbstractEventLoop) -> None:
        read = b"?"
        while read:
            read = self._read()
            try:
                loop.call_soon_threadsafe(self._add_input, read)
            except RuntimeError:  # the loop is closed, and with it the run
                return

    @contextmanager
    def silence_echo(self) -> Generator[None]:
        """Do not echo what is typed during the block, so that it cannot disturb the live view."""
        if sys.platform == "win32" or not os.isatty(self._fd):
            yield
            return
        before = termios.tcgetattr(self._fd)
        silent = termios.tcgetattr(self._fd)
        modes: int = silent[3]
        silent[3] = modes & ~(termios.ECHO | termios.ECHONL)
        termios.tcsetattr(self._fd, termios.TCSADRAIN, silent)
        try:
            yield
        finally:
            termios.tcsetattr(self._fd, termios.TCSADRAIN, before)
