"""Plans, turns and questions for tests of views."""

from dataclasses import replace

from midcourse.domain.approval import CommitSet, Consequence, Question
from midcourse.domain.budget import Budget, Cost
from midcourse.domain.commands import Act, MakePlan, Wait
from midcourse.domain.events import Acted, Observed, Planned, Started
from midcourse.domain.moves import Advance, AskPlanner, Do
from midcourse.domain.observation import ObservationRef
from midcourse.domain.phases import Acting, BackingOff, Looking, Planning
from midcourse.domain.plan import REPLAN, PlannedStep, PlanVersion, Segment, Step, Target
from midcourse.domain.run import Counts, Issued, Run
from midcourse.drive import Progress

SAYS = ("Click the folder Documents", "Click the file name", "Type the name of the file", "Click Save")
SEEN = ObservationRef(id="o5", fingerprint="f2", zones=35, surface="Save As")


def make_plan(steps: int = 5, version: int = 2) -> PlanVersion:
    """Make a plan whose last step is `__replan__`."""
    acts = tuple(
        Step(
            version=version,
            index=index,
            zone=f"z{index}",
            skill="click",
            target=Target(surface="Save As", role="button", label=SAYS[index % 4].rpartition(" ")[2]),
            effect="irreversible" if index % 4 == 3 else "set_state",
            says=SAYS[index % 4],
        )
        for index in range(steps - 1)
    )
    again = Step(version=version, index=steps - 1, zone=REPLAN, target=Target(surface="", role="", label=""))
    return PlanVersion(
        version=version,
        parent=1,
        cause="error",
        why="click failed: busy — the dialog did not answer",
        observation="o5",
        final=False,
        steps=(*acts, again),
        repairs=("__replan__ was put after step 4, which may change the screen",),
    )


def shorten_steps(plan: PlanVersion) -> tuple[PlannedStep, ...]:
    return tuple(
        PlannedStep(
            version=step.version,
            index=step.index,
            place="replan" if step.zone == REPLAN else "zone",
            skill=step.skill,
            effect=step.effect,
        )
        for step in plan.steps
    )


def make_run(plan: PlanVersion, cursor: int = 1) -> Run:
    """Make a run that performs the step at the cursor, 12 seconds after its start."""
    steps = shorten_steps(plan)
    do = Do(step=steps[cursor], purpose="segment")
    act = Act(id=20, timeout=30.0, version=plan.version, index=cursor, seen="o5")
    return Run(
        id="20260802-113000-ab12",
        phase=Acting(doing=do, before="f2"),
        seen=SEEN,
        segment=Segment(version=plan.version, cause="error", made_under="f2", final=False, steps=steps, cursor=cursor),
        counts=Counts(versions=plan.version, replans=1, error_replans=1),
        budget=Budget(spent=Cost(calls=4), active_seconds=12.0),
        pending=(Issued(command=act, at=1012.0),),
        now=1012.0,
        started_at=1000.0,
        next_id=21,
    )


def make_turns(plan: PlanVersion, cursor: int = 1) -> tuple[Progress, ...]:
    """Make the turns that lead to the run of `make_run`: an observation, a failed step, a wait, a new plan, and its first steps."""
    last = make_run(plan, cursor)
    early = replace(last, segment=None, counts=Counts(), now=1000.0, pending=())
    made = MakePlan(id=5, timeout=120.0, version=plan.version, cause=plan.cause, why=plan.why, seen="o5")
    acting = Act(id=4, timeout=30.0, version=1, index=0, seen="o1")
    wait = Wait(id=6, seconds=2.0)
    looking = replace(early, phase=Looking(then=Advance()))
    waiting = replace(early, phase=BackingOff(then=Advance()), pending=(Issued(command=wait, at=1003.0),), now=1003.0)
    planning = replace(early, phase=Planning(asked=AskPlanner(cause="error")), now=1008.0)
    turns = [
        Progress(event=Started(at=1000.0), run=looking, commands=()),
        Progress(event=Observed(answers=2, at=1001.0, seen=SEEN), run=early, commands=(acting,)),
        Progress(event=_make_failure(4, 1003.0), run=waiting, commands=(wait,)),
        Progress(event=_make_failure(4, 1008.0), run=planning, commands=(made,)),
        Progress(
            event=Planned(answers=5, at=1010.0, steps=shorten_steps(plan), repairs=1),
            run=replace(last, now=1010.0),
            commands=(Act(id=10, timeout=30.0, version=plan.version, index=0, seen="o5"),),
        ),
    ]
    for index in range(cursor):
        number = 10 + index
        follow = Act(id=number + 1, timeout=30.0, version=plan.version, index=index + 1, seen="o5")
        turns.append(Progress(event=Acted(answers=number, at=1012.0), run=last, commands=(follow,)))
    return tuple(turns)


def _make_failure(command: int, at: float) -> Acted:
    return Acted(answers=command, at=at, status="failed", reason="busy", detail="the dialog did not answer")


def make_consequence(**values: str | int | float) -> Consequence:
    sent = {"item desk-lamp": 1, "address": "1 Harbour Street", "total": 49.0, **values}
    return Consequence(
        skill="place_order",
        arguments=(),
        effect="irreversible",
        target=Target(surface="Checkout", role="button", label="Place order"),
        origin="https://shop.example",
        commit=CommitSet(values=tuple(sent.items()), address="https://shop.example/orders"),
    )


def make_question(
    about: str = "approve", changed_from: Consequence | None = None, **values: str | int | float
) -> Question:
    return Question(
        run="r",
        id=7,
        about="happened" if about == "happened" else "approve",
        goal="Order one desk lamp",
        consequences=(make_consequence(**values),),
        says=("Place the order",),
        expires_at=3600.0,
        changed_from=changed_from,
    )
