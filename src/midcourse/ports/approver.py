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
    """What a world wants to know from a person while it carries out an act. Its words are the world's, and not trusted."""

    asker: str
    skill: str
    message: str
    fields: tuple[Parameter, ...] = ()
    address: str = ""
    """A page that the person is to open instead of filling in fields."""


FillIn: TypeAlias = Callable[[Form], Awaitable[Mapping[str, Scalar] | None]]


class FormFiller(Protocol):
    """An approver who also fills in forms. The values go to the world that asked, and to no model; they are not stored."""

    async def fill_in(self, form: Form) -> Mapping[str, Scalar] | None:
        """The values by the names of the fields. None: the person declines."""
        ...
