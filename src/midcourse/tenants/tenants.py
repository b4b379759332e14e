"""The tenants of a server."""

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Literal, Protocol

from midcourse.config.fleet_settings import FleetSettings
from midcourse.config.settings import Settings
from midcourse.errors import TaskInvalid
from midcourse.tenants.local import LocalRuns
from midcourse.tenants.runs import TenantRuns

LOCAL = "local"
"""The tenant of the runs in a home."""


class Tenants(Protocol):
    @property
    def kind(self) -> Literal["local", "fleet"]: ...

    def has(self, tenant: str) -> bool:
        """Whether this server may have runs of this tenant."""
        ...

    async def find_runs(self, tenant: str) -> TenantRuns:
        """Return the runs of a tenant. Raises `TaskInvalid` if there is none, `FleetUnavailable` if its servers do not answer."""
        ...

    async def open(self) -> None:
        """Prepare for requests; called once before the first one. Raises what the first request would raise."""
        ...

    async def ping(self) -> None:
        """Check that all databases can be used. Raises `ConnectionError` or `StoreUnusable` if one cannot."""
        ...

    async def close(self) -> None: ...


class LocalTenants:
    """The runs of homes, by tenant; `midcourse serve` has one home."""

    kind: Literal["local"] = "local"

    def __init__(self, homes: Mapping[str, Settings]) -> None:
        self._tenants = {tenant: LocalRuns(settings) for tenant, settings in homes.items()}

    def has(self, tenant: str) -> bool:
        return tenant in self._tenants

    async def find_runs(self, tenant: str) -> TenantRuns:
        return self._tenants[tenant]

    async def open(self) -> None:
        """Resume the runs that an earlier server drove."""
        for tenant_runs in self._tenants.values():
            await tenant_runs.resume_served()

    async def ping(self) -> None:
        for tenant_runs in self._tenants.values():
            await tenant_runs.ping()

    async def close(self) -> None:
        for tenant_runs in self._tenants.values():
            await tenant_runs.close()


class FleetTenants:
    """The tenants of a fleet. Each tenant has its own connections, which see only its own rows and are opened at its first request."""

    kind: Literal["fleet"] = "fleet"

    def __init__(self, fleet: FleetSettings, settings: Settings) -> None:
        self._fleet = fleet
        self._settings = settings
        self._tenants: dict[str, TenantRuns] = {}
        self._opened = AsyncExitStack()
        self._one_at_a_time = asyncio.Lock()

    def has(self, tenant: str) -> bool:
        """Always true, since there is no list of tenants. The keys, proxy or identity provider decide which runs a caller sees."""
        from midcourse.store.postgres.store import TENANT

        return TENANT.fullmatch(tenant) is not None

    async def find_runs(self, tenant: str) -> TenantRuns:
        if tenant in self._tenants:
            return self._tenants[tenant]
        if not self.has(tenant):
            raise TaskInvalid(f"{tenant!r} is not a valid name for a tenant")
        from midcourse.fleet.connection import connect_fleet
        from midcourse.tenants.fleet import FleetRuns

        async with self._one_at_a_time:
            if tenant not in self._tenants:
                of_tenant = self._fleet.model_copy(update={"tenant": tenant})
                fleet = await self._opened.enter_async_context(connect_fleet(of_tenant))
                settings = self._settings
                if tenant != self._fleet.tenant:  # what another tenant may spend is not for its people to raise
                    settings = settings.with_overrides({"ask_for_more": False})
                self._tenants[tenant] = FleetRuns(fleet, settings)
            return self._tenants[tenant]

    async def open(self) -> None:
        await self.find_runs(self._fleet.tenant)

    async def ping(self) -> None:
        for tenant_runs in list(self._tenants.values()):
            await tenant_runs.ping()

    async def close(self) -> None:
        await self._opened.aclose()
