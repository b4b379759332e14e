"""A world of one's own that can tell whether an effect exists: the probe is told what the call was about."""

from typing import Any

import pytest

from midcourse import Agent, BaseWorld, Draft, Outcome, PlanDraft, Probe, Scene, Task, Zone, probe, skill
from midcourse.domain.argument import Reference
from midcourse.errors import SkillInvalid
from midcourse.testing import Approves, MemoryStore


class Tickets(BaseWorld):
    """Creates a ticket and says nothing about it, as a server that answers 504 does."""

    def __init__(self, *, stored: bool = True) -> None:
        super().__init__()
        self.stored = stored
        self.tickets: list[tuple[str, str]] = [("another", "")]
        self.asked: list[str] = []

    def look(self) -> Scene:
        return Scene("Tickets", Zone(id="new", role="button", label="New ticket"))

    @skill(effect="irreversible", probe="exists")
    def create(self, zone: Zone, subject: str, body: str = "") -> Outcome:
        if self.stored:
            self.tickets.append((subject, body))
        self.stored = True
        return Outcome(status="unknown", reason="http_504")

    @skill(
        effect="irreversible",
        probe=Probe(name="exists", arguments=(("subject", Reference(source="argument", name="title")),)),
    )
    def report(self, zone: Zone, title: str) -> Outcome:
        return self.create(zone, title)

    @probe
    def exists(self, subject: str) -> bool:
        self.asked.append(subject)
        return any(subject == known for known, _ in self.tickets)


class Creates:
    def __init__(self, skill: str, **arguments: Any) -> None:
        self.steps = (Draft(zone="new", skill=skill, arguments=tuple(arguments.items())),)

    async def plan(self, context: object) -> PlanDraft:
        return PlanDraft(steps=self.steps)


@pytest.mark.parametrize(
    ("skill", "arguments"),
    [
        ("create", {"subject": "Lamp hums", "body": "In B flat."}),
        ("create", {"subject": Reference(source="input", name="subject")}),
        ("report", {"title": "Lamp hums"}),
    ],
)
def test_a_probe_is_told_what_the_call_was_about(skill: str, arguments: dict[str, Any]) -> None:
    world = Tickets()
    task = Task(goal="Report it", inputs=(("subject", "Lamp hums"),))
    agent = Agent(world=world, planner=Creates(skill, **arguments), approver=Approves(), store=MemoryStore())
    result = agent.run_sync(task)
    assert (result.success, result.final_reason) == (True, "plan_complete")
    assert world.asked == ["Lamp hums"]
    assert [subject for subject, _ in world.tickets] == ["another", "Lamp hums"]


@pytest.mark.slow
def test_what_the_probe_does_not_find_is_sent_again() -> None:
    world = Tickets(stored=False)
    agent = Agent(world=world, planner=Creates("create", subject="Lamp hums"), approver=Approves(), store=MemoryStore())
    assert agent.run_sync("Report it").success
    assert world.asked == ["Lamp hums", "Lamp hums"]
    assert [subject for subject, _ in world.tickets] == ["another", "Lamp hums"]


def test_a_probe_that_the_call_cannot_answer_is_refused_at_import() -> None:
    def unfit(make: Any) -> str:
        with pytest.raises(SkillInvalid) as refused:
            make()
        return str(refused.value)

    def unknown_parameter() -> None:
        class World(BaseWorld):
            @skill(effect="irreversible", probe="exists")
            def create(self, subject: str) -> None: ...

            @probe
            def exists(self, number: int) -> bool:
                return False

    def may_be_left_out() -> None:
        class World(BaseWorld):
            @skill(effect="irreversible", probe="exists")
            def create(self, subject: str = "") -> None: ...

            @probe
            def exists(self, subject: str) -> bool:
                return False

    def another_type() -> None:
        class World(BaseWorld):
            @skill(effect="irreversible", probe="exists")
            def create(self, subject: str) -> None: ...

            @probe
            def exists(self, subject: int) -> bool:
                return False

    assert "probe 'exists' takes (number), not (); arguments of the same names" in unfit(unknown_parameter)
    assert "needs 'subject', which a call may leave out" in unfit(may_be_left_out)
    assert "takes 'subject' as integer, and the skill has it as string" in unfit(another_type)
