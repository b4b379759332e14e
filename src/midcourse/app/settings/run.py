"""Every setting of a run: its type, its bounds, its default, and what it changes. Settings of a fleet are in `app/fleet/settings.py`.

`--set` overrides the environment, which overrides the task file, which overrides the default. The preset `recovery` fills in what
none of them sets.
"""

import unicodedata
import warnings
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Annotated, TypeVar, cast

from pydantic import AliasChoices, Field, ValidationError, field_validator
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, SettingsConfigDict

from midcourse.app.settings.approval_policy import read_agreement
from midcourse.app.settings.audience import BENCHMARKS, EVERYDAY
from midcourse.app.settings.environment import (
    IneffectiveSetting,
    is_given_by_other_name,
    warn_of_misspelt_variables,
)
from midcourse.app.settings.home import DEFAULT_HOME
from midcourse.app.settings.recovery import PREFIX, RecoverySettings, rules_as_json
from midcourse.domain.agreement import Agreement
from midcourse.domain.budget import Approvals, FinalLooks, Limits
from midcourse.domain.failure import FailureRule
from midcourse.domain.monitor import Monitors
from midcourse.domain.outline import Outlines
from midcourse.errors import TaskInvalid
from midcourse.policy.failure.ineffective_settings import find_ineffective_setting
from midcourse.policy.spelling import describe_unknown
from midcourse.ports.memory import ALIKE

SOURCES = SettingsConfigDict(
    env_prefix=PREFIX,
    env_file=".env",
    env_ignore_empty=True,
    extra="ignore",
    frozen=True,
    allow_inf_nan=False,
    populate_by_name=True,
)

S = TypeVar("S", bound=BaseSettings)


