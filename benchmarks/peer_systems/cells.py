"""The runs of the comparison, fixed before the first run: system, application, fault, profile of the model, and seed.

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
"""`midcourse-checked`: the task says on which page it is done (`done_when`). No other system has such an option."""
ERRING_SITE = "tickets"
FROZEN = "fac3810a608a88a6"
"""Digest of all cells but those of pretix and Magentic. A change here is a new comparison, and begins with an empty log."""
PRETIX = "pretix"
PRETIX_FROZEN = "eec977d5f75ff058"
"""Digest of the cells of pretix, which were fixed later and have a log of their own."""
MAGENTIC = "magentic"
MAGENTIC_SYSTEMS = ("midcourse", MAGENTIC)
MAGENTIC_FROZEN = "07fd24b95f22892e"
"""Digest of the cells of Magentic, which were fixed later, too, and have a log of their own."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    system: str
    app: str
    fault: str
    profile: str
    seed: int

    def __str__(self) -> str:
        return f"{self.system}, {self.app}, {self.fault}, {self.profile}, seed {self.seed}"


def list_cells() -> list[Cell]:
    """Return all cells but those of pretix and Magentic, in the order in which they run."""
    return sorted(_make_cells(), key=_rank)


def list_pretix_cells() -> list[Cell]:
    """Return the cells of pretix in the order in which they run: the same systems and faults as in Wagtail."""
    return [
        Cell(system=system, app=PRETIX, fault=fault, profile=profile, seed=seed)
        for seed in range(5)
        for profile in PROFILES
        for fault in WAGTAIL_FAULTS
        for system in WAGTAIL_SYSTEMS
    ]


def list_magentic_cells() -> list[Cell]:
    """Return the cells of Magentic in the order in which they run: both sites with all their faults."""
    return [
        Cell(system=system, app=app, fault=fault, profile=profile, seed=seed)
        for seed in range(5)
        for profile in PROFILES
        for app in SITES
        for fault in SITE_FAULTS
        for system in MAGENTIC_SYSTEMS
    ]


def digest_cells(cells: list[Cell]) -> str:
    text = json.dumps([asdict(cell) for cell in cells])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _make_cells() -> Iterator[Cell]:
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


def _rank(cell: Cell) -> tuple[int, int]:
    """Rank the shop with a trusting model first, because there every fault distinguishes the systems."""
    profiles = (*PROFILES, *ERRING)
    apps = ("shop", "tickets", "wagtail")
    return cell.seed, len(apps) * profiles.index(cell.profile) + apps.index(cell.app)
