"""Problems: why a request was refused (RFC 9457)."""

from typing import Literal, TypeAlias

from midcourse.server.models.base import Model
from midcourse.server.models.questions import RowChange

ProblemCode: TypeAlias = Literal[
    "unauthenticated",
    "forbidden",
    "not_found",
    "pruned",
    "invalid",
    "refused",
    "question_changed",
    "key_taken",
    "idempotency_conflict",
    "busy",
    "too_large",
    "too_many",
    "wrong_host",
    "cross_site",
    "unavailable",
    "internal",
]


class Problem(Model):
    """Why a request was refused, and what to do next (RFC 9457, `application/problem+json`)."""

    type: str = "about:blank"
    title: str
    status: int
    code: ProblemCode
    detail: str
    next: str = ""
    """What the caller can do about it."""
    changes: tuple[RowChange, ...] = ()
    """For `question_changed`: how the open question differs from what the caller saw."""
    question: int | None = None
    """For `question_changed`: the number of the open question, if there is one."""
