"""The ASGI application: routes, handlers of problems, the console, and the guard around all of them."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import cache
from importlib.metadata import version

from fastapi import APIRouter, FastAPI
from starlette.routing import Route
from starlette.types import ASGIApp

from midcourse.config.extras import missing_extras
from midcourse.server.access.guard import RateLimit, RequestGuard, Site
from midcourse.server.document import complete_document
from midcourse.server.models.base import Model
from midcourse.server.problems import add_handlers, problem_responses
from midcourse.server.routes import (
    control,
    events,
    knowledge,
    live,
    oidc,
    questions,
    records,
    runs,
    session,
    system,
    take_over,
    what_if,
)
from midcourse.server.state import Shared, SharedState
from midcourse.server.static import add_console

PREFIX = "/api/v1"
ROUTERS = (
    session.router,
    oidc.router,
    runs.router,
    events.router,
    live.router,
    questions.router,
    control.router,
    take_over.router,
    records.router,
    what_if.router,
    knowledge.router,
    system.router,
)

DESCRIPTION = "Start runs, follow them live, decide what they ask, and read what they did. Refusals are `application/problem+json`."


class Health(Model):
    ok: bool
    version: str


def build_api(shared: Shared | None = None) -> FastAPI:
    """Build the API without the guard. Without `shared` it can only be used to print its OpenAPI document."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncGenerator[None]:
        assert shared is not None
        yield
        await shared.hub.close()
        await shared.live.close()
        await shared.take_overs.close()
        if shared.notifier:
            await shared.notifier.close()
        await shared.tenants.close()
        shared.starts.close()
        shared.doorway.close()

    app = FastAPI(
        title="Midcourse",
        version=version("midcourse"),
        description=DESCRIPTION,
        lifespan=lifespan,
        openapi_url=f"{PREFIX}/openapi.json",
        generate_unique_id_function=lambda route: route.name,
        docs_url=None,
        redoc_url=None,
    )
    app.state.shared = shared
    describe = app.openapi
    app.openapi = cache(lambda: complete_document(describe()))
    add_handlers(app)
    api = APIRouter(prefix=PREFIX)
    for router in ROUTERS:
        api.include_router(router)
    app.include_router(api)

    @app.get("/healthz", tags=["health"])
    async def health() -> Health:
        """Whether the server answers."""
        return Health(ok=True, version=version("midcourse"))

    @app.get("/readyz", tags=["health"], responses=problem_responses())
    async def readiness(shared: SharedState) -> Health:
        """Whether the server can reach the databases of all tenants."""
        await shared.tenants.ping()
        return Health(ok=True, version=version("midcourse"))

    if shared is not None and not missing_extras(("mcp",)):
        from midcourse.server.mcp.http import PATH, McpEndpoint

        app.router.routes.append(Route(PATH, endpoint=McpEndpoint(shared), include_in_schema=False))
    add_console(app)
    return app


def build_app(shared: Shared, site: Site, limit: RateLimit | None = None) -> ASGIApp:
    return RequestGuard(build_api(shared), site=site, limit=limit)
