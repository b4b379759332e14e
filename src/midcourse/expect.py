"""Expectations and probes: how a step, or a whole task, is checked against the world."""

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

__all__ = [
    "Expectation",
    "FingerprintChanged",
    "Probe",
    "Reference",
    "SurfaceMatches",
    "TextContains",
    "ZoneAppears",
    "ZoneGone",
    "ZoneHasState",
]
