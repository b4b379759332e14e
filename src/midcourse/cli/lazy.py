"""A Typer group that imports a command only when it is called, so that help and completion stay quick."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

from typer.core import TyperCommand, TyperGroup
from typer.main import get_command


@dataclass(frozen=True)
class Entry:
    """One row of a command table: where the command is declared, and how `--help` lists it."""

    module: str
    help: str
    panel: str | None = None


class LazyGroup(TyperGroup):
    """Lists its commands from a table. A module has its commands in a Typer app called `commands`."""

    table: ClassVar[Mapping[str, Entry]]
    removed: ClassVar[Mapping[str, str]] = {}
    """Commands of earlier versions, each with the command to type now."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for name, entry in self.table.items():
            self.add_command(TyperCommand(name, short_help=entry.help, rich_help_panel=entry.panel))

    def get_params(self, ctx: Any) -> list[Any]:
        return _hide_types_of_flags(super().get_params(ctx))

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        for words in (" ".join(args[:2]), args[0]):
            if words in self.removed and not ctx.resilient_parsing:
                ctx.fail(f"'{words}' was removed; type: {self.removed[words]}")
        name, _, rest = super().resolve_command(ctx, args)
        command = self._load(name) if name else None
        for each in (command, *getattr(command, "commands", {}).values()):
            if each is not None:
                _hide_types_of_flags(each.get_params(ctx))
        return name, command, rest

    def _load(self, name: str) -> Any:
        """The command of this name in its module, or the module's whole app if that is a group of this name."""
        commands = import_module(self.table[name].module).commands
        commands._add_completion = False  # noqa: SLF001  # `midcourse completion` does that, for all commands
        found = get_command(commands)
        return found.commands.get(name, found) if isinstance(found, TyperGroup) else found


def _hide_types_of_flags(params: list[Any]) -> list[Any]:
    """Let `--help` show no type beside flags: Typer shows `<bool>`, as if they took a value."""
    for param in params:
        if getattr(param, "is_flag", False):
            param.metavar = ""
    return params
