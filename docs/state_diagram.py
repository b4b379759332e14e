"""The state diagram of the docs, drawn from the transition table."""

from midcourse.director.decide import TABLE
from midcourse.domain.phases import Ended, Paused


def build_mermaid() -> str:
    """A Mermaid state diagram. Every phase can also pause and end; most of those arrows are left out."""
    lines = ["stateDiagram-v2", "    [*] --> New"]
    lines += [
        f"    {row.phase.__name__} --> {target.__name__}: {row.event.__name__}"
        for row in TABLE
        for target in row.to or (_only_target(row.phase, row.event.__name__),)
    ]
    lines.append("    Ended --> [*]")
    return "\n".join(lines) + "\n"


def build_table() -> str:
    """The state diagram as a Markdown table, with one row for each row of the transition table."""
    rows = [
        f"| `{row.phase.__name__}` | `{row.event.__name__}` | {', '.join(f'`{to.__name__}`' for to in row.to)} |"
        for row in TABLE
    ]
    return "\n".join(["| waiting in | for | leads to |", "|---|---|---|", *rows]) + "\n"


def _only_target(phase: type[object], event: str) -> type[object]:
    return Paused if phase is Paused and event == "Recorded" else Ended
