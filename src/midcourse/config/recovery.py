"""The settings of recovery: a preset, and single settings that override it. Some are also known by the names of the system they come from."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Annotated, Any, Literal, Self, TypeAlias, cast

from pydantic import AliasChoices, Field, field_validator, model_validator

from midcourse.config.model_settings import ModelSettings
from midcourse.config.variables import EVERYDAY, variable_of
from midcourse.domain.budget import Limits
from midcourse.domain.failure import FailureRule
from midcourse.policy.spelling import describe_unknown

MOST_RULES = 50
"""The maximum number of failure rules: they are part of the state of a run, which must stay small."""


Preset: TypeAlias = Literal["default", "strict", "off"]

_DEFAULT: dict[str, object] = {
    name: getattr(Limits, name)
    for name in (
        "auto_replan",
        "max_error_replans",
        "replan_interval_seconds",
        "replan_timeout_seconds",
        "replan_on_critical",
        "replan_on_high",
        "replan_on_medium",
        "human_after",
        "retry_delay_seconds",
        "max_retry_delay_seconds",
        "backoff_jitter",
    )
}
PRESETS: dict[Preset, dict[str, object]] = {
    "default": _DEFAULT,
    "strict": _DEFAULT | {"human_after": 1, "max_error_replans": 2},
    "off": _DEFAULT | {"auto_replan": False},
}
"""What each value of `recovery` stands for, setting by setting."""


def also_known_as(name: str, other: str) -> AliasChoices:
    """The environment variable of a setting, and another one that is read if the first is not set."""
    return AliasChoices(variable_of(name), other)


class RecoverySettings(ModelSettings):
    recovery: Annotated[Preset, EVERYDAY] = Field(
        default="default",
        description="What happens after a failure that retries do not fix. `default`: up to three new plans. `strict`: one new plan, then a person is "
        "asked; at most two plans are made without asking. `off`: no new plan, the run ends. Individual recovery settings override this "
        "preset ([recovery](recovery.md)).",
    )
    auto_replan: bool = Field(
        default=Limits.auto_replan,
        validation_alias=also_known_as("auto_replan", "ENABLE_AUTO_REPLANNING"),
        description="Makes a new plan after a failure. If off, a failure that is not fixed by waiting and looking again ends the run.",
    )
    max_error_replans: int = Field(
        default=Limits.max_error_replans,
        ge=0,
        validation_alias=also_known_as("max_error_replans", "AUTO_REPLANNING_MAX_ATTEMPTS"),
        description="The most replans after failures. They also count against `max_replans`.",
    )
    replan_interval_seconds: float = Field(
        default=Limits.replan_interval_seconds,
        ge=0,
        validation_alias=also_known_as("replan_interval_seconds", "AUTO_REPLANNING_MIN_INTERVAL_SECONDS"),
        description="The least time between two replans after failures. It doubles each time. The first replan does not wait.",
    )
    replan_timeout_seconds: float = Field(
        default=Limits.replan_timeout_seconds,
        gt=0,
        validation_alias=also_known_as("replan_timeout_seconds", "AUTO_REPLANNING_TIMEOUT_SECONDS"),
        description="If a replan after a failure takes longer than this, the run ends as `planner_unavailable`. Time in which the planner cannot be "
        "reached does not count.",
    )
    replan_on_critical: bool = Field(
        default=Limits.replan_on_critical,
        validation_alias=also_known_as("replan_on_critical", "AUTO_REPLANNING_TRIGGER_CRITICAL"),
        description="Makes a new plan after a failure that leaves the plan without steps, or without a result that it needs.",
    )
    replan_on_high: bool = Field(
        default=Limits.replan_on_high,
        validation_alias=also_known_as("replan_on_high", "AUTO_REPLANNING_TRIGGER_HIGH"),
        description="Makes a new plan after a serious failure, an unclassified failure, or a failure that retries did not fix.",
    )
    replan_on_medium: bool = Field(
        default=Limits.replan_on_medium,
        validation_alias=also_known_as("replan_on_medium", "AUTO_REPLANNING_TRIGGER_MEDIUM"),
        description="Makes a new plan immediately after a failure that may be temporary, instead of waiting and trying the step again.",
    )
    human_after: int | None = Field(
        default=Limits.human_after,
        ge=1,
        validation_alias=also_known_as("human_after", "AUTO_REPLANNING_REQUIRE_HUMAN_INTERVENTION_AFTER"),
        description="After this number of replans after failures without success, a person is asked how to continue. `none`: never. Without an "
        "answer, the run ends as `needs_human`.",
    )
    failures: Annotated[tuple[FailureRule, ...], EVERYDAY] = Field(
        default=Limits.failures,
        max_length=MOST_RULES,
        description="Your own rules for classifying failures, as JSON or as `[[failures]]` in a task file ([recovery](recovery.md)).",
    )
    backoff_jitter: float = Field(
        default=Limits.backoff_jitter,
        ge=0,
        le=1,
        description="Every wait is longer by up to this share, different for each run, so that runs do not all try again at the same moment.",
    )

    @model_validator(mode="after")
    def _apply_preset(self) -> Self:
        """Fill in the preset's values. They do not count as set, so that a setting that is given later still overrides them."""
        for name, value in PRESETS[self.recovery].items():
            if name not in self.model_fields_set:
                object.__setattr__(self, name, value)  # settings are frozen, and pydantic would count the name as set
        return self

    @field_validator("failures", mode="before")
    @classmethod
    def _from_json(cls, value: object) -> Any:
        """Decode the rules if they are text, as from the environment, and check them."""
        rules: Any = json.loads(value) if isinstance(value, str) else value
        if isinstance(rules, (list, tuple)):
            for rule in cast(Iterable[object], rules):
                if isinstance(rule, Mapping):
                    _check(cast(Mapping[str, object], rule))
        return cast(object, rules)


def _check(rule: Mapping[str, object]) -> None:
    """Refuse a rule with an unknown key, one that matches everything, and one without a classification."""
    known = [field.name for field in fields(FailureRule)]
    for name in rule:
        if name not in known:
            raise ValueError(describe_unknown("key", name, known))
    if not rule.get("reason") and not rule.get("message"):
        raise ValueError("a rule has to say which 'reason' or 'message' it is about")
    if not rule.keys() - {"reason", "message"}:
        raise ValueError("a rule has to say something: 'severity', 'category', 'error_type' or 'nature'")


def rules_as_json(rules: tuple[FailureRule, ...]) -> str:
    """The rules as `--set failures=…` takes them."""
    return json.dumps([{name: value for name, value in vars(rule).items() if value} for rule in rules])
