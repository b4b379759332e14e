"""The commands that start and stop what a fleet consists of. What each does is in the file of its name."""

import typer

from midcourse.cli.options import (
    Address,
    CertificateFile,
    Current,
    DetachUp,
    Fleet,
    Grace,
    Home,
    HostJson,
    HostUrl,
    Idle,
    Json,
    KeyFile,
    MaxSessions,
    OnceJson,
    Port,
    ReadyFile,
    TemporalUi,
    TlsElsewhere,
    TokenFile,
    WorldOptions,
    Worlds,
    teach,
)

PANEL = "Fleets"

commands = typer.Typer()


@commands.command(
    rich_help_panel=PANEL,
    name="up",
    epilog=teach(
        ("midcourse up", "in a terminal of its own; Ctrl-C stops all of it"),
        ("midcourse up --detach", "in the background, until midcourse down"),
        ("midcourse up --ui", "with Temporal's web page, which every account of this machine can open"),
    ),
)
def up_command(detach: DetachUp = False, ui: TemporalUi = False, set_: Home = None, json: OnceJson = False) -> None:
    """Start a whole fleet on this machine, for development.

    PostgreSQL, Temporal, a host for worlds and a worker: no
    installation besides pip install 'midcourse\\[up]', no container, nothing that
    another machine can reach. The other commands find it by themselves.

    What it keeps is in .midcourse/up. Started again, it goes on from there;
    started while it runs, it starts what is missing and nothing else.

    Exit codes: 0 stopped, or up and left running; 2 it could not start.
    """
    from midcourse.cli.commands.fleet.up import up

    raise typer.Exit(up(set_ or [], detach=detach, ui=ui, json=json))


@commands.command(
    rich_help_panel=PANEL,
    name="down",
    epilog=teach(
        ("midcourse down", "stop what midcourse up --detach left running"),
    ),
)
def down_command(set_: Home = None, json: Json = False) -> None:
    """Stop the fleet that `midcourse up` started here, and nothing else.

    Its runs are kept, and go on when it is started again.
    """
    from midcourse.cli.commands.fleet.up import down

    raise typer.Exit(down(set_ or [], json=json))


@commands.command(
    rich_help_panel=PANEL,
    name="migrate",
    epilog=teach(
        ("MIDCOURSE_DATABASE_URL=postgresql://owner@db/fleet midcourse migrate", "before the workers of a new version"),
    ),
)
def migrate_command(set_: Fleet = None, json: Json = False) -> None:
    """Bring a fleet's database to the schema of this version.

    Once before the first worker, with every new version, and a few times a
    year for the partitions of the months ahead; again does no harm. It needs
    the rights of whoever owns the tables, which workers must not have.
    midcourse up does it by itself.

    Exit codes: 0 done, 2 misuse, or no database there.
    """
    from midcourse.cli.commands.fleet.migrate import migrate

    raise typer.Exit(migrate(set_ or [], json=json))


@commands.command(
    rich_help_panel=PANEL,
    name="worker",
    epilog=teach(
        ("midcourse worker", "one more for the fleet that midcourse up started here"),
        (
            "midcourse worker --set tenant=acme --set heartbeat_seconds=2",
            "another tenant's, and noticed sooner if it dies",
        ),
        ("midcourse worker --set build=2026-08-02 --current", "a new build, on which new runs begin"),
    ),
)
def worker_command(set_: Fleet = None, current: Current = False, json: OnceJson = False) -> None:
    """Drive durable runs and do what they command, until it is told to stop.

    Start as many as you like, on as many machines: they share the runs of a
    tenant. If one dies, others go on with its runs: nothing finished is done
    again, and of what was under way it is found out whether it happened.

    Where Temporal and PostgreSQL are is said by MIDCOURSE_TEMPORAL_ADDRESS and
    MIDCOURSE_DATABASE_URL, or by the fleet that `midcourse up` left in .midcourse.

    Ctrl-C takes nothing new, finishes the steps under way, and stops.

    Exit codes: 0 stopped, 2 misuse, or no fleet there.
    """
    from midcourse.cli.commands.fleet.worker import worker

    raise typer.Exit(worker(set_ or [], current=current, json=json))


@commands.command(
    rich_help_panel=PANEL,
    name="host",
    epilog=teach(
        ("midcourse host", "every simulated world, on a free port of this machine"),
        ("midcourse host --worlds shop,your_package.module:Mail", "one of them, and one of your own"),
        ("midcourse host --port 4100 --json", "for programs: where it listens, once it does"),
        ("midcourse host --worlds browser --option browser.within=policy.toml", "browsers that go nowhere else"),
    ),
)
def host_command(
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
    grace: Grace = 10.0,
    token_file: TokenFile = "",
    ready: ReadyFile = "",
    set_: Home = None,
    json: HostJson = False,
) -> None:
    """Own the sessions of worlds for a fleet of runs, until it is told to stop.

    A session belongs to this process, not to the worker that acts in it: a
    worker may die, and the next one takes the session over as it is. Whoever
    was taken over from can no longer act, however late it wakes up.

    It writes url and token into a file that only you can read. Whoever has
    the token can open the worlds named here and act in them, and no others.
    Options of a world that name programs or files are yours: they are set
    with --option, and a session that sends one is refused.

    Ctrl-C lets the acts under way finish, closes every world and stops.
    Sessions do not outlive their host: their runs open new ones.

    Exit codes: 0 stopped, 1 stopped although a world would not close,
    2 misuse.
    """
    from midcourse.cli.commands.fleet.host import Listening, host

    code = host(
        set_ or [],
        worlds=worlds,
        options=option or [],
        max_sessions=max_sessions,
        listening=Listening(
            address=address, port=port, url=url, certificate=certificate, key=key, tls_elsewhere=tls_elsewhere
        ),
        idle=idle,
        grace=grace,
        token_file=token_file,
        ready=ready,
        json=json,
    )
    raise typer.Exit(code)
