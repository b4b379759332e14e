"""Lazy imports: a public module fetches each name from its home on first use.

Importing such a module is fast, and the base install needs no extra for the names that are not used. Type checkers and editors see
ordinary imports.
"""

import builtins
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from threading import RLock
from types import SimpleNamespace
from typing import Any


class _Home:
    """A module that is not imported. Each of its names is only noted."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> object:
        return SimpleNamespace(home=self._name, name=name)


_one_at_a_time = RLock()


@contextmanager
def lazy_imports(module: dict[str, Any]) -> Generator[None]:
    """Import nothing yet: what a module, given its `globals()`, imports in this block with `from … import` is imported on first use.

    Also sets the module's `__all__`, `__dir__` and `__getattr__`.
    """
    before = set(module)
    imports = builtins.__import__

    def note(name: str, *rest: Any, **named: Any) -> Any:
        if (rest[0] if rest else named.get("globals")) is module:
            return _Home(name)
        return imports(name, *rest, **named)  # another thread imports something

    # Replacing the function that import statements call is the only way in which each name is written once, type checkers see it,
    # and nothing is imported. It is replaced for the block alone, and only the block's own module sees another one.
    with _one_at_a_time:
        builtins.__import__ = note
        try:
            yield
        finally:
            builtins.__import__ = imports
    noted = {name: module.pop(name) for name in sorted(set(module) - before)}

    def fetch(name: str) -> object:
        if name not in noted:
            raise AttributeError(f"module '{module['__name__']}' has no attribute '{name}'")
        return getattr(import_module(noted[name].home), noted[name].name)

    module |= {"__all__": list(noted), "__dir__": lambda: list(noted), "__getattr__": fetch}
