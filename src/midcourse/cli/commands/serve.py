"""`midcourse serve`: serves the web console and the HTTP API."""

from pathlib import Path
from typing import Annotated

import typer

from midcourse.cli.options import Fleet, HomeFolder, OnceJson, Overrides, load_settings, split_home, teach, with_options
from midcourse.cli.session.console import open_in_browser
from midcourse.config.extras import require_extras
from midcourse.config.fleet_settings import FleetSettings
from midcourse.config.settings import Settings
from midcourse.errors import TaskInvalid
from midcourse.tenants.tenants import LOCAL
from midcourse.terminal.output import print_outcome

commands = typer.Typer()

Port = Annotated[int, typer.Option("--port", min=0, max=65535, help="The port; 0 takes a free one.")]
Bind = Annotated[str, typer.Option("--bind", metavar="ADDRESS", help="The address to listen at.")]
Origin = Annotated[
    list[str] | None,
    typer.Option(
        "--origin", metavar="URL", help="An address under which browsers reach it, such as https://console.example."
    ),
]
KeysFile = Annotated[
    str, typer.Option("--keys", metavar="FILE", help="The file of API keys that `midcourse access add` writes.")
]
ProxyUserHeader = Annotated[
    str, typer.Option("--proxy-user-header", metavar="NAME", help="The header in which a proxy names the user.")
]
ProxySecretFile = Annotated[
    str, typer.Option("--proxy-secret-file", metavar="FILE", help="The secret by which the proxy proves itself.")
]
ProxyRoleHeader = Annotated[
    str,
    typer.Option(
        "--proxy-role-header",
        metavar="NAME",
        help="The header with the user's role; without it every user is a viewer.",
    ),
]
ProxyTenantHeader = Annotated[
    str, typer.Option("--proxy-tenant-header", metavar="NAME", help="The header with the user's tenant.")
]
TasksFolder = Annotated[
    str, typer.Option("--tasks", metavar="FOLDER", help="The folder of task files that may be started by name.")
]
OidcFile = Annotated[
    str, typer.Option("--oidc", metavar="FILE", help="The identity provider that browsers sign in through.")
]
WebhooksFile = Annotated[
    str,
    typer.Option(
        "--webhooks", metavar="FILE", help="The webhooks to tell about questions and the ends of runs (docs/server.md)."
    ),
]
DurableRuns = Annotated[
    bool, typer.Option("--durable", help="Serve the runs of the fleet, instead of those in this home.")
]
OpenBrowser = Annotated[bool, typer.Option("--open", help="Open the console in a browser.")]


@commands.command(
    epilog=teach(
        ("midcourse serve", "the console of this home, for this machine only"),
        ("midcourse serve --port 0 --json", "at a free port, for programs"),
        ("midcourse serve --durable", "of the fleet that `midcourse up` started here"),
    ),
)
def serve(
    port: Port = 8321,
    bind: Bind = "127.0.0.1",
    origin: Origin = None,
    keys: KeysFile = "",
    proxy_user_header: ProxyUserHeader = "",
    proxy_secret_file: ProxySecretFile = "",
    proxy_role_header: ProxyRoleHeader = "",
    proxy_tenant_header: ProxyTenantHeader = "",
    tasks: TasksFolder = "",
    oidc: OidcFile = "",
    webhooks: WebhooksFile = "",
    durable: DurableRuns = False,
    open_: OpenBrowser = False,
    set_: Fleet = None,
    home: HomeFolder = "",
    json: OnceJson = False,
) -> int:
    """Serve the web console and the HTTP API of the runs in this home.

    It prints an address with a token to open in a browser. The server drives
    the runs that are started there; if it is killed, the next server resumes
    them. With --durable, the workers of the fleet drive them. Other machines
    can reach the server only with API keys (midcourse access) or through a
    proxy that authenticates users.
    """
    require_extras("the server", "server")
    if oidc:
        require_extras("an identity provider", "oidc")
    from midcourse.server.access.doorway import Proxy
    from midcourse.server.start import Serving, run

    if bool(proxy_user_header) != bool(proxy_secret_file):
        raise TaskInvalid("--proxy-user-header and --proxy-secret-file belong together: a header alone proves nothing")
    settings, fleet = read_served(with_options(set_, home=home), durable=durable)
    proxy = None
    if proxy_user_header:
        proxy = Proxy(
            user_header=proxy_user_header,
            secret=Path(proxy_secret_file).read_text(encoding="utf-8").strip(),
            tenant=fleet.tenant if fleet else LOCAL,
            role_header=proxy_role_header,
            tenant_header=proxy_tenant_header,
        )
    serving = Serving(
        home=settings,
        fleet=fleet,
        bind=bind,
        port=port,
        origins=tuple(origin or ()),
        keys=_path(keys),
        proxy=proxy,
        tasks=_path(tasks),
        oidc=_path(oidc),
        webhooks=_path(webhooks),
    )
    run(serving, lambda address: _announce(address, settings.home, json=json, opens=open_))
    return 0


def _announce(address: str, home: Path, *, json: bool, opens: bool) -> None:
    print_outcome({"url": address}, f"Midcourse is at {address}", json=json)
    if opens:
        open_in_browser(address, home)


def _path(name: str) -> Path | None:
    return Path(name) if name else None


def read_served(overrides: Overrides, *, durable: bool) -> tuple[Settings, FleetSettings | None]:
    """The settings of the home and, with `durable`, those of the fleet."""
    if not durable:
        return load_settings(overrides, "home"), None
    settings, of_fleet = split_home(overrides)
    fleet = FleetSettings.load(settings.home, of_fleet)
    fleet.check_complete(settings.home)
    return settings, fleet
