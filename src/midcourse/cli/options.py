"""Arguments and options that several commands share, and the epilogs that teach by example."""

from typing import Annotated

import typer


def next_runs(incomplete: str) -> list[tuple[str, str]]:
    """For a shell that completes: only then is anything imported for it, because help has to be quick."""
    from midcourse.cli.commands.start.completion import run_names

    return list(run_names(incomplete))


def next_settings(incomplete: str) -> list[tuple[str, str]]:
    """Likewise, of settings."""
    from midcourse.cli.commands.start.completion import setting_names

    return list(setting_names(incomplete))


def next_tasks(incomplete: str) -> list[tuple[str, str]]:
    """Likewise, of tasks."""
    from midcourse.cli.commands.start.completion import task_names

    return list(task_names(incomplete))


EXIT_CODES = "Exit codes: 0 success, 1 ended without success, 2 misuse, 130 left before its end (resume it)."

Task = Annotated[
    str,
    typer.Argument(
        metavar="TASK",
        help="A task file, or the name of one from `midcourse examples`.",
        show_default=False,
        autocompletion=next_tasks,
    ),
]
Run = Annotated[
    str,
    typer.Argument(
        metavar="RUN",
        help="A run's id, the beginning of one, or 'last'.",
        show_default=False,
        autocompletion=next_runs,
    ),
]
Journal = Annotated[
    str,
    typer.Argument(
        metavar="JOURNAL",
        help="A run's id, the beginning of one, 'last', or a journal.jsonl.",
        show_default=False,
        autocompletion=next_runs,
    ),
]
Change = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Change a setting of the recorded run, as often as needed."),
]
Diff = Annotated[
    tuple[int, int] | None,
    typer.Option("--diff", metavar="A B", help="Compare two versions: kept, done, dropped, new.", show_default=False),
]
At = Annotated[
    int, typer.Option("--at", metavar="K", help="The event after which it goes another way.", show_default=False)
]
RunOrBatch = Annotated[
    str,
    typer.Argument(
        metavar="RUN",
        help="A run's or a batch's id, the beginning of one, or 'last'.",
        show_default=False,
        autocompletion=next_runs,
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Change a setting, as often as needed. `midcourse settings` lists them.",
        autocompletion=next_settings,
    ),
]
Home = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="home=FOLDER", help="Where the runs are kept, if not in .midcourse."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on the last line, and nothing else.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print the verdict only, in one line.")]
Record = Annotated[
    str,
    typer.Option(
        "--record", metavar="FILE", help="Keep what models are asked and answer, without secrets, to play it."
    ),
]
Cassette = Annotated[
    str, typer.Option("--cassette", metavar="FILE", help="Play the models from such a recording: nobody is asked.")
]
Recording = Annotated[
    str, typer.Argument(metavar="CASSETTE", help="A recording, made with `midcourse run --record`.", show_default=False)
]
ArmA = Annotated[
    str,
    typer.Argument(
        metavar="A", help="MODEL, MODEL@PROMPT.md, @PROMPT.md, or 'recorded' for what was answered.", show_default=False
    ),
]
ArmB = Annotated[str, typer.Argument(metavar="B", help="The same, to compare with.", show_default=False)]
RunId = Annotated[str, typer.Option("--run-id", metavar="ID", help="Call the run this, to resume it by that name.")]
Inputs = Annotated[
    str,
    typer.Option(
        "--inputs", metavar="FILE", help="A CSV file: one run for each row, its columns are the task's inputs."
    ),
]
Concurrency = Annotated[
    int | None,
    typer.Option("--concurrency", min=1, max=256, metavar="N", help="Rows under way at once; 4, if nothing is said."),
]
Results = Annotated[
    str, typer.Option("--results", metavar="FILE", help="Write what each row came to into this CSV file, too.")
]
BatchId = Annotated[
    str, typer.Option("--batch", metavar="ID", help="Call the batch this. The same command again goes on with it.")
]
Again = Annotated[
    bool,
    typer.Option(
        "--again", help="Begin anew although an earlier run under the task's key failed and may have done it."
    ),
]
All = Annotated[bool, typer.Option("--all", help="All runs, not only the latest 20.")]
ExampleName = Annotated[
    str, typer.Argument(metavar="NAME", help="Print the task file of this one.", show_default=False)
]

