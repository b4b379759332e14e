"""A connection to the server that can be cut: connections break, and new ones are refused until it is restored."""

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


@dataclass(kw_only=True)
class Line:
    listener: socket.socket
    port: int
    """The port of the server."""
    broken: bool = False
    _writers: set[asyncio.StreamWriter] = field(default_factory=set[asyncio.StreamWriter])

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[str]:
        """Accept connections, and return the address to connect to."""
        server = await asyncio.start_server(self._forward, sock=self.listener)
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

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.broken:
            writer.transport.abort()
            return
        server_reader, server_writer = await asyncio.open_connection("127.0.0.1", self.port)
        writers = {writer, server_writer}
        self._writers |= writers
        await asyncio.gather(_copy(reader, server_writer), _copy(server_reader, writer))
        self._writers -= writers


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    writer.close()
