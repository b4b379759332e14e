"""The runs of the comparison, fixed before the first of them: which system, application, fault, profile of the model, and seed.

Seeds come first in the order, so that every pair of system and fault has one run before any has a second.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass

SYSTEMS = ("midcourse", "midcourse-bare", "browser-use", "langgraph", "pydantic-ai", "stagehand")
"""`midcourse-bare`: the model gives no `expect` and no probe, which the prompts of other systems do not ask for either."""
SITES = ("shop", "tickets")
FAULTS = ("overlay", "renamed", "expired", "lost", "model", "killed")
SITE_FAULTS = ("clean", *FAULTS)
WAGTAIL_SYSTEMS = ("midcourse", "browser-use", "langgraph")
WAGTAIL_FAULTS = ("clean", "expired", "lost")
PROFILES = ("trusting", "careful")
ERRING = ("erring-5", "erring-10", "erring-20")
ERRING_SYSTEMS = ("midcourse-checked", *SYSTEMS)
"""`midcourse-checked`: the task says by which page it is done (`done_when`). No other system has a place for that."""
ERRING_SITE = "tickets"
FROZEN = "fac3810a608a88a6"
"""Digest of all cells. A change here is a new comparison, and begins with an empty log."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    system: str
    app: str
    fault: str
    profile: str
    seed: int

    def __str__(self) -> str:
        return f"{self.system}, {self.app}, {self.fault}, {self.profile}, seed {self.seed}"


def all_cells() -> list[Cell]:
    """In the order in which they run."""
    return sorted(_cells(), key=_order)


def digest() -> str:
    told = json.dumps([asdict(cell) for cell in all_cells()])
    return hashlib.sha256(told.encode()).hexdigest()[:16]


def _cells() -> Iterator[Cell]:
    for seed in range(5):
        for profile in PROFILES:
            for app in SITES:
                for fault in SITE_FAULTS:
                    for system in SYSTEMS:
                        yield Cell(system=system, app=app, fault=fault, profile=profile, seed=seed)
            for fault in WAGTAIL_FAULTS:
                for system in WAGTAIL_SYSTEMS:
                    yield Cell(system=system, app="wagtail", fault=fault, profile=profile, seed=seed)
    for seed in range(10):
        for profile in ERRING:
            for fault in ("clean", "lost"):
                for system in ERRING_SYSTEMS:
                    yield Cell(system=system, app=ERRING_SITE, fault=fault, profile=profile, seed=seed)


def _order(cell: Cell) -> tuple[int, int]:
    """The shop with a trusting model first: there every fault tells the systems apart."""
    profiles = (*PROFILES, *ERRING)
    apps = ("shop", "tickets", "wagtail")
    return cell.seed, len(apps) * profiles.index(cell.profile) + apps.index(cell.app)
