"""The approval policy of a run: rules for which steps need approval, and who may decide."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from midcourse.domain.fields import NONE, Several, keep_several
from midcourse.domain.skill import Effect

Ruling: TypeAlias = Literal["", "ask", "never", "unproven", "proven"]
"""What the agreement says about a step: nothing, so that effect and mode decide; a rule, `ask` or `never`; or, in adaptive mode
and only for a reversible step, whether people have approved similar ones often enough."""


@dataclass(frozen=True, kw_only=True)
class Rule:
    """Whether to ask about matching steps. All given patterns must match; `*` stands for anything."""

    ask: bool
    skill: str = "*"
    origin: str = "*"
    label: str = "*"
    """The label of what is acted on, ignoring case."""
    address: str = "*"
    """The address it would be sent to, if known: `POST https://shop.example/orders`."""
    effects: Several[Effect] = NONE
    """Empty: any; but a rule not to ask applies to irreversible steps only if it names them."""

    def __post_init__(self) -> None:
        keep_several(self, "effects")


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """The approval policy of a task: its rules, the experience that adaptive mode needs, and who may decide."""

    rules: Several[Rule] = NONE
    """Unordered: a step needs approval if any of them says so."""
    trust_after: int = 3
    """Adaptive mode: the approvals in a row of the same shape of consequence that make a reversible step proven."""
    four_eyes: bool = False
    """Whether the person who started the run must not decide its questions."""

    def __post_init__(self) -> None:
        keep_several(self, "rules")
