"""Skills: what a world can do, with parameters and effects."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from midcourse.domain.argument import Argument, Arguments, Scalar
from midcourse.domain.expectation import Expectation, Probe
from midcourse.domain.fields import NONE, Named, keep_named

Effect: TypeAlias = Literal["read", "set_state", "reversible", "irreversible"]
"""`read` changes nothing; `set_state` may be done twice without harm; `reversible` can be undone; `irreversible`
leaves the system: an order, a message, a payment."""

ValueType: TypeAlias = Literal["string", "integer", "number", "boolean", "json"]
"""`json` is an object, a list or any other JSON value, as its canonical text (`json_text`), so that equal values have
equal digests."""


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One parameter of a skill, or one field of a task's output."""

    name: str
    type: ValueType = "string"
    required: bool = True
    choices: tuple[Scalar, ...] = ()
    description: str = ""
    destination: bool = False
    """Whether it is a destination: an address, a recipient, a path, a command. A plan alone cannot vouch for it."""
    vouched: tuple[str, ...] = ()
    """Patterns of destinations that the world was configured for."""


@dataclass(frozen=True, kw_only=True)
class Undo:
    """The skill that reverts another one, and its arguments where they are not those of the same names.

    A value is a literal, or a reference to an `argument` or a `result` of the call that is reverted.
    """

    skill: str
    arguments: Named[Argument] = NONE

    def __post_init__(self) -> None:
        keep_named(self, "arguments")


@dataclass(frozen=True, kw_only=True)
class Skill:
    """A skill that a world declares, usually derived from a method by `@skill`."""

    name: str
    description: str = ""
    parameters: tuple[Parameter, ...] = ()
    effect: Effect = "set_state"
    asks: bool = False
    """Whether a person is asked in any case, whatever its effect, the mode and the rules."""
    transition: bool = False
    """Whether it usually changes the screen. A step may override it."""
    on_zone: bool = True
    """Whether it acts on a zone; otherwise its steps target `__global__`."""
    commits: Literal["call", "world"] = "call"
    """Where the commit set comes from: the call itself, or the world (a form's fields)."""
    undo: str = ""
    """The skill that reverts it, if there is one."""
    undo_arguments: Arguments = ()
    """Arguments of that skill, see `Undo`."""
    offered_with: tuple[str, ...] = ()
    """Conditions for offering it to a planner; empty: always. Any one is sufficient: `zone:PATTERN`, `role:NAME` and `state:NAME` for a
    visible zone (with this state), `file` and `output` for a task that has some."""
    probe: Probe | None = None
    absent_when: Expectation | None = None


READ_MORE = Skill(
    name="read_more",
    description="Show more of a result that is too long to be shown whole.",
    parameters=(Parameter(name="name"), Parameter(name="from", type="integer", required=False)),
    effect="read",
    on_zone=False,
)
"""A skill that every world has unless it has its own of this name. The result is kept, so the world is not asked."""


@dataclass(frozen=True, kw_only=True)
class ProbeSpec:
    """A read-only check that a world offers by name.

    `settles_after` counts for a step whose own `Probe` does not say how long the probe's source may be behind.
    `looks_for` is the parameter with the text to be found, if any: a text that was neither sent nor shown before may never appear,
    so that its absence proves nothing.
    """

    name: str
    description: str = ""
    parameters: tuple[Parameter, ...] = ()
    settles_after: float = 0.0
    looks_for: str = ""


WorldKind: TypeAlias = Literal["screen", "desktop", "robot"]
"""What a planner works with, for the words in which it is instructed: an application's screens, windows of programs, objects."""


@dataclass(frozen=True, kw_only=True)
class Catalogue:
    """The skills and probes of a world."""

    skills: tuple[Skill, ...] = ()
    probes: tuple[ProbeSpec, ...] = ()
    kind: WorldKind = "screen"

    def skill(self, name: str) -> Skill | None:
        return next((skill for skill in self.skills if skill.name == name), None)

    def probe(self, name: str) -> ProbeSpec | None:
        return next((probe for probe in self.probes if probe.name == name), None)
