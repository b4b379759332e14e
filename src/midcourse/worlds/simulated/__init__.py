"""Simulated worlds for tests and benchmarks, with scheduled or random faults, and a log of the effects that really happened."""

from midcourse.worlds.simulated.application import MAIN, Application, Control, View, Windows
from midcourse.worlds.simulated.arm import Arm
from midcourse.worlds.simulated.base import SimulatedWorld
from midcourse.worlds.simulated.desktop import Desktop
from midcourse.worlds.simulated.drift import PROFILES, Drift
from midcourse.worlds.simulated.effects import LoggedEffect, read_effects
from midcourse.worlds.simulated.erp import Erp
from midcourse.worlds.simulated.faults import Fault
from midcourse.worlds.simulated.quest import Quest
from midcourse.worlds.simulated.shop import Shop
from midcourse.worlds.simulated.web import Web

__all__ = [
    "MAIN",
    "PROFILES",
    "Application",
    "Arm",
    "Control",
    "Desktop",
    "Drift",
    "Erp",
    "Fault",
    "LoggedEffect",
    "Quest",
    "Shop",
    "SimulatedWorld",
    "View",
    "Web",
    "Windows",
    "read_effects",
]
