"""Ten tasks in the simulated worlds, each planned by a playbook that knows its screens and the trouble it may meet there."""

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from benchmarks.reuse_tasks.case import Counted, Stage
from benchmarks.reuse_tasks.playbooks import arm_rules, erp_rules, notepad_rules, shop_rules, tabletop_rules, web_rules
from benchmarks.reuse_tasks.tabletop import Tabletop
from midcourse.domain.argument import Pairs, Reference
from midcourse.domain.expectation import Condition, Probe
from midcourse.domain.task import Task
from midcourse.planners import Playbook, Rule
from midcourse.testing import Approves, FakeClock
from midcourse.worlds.simulated import Arm, Desktop, Erp, Shop, Web
from midcourse.worlds.simulated.base import SimulatedWorld
from midcourse.worlds.simulated.effects import EffectLog

Given = Mapping[str, Any]
ALWAYS = float("inf")


def found(probe: str, *inputs: str, **named: str) -> Condition:
    """Something that the world can be asked, about these inputs."""
    names = {name: name for name in inputs} | named
    arguments = tuple((name, Reference(source="input", name=value)) for name, value in names.items())
    return Probe(name=probe, arguments=arguments, settles_after=1.0)


@dataclass(frozen=True, kw_only=True)
class Simulated:
    name: str
    world: Callable[..., SimulatedWorld[Any]]
    goal: Callable[[Given], str]
    done_when: Condition
    rules: Callable[[Given], tuple[Rule, ...]]
    inputs: tuple[Pairs, Pairs]
    records: Callable[[Given], list[Given]]
    """What is wanted: values of the effects that `effect` names."""
    effect: str
    run_inputs: tuple[str, ...] = ()
    """Inputs that only the run provides, if not all."""
    secrets: Mapping[str, str] = field(default_factory=dict[str, str])
    refers: bool = True

    def task(self, inputs: Pairs) -> Task:
        return Task(
            goal=self.goal(dict(inputs)),
            world=self.name,
            inputs=inputs,
            done_when=self.done_when,
            secrets=tuple(self.secrets),
        )

    def only_ours(self, inputs: Pairs) -> Pairs:
        return tuple(pair for pair in inputs if pair[0] in (self.run_inputs or dict(inputs)))

    def wanted(self, inputs: Pairs) -> list[Given]:
        return self.records(dict(inputs))

    @contextmanager
    def start(self) -> "Generator[Machine]":
        yield Machine(self)


class Machine:
    """One world after the other; what a back end has, the next may inherit."""

    def __init__(self, case: Simulated) -> None:
        self._case = case
        self._effects = EffectLog("")
        self._before = 0

    def stage(self, inputs: Pairs, *, seed: int | None = None, fresh: bool = True) -> Stage:
        clock = FakeClock()
        drift = {} if seed is None else {"drift": "stormy"}
        world = self._case.world(seed=seed or 0, clock=clock, **drift)
        if not fresh:
            world.effects = self._effects
        self._effects, self._before = world.effects, len(world.effects)
        planner = Counted(Playbook(self._case.rules(dict(inputs))), refers=self._case.refers)
        return Stage(world=world, planner=planner, approver=Approves(), clock=clock, secrets=self._case.secrets)

    def records(self) -> list[Given]:
        """Only the effects that the task is about, and of each what it asks for."""
        done = self._effects.present(ALWAYS)[self._before :]
        return [dict(one.values) for one in done if one.effect == self._case.effect]


INVOICES: tuple[Pairs, Pairs] = (
    (
        ("supplier", "Harbour Supplies"),
        ("number", "INV-1001"),
        ("amount", 1250.5),
        ("date", "2026-03-31"),
        ("cost_centre", "4100"),
    ),
    (
        ("supplier", "Quay Tools"),
        ("number", "INV-2002"),
        ("amount", 99.25),
        ("date", "2026-05-02"),
        ("cost_centre", "4711"),
    ),
)
ORDERS: tuple[Pairs, Pairs] = (
    (("address", "1 Harbour Street"), ("reference", "PO-1001")),
    (("address", "9 Quay Road"), ("reference", "PO-2002")),
)
PASSWORD = {"password": "lovelace"}


