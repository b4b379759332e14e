"""Serves the console from the process of another command, for as long as that command runs."""

import asyncio
import os
import sys
import threading
import webbrowser
from collections.abc import Generator
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from midcourse.config.extras import missing_extras
from midcourse.config.fleet_settings import FleetSettings
from midcourse.config.settings import Settings
from midcourse.files import atomic_write, private_folder

if TYPE_CHECKING:
    from midcourse.server.start import Server

PATIENCE = 20.0
"""Seconds to wait for the server to answer; after that the command continues without a console."""
OPENER = """<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={address}"><title>Midcourse</title><a href="{address}">Open the console</a>
"""


@contextmanager
def serve_console(home: Settings, fleet: FleetSettings | None = None) -> Generator[str]:
    """Serve the console of the home or of this fleet, and yield its address with the token; empty if it cannot be served."""
    if missing_extras(["server"]):
        yield ""
        return
    from midcourse.server.start import Serving, serve

    servers: list[Server] = []
    found: list[str] = []
    ready = threading.Event()

    def remember_address(address: str) -> None:
        found.append(address)
        ready.set()

    def run() -> None:
        try:
            asyncio.run(serve(Serving(home=home, fleet=fleet, port=0), remember_address, servers.append))
        finally:
            ready.set()

    thread = threading.Thread(target=run, name="console", daemon=True)
    thread.start()
    ready.wait(PATIENCE)
    try:
        yield found[0] if found else ""
    finally:
        for server in servers:
            server.should_exit = True
        thread.join(PATIENCE)


def open_in_browser(address: str, home: Path) -> bool:
    """Open a page in the browser that redirects to this address. Returns whether it was opened.

    The address itself is not passed to the browser, because other accounts can read the arguments of a process. Without a
    graphical display nothing is opened, because a text browser would take over the terminal.
    """
    if sys.platform == "linux" and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return False
    page = private_folder(home / "server") / "open.html"
    atomic_write(page, OPENER.format(address=escape(address, quote=True)))
    try:
        return webbrowser.open(page.absolute().as_uri())
    except webbrowser.Error:
        return False
