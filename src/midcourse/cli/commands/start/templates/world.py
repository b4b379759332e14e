"""A world of your own: a mailbox. Change what is seen, what can be done, and how one finds out whether it was done.

    python {file}

In a task file it is `name = "{module}:Mailbox"` under [world].
"""

from midcourse import Agent, BaseWorld, Expectation, Plan, Scene, Step, TerminalApprover, Zone, probe, skill
from midcourse.expect import ZoneAppears
from midcourse.planners import PlanningContext


class Mailbox(BaseWorld):
    def __init__(self) -> None:
        super().__init__()
        self.sent: list[str] = []

    def look(self) -> Scene:
        """What is on the screen now: zones that a planner may act on or read."""
        mails = (Zone(id=f"mail-{number}", role="mail", label=text) for number, text in enumerate(self.sent))
        return Scene("Mailbox", Zone(id="new", role="button", label="New mail"), *mails)

    @skill(effect="irreversible", probe="was_sent")
    def send(self, zone: Zone, text: str) -> None:
        """Send a mail. You are asked before, because it cannot be taken back."""
        self.sent.append(text)

    @probe
    def was_sent(self, text: str) -> bool:
        """Whether this mail was sent: looked up when nothing else shows it, such as after a crash."""
        return text in self.sent


class Planner:
    """Stands in for a model. With one, write Agent(world, model="openai:gpt-5", approver=TerminalApprover())."""

    async def plan(self, context: PlanningContext) -> Plan:
        seen = Expectation(checks=[ZoneAppears(role="mail", label="Hello")])
        return Plan(steps=[Step(zone="new", skill="send", arguments={"text": "Hello"}, expect=seen)])


if __name__ == "__main__":
    world = Mailbox()
    result = Agent(world, Planner(), approver=TerminalApprover()).run_sync("Say hello")
    print(f"{result.final_reason}: {world.sent}")
    if not result.success:
        print(result.final_detail)
