"""The robot passes the suite that every world passes."""

from pathlib import Path

from midcourse.domain.observation import Observation
from midcourse.ports.world import Call, World
from midcourse.testing.conformance.world import WorldConformance, a_call
from midcourse.worlds.robot import Robot


class TestRobot(WorldConformance):
    def make_world(self, tmp_path: Path) -> World:
        return Robot(effects=str(tmp_path / "effects.jsonl"), state=str(tmp_path / "cell.json"))

    def a_harmless_call(self, observation: Observation) -> Call:
        return a_call("open_gripper")
