"""A worker does not start on a database that may lose commits which it has confirmed."""

from urllib.parse import quote

import pytest

from midcourse.errors import FleetUnavailable
from midcourse.runtimes.temporal.worker import FleetWorker
from midcourse.store.postgres import PostgresStore
from midcourse.store.postgres.store import find_risk
from tests.runtimes.fleet import Fleet


def with_option(url: str, option: str) -> str:
    return f"{url}{'&' if '?' in url else '?'}options={quote(f'-c {option}')}"


async def test_a_worker_refuses_a_database_without_synchronous_commits(fleet: Fleet, postgres: str) -> None:
    async with PostgresStore(with_option(postgres, "synchronous_commit=off"), tenant=fleet.tenant) as store:
        worker = FleetWorker(fleet.client, store=store, build_ports=fleet.build_ports, tenant=fleet.tenant)
        with pytest.raises(FleetUnavailable, match=r"type: ALTER DATABASE .* SET synchronous_commit = on"):
            await worker.__aenter__()


@pytest.mark.parametrize("commit", ["on", "remote_apply", "remote_write", "local"])
async def test_commits_that_reach_this_servers_disk_are_enough_without_a_standby(
    commit: str, postgres: str, tenant: str
) -> None:
    async with PostgresStore(with_option(postgres, f"synchronous_commit={commit}"), tenant=tenant) as store:
        await store.check_durability()


class Settings:
    """The settings of a server."""

    def __init__(self, *settings: str) -> None:
        self._settings = settings

    async def rows(self, sql: bytes, values: object) -> list[tuple[str, ...]]:
        return [self._settings]


@pytest.mark.parametrize(
    ("commit", "fsync", "standbys", "risk"),
    [
        ("on", "on", "", ""),
        ("on", "on", "second", ""),
        ("local", "on", "second", "a fail-over to a standby loses confirmed commits"),
        ("on", "off", "", "ALTER SYSTEM SET fsync = on"),
    ],
)
async def test_settings_of_the_server_that_risk_commits_are_reported(
    commit: str, fsync: str, standbys: str, risk: str
) -> None:
    found = await find_risk(Settings("runs", commit, fsync, standbys))  # pyrefly: ignore[bad-argument-type]
    assert risk in found
    assert bool(risk) == bool(found)
