"""Who spent what: the cost of a run by role and plan."""

from dataclasses import dataclass

from midcourse.domain.budget import FREE, Cost


@dataclass(frozen=True, kw_only=True)
class Spent:
    """What a role's calls took. Without a role: nobody said what for, because the answer was lost or given up."""

    role: str = ""
    version: int = 0
    """The plan it was spent on; 0 if on none in particular."""
    model: str = ""
    cost: Cost = FREE


def billed(role: str, cost: Cost, version: int = 0, model: str = "") -> tuple[Spent, ...]:
    """One line, or none if it was free."""
    return () if cost == FREE else (Spent(role=role, version=version, model=model, cost=cost),)


def total(parts: tuple[Spent, ...]) -> Cost:
    cost = FREE
    for part in parts:
        cost = cost.plus(part.cost)
    return cost
