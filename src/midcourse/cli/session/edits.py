"""What a person wants otherwise, as it is typed: `to=Grace`, or `2.to=Grace` for the second step of a question."""

import re
from collections.abc import Sequence

from midcourse.domain.approval import Change, Question
from midcourse.domain.argument import Argument, Pairs, Scalar
from midcourse.errors import TaskInvalid

TYPED = re.compile(r"(?:(\d+)\.)?([^=]+?)\s*=\s*(.*)", re.DOTALL)


def can_be_changed(question: Question) -> bool:
    """Only arguments can: what a form holds was put there by other steps."""
    return question.about == "approve" and any(consequence.arguments for consequence in question.consequences)


def changes_in(question: Question, typed: Sequence[str]) -> tuple[Change, ...]:
    """Raises `TaskInvalid` with what can be changed."""
    found: dict[int, Pairs] = {}
    for text in typed:
        step, name, value = _change(question, text)
        found[step] = (*found.get(step, ()), (name, value))
    return tuple(Change(step=step, arguments=arguments) for step, arguments in sorted(found.items()))


def _change(question: Question, text: str) -> tuple[int, str, Scalar]:
    parts = TYPED.fullmatch(text.strip())
    if parts is None:
        raise TaskInvalid(f"'{text}': write it as NAME=VALUE, or 2.NAME=VALUE for the second step")
    number, name, value = int(parts[1] or 1), parts[2].strip(), parts[3]
    if not 1 <= number <= len(question.consequences):
        raise TaskInvalid(f"'{text}': there is no step {number} in the question")
    known = dict(question.consequences[number - 1].arguments)
    if name not in known:
        names = ", ".join(known) or "none: reject it with guidance"
        raise TaskInvalid(f"'{name}' is no argument of step {number}; what can be changed: {names}")
    return number - 1, name, _value(value, known[name], text)


def _value(text: str, before: Argument, typed: str) -> Scalar:
    """Of the type that it had."""
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
        raise TaskInvalid(f"'{typed}': has to be {type(before).__name__}, as it was") from None
