"""`midcourse host`: owns the sessions of worlds for the runs of a fleet, until it is told to stop."""

import asyncio
import logging
import os
import signal
import ssl
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from rich.text import Text

from midcourse.app.home import open_home
from midcourse.app.settings.run import Settings
from midcourse.app.wiring import SIMULATED, world_classes
from midcourse.cli.overrides import settings_with
from midcourse.cli.session.keyboard import Keyboard
from midcourse.cli.session.local import logged_to
from midcourse.cli.session.screen import LiveView
from midcourse.cli.view.host import HostView
from midcourse.cli.view.terminal import Terminal, print_object, terminal
from midcourse.cli.view.vocabulary import several
from midcourse.errors import TaskInvalid
from midcourse.redact import log_discreetly
from midcourse.worlds.host.lifecycle import Host, HostConfig, NotClosed, serve_host
from midcourse.worlds.host.registry import NotServed, WorldRegistry

STOPPED, UNCLEAN = 0, 1
HINT = "Ctrl-C closes every world and stops"


@dataclass(frozen=True, kw_only=True)
class Listening:
    """Where it listens, and how what passes there is encrypted."""

    address: str
    port: int
    url: str = ""
    certificate: str = ""
    key: str = ""
    tls_elsewhere: bool = False

    def tls(self) -> ssl.SSLContext | None:
        """Raises `TaskInvalid` if secrets would cross a network in plain text."""
        if bool(self.certificate) != bool(self.key):
            raise TaskInvalid("--certificate and --key are given together")
        if self.certificate:
            context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            try:
                context.load_cert_chain(self.certificate, self.key)
            except (OSError, ssl.SSLError) as trouble:
                raise TaskInvalid(f"--certificate {self.certificate} and --key {self.key}: {trouble}") from None
            return context
        if not self.tls_elsewhere and not _is_loopback(self.address):
            raise TaskInvalid(
                f"--address {self.address}: secrets would cross the network in plain HTTP. Give --certificate and --key, "
                "or say --tls-elsewhere if something else encrypts it"
            )
        return None


def _is_loopback(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"


def host(
    overrides: Sequence[str],
    *,
    worlds: str,
    options: Sequence[str],
    max_sessions: int,
    listening: Listening,
    idle: float,
    grace: float,
    token_file: str,
    ready: str,
    json: bool,
) -> int:
    settings = settings_with(overrides, "home")
    open_home(settings.home)
    names = [name.strip() for name in worlds.split(",") if name.strip()] or list(SIMULATED)
    tls = listening.tls()
    try:
        registry = WorldRegistry(world_classes(names), options=_options(options, names), home=settings.home)
    except NotServed as wrong:
        raise TaskInvalid(f"--option: {wrong}") from None
    terms = HostConfig(
        worlds=registry,
        ready=Path(ready) if ready else settings.home / "host.json",
        idle=idle,
        grace=grace,
        address=listening.address,
        port=listening.port,
        url=listening.url,
        tls=tls,
        most=max_sessions,
        token=_token_in(token_file) if token_file else "",
    )
    try:
        return asyncio.run(Hosting(terms, names, settings, json=json).serve())
    except NotClosed as trouble:
        said = f"stopped although {trouble}"
        if json:
            print_object({"error": said})
        else:
            print(f"midcourse: {said}", file=sys.stderr)
        logging.shutdown()
        os._exit(UNCLEAN)  # a world on a thread of its own could act on while the interpreter winds down


def _options(given: Sequence[str], names: Sequence[str]) -> dict[str, dict[str, object]]:
    """By 'package.module:Class'. A value is read as in a task file, and is a text where it is nothing else."""
    found: dict[str, dict[str, object]] = {}
    for written in given:
        where, equals, value = written.partition("=")
        world, _, name = where.rpartition(".")
        if not equals or not name or world not in names:
            raise TaskInvalid(f"--option {written}: write WORLD.NAME=VALUE, with one of {', '.join(names)}")
        try:
            read: object = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            read = value
        found.setdefault(world_classes([world])[0], {})[name] = read
    return found


def _token_in(file: str) -> str:
    token = Path(file).read_text(encoding="utf-8").strip()
    if len(token) < 16 or not token.isascii() or not token.isprintable() or " " in token:
        raise TaskInvalid(f"--token-file {file}: a token is one word of at least 16 characters that nobody can guess")
    return token


class Hosting:
    """A host in front of one person, or of nobody."""

    def __init__(self, terms: HostConfig, names: Sequence[str], settings: Settings, *, json: bool) -> None:
        self._terms = terms
        self._names = names
        self._settings = settings
        self._json = json
        self._terminal = terminal(silent=json)
        self._leaving = f"closing every world; acts under way get {terms.grace:g} s"

    async def serve(self) -> int:
        stopped = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stopped.set)
        try:
            async with serve_host(self._terms) as host:
                await self._until(stopped, host)
        except OSError as trouble:
            if trouble.filename is not None:
                raise
            where = f"{self._terms.address}:{self._terms.port}"
            raise TaskInvalid(f"it cannot listen on {where}: {trouble.strerror or trouble}") from trouble
        if not self._json:
            self._say(f"stopped; {several(host.sessions.opened, 'session')} served")
        return STOPPED

    async def _until(self, stopped: asyncio.Event, host: Host) -> None:
        if self._terminal.live:
            await self._shown(stopped, host, self._terminal)
            return
        log_discreetly(level=logging.INFO, format="%(asctime)s %(message)s")
        self._announce(host)
        await stopped.wait()
        if not self._json:
            self._say(self._leaving)

    async def _shown(self, stopped: asyncio.Event, host: Host, where: Terminal) -> None:
        view = HostView(host, self._names, self._terms.ready, where.marks)
        screen = LiveView(where.console, view, Keyboard(), HINT)
        with logged_to(self._settings.home / "host.log"), screen.open():
            await stopped.wait()
            screen.hint = self._leaving
            await host.end()

    def _announce(self, host: Host) -> None:
        if self._json:
            ready = str(self._terms.ready)
            print_object({"url": host.url, "pid": os.getpid(), "ready": ready, "worlds": list(self._names)})
            return
        self._say(f"listening on {host.url}, process {os.getpid()}")
        self._say(f"worlds: {', '.join(self._names)}")
        self._say(f"workers find it, and its token, in {self._terms.ready}")
        self._say(
            f"to stop: Ctrl-C, or kill {os.getpid()}; every world is closed, and acts under way get {self._terms.grace:g} s"
        )

    def _say(self, text: str) -> None:
        self._terminal.console.print(Text(self._terminal.marks.clean(text)), soft_wrap=True)
