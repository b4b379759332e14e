"""Likeness: what two requests have in common if they differ only in what their form changes by itself."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Likeness:
    """An irreversible effect without tokens, nonces and the like. Two requests with equal ones may be the same effect."""

    digest: str
    """Of the address and of every value that is certainly not changed by the form itself."""
    hidden: tuple[tuple[str, str], ...] = ()
    """Digests, by name, of the values of which only the form can tell whether it changes them."""


@dataclass(frozen=True, kw_only=True)
class Alike:
    """An effect sent earlier in this run that a step would probably send again."""

    command: int
    identity: str
    version: int
    index: int
    at: float
    certain: bool = False
    """Whether there is evidence that it happened; otherwise it may have."""


@dataclass(frozen=True, kw_only=True)
class Absence:
    """An irreversible act that a probe reported as absent. That is believed once for each likeness."""

    likeness: str
    at: float
    """When it was sent."""
