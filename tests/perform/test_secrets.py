"""A secret's value leaves the vault right before it is used, and is written down nowhere."""

from pathlib import Path
from typing import Any

import pytest

from midcourse.domain.approval import CommitSet
from midcourse.domain.argument import Reference
from midcourse.domain.observation import Unseen, Zone
from midcourse.domain.outcome import Outcome
from midcourse.domain.task import Task
from midcourse.ports.planner import PlanDraft
from midcourse.store.sqlite import SqliteStore
from midcourse.testing import Answers, Approves, Scripted
from midcourse.worlds.base import Scene, skill
from tests.harness import ORDERED, Bench, Safe, Shop, draft, steps

SECRET = "hunter2-correct-horse"
PIN = "83519"


class Leaky(Shop):
    """Repeats whatever it was told: in fields and their names, labels, titles, addresses, errors, data and commit sets."""

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


@pytest.mark.parametrize("mishap", ["", "raise", "fail", "look later"])
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
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert len(stored) > 1000
    assert SECRET[:-1].encode() not in stored
    assert PIN.encode() not in stored
    told = repr((planner.contexts, approver.questions, bench.history))
    assert SECRET[:-1] not in told
    assert PIN not in told
    assert "<secret password>" in told


async def test_a_secret_inside_another_is_masked_whole() -> None:
    bench = Bench(task=Task(goal="", secrets=("short", "long")), vault=Safe(short="abc", long="abcdef"))
    assert bench.ports.mask((("v", "x abcdef abc"),)) == (("v", "x <secret long> <secret short>"),)


async def test_a_secret_that_the_task_does_not_name_is_never_filled_in() -> None:
    bench = Bench(vault=Safe(root="toor"), approver=Answers())
    assert bench.ports.fill_in((("text", Reference(source="secret", name="root")),)) == "secret 'root' has no value"