def erp(name: str, *, refers: bool = True, supplier: str = "") -> Simulated:
    """A task without a supplier gets one."""

    def own(inputs: Pairs) -> Pairs:
        return tuple(pair for pair in inputs if not supplier or pair[0] != "supplier")

    def records(given: Given) -> list[Given]:
        return [{**given, **({"supplier": supplier} if supplier else {})}]

    return Simulated(
        name=name,
        world=Erp,
        goal=lambda given: f"As ada, book invoice {given['number']} of {given.get('supplier', supplier)}",
        done_when=found("invoice_booked", "number"),
        rules=lambda given: erp_rules({"supplier": supplier, **given}),
        inputs=(own(INVOICES[0]), own(INVOICES[1])),
        records=records,
        effect="invoice",
        secrets=PASSWORD,
        refers=refers,
    )


def shop(name: str, item: str, quantity: int, *, refers: bool = True) -> Simulated:
    return Simulated(
        name=name,
        world=Shop,
        goal=lambda given: f"Order {quantity} of '{item}' to the address, under the reference",
        done_when=found("order_placed", "reference"),
        rules=lambda given: shop_rules(given, item, quantity),
        inputs=ORDERS,
        records=lambda given: [{"reference": given["reference"], "items": {item: quantity}}],
        effect="order",
        refers=refers,
    )


def web(name: str, *inputs: Pairs, refers: bool = True) -> Simulated:
    return Simulated(
        name=name,
        world=Web,
        goal=lambda given: "As ada, have the report of the period made at https://reports.example",
        done_when=found("report_ready", "period"),
        rules=web_rules,
        inputs=(inputs[0], inputs[1]),
        records=lambda given: [{"format": "PDF", **given}],
        effect="report",
        secrets=PASSWORD,
        refers=refers,
    )


SIMULATED: tuple[Simulated, ...] = (
    erp("invoice"),
    erp("invoice, written out", refers=False),
    erp("invoice of one supplier", supplier="Harbour Supplies"),
    shop("order of a lamp", "Desk lamp", 1),
    shop("order of notebooks, written out", "Notebook A5", 3, refers=False),
    web("report", (("period", "2026-Q1"),), (("period", "2025-Q4"),)),
    web(
        "report in a format",
        (("period", "2026-Q1"), ("format", "CSV")),
        (("period", "2025-Q4"), ("format", "PDF")),
        refers=False,
    ),
    Simulated(
        name="note",
        world=Desktop,
        goal=lambda given: (
            "Write the text in Notepad and save it in Documents under the file name: Ctrl+A, and type it"
        ),
        done_when=found("file_saved", "text", name="file_name"),
        rules=notepad_rules,
        inputs=(
            (("text", "Plan as far as you can see."), ("file_name", "note.txt")),
            (("text", "Look before you leap."), ("file_name", "advice.txt")),
        ),
        records=lambda given: [{"folder": "Documents", "name": given["file_name"], "text": given["text"]}],
        effect="file_saved",
    ),
    Simulated(
        name="cube into a bin",
        world=Tabletop,
        goal=lambda given: f"Put the {given['object']} into the {given['bin']}",
        done_when=found("in_bin", "object", "bin"),
        rules=tabletop_rules,
        inputs=(
            (("object", "red_cube"), ("bin", "red_bin")),
            (("object", "blue_cube"), ("bin", "green_bin")),
        ),
        records=lambda given: [dict(given)],
        effect="placed",
        run_inputs=("bin",),
        refers=False,
    ),
    Simulated(
        name="cube to a place",
        world=Arm,
        goal=lambda given: "Lay the object down at x and y",
        done_when=found("lies_at", "object", "x", "y"),
        rules=arm_rules,
        inputs=(
            (("object", "green_cube"), ("x", 0.415), ("y", 0.125)),
            (("object", "red_cube"), ("x", 0.335), ("y", -0.155)),
        ),
        records=lambda given: [dict(given)],
        effect="placed",
    ),
)
