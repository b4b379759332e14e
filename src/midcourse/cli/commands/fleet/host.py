"""`midcourse fleet host`: opens worlds for the runs of a fleet and keeps their sessions, until it is stopped."""

import asyncio
import logging
import os
import ssl
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.text import Text

from midcourse.agent.wiring import SIMULATED, WORLDS, world_classes
from midcourse.cli.options import Home, load_settings, teach
from midcourse.cli.session.local import log_to
from midcourse.cli.session.screen import LiveView
from midcourse.cli.session.signals import stop_event
from midcourse.cli.view.run import draw_frame
from midcourse.config.settings import Settings
from midcourse.errors import TaskInvalid
from midcourse.home.folder import open_home
from midcourse.presentation.vocabulary import format_elapsed, pluralize
from midcourse.redact import log_with_redaction
from midcourse.terminal.output import UNICODE, Marks, print_object, terminal
from midcourse.terminal.prompt import Keyboard
from midcourse.worlds.host.lifecycle import Host, HostConfig, NotClosed, serve_host
from midcourse.worlds.host.registry import NotServed, WorldRegistry
from midcourse.worlds.host.wire import Listed

STOPPED, UNCLEAN = 0, 1
HINT = "Ctrl-C closes every world and stops"


@dataclass(frozen=True, kw_only=True)
class Listening:
    """The address at which the host listens, and how its connections are encrypted."""

    address: str
    port: int
    url: str = ""
    certificate: str = ""
    key: str = ""
    tls_elsewhere: bool = False

    def tls(self) -> ssl.SSLContext | None:
        """The TLS context, or None for plain HTTP. Raises `TaskInvalid` if secrets would cross a network in plain text."""
        if bool(self.certificate) != bool(self.key):
            raise TaskInvalid("--certificate and --key are given together")
        if self.certificate:
            context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            try:
                context.load_cert_chain(self.certificate, self.key)
            except OSError as trouble:
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


commands = typer.Typer()

Worlds = Annotated[
    str,
    typer.Option(
        "--worlds",
        metavar="NAMES",
        help="The worlds that it opens, separated by commas: those of Midcourse by name (browser, shop), your own as package.module:Class. "
        "All simulated ones by default.",
    ),
]
Port = Annotated[
    int, typer.Option("--port", min=0, max=65535, metavar="N", help="The port to listen at; 0 takes a free one.")
]
Address = Annotated[
    str,
    typer.Option(
        "--address",
        metavar="IP",
        help="The address to listen at. Any but this machine's own needs --certificate and --key, or --tls-elsewhere.",
    ),
]
HostUrl = Annotated[
    str,
    typer.Option(
        "--url",
        metavar="URL",
        help="The address at which workers reach it, if it differs from where it listens, such as that of a proxy.",
    ),
]
CertificateFile = Annotated[
    str,
    typer.Option(
        "--certificate", metavar="FILE", help="Use HTTPS with this certificate, in PEM format with its chain."
    ),
]
KeyFile = Annotated[str, typer.Option("--key", metavar="FILE", help="The private key of the certificate.")]
TlsElsewhere = Annotated[
    bool,
    typer.Option(
        "--tls-elsewhere",
        help="Something else encrypts the network between it and its workers: a proxy, a mesh or a VPN. Then plain HTTP "
        "beyond this machine is allowed; it carries secrets.",
    ),
]
WorldOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        metavar="WORLD.NAME=VALUE",
        help="An option of a world for every session, such as browser.executable=/usr/bin/chromium. Sessions cannot set it.",
    ),
]
MaxSessions = Annotated[
    int,
    typer.Option(
        "--max-sessions", min=1, metavar="N", help="The maximum number of sessions. Further runs wait until one ends."
    ),
]
Idle = Annotated[
    float,
    typer.Option("--idle", min=0.1, metavar="SECONDS", help="Close a session that has not been used for this long."),
]
Park = Annotated[
    float,
    typer.Option(
        "--park",
        min=0.1,
        metavar="SECONDS",
        help="Close a browser that has not been used for this long, for example while its run waits. Its cookies and local storage are "
        "kept in memory until --idle, and the next session of the run begins with them.",
    ),
]
Grace = Annotated[
    float,
    typer.Option(
        "--grace", min=0.0, metavar="SECONDS", help="How long current acts may still take when it is stopped."
    ),
]
TokenFile = Annotated[
    str, typer.Option("--token-file", metavar="FILE", help="Use the token in this file instead of a new one.")
]
ReadyFile = Annotated[
    str,
    typer.Option(
        "--ready", metavar="FILE", help="Write url, token and pid into this file instead of host.json in the home."
    ),
]
HostJson = Annotated[bool, typer.Option("--json", help="Print one JSON object once it listens, and nothing else.")]


