"""What a person wants done."""

from dataclasses import dataclass, field

from midcourse.domain.agreement import Agreement
from midcourse.domain.argument import Pairs
from midcourse.domain.budget import Limits
from midcourse.domain.expectation import Condition
from midcourse.domain.skill import Parameter


@dataclass(frozen=True, kw_only=True)
class Task:
    goal: str
    world: str = ""
    inputs: Pairs = ()
    """Values that steps refer to by name."""
    output: tuple[Parameter, ...] = ()
    """What data to bring back."""
    done_when: Condition | None = None
    """Without it the best a run can say is that its plan was carried out."""
    secrets: tuple[str, ...] = ()
    """Names only. Values are filled in right before acting and stored nowhere."""
    files: tuple[str, ...] = ()
    key: str = ""
    """Business key: a second run with the same key returns the first."""
    limits: Limits = field(default_factory=Limits)
    by: str = ""
    """Who wants it done."""
    agreement: Agreement = field(default_factory=Agreement)
    """Who has to agree, beyond what the limits say."""
