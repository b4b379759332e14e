"""`midcourse serve`: the web console and the HTTP API."""

from pathlib import Path
from typing import Annotated

import typer

from midcourse.app.extras import require_extras
from midcourse.cli.options import HomeFolder, OnceJson, teach
from midcourse.cli.overrides import load_settings, with_options
from midcourse.cli.view.terminal import print_object, terminal
from midcourse.errors import TaskInvalid

commands = typer.Typer()


@commands.command(
    epilog=teach(
        ("midcourse serve", "the console of this home, for this machine only"),
        ("midcourse serve --port 0 --json", "at a free port, for programs"),
    ),
)
def serve(
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="The port; 0 takes a free one.")] = 8321,
    bind: Annotated[str, typer.Option("--bind", metavar="ADDRESS", help="The address to listen at.")] = "127.0.0.1",
    origin: Annotated[
        list[str] | None,
        typer.Option(
            "--origin", metavar="URL", help="An address under which browsers reach it, such as https://console.example."
        ),
    ] = None,
    keys: Annotated[str, typer.Option("--keys", metavar="FILE", help="API keys: NAME TENANT ROLE SHA256 a line.")] = "",
    proxy_user_header: Annotated[
        str, typer.Option("--proxy-user-header", metavar="NAME", help="The header in which a proxy names the user.")
    ] = "",
    proxy_secret_file: Annotated[
        str, typer.Option("--proxy-secret-file", metavar="FILE", help="The secret by which the proxy proves itself.")
    ] = "",
    tasks: Annotated[
        str, typer.Option("--tasks", metavar="FOLDER", help="Task files that may be started by their names.")
    ] = "",
    home: HomeFolder = "",
    json: OnceJson = False,
) -> int:
    """Serve the web console and the HTTP API of the runs in this home.

    It prints an address with a token to open in a browser. Runs that are
    started there are driven by the server, and resumed by the next one if
    it is killed. Other machines can reach it only with API keys or a proxy
    that authenticates users.
    """
    require_extras("the server", "server")
    from midcourse.server.access.doorway import Proxy
    from midcourse.server.start import LOCAL, Serving, run

    if bool(proxy_user_header) != bool(proxy_secret_file):
        raise TaskInvalid("--proxy-user-header and --proxy-secret-file belong together: a header alone proves nothing")
    proxy = None
    if proxy_user_header:
        secret = Path(proxy_secret_file).read_text(encoding="utf-8").strip()
        proxy = Proxy(user_header=proxy_user_header, secret=secret, tenant=LOCAL)
    serving = Serving(
        home=load_settings(with_options(None, home=home), "home"),
        bind=bind,
        port=port,
        origins=tuple(origin or ()),
        keys=Path(keys) if keys else None,
        proxy=proxy,
        tasks=Path(tasks) if tasks else None,
    )

    def ready(address: str) -> None:
        if json:
            print_object({"url": address})
        else:
            terminal().console.print(f"Midcourse is at {address}", soft_wrap=True)

    run(serving, ready)
    return 0
