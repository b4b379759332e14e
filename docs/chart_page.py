"""The page `chart.md`: the values of the Helm chart, from the comments in its values.yaml."""

from collections.abc import Iterator
from pathlib import Path

import yaml

VALUES = Path(__file__).parents[1] / "deploy" / "helm" / "midcourse" / "values.yaml"

PAGE = """# Values of the chart

Written by `python docs/generate.py` from `deploy/helm/midcourse/values.yaml`. [Deploy](deploy.md#in-kubernetes) shows how to use them. The chart
refuses a value whose name is misspelt or whose type is wrong.

| value | default | what it sets |
|---|---|---|
{rows}
"""


def chart_page() -> str:
    text = VALUES.read_text(encoding="utf-8")
    root = yaml.compose(text)
    assert isinstance(root, yaml.MappingNode)
    return PAGE.format(rows="\n".join(_rows(root, text)))


def _rows(node: yaml.MappingNode, text: str, prefix: str = "", above: str = "") -> Iterator[str]:
    """A row for each value, and one for each group that has a comment. Raises `ValueError` for a value that nothing explains."""
    for key, value in node.value:
        name, words = f"{prefix}{key.value}", _comment(text.splitlines(), key.start_mark.line)
        if isinstance(value, yaml.MappingNode) and not value.flow_style:
            if words:
                yield f"| `{name}` | | {words} |"
            yield from _rows(value, text, f"{name}.", words)
        elif words or above:
            yield f"| `{name}` | `{_default(value, text)}` | {words} |"
        else:
            raise ValueError(f"{name} in {VALUES.name} has no comment")


def _default(value: yaml.Node, text: str) -> str:
    if isinstance(value, yaml.SequenceNode) and not value.flow_style:
        return f"[{', '.join(item.value for item in value.value)}]"
    return text[value.start_mark.index : value.end_mark.index]


def _comment(lines: list[str], line: int) -> str:
    """The comment right above this line. What is indented in it gets a line of its own."""
    first = line
    while first and lines[first - 1].lstrip().startswith("#"):
        first -= 1
    words = ""
    for each in lines[first:line]:
        said = each.strip().removeprefix("#")
        words += ("<br>" if said.startswith("   ") else " ") + said.strip()
    return words.strip().replace("|", r"\|")
