"""The desktop world is a world: with mousepad in its own display."""

from pathlib import Path

import pytest

from midcourse.domain.observation import Observation
from midcourse.ports.world import Call, World
from midcourse.testing.conformance import WorldConformance, a_call
from midcourse.worlds.desktop import Desktop

pytestmark = pytest.mark.slow


class TestDesktop(WorldConformance):
    def make_world(self, tmp_path: Path) -> World:
        return Desktop("mousepad", home=str(tmp_path / "home"))

    def a_harmless_call(self, observation: Observation) -> Call:
        field = next(zone for zone in observation.zones if zone.role == "textbox")
        return a_call("type", field, (("text", "Plan as far as you can see."),))