Worlds = Annotated[
    str,
    typer.Option(
        "--worlds",
        metavar="NAMES",
        help="Which worlds it opens, with commas between: simulated ones by name, your own as package.module:Class. "
        "All simulated ones, if nothing is said.",
    ),
]
Port = Annotated[
    int, typer.Option("--port", min=0, max=65535, metavar="N", help="Where it listens; 0 takes a free one.")
]
Address = Annotated[
    str,
    typer.Option(
        "--address",
        metavar="IP",
        help="On which address. Any but this machine's own needs --certificate and --key, or --tls-elsewhere.",
    ),
]
HostUrl = Annotated[
    str,
    typer.Option(
        "--url", metavar="URL", help="Where workers reach it, if that is not where it listens: its name, or a proxy's."
    ),
]
CertificateFile = Annotated[
    str, typer.Option("--certificate", metavar="FILE", help="Speak HTTPS with this certificate, in PEM with its chain.")
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
        "--max-sessions", min=1, metavar="N", help="Sessions at a time. Runs beyond that wait for one to end."
    ),
]
Idle = Annotated[
    float,
    typer.Option("--idle", min=0.1, metavar="SECONDS", help="Close a session that nobody asked for so long."),
]
Grace = Annotated[
    float,
    typer.Option("--grace", min=0.0, metavar="SECONDS", help="What acts under way get when it is told to stop."),
]
TokenFile = Annotated[
    str, typer.Option("--token-file", metavar="FILE", help="Take the token from this file, instead of a new one.")
]
ReadyFile = Annotated[
    str,
    typer.Option("--ready", metavar="FILE", help="Write url, token and pid here, if not into host.json in the home."),
]
HostJson = Annotated[bool, typer.Option("--json", help="Print one JSON object once it listens, and nothing else.")]

Fleet = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="Change a setting of the fleet, or home. `midcourse settings` lists them."
    ),
]
Durable = Annotated[
    bool, typer.Option("--durable", help="Let the workers of a fleet drive it; `midcourse up` starts one.")
]
Detach = Annotated[bool, typer.Option("--detach", help="Of a durable run: return at once and let it go on.")]
Restored = Annotated[
    bool,
    typer.Option("--restored", help="You have checked what the run did: go on in a copied or restored folder."),
]
DurableOnly = Annotated[bool, typer.Option("--durable", help="Those of the fleet, instead of those in this home.")]
WatchedRun = Annotated[
    str,
    typer.Argument(
        metavar="[RUN]", help="A run's id, the beginning of one, or 'last'; all of them if none.", show_default=False
    ),
]
AskingRun = Annotated[
    str,
    typer.Argument(
        metavar="[RUN]",
        help="A run's id, the beginning of one, or 'last'; without it, what is waiting.",
        show_default=False,
    ),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask whether you are sure.")]
AllValues = Annotated[
    bool,
    typer.Option("--all-values", help="With --yes: also what is shown only by a digest, or is long."),
]
Shown = Annotated[
    list[str] | None,
    typer.Option(
        "--shown",
        metavar="DIGEST",
        help="What you were shown (`digest` in midcourse approve --json, one for each step). If it is something else by now, nothing is approved and you are told the difference.",
    ),
]
ForTheRun = Annotated[
    bool, typer.Option("--for-run", help="Exactly this, as often as this run needs it, instead of once.")
]
Changes = Annotated[
    list[str] | None,
    typer.Option(
        "--change",
        metavar="NAME=VALUE",
        help="Not like that, but with this argument (2.NAME=VALUE: of the second step). You are asked again about what comes of it.",
    ),
]
Guidance = Annotated[str, typer.Option("--guidance", metavar="TEXT", help="What it should do instead.")]
Text = Annotated[str, typer.Argument(metavar="TEXT", help="A few words for the planner.", show_default=False)]
Word = Annotated[
    str, typer.Argument(metavar="WORD", help="happened, did_not_happen, go_on, send_again or stop.", show_default=False)
]
Current = Annotated[
    bool, typer.Option("--current", help="From now on new runs begin on this worker's build, and others move to it.")
]
DetachUp = Annotated[
    bool, typer.Option("--detach", "-d", help="Leave it running and return; `midcourse down` stops it.")
]
TemporalUi = Annotated[
    bool, typer.Option("--ui", help="Start Temporal's web page, too. Every account of this machine can open it.")
]
OnceJson = Annotated[bool, typer.Option("--json", help="Print one JSON object once it is up, and nothing else.")]

Url = Annotated[str, typer.Argument(metavar="URL", help="The page to look at.", show_default=False)]
Png = Annotated[str, typer.Option("--png", metavar="FILE", help="Where the picture goes.")]
Whole = Annotated[bool, typer.Option("--whole", help="The whole page, not only what is in view.")]
OriginsFile = Annotated[
    str, typer.Option("--origins", metavar="FILE", help="Whom the page may speak to besides its own origin.")
]
LookJson = Annotated[bool, typer.Option("--json", help="Print what is seen as one JSON object, and nothing else.")]


def teach(*lines: tuple[str, str]) -> str:
    """An epilog: command lines, and what they do."""
    return "\n\n".join(["[bold]Examples[/bold]", *(f"[cyan]{line}[/cyan]  [dim]{what}[/dim]" for line, what in lines)])
