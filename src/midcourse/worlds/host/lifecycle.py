"""The life of a host: it listens, writes its address to a file, serves, and closes every world before it ends."""

import asyncio
import contextlib
import logging
import os
import secrets
import ssl
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from midcourse.codec import decode, encode
from midcourse.files import atomic_write, private_folder
from midcourse.worlds.host.memory import ActMemory
from midcourse.worlds.host.registry import WorldRegistry
from midcourse.worlds.host.router import Router
from midcourse.worlds.host.server import Listener
from midcourse.worlds.host.sessions import Sessions
from midcourse.worlds.host.wire import Ready

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class HostConfig:
    """The options that a host is started with."""

    worlds: WorldRegistry
    ready: Path
    """The file that the host writes once it listens, with its url, token, pid and worlds."""
    idle: float = 600.0
    park: float | None = None
    """Seconds without a request after which a world that can be parked is closed, or None for never. Its storage is kept until `idle`."""
    address: str = "127.0.0.1"
    port: int = 0
    token: str = ""
    """The token of the host. If it is empty, a new one is made."""
    grace: float = 10.0
    """Seconds that acts under way have to end when the host is stopped."""
    once: bool = False
    """Whether the host ends with its last session."""
    most: int = 1000
    """The number of sessions that may be open at the same time."""
    tls: ssl.SSLContext | None = None
    """The TLS context with which the host serves HTTPS itself. Without it, the host serves HTTP."""
    url: str = ""
    """The address for clients, if it differs from the one on which the host listens."""
    acts: Path | None = None
    """The file in which the host records the irreversible acts that it begins, for the next host. Without it, they are forgotten with the host."""


class NotClosed(Exception):
    """A world did not close in time and may still act. End the process, which also frees the port."""


@dataclass(frozen=True, kw_only=True)
class Host:
    """A host that listens."""

    url: str
    sessions: Sessions
    grace: float

    async def end(self) -> None:
        """Close every world. Requests for new sessions are refused meanwhile."""
        try:
            async with asyncio.timeout(self.grace):
                await self.sessions.end()
        except TimeoutError:
            raise NotClosed(f"a world did not close within {self.grace:g} s") from None


@asynccontextmanager
async def serve_host(config: HostConfig) -> AsyncGenerator[Host]:
    """Serve while the context is open, then close every world.

    Raise `NotClosed` if a world does not close. The port then stays in use, because a refused connection would tell clients that the
    world is gone.
    """
    memory = ActMemory(config.acts)
    sessions = Sessions(
        config.worlds, idle=config.idle, park=config.park, most=config.most, once=config.once, memory=memory
    )
    token = config.token or secrets.token_urlsafe(32)
    listener = Listener(Router(sessions, token))
    port = await listener.listen(config.address, config.port, config.tls)
    name = f"[{config.address}]" if ":" in config.address else config.address
    url = config.url or f"{'https' if config.tls else 'http'}://{name}:{port}"
    host = Host(url=url, sessions=sessions, grace=config.grace)
    ready = Ready(url=host.url, token=token, pid=os.getpid(), worlds=config.worlds.specs)
    try:
        private_folder(config.ready.parent)
        atomic_write(config.ready, encode(ready))  # the token gives access to the worlds
        log.info("listening on %s in process %s", host.url, ready.pid)
        yield host
    finally:
        with contextlib.suppress(OSError, ValueError):
            if decode(Ready, config.ready.read_bytes()) == ready:  # otherwise another host has written its own since
                config.ready.unlink()
        await host.end()
        await listener.close()
