"""The costs of a run by role, for `midcourse show`."""

from collections.abc import Iterator

from rich.text import Text

from midcourse.domain.budget import Cost, Spent
from midcourse.policy.spending import MICRO
from midcourse.presentation.vocabulary import pluralize

UNKNOWN_ROLE = "lost or given up"


def cost_lines(spent: tuple[Spent, ...]) -> Iterator[Text]:
    """A line for each role and plan; empty if nothing was spent."""
    if not spent:
        return
    yield Text("Spent", "bold")
    for line in spent:
        plan = f" on plan {line.version}" if line.version else ""
        model = f" by {line.model}" if line.model else ""
        yield Text.assemble(f"  {line.role or UNKNOWN_ROLE}{plan}", (model, "dim"), f": {format_cost(line.cost)}")
    yield Text("")


def format_cost(cost: Cost) -> str:
    """Calls, tokens and dollars, without those that are zero."""
    parts = [pluralize(cost.calls, "call")]
    parts += [pluralize(cost.tokens, "token")] if cost.tokens else []
    parts += [f"${cost.microusd / MICRO:.4f}"] if cost.microusd else []
    return ", ".join(parts)
