"""The approval policy of a run: rules for which steps are asked about, and who may decide."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from midcourse.domain.fields import NONE, Several, keep_several
from midcourse.domain.skill import Effect

Ruling: TypeAlias = Literal["", "ask", "never", "unproven", "proven"]
"""What the agreement says of a step: nothing, so that effect and mode decide; a rule, `ask` or `never`; or, in adaptive mode and
of a reversible step only, whether people have approved the like of it often enough."""


@dataclass(frozen=True, kw_only=True)
class Rule:
    """Whether to ask about what fits. Patterns, in which `*` stands for anything; all that are given have to fit."""

    ask: bool
    skill: str = "*"
    origin: str = "*"
    label: str = "*"
    """Of what is acted on, in any case."""
    address: str = "*"
    """Where it would be sent, as far as that is known: `POST https://shop.example/orders`."""
    effects: Several[Effect] = NONE
    """None: any; but a rule not to ask is about irreversible steps only if it says so."""

    def __post_init__(self) -> None:
        keep_several(self, "effects")


@dataclass(frozen=True, kw_only=True)
class Agreement:
    rules: Several[Rule] = NONE
    """In no order: a step is asked about if any of them says so."""
    trust_after: int = 3
    """Adaptive mode: how many approvals in a row of the same shape of consequence make a reversible step proven."""
    four_eyes: bool = False
    """Whether the person who started the run must not decide its questions."""

    def __post_init__(self) -> None:
        keep_several(self, "rules")
