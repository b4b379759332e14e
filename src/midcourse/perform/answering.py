"""What somebody outside answers, whatever they do: late is transport, and what is no answer is garbage."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal, TypeVar

from midcourse.codec import decode, encode
from midcourse.domain.budget import Cost, uncounted
from midcourse.errors import MidcourseError
from midcourse.perform.ports import say

A = TypeVar("A")
C = TypeVar("C")


@dataclass(frozen=True, kw_only=True)
class NoAnswer:
    """What may have been spent on it counts as spent."""

    verdict: Literal["transport", "garbage"]
    detail: str

    def cost(self, worst: Cost) -> Cost:
        return uncounted(worst) if self.verdict == "transport" else worst


async def answer_of(ask: Callable[[C], Awaitable[object]], context: C, kind: type[A], seconds: float) -> A | NoAnswer:
    """Written and read once, so that whatever could not be stored is found out here. Misuse is raised: nothing else would help."""
    try:
        answer = await asyncio.wait_for(ask(context), seconds)
        if isinstance(answer, kind):
            return decode(kind, encode(answer))
    except MidcourseError:
        raise
    except (TimeoutError, OSError) as error:
        return NoAnswer(verdict="transport", detail=say(error))
    except Exception as error:
        return NoAnswer(verdict="garbage", detail=say(error))
    return NoAnswer(verdict="garbage", detail=f"the answer is {type(answer).__name__}, which is no {kind.__name__}")
