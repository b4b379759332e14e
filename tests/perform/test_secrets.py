"""The value of a secret leaves the vault right before it is used, and is stored nowhere."""

from pathlib import Path
from typing import Any, cast

import pytest

from midcourse.codec import encode
from midcourse.domain.approval import CommitSet
from midcourse.domain.argument import Reference
from midcourse.domain.commands import Advise, JudgeCloseness, PlanTry
from midcourse.domain.expectation import Expectation, SurfaceMatches
from midcourse.domain.failure import Failure
from midcourse.domain.observation import Unseen, Zone
from midcourse.domain.outcome import Outcome
from midcourse.domain.outline import CoarseGoal, Outline
from midcourse.domain.plan import REACH
from midcourse.domain.replace import replace
from midcourse.domain.task import Task
from midcourse.perform import Performer
from midcourse.ports.planner import PlanDraft
from midcourse.store.sqlite import SqliteStore
from midcourse.testing import Answers, Approves, Scripted
from midcourse.worlds.base import Scene, skill
from tests.harness import ORDERED, Bench, Safe, Shop, draft, steps

SECRET = "hunter2-correct-horse"
PIN = "83519"


class Leaky(Shop):
    """Repeats every secret that it was given: in fields and their names, labels, titles, addresses, errors, data and commit sets."""

    said = ""
    mishap = ""

    def look(self) -> Scene | Unseen:
        if self.mishap == "look":
            return Unseen(reason="failed", detail=f"cannot draw {self.said}")
        scene = super().look()
        assert isinstance(scene, Scene)
        return Scene(
            f"{scene.surface.title} {self.said}",
            *scene.zones,
            Zone(id="echo", role="text", label=f"You said {self.said}", state=((self.said, self.said), ("pin", 83519))),
            address=f"https://{self.said}.shop.test/?q={self.said}",
            origin=f"https://{self.said}.shop.test",
        )

    @skill(effect="set_state")
    def login(self, zone: Zone, password: str, pin: str) -> Any:
        self.said = password
        self.mishap = "look" if self.mishap == "look later" else self.mishap
        if self.mishap == "raise":
            raise RuntimeError(f"{'x' * 280} wrong password {password}")
        if self.mishap == "fail":
            return Outcome(status="failed", reason="rejected", detail=f"wrong password {password} or pin {pin}")
        if self.mishap == "drop":
            return Outcome(dropped=(f"POST https://shop.test/{password}?pin={pin} was not sent",))
        return {"password": password, "pin": int(pin)}

    @skill(effect="irreversible", commit_set="everything")
    def send(self, zone: Zone) -> None:
        self.orders.append(self.said)
        self.title = "Thank you"

    def everything(self, zone: Zone) -> CommitSet:
        return CommitSet(values=((self.said, self.said), ("pin", 83519)), address=f"https://shop.test/{self.said}")


LOGIN = draft(
    "name",
    "login",
    "Log in",
    password=Reference(source="secret", name="password"),
    pin=Reference(source="secret", name="pin"),
)


@pytest.mark.parametrize("mishap", ["", "raise", "fail", "drop", "look later"])
async def test_no_secret_is_in_any_byte_that_is_stored(mishap: str, tmp_path: Path) -> None:
    world = Leaky()
    planner = Scripted(steps(LOGIN, draft("order", "send", "Send", expect=ORDERED)), PlanDraft(verdict="gave_up"))
    approver = Approves()
    bench = Bench(
        world=world,
        planner=planner,
        approver=approver,
        task=Task(goal="log in", secrets=("password", "pin")),
        vault=Safe(password=SECRET, pin=PIN),
    )
    file = tmp_path / "runs.db"
    store: Any = SqliteStore(file)
    bench.store = store
    world.mishap = mishap
    await bench.run()
    assert world.said == SECRET, "the world got it"
    store.close()
    stored = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert len(stored) > 1000
    assert SECRET[:-1].encode() not in stored
    assert PIN.encode() not in stored
    shown = repr((planner.contexts, approver.questions, bench.history))
    assert SECRET[:-1] not in shown
    assert PIN not in shown
    assert "<secret password>" in shown


async def test_a_secret_inside_another_is_masked_whole() -> None:
    bench = Bench(task=Task(goal="", secrets=("short", "long")), vault=Safe(short="abc", long="abcdef"))
    assert bench.ports.mask((("v", "x abcdef abc"),)) == (("v", "x <secret long> <secret short>"),)


async def test_a_secret_that_the_task_does_not_name_is_never_filled_in() -> None:
    bench = Bench(vault=Safe(root="toor"), approver=Answers())
    assert bench.ports.fill_in((("text", Reference(source="secret", name="root")),)) == "secret 'root' has no value"


class Eavesdropper:
    """Advisers of a run, of every kind."""

    def __init__(self) -> None:
        self.heard: list[Any] = []

    async def listen(self, context: Any) -> None:
        self.heard.append(context)

    plan_try = judge = outline = review = reflect = listen


GOAL_OF_PLAN = draft(REACH, expect=Expectation(checks=(SurfaceMatches(pattern="Help"),), says="the help is open"))
OUTLINE = Outline(goals=(CoarseGoal(says="Find the form"),))
THOUGHTS = {
    "detour": PlanTry(
        id=300, timeout=5.0, version=2, goal=(1, 0), label="1.1", seen="o101", closeness=2.0, guidance=(SECRET,)
    ),
    "closeness": JudgeCloseness(id=300, timeout=5.0, goal=(1, 0), seen="o101"),
    "outline": Advise(id=300, timeout=5.0, role="outliner", seen="o101", guidance=(SECRET,)),
    "progress": Advise(id=300, timeout=5.0, role="judge", seen="o101", outline=OUTLINE),
    "monitor": Advise(id=300, timeout=5.0, role="monitor", seen="o101", version=1),
    "reflection": Advise(
        id=300,
        timeout=5.0,
        role="reflector",
        version=2,
        failure=Failure(reason="rejected", detail=f"not {SECRET}"),
        seen="o101",
    ),
}


@pytest.mark.parametrize("about", THOUGHTS)
async def test_no_model_gets_a_secret_written_in_the_task(about: str) -> None:
    task = Task(goal=f"Sign in with {SECRET}", inputs=(("note", SECRET),), secrets=("password",))
    somebody = Eavesdropper()
    bench = Bench(task=task, vault=Safe(password=SECRET), detour_planner=cast(Any, somebody))
    await bench.prepare()
    await bench.make_plan(GOAL_OF_PLAN)
    ports = replace(
        bench.ports,
        closeness_judge=somebody,
        outliner=somebody,
        progress_judge=somebody,
        monitor=somebody,
        reflector=somebody,
    )
    await Performer(ports).perform(THOUGHTS[about])
    assert somebody.heard[0].task.goal == "Sign in with <secret password>"
    assert SECRET not in encode(somebody.heard[0])
