"""Sign-in through an OpenID Connect provider."""

from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from midcourse.server.access.doorway import COOKIE, SESSION_SECONDS
from midcourse.server.access.guard import CALLBACK
from midcourse.server.access.identity import NotSignedIn
from midcourse.server.problems import Refusal, problem_responses
from midcourse.server.state import Shared, SharedState

if TYPE_CHECKING:
    from midcourse.server.access.oidc import Oidc

router = APIRouter(tags=["session"])

LOGIN_COOKIE = "midcourse_login"
LOGIN_PATH = CALLBACK.rpartition("/")[0]
LOGIN_SECONDS = 600
SIGNED_IN = """<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=/">
<title>Midcourse</title><p>Signed in. <a href="/">Continue</a></p></html>"""
"""The page after a sign-in. After a redirect, the browser would treat the next request as the provider's and send no cookie."""
AGAIN = f"begin again at {LOGIN_PATH}"


def _provider(shared: Shared) -> "Oidc":
    if shared.oidc is None:
        raise Refusal(404, "not_found", "this server has no identity provider", next="sign in with a token or key")
    return shared.oidc


@router.get(
    "/session/oidc",
    status_code=303,
    response_class=Response,
    responses={303: {"description": "Redirects to the identity provider."}, **problem_responses(404)},
)
async def begin_login(shared: SharedState) -> Response:
    """Send the browser to the identity provider to sign in."""
    try:
        begun = await _provider(shared).begin()
    except NotSignedIn as why:
        raise Refusal(503, "unavailable", str(why), next="try again") from why
    response = RedirectResponse(begun.address, status_code=303)
    response.set_cookie(
        LOGIN_COOKIE,
        begun.cookie,
        max_age=LOGIN_SECONDS,
        path=LOGIN_PATH,
        httponly=True,
        samesite="lax",
        secure=shared.secure,
    )
    return response


@router.get(
    "/session/oidc/callback",
    response_class=HTMLResponse,
    responses={200: {"description": "Signed in."}, **problem_responses(404, 422)},
)
async def finish_login(
    request: Request,
    shared: SharedState,
    state: Annotated[str, Query(max_length=500)] = "",
    code: Annotated[str, Query(max_length=4000)] = "",
    iss: Annotated[str, Query(max_length=500)] = "",
    error: Annotated[str, Query(max_length=200)] = "",
) -> Response:
    """Finish signing in: the identity provider sends the browser here. Opens a session and then the console."""
    provider = _provider(shared)
    if error or not code:
        raise Refusal(401, "unauthenticated", f"the provider refused: {error or 'no code'}", next=AGAIN)
    try:
        cookie = request.cookies.get(LOGIN_COOKIE, "")
        caller = await provider.finish(code=code, state=state, issuer=iss, cookie=cookie)
    except NotSignedIn as why:
        raise Refusal(401, "unauthenticated", str(why), next=AGAIN) from why
    if not shared.tenants.has(caller.tenant):
        raise Refusal(403, "forbidden", "this server has no runs of your tenant")
    response = HTMLResponse(SIGNED_IN)
    response.set_cookie(
        COOKIE,
        shared.doorway.open_session(caller),
        max_age=int(SESSION_SECONDS),
        httponly=True,
        samesite="strict",
        secure=shared.secure,
    )
    response.delete_cookie(LOGIN_COOKIE, path=LOGIN_PATH)
    return response
