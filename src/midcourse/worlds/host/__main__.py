"""A host for one world and whoever starts it: it goes when that world is closed, when it is told to, or forgotten."""

import argparse
import asyncio
import logging
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from midcourse.redact import log_discreetly
from midcourse.worlds.host.lifecycle import Host, NotClosed, Terms, hosting
from midcourse.worlds.host.registry import Menu

log = logging.getLogger("midcourse.worlds.host")
SERVED, FAILED = 0, 1


def main() -> int:
    log_discreetly(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    options = _arguments().parse_args()
    if options.detach:
        return _detached(options)
    return _run(options, told=lambda: None)


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m midcourse.worlds.host", description=__doc__)
    parser.add_argument("--world", required=True, help="package.module:Class")
    parser.add_argument("--ready", required=True, type=Path, help="written once it listens: url, token, pid")
    parser.add_argument("--idle", default=600.0, type=float, help="seconds without a request after which it closes")
    parser.add_argument("--detach", action="store_true", help="return once it listens, and leave it running")
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
    return _run(options, told=lambda: _tell(says))


def _tell(says: int) -> None:
    """A parent that is gone means that nobody will ever know of this host: fail."""
    os.write(says, bytes([SERVED]))
    os.close(says)


def _run(options: argparse.Namespace, told: Callable[[], None]) -> int:
    terms = Terms(menu=Menu([options.world], private=True), ready=options.ready, idle=options.idle, once=True)
    try:
        asyncio.run(_serve(terms, told))
    except NotClosed as trouble:
        log.error("%s: %s", options.world, trouble)
        logging.shutdown()
        os._exit(FAILED)  # a thread of its own would let it act on while the interpreter winds down
    except Exception as error:
        log.error("%s could not be served: %s: %s", options.world, type(error).__name__, error)
        return FAILED
    return SERVED


async def _serve(terms: Terms, told: Callable[[], None]) -> None:
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    async with hosting(terms) as host:
        told()
        leaving = asyncio.ensure_future(_until_left(host, terms.idle))
        stopping = asyncio.ensure_future(stopped.wait())
        _, rest = await asyncio.wait({leaving, stopping}, return_when=asyncio.FIRST_COMPLETED)
        for task in rest:
            task.cancel()


async def _until_left(host: Host, idle: float) -> None:
    """Until its sessions have come and gone. If none ever comes, whoever started it is dead."""
    try:
        async with asyncio.timeout(idle):
            await host.sessions.emptied.wait()
    except TimeoutError:
        if len(host.sessions):
            await host.sessions.emptied.wait()


if __name__ == "__main__":
    sys.exit(main())
