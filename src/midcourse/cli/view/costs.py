"""What a run cost, role by role: the part of `midcourse show` that is about money."""

from collections.abc import Iterator

from rich.text import Text

from midcourse.cli.view.vocabulary import several
from midcourse.domain.budget import Cost, Spent
from midcourse.policy.spending import MICRO

NOBODY = "lost or given up"


def account_lines(spent: tuple[Spent, ...]) -> Iterator[Text]:
    """Nothing if nothing was spent."""
    if not spent:
        return
    yield Text("Spent", "bold")
    for line in spent:
        plan = f" on plan {line.version}" if line.version else ""
        model = f" by {line.model}" if line.model else ""
        yield Text.assemble(f"  {line.role or NOBODY}{plan}", (model, "dim"), f": {priced(line.cost)}")
    yield Text("")


def priced(cost: Cost) -> str:
    """Without what there is none of."""
    parts = [several(cost.calls, "call")]
    parts += [several(cost.tokens, "token")] if cost.tokens else []
    parts += [f"${cost.microusd / MICRO:.4f}"] if cost.microusd else []
    return ", ".join(parts)
