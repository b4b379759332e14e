"""The system: settings, worlds, and what drives runs."""

from dataclasses import asdict
from urllib.parse import urlsplit

from fastapi import APIRouter

from midcourse.agent.wiring import SIMULATED, WORLDS
from midcourse.config.settings import Settings, format_value
from midcourse.config.variables import Audience, audience_of
from midcourse.server.models.base import Model
from midcourse.server.problems import problem_responses
from midcourse.server.starting import SERVER_ONLY
from midcourse.server.state import Admin, Reader, SharedState, TheRuns
from midcourse.server.webhooks.config import EventType

router = APIRouter(tags=["system"])


class SettingRow(Model):
    """A setting, and its value for new runs."""

    name: str
    value: str
    default: str
    description: str
    audience: Audience
    changeable: bool
    """Whether a request that starts a run may set it."""


class WorldRow(Model):
    """A world that has a short name in task files."""

    name: str
    simulated: bool


class FleetView(Model):
    """The processes that drive the tenant's runs."""

    kind: str
    """`local`: the server itself and other processes on its machine; `fleet`: workers."""
    tenant: str
    driven_here: tuple[str, ...]
    """The runs that this server drives."""
    watched: int
    """The number of runs, of all tenants, that clients are following."""
    workers: bool | None
    """For a fleet: whether a worker of the tenant has asked for work in the last minutes; None if Temporal does not answer."""
    broken: tuple[str, ...]
    """For a fleet: runs whose execution was ended by a bug. Resume them to continue."""


class WebhookView(Model):
    """A webhook of the tenant, with the number of messages of the last week by state."""

    name: str
    host: str
    events: tuple[EventType, ...]
    waiting: int
    delivered: int
    failed: int
    """Messages that were not delivered within about three days."""
    problem: str
    """Why the last failed attempt failed."""


@router.get("/webhooks", responses=problem_responses())
async def list_webhooks(shared: SharedState, caller: Admin) -> tuple[WebhookView, ...]:
    """The webhooks of the caller's tenant."""
    notifier = shared.notifier
    return tuple(
        WebhookView(
            name=hook.name,
            host=urlsplit(hook.url).netloc,
            events=hook.events,
            **asdict(notifier.outbox.state(hook.name)),
        )
        for hook in (notifier.hooks if notifier else ())
        if notifier and hook.tenant == caller.tenant
    )


@router.get("/settings", responses=problem_responses())
async def list_settings(tenant_runs: TheRuns, caller: Reader) -> tuple[SettingRow, ...]:
    """The settings of new runs. The values of settings with files or addresses are shown only to administrators."""
    return tuple(
        SettingRow(
            name=name,
            value=""
            if name in SERVER_ONLY and not caller.may("administer")
            else format_value(getattr(tenant_runs.settings, name)),
            default=format_value(field.default),
            description=field.description or "",
            audience=audience_of(field),
            changeable=name not in SERVER_ONLY,
        )
        for name, field in Settings.model_fields.items()
    )


@router.get("/worlds", responses=problem_responses())
async def list_worlds(_: Reader) -> tuple[WorldRow, ...]:
    """The worlds that have a short name in task files."""
    return tuple(WorldRow(name=name, simulated=name in SIMULATED) for name in WORLDS)


@router.get("/fleet", responses=problem_responses())
async def get_fleet(tenant_runs: TheRuns, caller: Reader, shared: SharedState) -> FleetView:
    """The processes that drive the caller's runs."""
    await tenant_runs.refresh()
    return FleetView(
        kind=tenant_runs.kind,
        tenant=caller.tenant,
        driven_here=tenant_runs.driven_here(),
        watched=shared.hub.watched,
        workers=await tenant_runs.has_workers(),
        broken=tenant_runs.broken(),
    )
