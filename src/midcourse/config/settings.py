"""Every setting of a run: its type, its bounds, its default, and what it changes. Settings of a fleet are in `config/fleet_settings.py`.

`--set` overrides the environment, which overrides the task file, which overrides the default. The preset `recovery` fills in what
none of them sets.
"""

import unicodedata
import warnings
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Annotated, cast

from pydantic import Field, field_validator

from midcourse.config.approval_policy import read_agreement
from midcourse.config.recovery import RecoverySettings, rules_as_json
from midcourse.config.variables import (
    BENCHMARKS,
    DEFAULT_HOME,
    EVERYDAY,
    IneffectiveSetting,
    aliases,
    build_settings,
    check_names,
    explicit_values,
    is_given_by_other_name,
    variable_of,
    warn_of_misspelt_variables,
)
from midcourse.domain.agreement import Agreement
from midcourse.domain.budget import Approvals, FinalLooks, Limits
from midcourse.domain.failure import FailureRule
from midcourse.domain.monitor import Monitors
from midcourse.domain.outline import Outlines
from midcourse.errors import TaskInvalid
from midcourse.policy.failure.recovery import find_ineffective_setting
from midcourse.ports.memory import ALIKE


class Settings(RecoverySettings):
    """Settings from environment variables (`MIDCOURSE_MAX_CALLS`) and a `.env` file in the current directory.

    Create them with `load`: for a bad value from any source it raises `TaskInvalid` with its name and the reason.
    """

    max_calls: Annotated[int, EVERYDAY] = Field(
        default=Limits.max_calls,
        ge=1,
        description="Ceiling on the model calls of a run, for planning and paid looks together. The worst-case cost of each command is reserved in "
        "advance, so no run exceeds it.",
    )
    max_tokens: Annotated[int | None, EVERYDAY] = Field(
        default=Limits.max_tokens,
        ge=1,
        description="Ceiling on the tokens of a run. It is reliable only if no call takes more than `plan_tokens`.",
    )
    max_cost_usd: Annotated[float | None, EVERYDAY] = Field(
        default=Limits.max_cost_usd,
        gt=0,
        description="Ceiling on a run's model cost in US dollars. It is reliable only if no call costs more than `plan_cost_usd`.",
    )
    ask_for_more: bool = Field(
        default=Limits.ask_for_more,
        description="At a ceiling on calls, tokens or cost, asks the approver whether the run may spend as much again, each time. Off, without "
        "an approver, in a batch, or with `approvals = never`, the run ends there ([more than the ceiling](approvals.md#more-than-a-ceiling)).",
    )
    max_wall_seconds: Annotated[float, EVERYDAY] = Field(
        default=Limits.max_wall_seconds,
        gt=0,
        description="Ceiling on the time a run works. Time in which it is paused, waits for a person or has no process does not count.",
    )
    deadline_seconds: Annotated[float | None, EVERYDAY] = Field(
        default=Limits.deadline_seconds,
        gt=0,
        description="The run ends as `deadline_exceeded` this long after its start. Pauses count.",
    )
    max_segments: int = Field(
        default=Limits.max_segments,
        ge=1,
        description="Ceiling on the plans of a run: the first one, one at each transition, and one after each failure.",
    )
    max_replans: Annotated[int, EVERYDAY] = Field(
        default=Limits.max_replans,
        ge=0,
        description="The most replans. A plan after progress (a new screen, value, result or effect) does not count, except "
        "after a failure or an answer of yours. One more replan ends the run as `replan_exhausted`.",
    )
    max_step_retries: Annotated[int, EVERYDAY] = Field(
        default=Limits.max_step_retries,
        ge=0,
        description="The most retries of a step after a transient failure; 3 retries are 4 executions. A failed look, and a world that does not open, "
        "are retried as often.",
    )
    max_plan_steps: int = Field(
        default=Limits.max_plan_steps,
        ge=1,
        description="A longer plan is cut off after this number of steps, and `__replan__` is put in place of the rest.",
    )
    max_reopenings: int = Field(
        default=Limits.max_reopenings,
        ge=0,
        description="How often a world is opened again after its session was lost. One more loss ends the run as `world_lost`.",
    )
    max_outage_seconds: float = Field(
        default=Limits.max_outage_seconds,
        ge=0,
        description="How long a run waits for a world's host or a model that cannot be reached. Then it ends as `outage`. A run in one process waits "
        "as long for PostgreSQL, and can then be resumed; a fleet waits until PostgreSQL is back. `max_wall_seconds` and "
        "`deadline_seconds` count during the wait.",
    )
    detour_iterations: int = Field(
        default=Limits.detour_iterations,
        ge=0,
        description="The most tries to reach a step that is out of reach by a detour. If the last one fails, the detour is given up. `0`: no detours. "
        "Detours also need a detour planner.",
    )
    outline: Annotated[Outlines, EVERYDAY] = Field(
        default=Limits.outline,
        description="Gives the planner coarse goals as a suggestion, with those that are reached. `on`: from the start. `auto`: when the run makes no "
        "progress. `off`: never. Needs a model or your own outliner ([the outline](outline.md)).",
    )
    monitor: Annotated[Monitors, EVERYDAY] = Field(
        default=Limits.monitor,
        description="`path` reviews what was done before every plan except the first, and tells the planner only about fundamental problems: going in "
        "circles, no progress. `proposals` reviews each plan before its first step, with the path before it; if it objects, the plan is made again, once. "
        "The review uses rules, unless `role_models` names a model for `monitor` ([the monitor](monitor.md)).",
    )
    visible_plans: Annotated[int | None, BENCHMARKS] = Field(
        default=Limits.visible_plans,
        ge=0,
        description="How many plans are limited to what is visible. Later plans may cover screens that have not been seen, as a fixed plan does. `0`: "
        "one fixed plan. `none`: all plans are limited to what is visible.",
    )
    count_extensions: Annotated[bool, BENCHMARKS] = Field(
        default=Limits.count_extensions,
        description="Counts a plan after progress as a replan (`max_replans`). Then even a task of seven pages without any failure "
        "fails.",
    )
    replan_admission: Annotated[bool, BENCHMARKS] = Field(
        default=Limits.replan_admission,
        description="Refuses a plan that repeats a failed step on an unchanged screen. If off, a planner that is stuck continues until the replans "
        "are used up.",
    )
    structural_stop: Annotated[bool, BENCHMARKS] = Field(
        default=Limits.structural_stop,
        description="A step that was shown to be impossible (unreachable, not permitted) is not tried again. The planner is asked once for a way without it; if there is none, the run ends as `structural_failure`. If off, the run "
        "makes new plans as long as it may.",
    )
    lessons: Annotated[bool, EVERYDAY] = Field(
        default=True,
        description="Remembers failures and what fixed them, for later runs. If off, nothing is remembered or recalled.",
    )
    agent: str = Field(
        default="default",
        min_length=1,
        description="The name of the agent that lessons belong to. Other agents in the same home, or of the same tenant, see only how often a new "
        "plan helped. They see the text of a lesson once a person has shared it.",
    )
    embedder: str = Field(
        default="",
        description="The model that compares failures if none has the same signature, such as `openai:text-embedding-3-small`. If empty, they are "
        "compared by their text.",
    )
    embedder_base_url: str = Field(
        default="",
        description="Address of the embedder, if it is not the provider's own: any server with OpenAI's protocol.",
    )
    lesson_similarity: float = Field(
        default=ALIKE,
        gt=0,
        le=1,
        description="How similar a failure with another signature must be to be recalled. 1 means the same text.",
    )
    lesson_stop_after: int | None = Field(
        default=Limits.lesson_stop_after,
        ge=1,
        description="If this many runs have met the same failure and planned again, and none got past it, the run ends as `structural_failure` "
        "instead of planning again. `none`: failures of other runs never end a run.",
    )
    lesson_tries: float = Field(
        default=Limits.lesson_tries,
        ge=0,
        le=1,
        description="The share of runs that plan again in spite of `lesson_stop_after`. They show when the cause is gone. The run's id decides which "
        "runs these are.",
    )
    retry_delay_seconds: float = Field(
        default=Limits.retry_delay_seconds,
        ge=0,
        description="The wait before the first retry of a step. It doubles with each further retry. For a failure that needs time to pass (busy, "
        "timeout, network), the first wait is three times as long, and it triples with each further retry.",
    )
    max_retry_delay_seconds: float = Field(
        default=Limits.max_retry_delay_seconds,
        ge=0,
        description="The longest wait before a retry.",
    )
    approvals: Annotated[Approvals, EVERYDAY] = Field(
        default=Limits.approvals,
        description="`always`: a person must approve every irreversible step. `adaptive`: also reversible steps, until people have approved similar "
        "ones often enough. `never`: no approval is needed, except where `approval_policy` requires it.",
    )
    approval_seconds: Annotated[float, EVERYDAY] = Field(
        default=Limits.approval_seconds,
        gt=0,
        description="A question expires if it is not answered within this time. An approval that was given expires after the same time.",
    )
    approval_policy: Annotated[Path | None, EVERYDAY] = Field(
        default=None,
        description="A file with rules that override `approvals`: what always needs an approval, what never does, and whether the user who starts a "
        "run may decide its questions ([approvals](approvals.md)). It is read when a run begins.",
    )
    wrap_up_at: float = Field(
        default=Limits.wrap_up_at,
        gt=0,
        le=1,
        description="When a run has used this share of any ceiling, the planner is told to wrap up the task.",
    )
    look_calls: int = Field(
        default=Limits.look_calls,
        ge=0,
        description="Model calls that one look costs: 0 if the world itself reports what is on the screen, 1 if a vision model has to read it.",
    )
    final_looks: FinalLooks = Field(
        default=Limits.final_looks,
        description="`each`: look after every step. `last`: in the final plan, look only after the last step and after irreversible steps. This saves "
        "calls if a look costs one.",
    )
    plan_tokens: int = Field(
        default=Limits.plan_tokens,
        ge=0,
        description="The most tokens that one call of the planner or another model takes. They are reserved before each call. 0: the default for "
        "models, 60,000.",
    )
    plan_cost_usd: float = Field(
        default=Limits.plan_cost_usd,
        ge=0,
        description="The most that one such call costs, in US dollars. It is reserved before each call. 0: calculated from the model's price.",
    )
    act_timeout_seconds: Annotated[float, EVERYDAY] = Field(
        default=Limits.act_timeout_seconds,
        gt=0,
        description="A step that takes longer is given up. If it was irreversible, its outcome is unknown, and Midcourse looks "
        "for evidence of whether it happened.",
    )
    look_timeout_seconds: Annotated[float, EVERYDAY] = Field(
        default=Limits.look_timeout_seconds,
        gt=0,
        description="A look that takes longer has failed. The last observation is kept and marked as stale. Opening a world has the same time limit.",
    )
    plan_timeout_seconds: Annotated[float, EVERYDAY] = Field(
        default=Limits.plan_timeout_seconds,
        gt=0,
        description="A planner that takes longer counts as unreachable.",
    )
    step_delay_seconds: Annotated[float, EVERYDAY] = Field(
        default=0.0,
        ge=0,
        description="The pause between acting and looking, for worlds that do not report when they have settled.",
    )
    home: Annotated[Path, EVERYDAY] = Field(
        default=Path(DEFAULT_HOME),
        description="The directory in which runs are kept. Only its owner can read it: the folder has mode 0700, and files in it 0600.",
    )

    retention_days: float | None = Field(
        default=None,
        gt=0,
        description="`midcourse prune` deletes the records of runs that ended more than this number of days ago ([operations](operations.md)). "
        "`none`: it needs `--older-than`.",
    )

    @field_validator("home")
    @classmethod
    def _refuse_control_characters(cls, home: Path) -> Path:
        """Refuse control characters: a task file may name the home, its path is printed, and no path can contain a NUL."""
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
        from midcourse.config.fleet_settings import FleetSettings  # its variables are no misspelt ones of these

        settings = build_settings(cls, {}, "")
        warn_of_misspelt_variables(cls, FleetSettings)
        if overrides:
            settings = settings.with_overrides(overrides)
        return settings.with_task(task) if task else settings

    def with_overrides(self, pairs: Mapping[str, object]) -> "Settings":
        """A copy with other values, given as values or as text: `{"max_calls": 5, "approvals": "never"}`."""
        check_names(pairs, Settings)
        texts = {name: value.strip() if isinstance(value, str) else value for name, value in pairs.items()}
        return build_settings(Settings, explicit_values(self) | texts, "--set ")

    def with_task(self, values: Mapping[str, object]) -> "Settings":
        """A copy with the values of a task file for everything that is not set explicitly."""
        check_names(values, Settings)
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
            other = aliases(Settings).get(name, "")
            if is_given_by_other_name(other, variable_of(name)) and (getattr(limits, name) != getattr(Limits, name)):
                warnings.warn(f"{other} has no effect: {why}", IneffectiveSetting, stacklevel=1)
                limits = replace(limits, **{name: getattr(Limits, name)})
                continue
            raise TaskInvalid(why if self.recovery == "default" else f"{why} (recovery = {self.recovery})")
        return limits


def format_value(value: object) -> str:
    """A value as text for `--set`, the environment and, with quotes around text, a task file."""
    if isinstance(value, tuple):
        return rules_as_json(cast(tuple[FailureRule, ...], value))
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)
