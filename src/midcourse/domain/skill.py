"""Skills: what a world can do, with parameters and effects."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from midcourse.domain.argument import Scalar
from midcourse.domain.expectation import Expectation, Probe

Effect: TypeAlias = Literal["read", "set_state", "reversible", "irreversible"]
"""`read` changes nothing; `set_state` may be done twice without harm; `reversible` can be undone; `irreversible`
leaves the system: an order, a message, a payment."""

ValueType: TypeAlias = Literal["string", "integer", "number", "boolean"]


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One argument that a skill takes, or one field that a task brings back."""

    name: str
    type: ValueType = "string"
    required: bool = True
    choices: tuple[Scalar, ...] = ()
    description: str = ""
    destination: bool = False
    """Whether it says where something goes: an address, a recipient, a path, a command. A plan alone cannot vouch for it."""
    vouched: tuple[str, ...] = ()
    """Destinations that the world was set up for, as patterns."""


@dataclass(frozen=True, kw_only=True)
class Skill:
    """Declared by a world; usually derived from a method by `@skill`."""

    name: str
    description: str = ""
    parameters: tuple[Parameter, ...] = ()
    effect: Effect = "set_state"
    transition: bool = False
    """Whether the screen usually becomes another one. A step may say otherwise."""
    on_zone: bool = True
    """Whether it acts on a zone; otherwise its steps target `__global__`."""
    commits: Literal["call", "world"] = "call"
    """Where the commit set is: the call itself is all that is sent, or the world must be asked (a form's fields)."""
    undo: str = ""
    """The skill that takes it back, if there is one."""
    offered_with: tuple[str, ...] = ()
    """When a planner is told of it, if not always. Any one of these is enough: `zone:PATTERN` and `role:NAME` for a visible zone,
    `file` and `output` for a task that has some."""
    probe: Probe | None = None
    absent_when: Expectation | None = None


@dataclass(frozen=True, kw_only=True)
class ProbeSpec:
    """A read-only check that a world offers by name."""

    name: str
    description: str = ""
    parameters: tuple[Parameter, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Catalogue:
    """All that a world can do and be asked."""

    skills: tuple[Skill, ...] = ()
    probes: tuple[ProbeSpec, ...] = ()

    def skill(self, name: str) -> Skill | None:
        return next((skill for skill in self.skills if skill.name == name), None)

    def probe(self, name: str) -> ProbeSpec | None:
        return next((probe for probe in self.probes if probe.name == name), None)
