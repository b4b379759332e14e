"""Sessions of browsers: a browser sends a token or key and gets a cookie."""

from typing import Annotated

from fastapi import APIRouter, Request
from pydantic import Field
from starlette.responses import Response

from midcourse.server.access.doorway import COOKIE, SESSION_SECONDS
from midcourse.server.access.identity import RIGHTS, Caller, Right, Role
from midcourse.server.models.base import Model
from midcourse.server.problems import Refusal, problem_responses
from midcourse.server.state import AnyCaller, SharedState

router = APIRouter(tags=["session"])


class SignIn(Model):
    """The token that `midcourse serve` prints, or an API key."""

    token: Annotated[str, Field(min_length=1, max_length=500)]


class Me(Model):
    """The authenticated caller."""

    name: str
    tenant: str
    role: Role
    rights: tuple[Right, ...]
    desk: str
    """`local` if the server drives runs itself, `fleet` if workers do."""


class SignInWays(Model):
    """The ways to sign in, besides a token or API key."""

    oidc: bool
    """Whether the server has an identity provider: GET /session/oidc leads to it."""


def _me(caller: Caller, shared: SharedState) -> Me:
    rights = RIGHTS[caller.role]
    return Me(name=caller.name, tenant=caller.tenant, role=caller.role, rights=rights, desk=shared.tenants.kind)


@router.post("/session", responses=problem_responses(400, 413, 415, 422))
async def sign_in(body: SignIn, shared: SharedState, response: Response) -> Me:
    """Exchange a token or API key for an HttpOnly session cookie."""
    caller = shared.doorway.sign_in(body.token)
    if caller is None or not shared.tenants.has(caller.tenant):
        raise Refusal(401, "unauthenticated", "this token is not valid or was revoked")
    response.set_cookie(
        COOKIE,
        shared.doorway.open_session(caller, body.token),
        max_age=int(SESSION_SECONDS),
        httponly=True,
        samesite="strict",
        secure=shared.secure,
    )
    return _me(caller, shared)


@router.get("/session", responses=problem_responses())
async def whoami(caller: AnyCaller, shared: SharedState) -> Me:
    """The caller, and the rights of their role."""
    return _me(caller, shared)


@router.get("/session/ways", responses=problem_responses())
async def list_sign_in_ways(shared: SharedState) -> SignInWays:
    """The ways to sign in. Needs no credentials."""
    return SignInWays(oidc=shared.oidc is not None)


@router.delete("/session", status_code=204, responses=problem_responses())
async def sign_out(request: Request, _: AnyCaller, shared: SharedState, response: Response) -> None:
    """End the session of the cookie."""
    shared.doorway.close_session(request.cookies.get(COOKIE, ""))
    response.delete_cookie(COOKIE)
