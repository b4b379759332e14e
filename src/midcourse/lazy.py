"""Lazy exports: a public module fetches each name from its home on first use.

Importing such a module is fast, and the base install needs no extra for the names that are not used.
"""

from collections.abc import Callable, Mapping
from importlib import import_module


def lazy_exports(module: str, homes: Mapping[str, str]) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a module. `homes` has the names, separated by spaces, by their module."""
    home_of = {name: home for home, names in homes.items() for name in names.split()}

    def fetch(name: str) -> object:
        if name not in home_of:
            raise AttributeError(f"module '{module}' has no attribute '{name}'")
        return getattr(import_module(home_of[name]), name)

    return fetch, lambda: sorted(home_of)
