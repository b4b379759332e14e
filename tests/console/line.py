"""A line to the server that can be cut: connections break, and new ones are refused, until it is restored."""

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


@dataclass(kw_only=True)
class Line:
    listener: socket.socket
    port: int
    """Of the server at its other end."""
    broken: bool = False
    _writers: set[asyncio.StreamWriter] = field(default_factory=set[asyncio.StreamWriter])

    @asynccontextmanager
    async def opened(self) -> AsyncGenerator[str]:
        """The address of this end."""
        server = await asyncio.start_server(self._join, sock=self.listener)
        try:
            yield f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        finally:
            self.cut()
            server.close()

    def cut(self) -> None:
        self.broken = True
        for writer in self._writers:
            writer.transport.abort()

    def restore(self) -> None:
        self.broken = False

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.broken:
            writer.transport.abort()
            return
        there, onward = await asyncio.open_connection("127.0.0.1", self.port)
        ends = {writer, onward}
        self._writers |= ends
        await asyncio.gather(_pump(reader, onward), _pump(there, writer))
        self._writers -= ends


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    writer.close()
