"""Parser of a model's answer. Repairs only what is unambiguous: a code fence or words around the JSON."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar, cast

from pydantic import BaseModel, ConfigDict, ValidationError

A = TypeVar("A", bound=BaseModel)

LONGEST = 200_000
"""Characters of an answer that are parsed. No plan is that long, and a parser should not be busy for seconds."""
MOST_STARTS = 20
"""Opening braces in prose that are tried as the beginning of the answer."""


class Answer(BaseModel):
    """Base of the answers that roles ask for. A field that was not asked for is ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)


@dataclass(frozen=True, kw_only=True)
class Parsed(Generic[A]):
    answer: A
    repairs: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Unreadable:
    why: str


def parse_answer(text: str, answer: type[A]) -> Parsed[A] | Unreadable:
    """Parse the answer and name its repairs, or say what is wrong with it so that the model can correct it."""
    if len(text) > LONGEST:
        return Unreadable(why=f"the answer has {len(text)} characters, which is too long")
    if not text.strip():
        return Unreadable(why="the answer is empty")
    why = "the answer is not JSON"
    for value, repairs in _find_candidates(text):
        try:
            return Parsed(answer=answer.model_validate(value), repairs=repairs)
        except ValidationError as error:
            why = _describe_errors(error)
        except RecursionError:
            why = "the answer is nested too deeply"
    return Unreadable(why=why)


def _find_candidates(text: str) -> Iterator[tuple[object, tuple[str, ...]]]:
    """The whole text as JSON, or else the first object in it."""
    try:
        yield json.loads(text, parse_constant=_refuse_constant), ()
        return
    except (ValueError, RecursionError):
        pass
    decoder, start = json.JSONDecoder(parse_constant=_refuse_constant), -1
    for _ in range(MOST_STARTS):
        start = text.find("{", start + 1)
        if start < 0:
            return
        try:
            value, _ = cast(tuple[object, int], decoder.raw_decode(text, start))
        except (ValueError, RecursionError):
            continue
        yield value, ("what was written around the JSON was left out",)
        return


def _refuse_constant(constant: str) -> object:
    raise ValueError(f"{constant} is not JSON")


def _describe_errors(error: ValidationError) -> str:
    problems = [f"{'.'.join(map(str, each['loc'])) or 'the answer'}: {each['msg']}" for each in error.errors()[:3]]
    return "the answer has the wrong shape: " + "; ".join(problems)
