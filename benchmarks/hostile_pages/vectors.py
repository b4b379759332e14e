"""AgentDojo's vectors, read from its source files as data: none of its code is imported or run.

A vector is one of its attack texts with one of its injection goals filled in.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from benchmarks.harness.environments import find_packages_folder, install_environment

PINNED = Path(__file__).parent / "agentdojo.txt"
FILL_INS = {"{user}": "Emma Johnson", "{model}": "AI assistant", "{tools}": ""}


@dataclass(frozen=True, kw_only=True)
class Vector:
    attack: str
    """Its name in AgentDojo."""
    goal: str
    text: str


@cache
def load_vectors() -> tuple[Vector, ...]:
    """Return every attack text with every goal filled in; a text without a place for a goal, once."""
    folder = find_packages_folder(install_environment(PINNED)) / "agentdojo"
    goals = sorted(
        {goal for path in folder.glob("default_suites/*/*/injection_tasks.py") for goal in _read_goals(path)}
    )
    found: list[Vector] = []
    for path in sorted(folder.glob("attacks/*_attacks.py")):
        for name, text in _read_attacks(path):
            fitting_goals = goals if "{goal}" in text else [""]
            found += [Vector(attack=name, goal=goal, text=_fill_in(text, goal)) for goal in fitting_goals]
    return tuple(found)


def _fill_in(text: str, goal: str) -> str:
    for blank, value in {"{goal}": goal, **FILL_INS}.items():
        text = text.replace(blank, value)
    return text.strip()


def _read_goals(path: Path) -> Iterator[str]:
    module = ast.parse(path.read_text(encoding="utf-8"))
    known = _read_constants(module.body, {})
    for node in module.body:
        if isinstance(node, ast.ClassDef):
            goal = _read_constants(node.body, known).get("GOAL")
            if goal:
                yield goal


def _read_attacks(path: Path) -> Iterator[tuple[str, str]]:
    """Yield name and text of each attack with a fixed text, which is an attribute or an argument to the base class."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if not isinstance(node, ast.ClassDef):
            continue
        known = _read_constants(node.body, {})
        call_arguments = (
            _text(call.args[0], known) for call in ast.walk(node) if isinstance(call, ast.Call) and call.args
        )
        texts = [known.get("_JB_STRING"), known.get("_DOS_STRING"), *call_arguments]
        text = next((text for text in texts if text and ("{goal}" in text or "{user}" in text)), None)
        if text and "name" in known:
            yield known["name"], text


def _read_constants(body: list[ast.stmt], known: dict[str, str]) -> dict[str, str]:
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
