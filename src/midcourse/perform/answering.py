"""Answers of user code and models. A late answer counts as transport; an answer of the wrong type, or an exception, as garbage."""

import inspect
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from midcourse.codec import decode, encode
from midcourse.containment import Contained
from midcourse.domain.budget import Cost, without_call
from midcourse.errors import MidcourseError
from midcourse.exception_text import describe_exception, format_traceback
from midcourse.ports.metering import Meter, metering

log = logging.getLogger(__name__)
A = TypeVar("A")
C = TypeVar("C")


@dataclass(frozen=True, kw_only=True)
class NoAnswer:
    """No usable answer. What may have been spent counts as spent."""

    verdict: Literal["transport", "garbage"]
    detail: str
    meter: Meter = field(default_factory=Meter)

    def cost(self, worst: Cost) -> Cost:
        most = self.meter.at_most(worst)
        return without_call(most) if self.verdict == "transport" else most


class NotAsync(TypeError):
    """A method that must be `async def` is a plain function."""


def require_awaitable(answer: Awaitable[A] | A, method: Callable[..., Any]) -> Awaitable[A]:
    """The method's return value, checked to be awaitable. Raises `NotAsync`."""
    if not inspect.isawaitable(answer):
        raise NotAsync(f"{format_name(method)} is a plain function: write `async def {method.__name__}`")
    return answer


def format_name(method: Callable[..., Any]) -> str:
    """The method's qualified name, such as `Planner.plan`."""
    name: str = getattr(method, "__qualname__", repr(method))
    return name.rpartition("<locals>.")[2]


async def request_answer(
    ask: Callable[[C], Awaitable[object]], context: C, kind: type[A], seconds: float
) -> A | NoAnswer:
    """Ask, and return an answer that can be stored, or why there is none. Errors in the use of this library are raised."""
    meter = Meter()
    try:
        with metering() as meter:
            async with Contained(seconds):
                answer = await require_awaitable(ask(context), ask)
        if isinstance(answer, kind):
            return decode(kind, encode(answer))
    except MidcourseError:
        raise
    except (TimeoutError, OSError) as error:
        return NoAnswer(verdict="transport", detail=describe_exception(error), meter=meter)
    except NotAsync as error:
        return NoAnswer(verdict="garbage", detail=str(error))
    except Exception as error:
        log.error("%s raised\n%s", format_name(ask), format_traceback(error))
        return NoAnswer(verdict="garbage", detail=f"{format_name(ask)} raised {describe_exception(error)}", meter=meter)
    return NoAnswer(verdict="garbage", detail=f"the answer is {type(answer).__name__}, not {kind.__name__}")
