"""What people agreed on beforehand about who has to agree: the policy that a run is under, whoever plans it."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Agreement:
    four_eyes: bool = False
    """Whether whoever wants the task done must not decide its questions."""
