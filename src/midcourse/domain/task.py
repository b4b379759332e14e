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
    """Names only. Values are filled in right before acting and stored nowhere. `NAME@ORIGIN` binds one to an origin."""
    secret_origins: tuple[tuple[str, str], ...] = ()
    """The origin that each bound secret belongs to, by name."""
    files: tuple[str, ...] = ()
    key: str = ""
    """Business key: a second run with the same key returns the first."""
    limits: Limits = field(default_factory=Limits)
    by: str = ""
    """Who wants it done."""
    agreement: Agreement = field(default_factory=Agreement)
    """Who has to agree, beyond what the limits say."""

    def __post_init__(self) -> None:
        split = [name.partition("@") for name in self.secrets]
        bound = {**dict(self.secret_origins), **{name: origin for name, _, origin in split if origin}}
        object.__setattr__(self, "secrets", tuple(name for name, _, _ in split))
        object.__setattr__(self, "secret_origins", tuple(bound.items()))
