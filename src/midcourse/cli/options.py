"""Arguments and options that several commands share, and the settings that they stand for."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from re import fullmatch
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from midcourse.config.variables import find_home, may_have_fleet
from midcourse.errors import MidcourseError, TaskInvalid
from midcourse.home.folder import AtHome, has_store, open_catalogue
from midcourse.home.folder import Home as HomeAlone

if TYPE_CHECKING:
    from midcourse.config.fleet_settings import FleetSettings
    from midcourse.config.settings import Settings

LAST = "last"
MOST = 20
"""The number of runs that are offered to a shell that completes a name."""


# --- what a shell that completes a line is told


def next_runs(incomplete: str) -> Iterator[tuple[str, str]]:
    """The latest runs of this home, with their goals."""
    yield LAST, "the latest run"
    with suppress(MidcourseError, OSError):  # an error message would appear among the completions
        settings = load_home(None)
        if has_store(settings):
            with open_catalogue(settings) as catalogue:
                found = catalogue.named(incomplete, MOST)
            yield from ((run.id, " ".join(run.goal.split())[:60]) for run in found)


def next_settings(incomplete: str) -> Iterator[tuple[str, str]]:
    """Completions for `--set`, such as `max_calls=`, without settings that only benchmarks use."""
    from midcourse.config.settings import Settings
    from midcourse.config.variables import Audience, names_for

    for name in names_for(Settings, Audience.EVERYDAY, Audience.ADVANCED):
        yield f"{name}=", (Settings.model_fields[name].description or "").partition(".")[0][:60]


def next_tasks(incomplete: str) -> Iterator[tuple[str, str]]:
    """The tasks that ship with Midcourse, and the task files of this folder."""
    from midcourse.agent.wiring import packaged_tasks

    yield from ((name, "ships with Midcourse") for name in packaged_tasks())
    yield from ((str(path), "") for path in sorted(Path().glob("*.toml")))


# --- help


def teach(*lines: tuple[str, str]) -> str:
    """Build an epilog from pairs of a command line and what it does."""
    return "\n\n".join(
        ["[bold]Examples[/bold]", *(f"[cyan]{line}[/cyan]  [dim]# {what}[/dim]" for line, what in lines)]
    )


# --- which run

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
        metavar="RUN",
        help="A run's id, the beginning of one, 'last', or a journal.jsonl.",
        show_default=False,
        autocompletion=next_runs,
    ),
]
DurableOnly = Annotated[bool, typer.Option("--durable", help="Use those of the fleet instead of those in this home.")]

# --- settings

Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Change a setting, as often as needed. `midcourse settings --all` lists them.",
        autocompletion=next_settings,
    ),
]
Change = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Change a setting of the recorded run, as often as needed."),
]
Fleet = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Change a setting of the fleet, or home. `midcourse settings --all` lists them.",
    ),
]
Home = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="home=FOLDER", help="The folder with the runs; .midcourse by default."),
]
HomeFolder = Annotated[
    str,
    typer.Option(
        "--home", metavar="FOLDER", help="The folder with the runs; .midcourse by default.", show_default=False
    ),
]
Model = Annotated[
    str,
    typer.Option(
        "--model",
        metavar="PROVIDER:NAME",
        help="The model that plans, such as openai:gpt-5; MIDCOURSE_MODEL by default.",
        show_default=False,
    ),
]
Input = Annotated[
    list[str] | None,
    typer.Option("--input", metavar="NAME=VALUE", help="An input of the task, as often as needed."),
]
OriginsFile = Annotated[
    str, typer.Option("--origins", metavar="FILE", help="A policy file: the other origins that the page may contact.")
]
Headed = Annotated[bool, typer.Option("--headed", help="Show the browser's window.")]
Detach = Annotated[bool, typer.Option("--detach", help="Return as soon as the durable run is started.")]

# --- output

Json = Annotated[bool, typer.Option("--json", help="Print JSON on the last line, and nothing else.")]
OnceJson = Annotated[bool, typer.Option("--json", help="Print one JSON object once it is up, and nothing else.")]
RequireVerified = Annotated[
    bool,
    typer.Option("--require-verified", help="Exit with 3 if it is done, and neither a check nor a probe found so."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print the verdict only, in one line.")]


# --- how much is printed, and the exit code

SUCCEEDED, FAILED, UNVERIFIED, LEFT = 0, 1, 3, 130


@dataclass(frozen=True, kw_only=True)
class Verbosity:
    """How much a command prints, and whether its exit code tells a claim from a verified success."""

    json: bool = False
    quiet: bool = False
    require_verified: bool = False

    @property
    def silent(self) -> bool:
        return self.json or self.quiet

    def exit_code(self, *, success: bool, verified: bool) -> int:
        if not success:
            return FAILED
        return UNVERIFIED if self.require_verified and not verified else SUCCEEDED


# --- starting a run


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """The options of every command that starts a run. Raises `TaskInvalid` for a name that no run can have."""

    input_: Input = None
    model: Model = ""
    approvals: Annotated[
        str,
        typer.Option(
            "--approvals",
            metavar="always|adaptive|never",
            help="Whether you are asked before something irreversible is sent.",
            show_default=False,
            autocompletion=lambda: ["always", "adaptive", "never"],
        ),
    ] = ""
    max_cost: Annotated[
        float | None,
        typer.Option(
            "--max-cost", metavar="USD", min=0.0, help="A ceiling for what models may cost.", show_default=False
        ),
    ] = None
    sends: Annotated[
        bool,
        typer.Option("--sends", help="The task must send something: a run that sent nothing but a sign-in fails."),
    ] = False
    record: Annotated[
        str,
        typer.Option(
            "--record",
            metavar="FILE",
            help="Record what models are asked and answer, without secrets, to play it later.",
        ),
    ] = ""
    cassette: Annotated[
        str,
        typer.Option("--cassette", metavar="FILE", help="Play the models from such a recording: no model is asked."),
    ] = ""
    run_id: Annotated[
        str, typer.Option("--run-id", metavar="ID", help="The id of the run, by which it can be resumed.")
    ] = ""
    home: HomeFolder = ""
    set_: Set = None
    json: Json = False
    quiet: Quiet = False
    require_verified: RequireVerified = False

    def __post_init__(self) -> None:
        check_name("--run-id", self.run_id)

    @property
    def verbosity(self) -> Verbosity:
        return Verbosity(json=self.json, quiet=self.quiet, require_verified=self.require_verified)

    @property
    def overrides(self) -> list[str]:
        """The settings that were given. Paths are absolute, because the run may be resumed in another folder."""
        tapes = {"record": self.record, "cassette": self.cassette}
        return with_options(
            self.set_,
            model=self.model,
            approvals=self.approvals,
            max_cost_usd=self.max_cost,
            home=self.home,
            **{name: Path(file).absolute() for name, file in tapes.items() if file},
        )


def check_name(option: str, name: str) -> None:
    """Raise `TaskInvalid` if this cannot be the name of a run or a batch."""
    if name and (name == LAST or not fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}", name)):
        raise TaskInvalid(f"{option} '{name}': letters, digits, dots and dashes only, 80 at most, and not '{LAST}'")


def parse_inputs(texts: list[str] | None) -> dict[str, str]:
    """Parse `--input NAME=VALUE` options into names and values."""
    named: dict[str, str] = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not equals or not fullmatch(r"[A-Za-z]\w*", name.strip()):
            raise TaskInvalid(f"--input {text}: write it as NAME=VALUE, such as --input reference=PO-1001")
        named[name.strip()] = value
    return named


# --- settings

HOME = "home"
Overrides: TypeAlias = Sequence[str] | None
"""The texts given with `--set`, as written."""


def parse_overrides(texts: Overrides) -> dict[str, str]:
    """Parse the overrides into values by name. Raises `TaskInvalid` for a text that is not NAME=VALUE."""
    named: dict[str, str] = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise TaskInvalid(f"--set {text}: write it as NAME=VALUE, such as --set max_calls=10")
        named[name.strip()] = value
    return named


def with_options(texts: Overrides, **options: object) -> list[str]:
    """The overrides, extended by those of `options` that were given. An option takes precedence over `--set`."""
    return [*(texts or ()), *(f"{name}={value}" for name, value in options.items() if value not in ("", None))]


def load_home(texts: Overrides) -> AtHome:
    """Load the home, for a command that needs no other setting. `--set` may name it."""
    overrides = parse_overrides(texts)
    home = find_home(overrides.get(HOME)) if overrides.keys() <= {HOME} else None
    return HomeAlone(home) if home else load_settings(texts, HOME)


def load_home_and_fleet(texts: Overrides) -> "tuple[AtHome, FleetSettings | None]":
    """Load the home like `load_home`, and the settings of the fleet if one is configured."""
    overrides = parse_overrides(texts)
    home = find_home(overrides.get(HOME)) if overrides.keys() <= {HOME} else None
    return load_both_settings(texts, HOME) if home is None or may_have_fleet(home) else (HomeAlone(home), None)


def load_settings(texts: Overrides, *changeable: str) -> "Settings":
    """Load the settings of a command for existing runs. Runs keep their settings, so only the `changeable` ones may be set."""
    overrides = parse_overrides(texts)
    for name in overrides:
        if name not in changeable:
            raise TaskInvalid(
                f"--set {name}: a run keeps the settings it began with; here only {', '.join(changeable)}"
            )
    from midcourse.config.settings import Settings

    return Settings.load(overrides=overrides)


def load_fleet_settings(texts: Overrides) -> "tuple[Path, FleetSettings]":
    """The home, and the settings of the fleet. Raises `FleetUnavailable` if none is configured."""
    from midcourse.config.fleet_settings import FleetSettings

    settings, of_fleet = split_home(texts)
    fleet = FleetSettings.load(settings.home, of_fleet)
    fleet.check_complete(settings.home)
    return settings.home, fleet


def load_both_settings(texts: Overrides, *changeable: str) -> "tuple[Settings, FleetSettings | None]":
    """The settings for runs in this home, and those of the fleet if one is configured."""
    from midcourse.config.fleet_settings import FleetSettings

    of_runs, of_fleet = split_fleet(texts)
    settings = load_settings(of_runs, *changeable)
    fleet = FleetSettings.load(settings.home, of_fleet)
    return settings, fleet if fleet.is_somewhere else None


def split_fleet(texts: Overrides) -> tuple[list[str], dict[str, str]]:
    """Split the overrides into those for runs, as written, and those for the fleet, by name."""
    from midcourse.config.fleet_settings import FleetSettings

    of_fleet = {name: value for name, value in parse_overrides(texts).items() if name in FleetSettings.model_fields}
    return [text for text in texts or () if text.partition("=")[0].strip() not in of_fleet], of_fleet


def split_home(texts: Overrides) -> "tuple[Settings, dict[str, str]]":
    """Load the settings with the home that `--set` names, and return every other override by name."""
    from midcourse.config.settings import Settings

    overrides = parse_overrides(texts)
    home = {HOME: overrides.pop(HOME)} if HOME in overrides else {}
    return Settings.load(overrides=home), overrides