class Settings(RecoverySettings):
    """Settings from environment variables (`MIDCOURSE_MAX_CALLS`) and a `.env` file in the current directory.

    Create them with `load`: for a bad value from any source it raises `TaskInvalid` with its name and the reason.
    """

    model_config = SOURCES

    max_calls: Annotated[int, EVERYDAY] = Field(
        default=Limits.max_calls,
        ge=1,
        description="Ceiling on model calls of a run, planning and paid looks together. What the next command can cost at "
        "worst is reserved first, so no run ends above it.",
    )
    max_tokens: Annotated[int | None, EVERYDAY] = Field(
        default=Limits.max_tokens,
        ge=1,
        description="Ceiling on tokens of a run. It holds as far as `plan_tokens` says what a call takes at most.",
    )
    max_cost_usd: Annotated[float | None, EVERYDAY] = Field(
        default=Limits.max_cost_usd,
        gt=0,
        description="Ceiling on a run's model cost in US dollars. It holds as far as `plan_cost_usd` says what a call costs "
        "at most.",
    )
    max_wall_seconds: Annotated[float, EVERYDAY] = Field(
        default=Limits.max_wall_seconds,
        gt=0,
        description="Ceiling on the time a run works. Time paused, waiting for a person or without a process is not work.",
    )
    deadline_seconds: Annotated[float | None, EVERYDAY] = Field(
        default=Limits.deadline_seconds,
        gt=0,
        description="The run ends as `deadline_exceeded` this long after its start, pauses included.",
    )
    max_segments: int = Field(
        default=Limits.max_segments,
        ge=1,
        description="Ceiling on plans of a run: the first, one at each transition, one after each failure.",
    )
    max_replans: Annotated[int, EVERYDAY] = Field(
        default=Limits.max_replans,
        ge=0,
        description="Replans that are not the continuation after a verified transition. The next one ends the run as "
        "`replan_exhausted`.",
    )
    max_step_retries: Annotated[int, EVERYDAY] = Field(
        default=Limits.max_step_retries,
        ge=0,
        description="How often a step is repeated after a transient failure; 3 retries are 4 executions. A failed look and "
        "a world that does not open are tried again as often.",
    )
    max_plan_steps: int = Field(
        default=Limits.max_plan_steps,
        ge=1,
        description="A longer plan is cut here, and `__replan__` put in place of the rest.",
    )
    max_reopenings: int = Field(
        default=Limits.max_reopenings,
        ge=0,
        description="How often a world whose session was lost is opened again. The next loss ends the run as `world_lost`.",
    )
    max_outage_seconds: float = Field(
        default=Limits.max_outage_seconds,
        ge=0,
        description="How long a run waits for a world's host or a model that cannot be reached; then it ends as `outage`. For PostgreSQL a run in one "
        "process waits so long, then can be resumed; a fleet waits until it is back. `max_wall_seconds` and `deadline_seconds` count meanwhile.",
    )
    detour_iterations: int = Field(
        default=Limits.detour_iterations,
        ge=0,
        description="How many tries a detour to a step that is out of reach may take; the last one without success gives it up. "
        "`0` is no detours. Without a detour planner there are none.",
    )
    outline: Annotated[Outlines, EVERYDAY] = Field(
        default=Limits.outline,
        description="Coarse goals that the planner is told as a suggestion, with what is reached of them: `on` from the start, `auto` "
        "once the run gets nowhere, `off` never. Without a model or an outliner of your own there are none ([the outline](outline.md)).",
    )
    monitor: Annotated[Monitors, EVERYDAY] = Field(
        default=Limits.monitor,
        description="`path` reviews what was done before every plan but the first, and tells the planner only what is fundamentally "
        "wrong: going round, no progress. `proposals` also reviews every plan before its first step; one that is objected to is made "
        "again, once. By rules, unless `role_models` names a model for `monitor` "
        "([the monitor](monitor.md)).",
    )
    visible_plans: Annotated[int | None, BENCHMARKS] = Field(
        default=Limits.visible_plans,
        ge=0,
        description="How many plans keep to what is visible; later ones may go through screens not seen yet, as a fixed "
        "plan does. For comparison only: `0` is one fixed plan, `none` is no such plan.",
    )
    count_extensions: Annotated[bool, BENCHMARKS] = Field(
        default=Limits.count_extensions,
        description="Counts the continuation after a verified transition against `max_replans`: "
        "then a perfect task of seven pages fails.",
    )
    replan_admission: Annotated[bool, BENCHMARKS] = Field(
        default=Limits.replan_admission,
        description="Refuses a plan that repeats a failed step on an unchanged screen. Off, a stuck planner continues until "
        "the replans are used up.",
    )
    structural_stop: Annotated[bool, BENCHMARKS] = Field(
        default=Limits.structural_stop,
        description="Ends the run immediately as `structural_failure` if no plan can help: unreachable, not permitted, "
        "impossible. Off, it replans while it may.",
    )
    lessons: Annotated[bool, EVERYDAY] = Field(
        default=True,
        description="Remembers failures and what fixed them, for later runs. Off, nothing is remembered or recalled.",
    )
    agent: str = Field(
        default="default",
        min_length=1,
        description="Whose lessons these are. Other agents in the same home, or of the same tenant, see only how often a new "
        "plan helped; the words of a lesson once a person has shared it.",
    )
    embedder: str = Field(
        default="",
        description="Model that compares failures where none has the same signature, such as `openai:text-embedding-3-small`. "
        "Empty: they are compared by their text.",
    )
    embedder_base_url: str = Field(
        default="",
        description="Where the embedder is served, if not at its provider's own address: any server with OpenAI's protocol.",
    )
    lesson_similarity: float = Field(
        default=ALIKE,
        gt=0,
        le=1,
        description="How similar a failure with another signature must be to be recalled; 1 is the same text.",
    )
    lesson_stop_after: int | None = Field(
        default=Limits.lesson_stop_after,
        ge=1,
        description="Ends the run as `structural_failure` instead of planning again, if this many runs have met the same "
        "failure and planned again, and none got past it. `none`: what other runs met never ends a run.",
    )
    lesson_tries: float = Field(
        default=Limits.lesson_tries,
        ge=0,
        le=1,
        description="Share of runs that plan again all the same, which shows when the cause is gone. Which ones "
        "is drawn from the run's id.",
    )
    retry_delay_seconds: float = Field(
        default=Limits.retry_delay_seconds,
        ge=0,
        description="Wait before the first retry of a step; it doubles with each further one. What needs time to pass (busy, timeout, "
        "network) is waited for three times as long, each time.",
    )
    max_retry_delay_seconds: float = Field(
        default=Limits.max_retry_delay_seconds,
        ge=0,
        description="The wait before a retry never grows beyond this.",
    )
    approvals: Annotated[Approvals, EVERYDAY] = Field(
        default=Limits.approvals,
        description="`always`: a person has to agree to every irreversible step. `adaptive`: to reversible ones, too, until "
        "people have agreed to their like often enough. `never`: no approval is needed, except for what "
        "`approval_policy` says.",
    )
    approval_seconds: Annotated[float, EVERYDAY] = Field(
        default=Limits.approval_seconds,
        gt=0,
        description="An unanswered question expires after this, and so does an approval that was given.",
    )
    approval_policy: Annotated[Path | None, EVERYDAY] = Field(
        default=None,
        description="A file of rules that come before the mode: what is always asked about, what never, and whether the user who "
        "starts a run may decide its questions ([approvals](approvals.md)). Read when a run begins.",
    )
    wrap_up_at: float = Field(
        default=Limits.wrap_up_at,
        gt=0,
        le=1,
        description="From this share of any ceiling on, the planner is told to bring the task to a good end.",
    )
    look_calls: int = Field(
        default=Limits.look_calls,
        ge=0,
        description="Model calls that one look costs: 0 where the world says what is on the screen, 1 where a vision model "
        "has to read it.",
    )
    final_looks: FinalLooks = Field(
        default=Limits.final_looks,
        description="`each`: look after every step. `last`: in the final plan, look only after its last step and after "
        "irreversible ones, which saves calls where a look costs one.",
    )
    plan_tokens: int = Field(
        default=Limits.plan_tokens,
        ge=0,
        description="Tokens that a call of the planner or of any model takes at most; reserved before each call. 0: what a model "
        "needs, 60,000.",
    )
    plan_cost_usd: float = Field(
        default=Limits.plan_cost_usd,
        ge=0,
        description="US dollars that such a call costs at most; reserved before each call. 0: by the model's price.",
    )
    act_timeout_seconds: Annotated[float, EVERYDAY] = Field(
        default=Limits.act_timeout_seconds,
        gt=0,
        description="A step that takes longer is given up. If it was irreversible, its outcome is then unknown and is "
        "looked into.",
    )
    look_timeout_seconds: Annotated[float, EVERYDAY] = Field(
        default=Limits.look_timeout_seconds,
        gt=0,
        description="A look that takes longer has failed: the last observation stays, marked stale. Opening a world has "
        "as long.",
    )
    plan_timeout_seconds: Annotated[float, EVERYDAY] = Field(
        default=Limits.plan_timeout_seconds,
        gt=0,
        description="A planner that takes longer counts as unreachable.",
    )
    step_delay_seconds: Annotated[float, EVERYDAY] = Field(
        default=0.0,
        ge=0,
        description="Pause between acting and looking, for worlds that do not say when they have settled.",
    )
    home: Annotated[Path, EVERYDAY] = Field(
        default=Path(DEFAULT_HOME),
        description="Directory in which runs are kept. Only its owner may read it: the folder is 0700, files in it are 0600.",
    )

    retention_days: float | None = Field(
        default=None,
        gt=0,
        description="`midcourse prune` deletes the records of runs that ended so many days ago ([operations](operations.md)). `none`: only with `--older-than`.",
    )

    @field_validator("home")
    @classmethod
    def _refuse_control_characters(cls, home: Path) -> Path:
        """A task file may name the home, its path is printed, and no system call takes a path with a NUL."""
        if any(unicodedata.category(char) == "Cc" for char in str(home)):
            raise ValueError("has to be a path without control characters")
        return home

    @field_validator(
        "max_tokens",
        "max_cost_usd",
        "deadline_seconds",
        "visible_plans",
        "reads_words",
        "human_after",
        "lesson_stop_after",
        "record",
        "cassette",
        "approval_policy",
        "retention_days",
        mode="before",
    )
    @classmethod
    def _none_in_words(cls, value: object) -> object:
        """Read `none` as None, because neither the environment nor TOML can express it otherwise."""
        return None if isinstance(value, str) and value.strip().lower() == "none" else value

    @classmethod
    def load(
        cls, task: Mapping[str, object] | None = None, overrides: Mapping[str, object] | None = None
    ) -> "Settings":
        """Load the settings of a run: `overrides` are from `--set`, `task` from the task file's `[settings]`.

        Warns of an environment variable that nearly has the name of a setting.
        """
        settings = build_settings(cls, {}, "")
        warn_of_misspelt_variables(cls)
        if overrides:
            settings = settings.with_overrides(overrides)
        return settings.with_task(task) if task else settings

    def with_overrides(self, pairs: Mapping[str, object]) -> "Settings":
        """A copy with other values, given as values or as text: `{"max_calls": 5, "approvals": "never"}`."""
        check_names(pairs)
        texts = {name: value.strip() if isinstance(value, str) else value for name, value in pairs.items()}
        return build_settings(Settings, explicit_values(self) | texts, "--set ")

    def with_task(self, values: Mapping[str, object]) -> "Settings":
        """A copy with the values of a task file for everything that is not set explicitly."""
        check_names(values)
        return build_settings(Settings, {**values, **explicit_values(self)}, "[settings] ")

    def agreement(self) -> Agreement:
        """Read the approval policy. Raises `TaskInvalid` if the file is not valid."""
        return read_agreement(self.approval_policy) if self.approval_policy else Agreement()

    def limits(self) -> Limits:
        """The limits that these settings describe. Raises `TaskInvalid` if a setting can never take effect.

        If such a setting was given by its other name, this only warns and ignores it: those are pasted as a block.
        """
        limits = Limits(**{field.name: getattr(self, field.name) for field in fields(Limits)})
        while why := find_ineffective_setting(limits, self.model_fields_set):
            name = why.partition(" ")[0]
            other = aliases().get(name, "")
            if is_given_by_other_name(other, f"{PREFIX}{name.upper()}", Settings) and (
                getattr(limits, name) != getattr(Limits, name)
            ):
                warnings.warn(f"{other} has no effect: {why}", IneffectiveSetting, stacklevel=1)
                limits = replace(limits, **{name: getattr(Limits, name)})
                continue
            raise TaskInvalid(why if self.recovery == "default" else f"{why} (recovery = {self.recovery})")
        return limits