@commands.command(
    epilog=teach(
        ("midcourse fleet host", "every simulated world, on a free port of this machine"),
        ("midcourse fleet host --worlds shop,your_package.module:Mail", "one world of Midcourse, and one of yours"),
        ("midcourse fleet host --port 4100 --json", "for programs: prints the address once it listens"),
        (
            "midcourse fleet host --worlds browser --option browser.within=policy.toml",
            "browsers that stay within a policy",
        ),
    ),
)
def host(
    worlds: Worlds = "",
    port: Port = 0,
    address: Address = "127.0.0.1",
    url: HostUrl = "",
    certificate: CertificateFile = "",
    key: KeyFile = "",
    tls_elsewhere: TlsElsewhere = False,
    option: WorldOptions = None,
    max_sessions: MaxSessions = 1000,
    idle: Idle = 600.0,
    park: Park = 300.0,
    grace: Grace = 10.0,
    token_file: TokenFile = "",
    ready: ReadyFile = "",
    set_: Home = None,
    json: HostJson = False,
) -> int:
    """Open worlds, such as browsers, for the workers of a fleet, until it is stopped.

    A session belongs to this process, not to the worker that acts in it. If a
    worker dies, the next one takes over the session as it is. The first worker
    can no longer act in it, even if it only hung and wakes up later.

    The host writes its url and token into a file that only you can read. A
    client with the token can open the worlds named here and act in them, and
    in no others. Options of a world that name programs or files are set only
    here, with --option: a session that sends one is refused.

    Ctrl-C lets current acts finish, closes every world and stops.
    Sessions do not outlive their host: their runs open new ones. The host
    records irreversible acts in host.acts.jsonl beside the ready file, so that
    they are not repeated if the database loses its last commits.

    Exit codes: 0 stopped, 1 stopped although a world would not close,
    2 misuse.
    """
    listening = Listening(
        address=address, port=port, url=url, certificate=certificate, key=key, tls_elsewhere=tls_elsewhere
    )
    settings = load_settings(set_, "home")
    open_home(settings.home)
    names = [name.strip() for name in worlds.split(",") if name.strip()] or list(SIMULATED)
    tls = listening.tls()
    try:
        registry = WorldRegistry(world_classes(names), options=_parse_options(option or [], names), home=settings.home)
    except NotServed as wrong:
        raise TaskInvalid(f"--option: {wrong}") from None
    ready_file = Path(ready) if ready else settings.home / "host.json"
    config = HostConfig(
        worlds=registry,
        ready=ready_file,
        acts=ready_file.with_name(f"{ready_file.stem}.acts.jsonl"),
        idle=idle,
        park=park,
        grace=grace,
        address=listening.address,
        port=listening.port,
        url=listening.url,
        tls=tls,
        most=max_sessions,
        token=_read_token(token_file) if token_file else "",
    )
    return _serve(HostSession(config, names, settings, json=json), json=json)


def _serve(session: "HostSession", *, json: bool) -> int:
    try:
        return asyncio.run(session.serve())
    except NotClosed as trouble:
        text = f"stopped although {trouble}"
        if json:
            print_object({"error": text})
        else:
            print(f"midcourse: {text}", file=sys.stderr)
        logging.shutdown()
        os._exit(UNCLEAN)  # a world's thread could continue to act while the interpreter shuts down


def _parse_options(given: Sequence[str], names: Sequence[str]) -> dict[str, dict[str, object]]:
    """The options of each world, by 'package.module:Class'. A value is read as TOML; if it is not valid TOML, it is a text."""
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


def _read_token(file: str) -> str:
    token = Path(file).read_text(encoding="utf-8").strip()
    if len(token) < 16 or not token.isascii() or not token.isprintable() or " " in token:
        raise TaskInvalid(f"--token-file {file}: a token is one word of at least 16 characters that cannot be guessed")
    return token


