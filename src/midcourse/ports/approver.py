"""Port of the approver: a person, or a program that answers for one."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from midcourse.domain.approval import Decision, Question
from midcourse.domain.argument import Scalar
from midcourse.domain.skill import Parameter


class Approver(Protocol):
    """Decides the questions of a run: approvals, and whether something happened. Any class with this method."""

    async def ask(self, question: Question) -> Decision | None:
        """Ask the question. None: it was sent, and the decision will arrive through the mailbox."""
        ...


@dataclass(frozen=True, kw_only=True)
class Form:
    """The fields that a world wants a person to fill in during an act. Its texts come from the world and are not trusted."""

    asker: str
    skill: str
    message: str
    fields: tuple[Parameter, ...] = ()
    address: str = ""
    """The address of a page that the person opens instead of filling in fields."""


FillIn: TypeAlias = Callable[[Form], Awaitable[Mapping[str, Scalar] | None]]


class FormFiller(Protocol):
    """An approver who also fills in forms. The values go only to the world that asked, not to a model, and are not stored."""

    async def fill_in(self, form: Form) -> Mapping[str, Scalar] | None:
        """Ask the person to fill in the form. Returns the values by the names of the fields; None if the person declines."""
        ...
