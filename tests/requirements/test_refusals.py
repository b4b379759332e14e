"""Document 001 on a user's own world whose irreversible step refuses before it sends: analysis, version 2, a new approval.

Everything goes through `Agent.run` with `approvals=always`. What was delivered is counted in the world's own file.
"""

from pathlib import Path
from typing import Any

import pytest

from midcourse import Agent, BaseWorld, Decision, Draft, PlanDraft, Result, Scene, Settings, Task, Zone, probe, skill
from midcourse.domain.approval import CommitSet, Question
from midcourse.domain.plan import PlanVersion
from midcourse.expect import Expectation, FingerprintChanged, TextContains
from midcourse.ports.planner import PlanningContext
from midcourse.testing import Approves, MemoryStore
from midcourse.testing.models import ModelServer
from midcourse.worlds import NotSent, Outcome, not_sent
from tests.cli.conftest import Cli

DENIED = "Permission denied: cannot write to /protected"
REPORT = "42 invoices"


class Folders(BaseWorld):
    """Folders into which reports are delivered for good. /protected refuses before anything is delivered."""

    name = "folders"
    shows = True
    """Whether the screen shows what was delivered."""

    def __init__(self, log: Path) -> None:
        super().__init__()
        self.log = log

    @property
    def delivered(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []

    def look(self) -> Scene:
        folders = (Zone(id=name, role="folder", label=f"/{name}") for name in ("protected", "home"))
        shown = (Zone(id=f"line-{n}", role="text", label=line) for n, line in enumerate(self.delivered) if self.shows)
        return Scene("Folders", *folders, *shown)

    @skill(effect="read")
    def collect(self) -> dict[str, str]:
        """Collect the figures."""
        return {"report": REPORT}

    @skill(effect="irreversible")
    def deliver(self, zone: Zone, text: str) -> Outcome | None:
        """Deliver a report into a folder."""
        if zone.id == "protected":
            return not_sent("permission", DENIED)
        return self.keep(zone, text)

    def keep(self, zone: Zone, text: str) -> None:
        with self.log.open("a") as log:
            log.write(f"{zone.label} {text}\n")


class Raising(Folders):
    @skill(effect="irreversible")
    def deliver(self, zone: Zone, text: str) -> Outcome | None:
        """Deliver a report into a folder."""
        if zone.id == "protected":
            raise NotSent(DENIED)
        return self.keep(zone, text)


class Declaring(Folders):
    @skill(effect="irreversible", absent_on=(PermissionError,))
    def deliver(self, zone: Zone, text: str) -> Outcome | None:
        """Deliver a report into a folder."""
        if zone.id == "protected":
            raise PermissionError(DENIED)
        return self.keep(zone, text)


class Probed(Folders):
    """One with a probe, which did not help: the same forbidden step was approved and carried out again."""

    @skill(effect="irreversible", probe="is_there")
    def deliver(self, zone: Zone, text: str) -> Outcome | None:
        """Deliver a report into a folder."""
        return super().deliver(zone, text)

    @probe
    def is_there(self, text: str) -> bool:
        """Whether the report was delivered anywhere."""
        return any(line.endswith(text) for line in self.delivered)


WORLDS = (Folders, Raising, Declaring, Probed)


def deliver(folder: str) -> Draft:
    expect = Expectation(checks=(TextContains(text=f"/{folder} {REPORT}"),))
    says = f"Deliver the report to /{folder}"
    return Draft(zone=folder, skill="deliver", arguments={"text": REPORT}, says=says, expect=expect)


class Planner:
    """It plans for /protected first. After a failure it avoids what the analysis says was forbidden."""

    def __init__(self) -> None:
        self.contexts: list[PlanningContext] = []

    async def plan(self, context: PlanningContext) -> PlanDraft:
        self.contexts.append(context)
        if context.recovery is None:
            return PlanDraft(
                steps=(Draft(skill="collect", says="Collect the figures"), deliver("protected")), final=True
            )
        assert context.recovery.analysis.error_type == "permission"
        return PlanDraft(steps=(deliver("home"),), final=True)


class Watcher(Approves):
    """An approver that agrees, and looks up the state of the task while its question is open."""

    def __init__(self) -> None:
        super().__init__()
        self.agent: Agent | None = None
        self.states: list[str] = []

    async def ask(self, question: Question) -> Decision | None:
        assert self.agent is not None
        self.states.append(await self.agent.task_state(question.run))
        return await super().ask(question)


def folders_of(questions: list[Question]) -> list[tuple[str, list[str]]]:
    return [(question.about, [each.target.label for each in question.consequences]) for question in questions]


async def run(world: Folders, **more: Any) -> tuple[Result, tuple[PlanVersion, ...], Watcher, Planner]:
    approver, planner = Watcher(), Planner()
    settings = Settings(approvals="always", replan_interval_seconds=0)
    approver.agent = agent = Agent(world, planner, approver=approver, settings=settings, store=MemoryStore(), **more)
    result = await agent.run(Task(goal="Deliver the report"), run_id="run")
    return result, await agent.plans("run"), approver, planner


@pytest.mark.parametrize("kind", WORLDS)
async def test_a_refused_critical_step_becomes_version_2_which_is_approved_again(
    kind: type[Folders], tmp_path: Path
) -> None:
    world = kind(tmp_path / "delivered.txt")
    result, plans, approver, _ = await run(world)
    assert (result.success, result.final_reason) == (True, "plan_complete")
    assert world.delivered == [f"/home {REPORT}"]
    assert folders_of(approver.questions) == [("approve", ["/protected"]), ("approve", ["/home"])]
    assert approver.states == ["PENDING_APPROVAL", "PENDING_APPROVAL"]
    assert [(each.version, each.parent, each.cause) for each in plans] == [(1, None, "initial"), (2, 1, "error")]
    context = plans[1].context
    assert context is not None
    assert (context.analysis.error_type, context.analysis.severity) == ("permission", "HIGH")
    assert "cannot write to /protected" in context.analysis.root_cause
    assert context.fix.message
    assert context.failed is not None
    assert (context.failed.version, context.failed.index, context.failed.target) == (1, 1, "/protected")


async def test_the_task_is_failed_while_version_2_is_made(tmp_path: Path) -> None:
    states: list[str] = []

    class Asking(Planner):
        async def plan(self, context: PlanningContext) -> PlanDraft:
            states.append(await agent.task_state("run"))
            return await super().plan(context)

    settings = Settings(approvals="always", replan_interval_seconds=0)
    world = Folders(tmp_path / "delivered.txt")
    agent = Agent(world, Asking(), approver=Approves(), settings=settings, store=MemoryStore())
    assert (await agent.run(Task(goal="Deliver the report"), run_id="run")).success
    assert states == ["PLANNING", "FAILED"]
    assert await agent.task_state("run") == "COMPLETED"


@pytest.mark.parametrize("kind", WORLDS)
async def test_version_2_is_told_what_was_done_and_what_was_refused(kind: type[Folders], tmp_path: Path) -> None:
    _, _, _, planner = await run(kind(tmp_path / "delivered.txt"))
    context = planner.contexts[1]
    assert context.recovery is not None
    assert [step.says for step in context.completed] == ["Collect the figures"], (
        "the refused step does not count as done"
    )
    (refused,) = context.attempts
    assert (refused.target, refused.says) == ("/protected", "Deliver the report to /protected")
    assert context.recovery.results == (("report", REPORT),)


@pytest.mark.parametrize(
    ("said", "severity", "error_type"),
    [
        (not_sent("permission", DENIED), "HIGH", "permission"),
        (not_sent(DENIED), "HIGH", "permission"),
        (not_sent("403 Forbidden"), "HIGH", "permission"),
        (not_sent("invalid_input", "the report has no title"), "HIGH", "invalid_input"),
        (not_sent("not_found"), "HIGH", "not_found"),
        (not_sent("missing_dependency", "'total' was never computed"), "CRITICAL", "not_found"),
    ],
)
async def test_a_refused_step_is_classified_by_what_it_says(
    said: Outcome, severity: str, error_type: str, tmp_path: Path
) -> None:
    class Saying(Folders):
        @skill(effect="irreversible")
        def deliver(self, zone: Zone, text: str) -> Outcome | None:
            """Deliver a report into a folder."""
            return said if zone.id == "protected" else self.keep(zone, text)

    class Elsewhere(Planner):
        async def plan(self, context: PlanningContext) -> PlanDraft:
            return PlanDraft(steps=(deliver("home" if context.recovery else "protected"),), final=True)

    agent = Agent(
        Saying(tmp_path / "delivered.txt"),
        Elsewhere(),
        approver=(approver := Approves()),
        settings=Settings(approvals="always", replan_interval_seconds=0),
        store=MemoryStore(),
    )
    assert (await agent.run(Task(goal="Deliver the report"), run_id="run")).success
    assert [question.about for question in approver.questions] == ["approve", "approve"]
    context = (await agent.plans("run"))[1].context
    assert context is not None
    assert (context.analysis.severity, context.analysis.error_type) == (severity, error_type)


EXPLAINED = {
    "root_cause": "The folder belongs to another department",
    "contributing_factors": ["its rights were not looked at"],
    "severity": "HIGH",
    "preventable": True,
    "fix": "Deliver to /home",
    "changes": ["take /home"],
}


@pytest.mark.slow
def test_a_model_explains_the_refusal_and_a_model_plans_around_it(tmp_path: Path) -> None:
    def step(folder: str) -> dict[str, Any]:
        delivering = {"zone": folder, "skill": "deliver", "arguments": {"text": REPORT}}
        return {"steps": [{**delivering, "expect": {"text": f"/{folder} {REPORT}"}}], "final": True}

    world, approver, store = Folders(tmp_path / "delivered.txt"), Approves(), MemoryStore()
    with ModelServer([step("protected"), EXPLAINED, step("home")]) as server:
        settings = Settings(
            model="openai:any", model_base_url=server.url, approvals="always", replan_interval_seconds=0
        )
        agent = Agent(world, approver=approver, settings=settings, store=store)
        result = agent.run_sync("Deliver the report", run_id="run")
    assert result.success
    assert world.delivered == [f"/home {REPORT}"]
    assert [question.about for question in approver.questions] == ["approve", "approve"]
    _, explaining, planning = (request.text for request in server.requests)
    assert DENIED in explaining
    assert DENIED in planning.partition("Failed:")[2]
    assert EXPLAINED["root_cause"] in planning
    assert "take /home" in planning
    assert "in doubt" not in planning.partition("Failed:")[2].partition("\n\n")[0]


def test_error_type_cause_and_fix_of_a_refusal_are_saved(home: Path, cli: Cli, tmp_path: Path) -> None:
    world = Folders(tmp_path / "delivered.txt")
    settings = Settings(approvals="always", replan_interval_seconds=0)
    assert Agent(world, Planner(), approver=Approves(), settings=settings).run_sync("Deliver the report").success
    (lesson,) = [lesson["untrusted"] | lesson for lesson in cli("lessons", "--json").json]
    assert lesson["error_type"] == "permission"
    assert "cannot write to /protected" in lesson["root_cause"]
    assert lesson["fix"] == f"deliver folder '/home' (text={REPORT})"


# --- a world that lies


class Lying(Folders):
    """It delivers into /protected, and then says that nothing was sent."""

    shows = False

    @skill(effect="irreversible")
    def deliver(self, zone: Zone, text: str) -> Outcome | None:
        """Deliver a report into a folder."""
        self.keep(zone, text)
        return not_sent("busy", "try again later")


class LyingAndProbed(Lying):
    @skill(effect="irreversible", probe="is_there")
    def deliver(self, zone: Zone, text: str) -> Outcome | None:
        """Deliver a report into a folder."""
        return super().deliver(zone, text)

    @probe
    def is_there(self, text: str) -> bool | None:
        """Whether the report was delivered anywhere."""
        return any(line.endswith(text) for line in self.delivered)


class LyingAndLate(LyingAndProbed):
    """Its probe sees what was delivered only after a while."""

    asked = 0

    @skill(effect="irreversible", probe="is_there", settles_after=0.2)
    def deliver(self, zone: Zone, text: str) -> Outcome | None:
        """Deliver a report into a folder."""
        return super().deliver(zone, text)

    @probe
    def is_there(self, text: str) -> bool:
        """Whether the report was delivered anywhere."""
        self.asked += 1
        return self.asked > 1 and any(line.endswith(text) for line in self.delivered)


class LyingAndShowing(Lying):
    shows = True


class LyingAndRaising(LyingAndProbed):
    """The second of two writes raises what was declared to come before the first."""

    @skill(effect="irreversible", probe="is_there", absent_on=(PermissionError,))
    def deliver(self, zone: Zone, text: str) -> Outcome | None:
        """Deliver a report into a folder."""
        self.keep(zone, text)
        raise PermissionError(DENIED)


class Insisting:
    """A planner that plans to deliver these texts, one in each plan, whatever was delivered before."""

    def __init__(self, *texts: str, expect: Expectation | None = None) -> None:
        self.texts, self.expect, self.asked = texts, expect, 0

    async def plan(self, context: PlanningContext) -> PlanDraft:
        text = self.texts[min(self.asked, len(self.texts) - 1)]
        self.asked += 1
        expect = self.expect or Expectation(checks=(TextContains(text=text),))
        step = Draft(zone="protected", skill="deliver", arguments={"text": text}, expect=expect)
        return PlanDraft(steps=(step,), final=self.asked >= len(self.texts))


async def insist(world: Folders, approver: Approves, *texts: str, expect: Expectation | None = None) -> Result:
    settings = Settings(approvals="always", replan_interval_seconds=0, retry_delay_seconds=0)
    agent = Agent(world, Insisting(*texts, expect=expect), approver=approver, settings=settings, store=MemoryStore())
    return await agent.run(Task(goal="Deliver the reports"))


@pytest.mark.parametrize("kind", [LyingAndProbed, LyingAndLate, LyingAndShowing, LyingAndRaising])
async def test_a_lie_that_can_be_seen_sends_nothing_twice(kind: type[Folders], tmp_path: Path) -> None:
    world, approver = kind(tmp_path / "delivered.txt"), Approves(doubt="did_not_happen")
    result = await insist(world, approver, "A", "A", "A")
    assert world.delivered == ["/protected A"]
    assert [question.about for question in approver.questions] == ["approve"]
    assert [(step.skill, step.doubtful) for step in result.completed] == [("deliver", False)]


class Forgetful(LyingAndProbed):
    """Its probe sees only report A."""

    @skill(effect="irreversible", probe="is_there")
    def deliver(self, zone: Zone, text: str) -> Outcome | None:
        """Deliver a report into a folder."""
        self.keep(zone, text)
        return not_sent("permission", DENIED)

    @probe
    def is_there(self, text: str) -> bool | None:
        """Whether the report was delivered anywhere."""
        return True if text == "A" else None


@pytest.mark.parametrize(("first", "asked"), [("A", ["approve", "approve", "happened"]), ("B", ["approve", "approve"])])
async def test_a_world_that_lied_is_not_believed_again_in_this_run(
    first: str, asked: list[str], tmp_path: Path
) -> None:
    """Nothing shows whether C was sent. Where the world was not found out before, its word decides."""
    world, approver = Forgetful(tmp_path / "delivered.txt"), Approves()
    assert not (await insist(world, approver, first, "C")).success
    assert [question.about for question in approver.questions] == asked
    assert world.delivered == [f"/protected {first}", "/protected C"]


class Counting(Forgetful):
    """Its screen is another one after each step."""

    def look(self) -> Scene:
        count = Zone(id="count", role="text", label=f"{len(self.delivered)} reports")
        return Scene("Folders", *super().look().zones, count)


class Tokens(Counting):
    """What it sends has a new token each time."""

    @skill(effect="irreversible", probe="is_there", commit_set="form")
    def deliver(self, zone: Zone, text: str) -> Outcome | None:
        """Deliver a report into a folder."""
        return super().deliver(zone, text)

    def form(self, zone: Zone, text: str) -> CommitSet:
        values = (("text", text), ("csrf_token", f"{len(self.delivered):032x}"))
        return CommitSet(address="POST https://folders.example/reports", values=values)


@pytest.mark.parametrize(("kind", "asked"), [(Counting, []), (Tokens, ["repeat"])])
async def test_what_a_liar_said_before_it_was_found_out_is_not_sent_again(
    kind: type[Folders], asked: list[str], tmp_path: Path
) -> None:
    world, approver = kind(tmp_path / "delivered.txt"), Approves()
    await insist(world, approver, "C", "A", "C")
    abouts = [question.about for question in approver.questions]
    assert (abouts[:2], sorted(set(abouts[2:]))) == (["approve", "approve"], asked)
    assert world.delivered == ["/protected C", "/protected A"]


async def test_a_change_on_the_screen_leaves_a_refusal_in_doubt(tmp_path: Path) -> None:
    """Something changed, as was expected: this does not show that it was sent, and not that it was not."""
    world, approver = LyingAndShowing(tmp_path / "delivered.txt"), Approves()
    result = await insist(world, approver, "A", "A", expect=Expectation(checks=(FingerprintChanged(),)))
    assert [question.about for question in approver.questions] == ["approve", "happened"]
    assert (result.final_reason, world.delivered) == ("needs_human", ["/protected A"])
