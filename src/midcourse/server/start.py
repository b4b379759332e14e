"""Starts the server: decides where it may bind and under which names it answers, and prints its address."""

import asyncio
import ipaddress
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import uvicorn
from starlette.types import ASGIApp

from midcourse.config.defaults import user, user_id
from midcourse.config.extras import require_extras
from midcourse.config.fleet_settings import FleetSettings
from midcourse.config.settings import Settings
from midcourse.errors import TaskInvalid
from midcourse.server.access.doorway import Doorway, Proxy
from midcourse.server.access.guard import CALLBACK, Site
from midcourse.server.access.identity import Caller
from midcourse.server.access.keys import KeyFile, new_secret
from midcourse.server.app import build_app
from midcourse.server.starting import Starts
from midcourse.server.state import Shared
from midcourse.server.webhooks.config import SlackHook, read_webhooks
from midcourse.server.webhooks.notifier import Notifier
from midcourse.server.webhooks.outbox import Outbox
from midcourse.tenants.tenants import LOCAL, FleetTenants, LocalTenants, Tenants

if TYPE_CHECKING:
    from midcourse.server.access.oidc import Oidc

NOT_OPEN = (
    "--bind {bind}: other machines could reach it, so it needs API keys (--keys FILE), an identity provider (--oidc FILE) or a proxy "
    "that authenticates users (--proxy-user-header NAME --proxy-secret-file FILE); without them it serves this machine only"
)


@dataclass(frozen=True, kw_only=True)
class Serving:
    """The options of a server."""

    home: Settings
    fleet: FleetSettings | None = None
    """If given, the runs of this fleet are served instead of those in the home."""
    bind: str = "127.0.0.1"
    port: int = 8321
    origins: tuple[str, ...] = ()
    """Other addresses under which browsers reach it, such as `https://console.example`."""
    keys: Path | None = None
    proxy: Proxy | None = None
    tasks: Path | None = None
    webhooks: Path | None = None
    oidc: Path | None = None

    @property
    def tenant(self) -> str:
        """The tenant of callers whose credentials name no other."""
        return self.fleet.tenant if self.fleet else LOCAL


def is_loopback(bind: str) -> bool:
    if bind == "localhost":
        return True
    try:
        return ipaddress.ip_address(bind).is_loopback
    except ValueError:
        return False


def check_bind(serving: Serving) -> None:
    """Raise `TaskInvalid` if other machines could reach the server and it could not authenticate callers."""
    if not is_loopback(serving.bind) and not (serving.keys or serving.proxy or serving.oidc):
        raise TaskInvalid(NOT_OPEN.format(bind=serving.bind))
    if not is_loopback(serving.bind) and not serving.origins:
        raise TaskInvalid(f"--bind {serving.bind}: say with --origin under which address browsers reach it")


def site_of(serving: Serving, port: int) -> Site:
    """The exact names of the server. Names of other domains that resolve to this server (DNS rebinding) are not among them."""
    names = [f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")] if is_loopback(serving.bind) else []
    origins = [f"http://{name}" for name in names] + [origin.rstrip("/").lower() for origin in serving.origins]
    for origin in serving.origins:
        if not origin.startswith(("https://", "http://")) or "/" in origin.rstrip("/").split("://", 1)[1]:
            raise TaskInvalid(f"--origin {origin}: write it as https://console.example or http://10.0.0.5:8321")
    hosts = [origin.split("://", 1)[1] for origin in origins]
    return Site(hosts=frozenset(hosts), origins=frozenset(origins))


async def serve(
    serving: Serving, ready: Callable[[str], None], made: Callable[["Server"], None] = lambda _: None
) -> None:
    """Serve until SIGINT or SIGTERM. Calls `made` with the server, to stop it, and `ready` with the address once it can be opened."""
    check_bind(serving)
    listener = listen(serving.bind, serving.port)
    port = listener.getsockname()[1]
    site = site_of(serving, port)
    folder = serving.home.home / "server"
    token = new_secret() if is_loopback(serving.bind) else ""
    owner = Caller(name=user(), id=user_id(), tenant=serving.tenant, role="admin") if token else None
    keys = KeyFile(serving.keys) if serving.keys else None
    hooks = read_webhooks(serving.webhooks, serving.tenant) if serving.webhooks else ()
    if any(isinstance(hook, SlackHook) for hook in hooks):
        require_extras("Slack", "slack")
    tenants = await _open_tenants(serving)
    host = f"[{serving.bind}]" if ":" in serving.bind else serving.bind
    origin = serving.origins[0] if serving.origins else f"http://{host}:{port}"
    shared = Shared(
        tenants=tenants,
        doorway=Doorway(folder, token=token, owner=owner, keys=keys, proxy=serving.proxy),
        starts=Starts(folder),
        notifier=Notifier(hooks, tenants, Outbox(folder), origin) if hooks else None,
        oidc=provider_of(serving, serving.tenant, origin),
        tasks=serving.tasks,
        secure=any(origin.startswith("https://") for origin in serving.origins),
    )
    server = Server(build_app(shared, site), shared)
    made(server)
    address = f"http://{host}:{port}/" + (f"#token={token}" if token else "")
    if shared.notifier:
        await shared.notifier.start()
    server.when_ready = lambda: ready(address)
    await server.serve([listener])


async def _open_tenants(serving: Serving) -> Tenants:
    tenants = FleetTenants(serving.fleet, serving.home) if serving.fleet else LocalTenants({LOCAL: serving.home})
    await tenants.open()
    return tenants


def provider_of(serving: Serving, tenant: str, origin: str) -> "Oidc | None":
    """The identity provider, if there is one."""
    if serving.oidc is None:
        return None
    from midcourse.server.access.oidc import read_oidc

    return read_oidc(serving.oidc, tenant, f"{origin.rstrip('/')}{CALLBACK}")


class Server(uvicorn.Server):
    """A server that reports when it has started. When it stops, it ends all event streams, which would keep it from stopping."""

    def __init__(self, app: ASGIApp, shared: Shared) -> None:
        super().__init__(uvicorn.Config(app, log_level="warning", access_log=False, server_header=False))
        self._shared = shared
        self.when_ready: Callable[[], None] = lambda: None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self.when_ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._shared.stopping.set()
        await self._shared.hub.close()
        await self._shared.live.close()
        await self._shared.take_overs.close()
        await super().shutdown(sockets)


def listen(bind: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in bind else socket.AF_INET
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((bind, port))
    except OSError as trouble:
        listener.close()
        raise TaskInvalid(
            f"cannot listen at {bind}:{port}: {trouble.strerror}; choose another --port, or 0 for any"
        ) from None
    listener.listen(512)
    listener.setblocking(False)
    return listener


def run(serving: Serving, ready: Callable[[str], None]) -> None:
    asyncio.run(serve(serving, ready))
