"""Turns errors into responses: every refusal is `application/problem+json` and says what to do next."""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from midcourse.errors import (
    FleetUnavailable,
    FormatUnknown,
    KeyTaken,
    MidcourseError,
    NotForkable,
    RunBusy,
    RunEnded,
    RunPruned,
    RunUnknown,
    StoreUnusable,
    TaskInvalid,
)
from midcourse.server.models.problem import Problem, ProblemCode
from midcourse.server.models.questions import RowChange

MEDIA_TYPE = "application/problem+json"

ERROR_CODES: tuple[tuple[type[Exception], int, ProblemCode], ...] = (
    (RunUnknown, 404, "not_found"),
    (RunPruned, 410, "pruned"),
    (KeyTaken, 409, "key_taken"),
    (RunBusy, 409, "busy"),
    (RunEnded, 409, "refused"),
    (NotForkable, 409, "refused"),
    (TaskInvalid, 422, "invalid"),
    (FormatUnknown, 409, "refused"),
    (StoreUnusable, 503, "unavailable"),
    (FleetUnavailable, 503, "unavailable"),
    (MidcourseError, 409, "refused"),
    (ConnectionError, 503, "unavailable"),
)
"""Status and code for each type of error; the first match counts."""

STATUS_CODES: dict[int, tuple[ProblemCode, str]] = {
    401: ("unauthenticated", "open the address that `midcourse serve` printed, or send `Authorization: Bearer KEY`"),
    403: ("forbidden", "ask an administrator for a key with another role"),
    404: ("not_found", "GET /api/v1/runs lists the runs; /api/v1/openapi.json all addresses"),
    400: ("invalid", "send JSON"),
    410: ("pruned", "GET /api/v1/runs/{id} still has its result"),
    405: ("invalid", "see /api/v1/openapi.json for the methods of this address"),
    413: ("too_large", "send less"),
    429: ("too_many", "wait for the seconds in Retry-After"),
}


ALWAYS = (401, 403, 421, 429, 500, 503)
"""Statuses that every route may return: unknown caller, missing right, wrong host, too many requests, a bug, no database."""


class Refusal(Exception):
    """Ends a request with a problem."""

    def __init__(
        self,
        status: int,
        code: ProblemCode,
        detail: str,
        *,
        next: str = "",  # noqa: A002
        changes: Sequence[RowChange] = (),
        question: int | None = None,
    ) -> None:
        super().__init__(detail)
        self.problem = Problem(
            title=HTTPStatus(status).phrase,
            status=status,
            code=code,
            detail=detail,
            next=next or STATUS_CODES.get(status, ("", ""))[1],
            changes=tuple(changes),
            question=question,
        )


def respond(problem: Problem, headers: dict[str, str] | None = None) -> Response:
    body = problem.model_dump_json(exclude_defaults=False)
    return Response(body, status_code=problem.status, media_type=MEDIA_TYPE, headers=headers)


def problem_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The `responses` of a route: problems with these statuses, and those that every route may return."""
    schema = {"$ref": "#/components/schemas/Problem"}
    return {
        status: {"description": HTTPStatus(status).phrase, "content": {MEDIA_TYPE: {"schema": schema}}}
        for status in (*statuses, *ALWAYS)
    }


def add_handlers(app: FastAPI) -> None:
    async def handle_refusal(_: Request, error: Exception) -> Response:
        assert isinstance(error, Refusal)
        return respond(error.problem)

    async def handle_misuse(_: Request, error: Exception) -> Response:
        row = next(row for row in ERROR_CODES if isinstance(error, row[0]))
        return respond(Refusal(row[1], row[2], str(error)).problem)

    async def handle_invalid(_: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        problems = "; ".join(
            f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in error.errors()[:20]
        )
        return respond(Refusal(422, "invalid", problems, next="send what /api/v1/openapi.json describes").problem)

    async def handle_http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        code: ProblemCode = STATUS_CODES[error.status_code][0] if error.status_code in STATUS_CODES else "invalid"
        refusal = Refusal(error.status_code, code, str(error.detail))
        headers = dict(error.headers or {})
        if error.status_code == 405:
            headers["Allow"] = ", ".join(_methods_at(request))
        return respond(refusal.problem, headers)

    async def handle_bug(_: Request, error: Exception) -> Response:
        hint = "please report it; the server's log has the traceback"
        return respond(Refusal(500, "internal", f"{type(error).__name__} in the server", next=hint).problem)

    app.add_exception_handler(Refusal, handle_refusal)
    app.add_exception_handler(MidcourseError, handle_misuse)
    app.add_exception_handler(ConnectionError, handle_misuse)
    app.add_exception_handler(RequestValidationError, handle_invalid)
    app.add_exception_handler(HTTPException, handle_http)
    app.add_exception_handler(Exception, handle_bug)


def _methods_at(request: Request) -> list[str]:
    """The methods of this address. The framework reports only those of the first route with this address."""
    path, paths = request.url.path, request.app.openapi()["paths"]
    fitting = [methods for template, methods in paths.items() if _matches(template, path)]
    return sorted({method.upper() for methods in fitting for method in methods})


def _matches(template: str, path: str) -> bool:
    parts, given = template.split("/"), path.split("/")
    return len(parts) == len(given) and all(
        part.startswith("{") or part == word for part, word in zip(parts, given, strict=True)
    )
