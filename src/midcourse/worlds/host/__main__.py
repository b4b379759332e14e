"""Serve one world until it is closed, told to stop, or forgotten."""

import argparse
import asyncio
import json
import logging
import os
import secrets
import signal
import sys
import threading
from collections.abc import Callable
from http.server import ThreadingHTTPServer
from importlib import import_module
from pathlib import Path
from typing import Any

from midcourse.codec import encode
from midcourse.ports.world import World
from midcourse.worlds.host.server import Desk, listen
from midcourse.worlds.host.session import Session
from midcourse.worlds.host.wire import Ready

log = logging.getLogger("midcourse.worlds.host")
GRACE = 10.0
"""Seconds that the act under way gets when the host is told to stop."""

READY, FAILED, MISUSED = 0, 1, 2
"""Exit codes of `--detach`: it serves; the world did not open; there is no such world, or not with these options."""


def main() -> int:
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    options = _arguments().parse_args()
    if options.detach:
        return _detached(options)
    return _run(options, told=lambda code: None)


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m midcourse.worlds.host", description=__doc__)
    parser.add_argument("--world", required=True, help="package.module:Class")
    parser.add_argument("--options", default="{}", type=json.loads, help="what the class takes, as a JSON object")
    parser.add_argument("--ready", required=True, type=Path, help="written once the world is served: url, token, pid")
    parser.add_argument("--idle", default=600.0, type=float, help="seconds without a request after which it closes")
    parser.add_argument("--detach", action="store_true", help="return once it serves, and leave it running")
    return parser


def _detached(options: argparse.Namespace) -> int:
    """Serve in a child that nobody has to wait for, and stay only until it serves or has failed."""
    heard, says = os.pipe()
    if os.fork():
        os.close(says)
        word = os.read(heard, 1)
        return word[0] if word else FAILED
    os.close(heard)
    os.setsid()
    return _run(options, told=lambda code: _tell(says, code))


def _tell(says: int, code: int) -> None:
    """A parent that is gone means that nobody will ever know of this host: fail."""
    os.write(says, bytes([code]))
    os.close(says)


def _run(options: argparse.Namespace, told: Callable[[int], None]) -> int:
    try:
        world = _world(options.world, options.options)
    except Exception as error:
        log.error("%s cannot be made: %s: %s", options.world, type(error).__name__, error)
        told(MISUSED)
        return MISUSED
    try:
        asyncio.run(_serve(world, options.ready, options.idle, lambda: told(READY)))
    except Exception as error:
        log.error("%s could not be served: %s: %s", options.world, type(error).__name__, error)
        return FAILED
    return READY


def _world(where: str, options: dict[str, Any]) -> World:
    module, _, name = where.partition(":")
    return getattr(import_module(module), name)(**options)


async def _serve(world: World, ready: Path, idle: float, told: Callable[[], None]) -> None:
    await world.open()
    session = Session(world)
    desk = Desk(session)
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, desk.closed.set)
    token = secrets.token_urlsafe(32)
    server = listen(desk, token)
    serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    serving.start()
    port = server.server_address[1]
    _write(ready, encode(Ready(url=f"http://127.0.0.1:{port}", token=token, pid=os.getpid())))
    log.info("%s is served on port %s by process %s", world.name, port, os.getpid())
    try:
        told()
        await _until_over(desk, idle)
        async with asyncio.timeout(GRACE):
            await session.end()
    finally:
        # The port stays taken until nothing can act any more: a refused connection means a world that is gone.
        _take_down(server, ready)
    log.info("%s is closed", world.name)


def _take_down(server: ThreadingHTTPServer, ready: Path) -> None:
    ready.unlink(missing_ok=True)
    server.shutdown()
    server.server_close()


async def _until_over(desk: Desk, idle: float) -> None:
    while (left := idle - desk.idle_seconds()) > 0:
        try:
            async with asyncio.timeout(left):
                await desk.closed.wait()
                return
        except TimeoutError:
            continue
    log.info("nobody asked for anything in %g seconds", idle)


def _write(path: Path, text: str) -> None:
    """All at once, and for nobody else's eyes: whoever has the token has the world."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".draft")
    draft.touch(mode=0o600)
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)


if __name__ == "__main__":
    sys.exit(main())
