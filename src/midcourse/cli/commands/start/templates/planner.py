"""A planner of your own: it is shown what is on the screen, and answers with steps for what it sees.

    python {file}

In a task file it is `name = "{module}:Counting"` under [planner], with its options in [planner.options].
"""

from midcourse import Agent, BaseWorld, Plan, Scene, Step, Zone, skill
from midcourse.planners import PlanningContext


class Counting:
    def __init__(self, to: int = 3) -> None:
        self.to = to

    async def plan(self, context: PlanningContext) -> Plan:
        """Called for the first screen, after each transition and after a failure.

        `context` has the task, what is seen (`observation.zones`), the skills (`catalogue`), what is finished
        (`completed`) and what failed (`attempts`).
        """
        (plus,) = [zone for zone in context.observation.zones if zone.role == "button"]
        if plus.get("pressed") == self.to:
            return Plan(verdict="done")
        return Plan(steps=[Step(zone=plus.id, skill="press", says="Press +")], final=False)


class Counter(BaseWorld):
    """A world to try it in."""

    pressed = 0

    def look(self) -> Scene:
        return Scene("Counter", Zone(id="plus", role="button", label="+", state={"pressed": self.pressed}))

    @skill
    def press(self, zone: Zone) -> None:
        """Press the button once."""
        self.pressed += 1


if __name__ == "__main__":
    result = Agent(Counter(), Counting(to=3)).run_sync("Count to three")
    print(f"{result.final_reason} after {result.steps} steps")
    if not result.success:
        print(result.final_detail)
