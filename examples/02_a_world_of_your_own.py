"""A custom world in thirty lines: a mailbox in which sending cannot be taken back."""

import tempfile
from pathlib import Path

from midcourse import Agent, BaseWorld, Decision, Expectation, Plan, Scene, Settings, Step, Zone, probe, skill
from midcourse.expect import ZoneAppears


class Mail(BaseWorld):
    def __init__(self) -> None:
        super().__init__()
        self.sent: list[str] = []

    def look(self) -> Scene:
        mails = (Zone(id=f"sent-{n}", role="mail", label=text) for n, text in enumerate(self.sent))
        return Scene("Mail", Zone(id="new", role="button", label="New mail"), *mails)

    @skill(effect="irreversible", probe="was_sent")
    def send(self, zone: Zone, text: str) -> None:
        """Send a mail."""
        self.sent.append(text)

    @probe
    def was_sent(self, text: str) -> bool:
        """Whether this mail was sent. It is asked with the text of the call."""
        return text in self.sent


class Planner:
    async def plan(self, context):
        seen = Expectation(checks=[ZoneAppears(role="mail", label="Hello")])
        return Plan(steps=[Step(zone="new", skill="send", arguments={"text": "Hello"}, expect=seen)])


class Colleague:
    async def ask(self, question):
        print("asked about:", dict(question.consequences[0].commit.values))
        return Decision(verdict="approved", by="a colleague")


if __name__ == "__main__":
    world = Mail()
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(home=Path(folder))
        result = Agent(world=world, planner=Planner(), approver=Colleague(), settings=settings).run_sync("Say hello")
    print(result.final_reason, world.sent)
