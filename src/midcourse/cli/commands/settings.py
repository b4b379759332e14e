"""`midcourse settings`: lists settings, their current values, and what they change."""

import re
from dataclasses import asdict, dataclass
from typing import Annotated

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from midcourse.cli.options import Json, teach
from midcourse.config.fleet_settings import FleetSettings
from midcourse.config.settings import Settings
from midcourse.config.variables import Audience, VariableSettings, audience_of, variable_of
from midcourse.domain.argument import Scalar
from midcourse.presentation.vocabulary import format_argument
from midcourse.terminal.output import Terminal, print_object, terminal

_LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")
"""A link of Markdown. Descriptions are also in the documentation."""
HEADINGS = {
    Audience.EVERYDAY: "",
    Audience.ADVANCED: "Advanced",
    Audience.BENCHMARKS: "For benchmarks only",
}


@dataclass(frozen=True, kw_only=True)
class SettingRow:
    name: str
    value: Scalar
    default: Scalar
    environment: str
    said: bool
    """Whether the environment or the fleet in this home sets it."""
    changes: str
    audience: Audience


commands = typer.Typer()


@commands.command(
    epilog=teach(
        ("midcourse settings", "the settings that are changed most often"),
        ("midcourse settings --all", "all of them"),
        ("MIDCOURSE_MAX_CALLS=5 midcourse settings --json", "as a run started like this would have them"),
    ),
)
def settings(
    all_: Annotated[bool, typer.Option("--all", help="All settings, also those that few runs need.")] = False,
    json: Json = False,
) -> None:
    """List settings: the value now, the default, and what each changes.

    The last of these wins: the default, the task file, the environment
    (MIDCOURSE_MAX_CALLS, or a .env file), --set.
    """
    of_runs = Settings.load()
    rows = [*_rows(of_runs), *_rows(FleetSettings.load(of_runs.home))]
    hidden: list[SettingRow] = [] if all_ else [row for row in rows if row.audience is not Audience.EVERYDAY]
    shown = [row for row in rows if row not in hidden]
    if json:
        print_object([asdict(row) for row in shown])
        return
    where = terminal()
    for audience, heading in HEADINGS.items():
        _print_rows([row for row in shown if row.audience is audience], heading, where)
    if hidden:
        changed = [row.name for row in hidden if row.value != row.default]
        also = f"; not at their defaults: {', '.join(changed)}" if changed else ""
        where.say(f"{len(hidden)} more with midcourse settings --all{also}", style="dim")


def _rows(now: VariableSettings) -> list[SettingRow]:
    return [
        SettingRow(
            name=name,
            value=_scalar(getattr(now, name)),
            default=_scalar(field.default),
            environment=variable_of(name),
            said=name in now.model_fields_set,
            changes=_LINK.sub(r"\1", field.description or ""),
            audience=audience_of(field),
        )
        for name, field in type(now).model_fields.items()
    ]


def _scalar(value: object) -> Scalar:
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _print_rows(rows: list[SettingRow], heading: str, where: Terminal) -> None:
    if not rows:
        return
    if heading:
        where.console.print(Text(f"\n{heading}", "bold"))
    if where.console.is_terminal:
        where.console.print(_table(rows, where))
        return
    for row in rows:
        now, usual = format_argument(row.value) or "not set", format_argument(row.default) or "not set"
        where.say(f"{row.name} = {now} (default {usual}): {row.changes}")


def _table(rows: list[SettingRow], where: Terminal) -> Table:
    table = Table(box=box.ASCII if where.marks.ascii_only else box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("setting", no_wrap=True, style="bold")
    table.add_column("now", overflow="fold")
    table.add_column("default", overflow="fold", style="dim")
    table.add_column("what it changes", overflow="fold", ratio=1)
    for row in rows:
        now = Text(format_argument(row.value), "bold yellow" if row.said or row.value != row.default else "")
        table.add_row(row.name, now, format_argument(row.default), where.marks.clean(row.changes))
    return table
