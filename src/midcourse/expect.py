"""Expectations and probes: how a step, or a whole task, is checked against the world; and how a skill is undone."""

from midcourse.domain.argument import Reference
from midcourse.domain.expectation import (
    Expectation,
    FingerprintChanged,
    Probe,
    SurfaceMatches,
    TextContains,
    ZoneAppears,
    ZoneGone,
    ZoneHasState,
)
from midcourse.domain.skill import Undo

__all__ = [
    "Expectation",
    "FingerprintChanged",
    "Probe",
    "Reference",
    "SurfaceMatches",
    "TextContains",
    "Undo",
    "ZoneAppears",
    "ZoneGone",
    "ZoneHasState",
]
