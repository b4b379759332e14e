"""The desks of a server: one for each tenant."""

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Literal, Protocol

from midcourse.config.fleet_settings import FleetSettings
from midcourse.config.settings import Settings
from midcourse.errors import TaskInvalid
from midcourse.tenants.desk import Desk
from midcourse.tenants.local import LocalDesk

LOCAL = "local"
"""The tenant of the runs in a home."""


class Desks(Protocol):
    @property
    def kind(self) -> Literal["local", "fleet"]: ...

    def has(self, tenant: str) -> bool:
        """Whether this server may have runs of this tenant."""
        ...

    async def find_desk(self, tenant: str) -> Desk:
        """Return the desk of a tenant. Raises `TaskInvalid` if there is none, `FleetUnavailable` if its servers do not answer."""
        ...

    async def open(self) -> None:
        """Prepare for requests; called once before the first one. Raises what the first request would raise."""
        ...

    async def ping(self) -> None:
        """Check that all databases can be used. Raises `ConnectionError` or `StoreUnusable` if one cannot."""
        ...

    async def close(self) -> None: ...


class LocalDesks:
    """The desks of homes, by tenant; `midcourse serve` has one home."""

    kind: Literal["local"] = "local"

    def __init__(self, homes: Mapping[str, Settings]) -> None:
        self._desks = {tenant: LocalDesk(settings) for tenant, settings in homes.items()}

    def has(self, tenant: str) -> bool:
        return tenant in self._desks

    async def find_desk(self, tenant: str) -> Desk:
        return self._desks[tenant]

    async def open(self) -> None:
        """Resume the runs that an earlier server drove."""
        for desk in self._desks.values():
            await desk.resume_served()

    async def ping(self) -> None:
        for desk in self._desks.values():
            await desk.ping()

    async def close(self) -> None:
        for desk in self._desks.values():
            await desk.close()


class FleetDesks:
    """The desks of a fleet. Each tenant has its own connections, which see only its own rows and are opened at its first request."""

    kind: Literal["fleet"] = "fleet"

    def __init__(self, fleet: FleetSettings, settings: Settings) -> None:
        self._fleet = fleet
        self._settings = settings
        self._desks: dict[str, Desk] = {}
        self._opened = AsyncExitStack()
        self._one_at_a_time = asyncio.Lock()

    def has(self, tenant: str) -> bool:
        """Always true, since there is no list of tenants. The keys, proxy or identity provider decide which runs a caller sees."""
        from midcourse.store.postgres.store import TENANT

        return TENANT.fullmatch(tenant) is not None

    async def find_desk(self, tenant: str) -> Desk:
        if tenant in self._desks:
            return self._desks[tenant]
        if not self.has(tenant):
            raise TaskInvalid(f"{tenant!r} is not a valid name for a tenant")
        from midcourse.fleet.connection import connect_fleet
        from midcourse.tenants.fleet import FleetDesk

        async with self._one_at_a_time:
            if tenant not in self._desks:
                of_tenant = self._fleet.model_copy(update={"tenant": tenant})
                fleet = await self._opened.enter_async_context(connect_fleet(of_tenant))
                self._desks[tenant] = FleetDesk(fleet, self._settings)
            return self._desks[tenant]

    async def open(self) -> None:
        await self.find_desk(self._fleet.tenant)

    async def ping(self) -> None:
        for desk in list(self._desks.values()):
            await desk.ping()

    async def close(self) -> None:
        await self._opened.aclose()
