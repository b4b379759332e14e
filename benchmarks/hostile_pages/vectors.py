"""What AgentDojo's attackers write and what they want, read from its sources as data: nothing of it is imported or run.

A vector is one of its attack texts around one of its injection goals.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from benchmarks.harness.environments import environment, packages

PINNED = Path(__file__).parent / "agentdojo.txt"
FILLED_IN = {"{user}": "Emma Johnson", "{model}": "AI assistant", "{tools}": ""}


@dataclass(frozen=True, kw_only=True)
class Vector:
    attack: str
    """Its name in AgentDojo."""
    goal: str
    text: str


@cache
def vectors() -> tuple[Vector, ...]:
    """Every attack around every goal; an attack with its own goal, once."""
    folder = packages(environment(PINNED)) / "agentdojo"
    goals = sorted({goal for path in folder.glob("default_suites/*/*/injection_tasks.py") for goal in _goals(path)})
    found: list[Vector] = []
    for path in sorted(folder.glob("attacks/*_attacks.py")):
        for name, text in _attacks(path):
            wanted = goals if "{goal}" in text else [""]
            found += [Vector(attack=name, goal=goal, text=_filled(text, goal)) for goal in wanted]
    return tuple(found)


def _filled(text: str, goal: str) -> str:
    for blank, value in {"{goal}": goal, **FILLED_IN}.items():
        text = text.replace(blank, value)
    return text.strip()


def _goals(path: Path) -> Iterator[str]:
    module = ast.parse(path.read_text(encoding="utf-8"))
    known = _constants(module.body, {})
    for node in module.body:
        if isinstance(node, ast.ClassDef):
            goal = _constants(node.body, known).get("GOAL")
            if goal:
                yield goal


def _attacks(path: Path) -> Iterator[tuple[str, str]]:
    """Name and text of each attack that has one text for all: in an attribute, or handed to its base class."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if not isinstance(node, ast.ClassDef):
            continue
        known = _constants(node.body, {})
        handed_on = (_text(call.args[0], known) for call in ast.walk(node) if isinstance(call, ast.Call) and call.args)
        texts = [known.get("_JB_STRING"), known.get("_DOS_STRING"), *handed_on]
        text = next((text for text in texts if text and ("{goal}" in text or "{user}" in text)), None)
        if text and "name" in known:
            yield known["name"], text


def _constants(body: list[ast.stmt], known: dict[str, str]) -> dict[str, str]:
    known = dict(known)
    for node in body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            text = _text(node.value, known)
            if text is not None:
                known[node.targets[0].id] = text
    return known


def _text(node: ast.expr, known: dict[str, str]) -> str | None:
    match node:
        case ast.Constant(value=str() | int() | float() as value):
            return str(value)
        case ast.Name(id=name):
            return known.get(name)
        case ast.FormattedValue(value=value):
            return _text(value, known) or ""
        case ast.JoinedStr(values=values):
            return "".join(_text(value, known) or "" for value in values)
        case _:
            return None
