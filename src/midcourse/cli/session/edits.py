"""Parses changes to the arguments of a question: `to=Grace`, or `2.to=Grace` for the second step."""

import re
from collections.abc import Sequence

from midcourse.domain.approval import Change, Question
from midcourse.domain.argument import Argument, Pairs, Scalar
from midcourse.errors import TaskInvalid

TYPED = re.compile(r"(?:(\d+)\.)?([^=]+?)\s*=\s*(.*)", re.DOTALL)


def is_editable(question: Question) -> bool:
    """Whether the question's arguments can be changed. Contents of a form cannot, because other steps filled it in."""
    return question.about == "approve" and any(consequence.arguments for consequence in question.consequences)


def parse_changes(question: Question, typed: Sequence[str]) -> tuple[Change, ...]:
    """Parse NAME=VALUE texts. Raises `TaskInvalid`, which names the arguments that can be changed."""
    found: dict[int, Pairs] = {}
    for text in typed:
        step, name, value = _parse_change(question, text)
        found[step] = (*found.get(step, ()), (name, value))
    return tuple(Change(step=step, arguments=arguments) for step, arguments in sorted(found.items()))


def _parse_change(question: Question, text: str) -> tuple[int, str, Scalar]:
    parts = TYPED.fullmatch(text.strip())
    if parts is None:
        raise TaskInvalid(f"'{text}': write it as NAME=VALUE, or 2.NAME=VALUE for the second step")
    number, name, value = int(parts[1] or 1), parts[2].strip(), parts[3]
    if not 1 <= number <= len(question.consequences):
        raise TaskInvalid(f"'{text}': there is no step {number} in the question")
    known = dict(question.consequences[number - 1].arguments)
    if name not in known:
        names = ", ".join(known) or "none: reject it with guidance"
        raise TaskInvalid(f"'{name}' is not an argument of step {number}; what can be changed: {names}")
    return number - 1, name, _parse_value(value, known[name], text)


def _parse_value(text: str, before: Argument, typed: str) -> Scalar:
    """Parse the value as the type of the argument that it replaces."""
    try:
        match before:
            case bool():
                return {"true": True, "false": False}[text.strip().lower()]
            case int():
                return int(text)
            case float():
                return float(text)
            case _:
                return text
    except (ValueError, KeyError):
        raise TaskInvalid(f"'{typed}': must be {type(before).__name__}, as before") from None
