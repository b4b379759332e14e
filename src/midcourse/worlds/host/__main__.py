"""A host for one world. It ends when that world is closed, when it is stopped, or when no request comes any more."""

import argparse
import asyncio
import logging
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from midcourse.redact import log_with_redaction
from midcourse.worlds.host.lifecycle import Host, HostConfig, NotClosed, serve_host
from midcourse.worlds.host.registry import WorldRegistry

log = logging.getLogger("midcourse.worlds.host")
SERVED, FAILED = 0, 1
FIRST_SESSION_SECONDS = 60.0
"""A host without a session by then ends. A run that continues within this time takes it over."""


def main() -> int:
    log_with_redaction(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    parser = argparse.ArgumentParser(prog="python -m midcourse.worlds.host", description=__doc__)
    parser.add_argument("--world", required=True, help="package.module:Class")
    parser.add_argument("--ready", required=True, type=Path, help="written once it listens: url, token, pid")
    parser.add_argument("--idle", default=600.0, type=float, help="seconds without a request after which it closes")
    parser.add_argument("--detach", action="store_true", help="return once it listens, and leave it running")
    options = parser.parse_args()
    if options.detach:
        return _run_detached(options)
    return _run(options, on_ready=lambda: None)


def _run_detached(options: argparse.Namespace) -> int:
    """Serve in a detached child process, and return once it serves or has failed."""
    read_end, write_end = os.pipe()
    if os.fork():
        os.close(write_end)
        word = os.read(read_end, 1)
        return word[0] if word else FAILED
    os.close(read_end)
    os.setsid()

    def report_ready() -> None:
        """Tell the parent that this host serves. This fails if the parent is gone, because then no process would ever know of this host."""
        os.write(write_end, bytes([SERVED]))
        os.close(write_end)

    return _run(options, on_ready=report_ready)


def _run(options: argparse.Namespace, on_ready: Callable[[], None]) -> int:
    config = HostConfig(
        worlds=WorldRegistry([options.world], private=True), ready=options.ready, idle=options.idle, once=True
    )
    try:
        asyncio.run(_serve(config, on_ready))
    except NotClosed as trouble:
        log.error("%s: %s", options.world, trouble)
        logging.shutdown()
        os._exit(FAILED)  # otherwise a world in a thread could still act while the interpreter shuts down
    except Exception as error:
        log.error("%s could not be served: %s: %s", options.world, type(error).__name__, error)
        return FAILED
    return SERVED


async def _serve(config: HostConfig, on_ready: Callable[[], None]) -> None:
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    async with serve_host(config) as host:
        on_ready()
        emptied = asyncio.ensure_future(wait_until_empty(host, min(config.idle, FIRST_SESSION_SECONDS)))
        stopping = asyncio.ensure_future(stopped.wait())
        _, rest = await asyncio.wait({emptied, stopping}, return_when=asyncio.FIRST_COMPLETED)
        for task in rest:
            task.cancel()


async def wait_until_empty(host: Host, seconds: float) -> None:
    """Wait until all sessions have ended. Return also if none was opened in time: the process that started this host is dead, or was interrupted."""
    try:
        async with asyncio.timeout(seconds):
            await host.sessions.emptied.wait()
    except TimeoutError:
        if len(host.sessions):
            await host.sessions.emptied.wait()


if __name__ == "__main__":
    sys.exit(main())
