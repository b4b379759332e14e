"""The state that all requests share, and the dependencies of routes: the caller and the runs of the caller's tenant.

Dependencies are coroutines although they await nothing: FastAPI calls plain functions in other threads, and a store must stay in one.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Depends, Request, Security
from fastapi.security import APIKeyCookie, HTTPBearer
from starlette.datastructures import Headers

from midcourse.server.access.doorway import COOKIE, Doorway
from midcourse.server.access.identity import Caller, NotSignedIn, Right
from midcourse.server.hub import Hub
from midcourse.server.live import LiveViews
from midcourse.server.problems import Refusal
from midcourse.server.starting import Starts
from midcourse.server.take_overs import TakeOvers
from midcourse.server.webhooks.notifier import Notifier
from midcourse.tenants.runs import TenantRuns
from midcourse.tenants.tenants import Tenants

if TYPE_CHECKING:
    from midcourse.server.access.oidc import Oidc

bearer = HTTPBearer(auto_error=False, scheme_name="key", description="A token or an API key.")
cookie = APIKeyCookie(name=COOKIE, auto_error=False, scheme_name="session", description="Opened by POST /session.")


@dataclass(kw_only=True)
class Shared:
    tenants: Tenants
    doorway: Doorway
    starts: Starts
    hub: Hub = field(default_factory=Hub)
    live: LiveViews = field(default_factory=LiveViews)
    take_overs: TakeOvers = field(default_factory=TakeOvers)
    notifier: Notifier | None = None
    oidc: "Oidc | None" = None
    """The identity provider that browsers sign in through."""
    tasks: Path | None = None
    """The folder of registered task files."""
    secure: bool = False
    """Whether browsers reach the server over HTTPS."""
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the server is about to stop, so that waiting requests end."""


async def shared_of(request: Request) -> Shared:
    return request.app.state.shared


SharedState = Annotated[Shared, Depends(shared_of)]


async def caller_of(
    request: Request,
    shared: SharedState,
    _key: Annotated[Any, Security(bearer)],
    _session: Annotated[Any, Security(cookie)],
) -> Caller:
    return authenticate(shared, request.headers, request.cookies)


def authenticate(shared: Shared, headers: Headers, cookies: dict[str, str]) -> Caller:
    """The caller who sends a request with these headers and cookies. Raises `Refusal`."""
    try:
        caller = shared.doorway.caller_of(headers, cookies)
    except NotSignedIn as why:
        raise Refusal(401, "unauthenticated", str(why), next="the proxy has to send another name of the user") from why
    if caller is None:
        raise Refusal(401, "unauthenticated", "there is no valid token, key or session in the request")
    if not shared.tenants.has(caller.tenant):
        raise Refusal(403, "forbidden", "this server has no runs of your tenant")
    return caller


AnyCaller = Annotated[Caller, Depends(caller_of)]


def require_right(right: Right) -> Callable[[Caller], Awaitable[Caller]]:
    """Make a dependency that returns the caller, who must have this right."""

    async def check(caller: AnyCaller) -> Caller:
        if not caller.may(right):
            raise Refusal(403, "forbidden", f"the role {caller.role} may not {right}")
        return caller

    return check


Reader = Annotated[Caller, Depends(require_right("read"))]
Operator = Annotated[Caller, Depends(require_right("operate"))]
Approver = Annotated[Caller, Depends(require_right("decide"))]
Admin = Annotated[Caller, Depends(require_right("administer"))]


async def runs_of_caller(shared: SharedState, caller: Reader) -> TenantRuns:
    return await shared.tenants.find_runs(caller.tenant)


TheRuns = Annotated[TenantRuns, Depends(runs_of_caller)]
