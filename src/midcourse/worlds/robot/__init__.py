"""The robot world: a Franka Panda arm in a cell that MuJoCo simulates. `cell` has the physics, `world` skills and zones."""

try:
    from midcourse.worlds.robot.world import Robot as Robot
except ModuleNotFoundError as missing:
    if (missing.name or "").startswith("midcourse"):
        raise
    needs = f"the robot needs pip install 'midcourse[robot]': {missing.name} is not installed"
    raise ModuleNotFoundError(needs, name=missing.name) from missing
