"""A case: a form, what is to be ordered in it, and the exact log that the site must have afterwards."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from benchmarks.first_contact_sites.planner import Brief
from benchmarks.first_contact_sites.server import App

RECEIPT = b"Train to Bergen, 42.50 EUR\n"
RECEIPT_NAME = "receipt.txt"
"""The benchmark writes this file, and replaces the name in a brief by its path."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """One form. `ending` is how the run has to end: with success, or without it because only a person can know, or it was refused."""

    name: str
    app: Callable[[], App]
    goal: str
    brief: Brief
    effects: tuple[str, ...]
    ending: Literal["done", "not_done"] = "done"
    sends: int = 1
    """Requests with an unsafe method that a person's browser would send on the way, each of which may need a question."""
    unsafe: tuple[str, ...] = ()
    """Requests that the policy declares unsafe."""
    checked: bool = True
    """Whether the task has a `done_when`: the list of orders if the brief has one, else the confirmation."""