def explicit_values(settings: BaseSettings) -> dict[str, object]:
    """The settings that were set explicitly, without defaults."""
    return {name: getattr(settings, name) for name in sorted(settings.model_fields_set)}


def check_names(values: Mapping[str, object], kind: type[BaseSettings] = Settings) -> None:
    for name in values:
        if name not in kind.model_fields:
            raise TaskInvalid(describe_unknown("setting", name, kind.model_fields))


def build_settings(kind: type[S], values: dict[str, object], source: str) -> S:
    """Build settings from these values and the environment. Error messages put `source` before the name of a value."""
    try:
        return kind(**values)  # pyright: ignore[reportArgumentType]
    except ValidationError as error:
        raise TaskInvalid("; ".join(_describe_error(detail, values, source) for detail in error.errors())) from None


def _describe_error(detail: ErrorDetails, values: Mapping[str, object], source: str) -> str:
    name = str(detail["loc"][0])
    where = f"{source}{name}" if name in values else variables_of(name)
    return f"{where} = {detail['input']!r}: {detail['msg'].removeprefix('Value error, ').replace('Input should be', 'has to be')}"


def variables_of(name: str) -> str:
    """The environment variables of a setting, joined by 'or' if there are two."""
    own = name if name.startswith(PREFIX) else f"{PREFIX}{name.upper()}"
    other = aliases().get(own.removeprefix(PREFIX).lower())
    return f"{own} or {other}" if other else own


def aliases(kind: type[BaseSettings] = Settings) -> dict[str, str]:
    """The other environment variable of each setting that has one."""
    known = {name: field.validation_alias for name, field in kind.model_fields.items()}
    return {name: str(also.choices[1]) for name, also in known.items() if isinstance(also, AliasChoices)}


def format_value(value: object) -> str:
    """A value as text for `--set`, the environment and, with quotes around text, a task file."""
    if isinstance(value, tuple):
        return rules_as_json(cast(tuple[FailureRule, ...], value))
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)
