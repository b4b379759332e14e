"""A host from its first breath to its last: it listens, says where, serves, and closes every world before it goes."""

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
from midcourse.worlds.host.registry import Menu
from midcourse.worlds.host.router import Desk
from midcourse.worlds.host.server import Listener
from midcourse.worlds.host.sessions import Sessions
from midcourse.worlds.host.wire import Ready

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Terms:
    """What a host is started with."""

    menu: Menu
    ready: Path
    """Written once it listens: url, token, pid, worlds."""
    idle: float = 600.0
    address: str = "127.0.0.1"
    port: int = 0
    token: str = ""
    """Empty: a new one."""
    grace: float = 10.0
    """Seconds that the acts under way get when it is told to stop."""
    once: bool = False
    """Whether it goes when its last session has ended."""
    most: int = 1000
    """Sessions that may be open at a time."""
    tls: ssl.SSLContext | None = None
    """With which it speaks HTTPS itself."""
    url: str = ""
    """Where it is reached, if that is not where it listens."""


class NotClosed(Exception):
    """A world did not close within the grace. It may still act: end the process, and the port with it."""


@dataclass(frozen=True, kw_only=True)
class Host:
    """One that listens."""

    url: str
    sessions: Sessions
    grace: float

    async def end(self) -> None:
        """Close every world. Whoever asks for a session meanwhile is refused."""
        try:
            async with asyncio.timeout(self.grace):
                await self.sessions.end()
        except TimeoutError:
            raise NotClosed(f"a world did not close within {self.grace:g} s") from None


@asynccontextmanager
async def hosting(terms: Terms) -> AsyncGenerator[Host]:
    """Inside it serves; afterwards every world is closed.

    Raises `NotClosed` if one is not. Then the port stays taken: a refused connection means a world that is gone.
    """
    sessions = Sessions(terms.menu, idle=terms.idle, most=terms.most, once=terms.once)
    token = terms.token or secrets.token_urlsafe(32)
    listener = Listener(Desk(sessions, token))
    port = await listener.listen(terms.address, terms.port, terms.tls)
    name = f"[{terms.address}]" if ":" in terms.address else terms.address
    url = terms.url or f"{'https' if terms.tls else 'http'}://{name}:{port}"
    host = Host(url=url, sessions=sessions, grace=terms.grace)
    ready = Ready(url=host.url, token=token, pid=os.getpid(), worlds=terms.menu.specs)
    try:
        private_folder(terms.ready.parent)
        atomic_write(terms.ready, encode(ready))  # the token gives access to the worlds
        log.info("listening on %s in process %s", host.url, ready.pid)
        yield host
    finally:
        _remove(terms.ready, ready)
        await host.end()
        await listener.close()


def _remove(path: Path, ready: Ready) -> None:
    """Unless another host has written its own there since."""
    with contextlib.suppress(OSError, ValueError):
        if decode(Ready, path.read_bytes()) == ready:
            path.unlink()
