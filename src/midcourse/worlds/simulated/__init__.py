"""Worlds to try things in, with faults to order and a log of what really happened."""

from midcourse.worlds.simulated.arm import Arm
from midcourse.worlds.simulated.desktop import Desktop
from midcourse.worlds.simulated.effects import Happened, read_effects
from midcourse.worlds.simulated.faults import Fault
from midcourse.worlds.simulated.shop import Shop

__all__ = ["Arm", "Desktop", "Fault", "Happened", "Shop", "read_effects"]
