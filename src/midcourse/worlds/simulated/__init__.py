"""Worlds to try things in, with faults to order or by chance, and a log of what really happened."""

from midcourse.worlds.simulated.application import Windows
from midcourse.worlds.simulated.arm import Arm
from midcourse.worlds.simulated.desktop import Desktop
from midcourse.worlds.simulated.drift import PROFILES, Drift
from midcourse.worlds.simulated.effects import Happened, read_effects
from midcourse.worlds.simulated.erp import Erp
from midcourse.worlds.simulated.faults import Fault
from midcourse.worlds.simulated.quest import Quest
from midcourse.worlds.simulated.shop import Shop
from midcourse.worlds.simulated.tabletop import Tabletop
from midcourse.worlds.simulated.web import Web

__all__ = [
    "PROFILES",
    "Arm",
    "Desktop",
    "Drift",
    "Erp",
    "Fault",
    "Happened",
    "Quest",
    "Shop",
    "Tabletop",
    "Web",
    "Windows",
    "read_effects",
]
