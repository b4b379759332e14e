"""Which modules a task may name as its world or planner. A worker imports and calls what a submitted task names."""

import os
import re
import sys
from collections.abc import Iterable
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any

from midcourse.errors import TaskInvalid

SETTING = "task_modules"
ANY, NONE = "*", "none"
MODULE = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*"
ENTRY = re.compile(rf"{MODULE}(?:\.\*)?|\*")


class AllowedModules:
    """An allow-list: `shop.worlds` is that module, `acme.*` is `acme` and all below it, `*` is any, `none` allows no module.

    An empty list allows every module except those of Python itself: they contain no worlds or planners, but do contain `os:system`.
    Worlds and planners with short names in task files (`shop`, `browser`, `playbook`) are always allowed.
    """

    def __init__(self, text: str) -> None:
        """Parse the list. Raises `ValueError` for an entry that is neither a module nor a pattern."""
        entries = [entry for entry in re.split(r"[,\s]+", text.strip()) if entry]
        for entry in entries:
            if not ENTRY.fullmatch(entry):
                raise ValueError(f"'{entry}' is not a module; write 'shop.worlds', 'acme.*' or '{NONE}'")
        self.text = ", ".join(entries)
        self._open = not entries
        self._entries = [] if entries == [NONE] else entries

    def check(self, named: Iterable[tuple[str, str]], built_in: frozenset[str] = frozenset()) -> None:
        """Raise `TaskInvalid` if one of the `TaskFile.named_objects` is in a module that is not allowed. That module is not imported.

        A named object must also be defined in an allowed module, because most modules contain objects that they imported. `built_in`
        are objects, as 'package.module:Class', that are always allowed.
        """
        for what, name in named:
            module, _, attribute = name.partition(":")
            if name in built_in:
                continue
            if not self._allows(module):
                raise TaskInvalid(self._refusal(what, name, module))
            home = _find_defining_module(module, attribute)
            if home and not self._allows(home):
                raise TaskInvalid(self._refusal(what, name, home))

    def _allows(self, module: str) -> bool:
        if self._open:
            return module.partition(".")[0] not in sys.stdlib_module_names
        return any(_matches(entry, module) for entry in self._entries)

    def _refusal(self, what: str, name: str, module: str) -> str:
        if self._open:
            return f"{what} '{name}' is not allowed: '{module}' is one of Python's own modules, and {SETTING} does not name it"
        allowed = f"'{self.text}'" if self._entries else "none but Midcourse's own"
        return f"{what} '{name}' is not allowed: {SETTING}, which says what workers may import for a task, is {allowed} and lacks '{module}'"


def _matches(entry: str, module: str) -> bool:
    below = entry.removesuffix(".*")
    return entry in (ANY, module) or (below != entry and (module == below or module.startswith(f"{below}.")))


def _find_defining_module(module: str, attribute: str) -> str:
    """The module that defines the object; empty if that is unknown, because it may be installed only at the host."""
    try:
        found: Any = getattr(import_named(module), attribute)
    except (ImportError, AttributeError):
        return ""
    while isinstance(found, partial):
        found = found.func
    return str(getattr(found, "__module__", "") or "")


def import_named(module: str) -> ModuleType:
    """Import a module that a task names. Like `python -m`, it also finds modules in the current folder."""
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    return import_module(module)