class HostSession:
    """A host that runs in a terminal or without one."""

    def __init__(self, config: HostConfig, names: Sequence[str], settings: Settings, *, json: bool) -> None:
        self._config = config
        self._names = names
        self._settings = settings
        self._json = json
        self._terminal = terminal(silent=json)
        self._leaving = f"closing every world; current acts get {config.grace:g} s"

    async def serve(self) -> int:
        stopped = stop_event()
        try:
            async with serve_host(self._config) as host:
                await self._serve_until(stopped, host)
        except OSError as trouble:
            if trouble.filename is not None:
                raise
            where = f"{self._config.address}:{self._config.port}"
            raise TaskInvalid(f"it cannot listen on {where}: {trouble.strerror or trouble}") from trouble
        if not self._json:
            self._terminal.say(f"stopped; {pluralize(host.sessions.opened, 'session')} served")
        return STOPPED

    async def _serve_until(self, stopped: asyncio.Event, host: Host) -> None:
        if self._terminal.live:
            view = HostView(host, self._names, self._config.ready, self._terminal.marks)
            screen = LiveView(self._terminal.console, view, Keyboard(), HINT)
            with log_to(self._settings.home / "host.log"), screen.open():
                await stopped.wait()
                screen.hint = self._leaving
                await host.end()
            return
        log_with_redaction(level=logging.INFO, format="%(asctime)s %(message)s")
        self._announce(host)
        await stopped.wait()
        if not self._json:
            self._terminal.say(self._leaving)

    def _announce(self, host: Host) -> None:
        if self._json:
            ready = str(self._config.ready)
            print_object({"url": host.url, "pid": os.getpid(), "ready": ready, "worlds": list(self._names)})
            return
        self._terminal.say(f"listening on {host.url}, process {os.getpid()}")
        self._terminal.say(f"worlds: {', '.join(self._names)}")
        self._terminal.say(f"workers find it, and its token, in {self._config.ready}")
        self._terminal.say(
            f"to stop: Ctrl-C, or kill {os.getpid()}; every world is closed, and current acts get {self._config.grace:g} s"
        )


WIDEST, TALLEST = 120, 30
FIGURES = 32
"""The number of columns that the figures of a session take."""


class HostView:
    def __init__(self, host: Host, worlds: Sequence[str], ready: Path, marks: Marks = UNICODE) -> None:
        self._host = host
        self._worlds = worlds
        self._ready = ready
        self._marks = marks
        self._names = {spec: name for name, spec in WORLDS.items()}

    def render(self, *, width: int, height: int, now: float, hint: str = "") -> RenderableType:
        """Draw the view, never higher than `height` and never wider than `width`."""
        width = min(width, WIDEST)
        sessions = sorted(self._host.sessions.list(), key=lambda each: each.asked_seconds_ago)
        most = max(4, min(height, TALLEST) - 2)
        lines = [*self._head(width - 4), *self._table(sessions, width - 4, most - 4)]
        for line in lines:
            line.truncate(width - 4)
        return draw_frame(lines[:most], "host", hint, self._marks, width=width)

    def _head(self, width: int) -> list[Text]:
        sessions = self._host.sessions
        counts = f"{pluralize(len(sessions), 'session')} now, {sessions.opened} since it began"
        fit = self._marks.fit
        return [
            Text.assemble((self._host.url, "bold cyan"), f"  {fit(counts, width - len(self._host.url) - 2)}"),
            Text(fit(f"worlds: {', '.join(self._worlds)}", width), "dim"),
            Text(fit(f"workers find it, and its token, in {self._ready}", width), "dim"),
        ]

    def _table(self, sessions: Sequence[Listed], width: int, most: int) -> list[Text]:
        if not sessions:
            return []
        shown = sessions if len(sessions) < most else sessions[: max(0, most - 2)]
        head = self._line("world", "key", f"{'open':>8}{'idle':>8}{'epoch':>8}{'acts':>8}", width)
        lines = [Text(head, "dim"), *(self._session(each, width) for each in shown)]
        if len(shown) < len(sessions):
            lines.append(Text(f"{self._marks.ellipsis} {len(sessions) - len(shown)} more", "dim"))
        return lines

    def _session(self, session: Listed, width: int) -> Text:
        asked = "now" if not session.asked_seconds_ago else format_elapsed(session.asked_seconds_ago)
        asked = "closing" if session.closing else asked
        figures = f"{format_elapsed(session.open_seconds):>8}{asked:>8}{session.epoch:>8}{session.acts:>8}"
        world = self._names.get(session.world, session.world)
        return Text(self._line(world, session.key, figures, width), "yellow" if session.closing else "")

    def _line(self, world: str, key: str, figures: str, width: int) -> str:
        room = max(12, width - FIGURES - 2)
        column = room // 3
        return f"{self._cell(world, column)}  {self._cell(key, room - column)}{figures}"

    def _cell(self, text: str, width: int) -> str:
        fitted = self._marks.fit(text, width)
        return fitted + " " * (width - len(fitted))
