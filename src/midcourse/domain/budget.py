"""Limits, costs and budgets: what a run may cost, has cost, and has reserved for commands under way."""

from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, Literal, Self, TypeAlias

from midcourse.domain.failure import FailureRule
from midcourse.domain.fields import stored_if_set
from midcourse.domain.monitor import Monitors
from midcourse.domain.outline import Outlines

Approvals: TypeAlias = Literal["always", "never", "adaptive"]
FinalLooks: TypeAlias = Literal["each", "last"]


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Model calls, tokens, and millionths of a dollar."""

    calls: int = 0
    tokens: int = 0
    microusd: int = 0
    at_most: Annotated[bool, stored_if_set()] = False
    """Whether a call in it was cut off, so that only the most that it may have cost is known."""

    def plus(self, other: "Cost") -> "Cost":
        return Cost(
            calls=self.calls + other.calls,
            tokens=self.tokens + other.tokens,
            microusd=self.microusd + other.microusd,
            at_most=self.at_most or other.at_most,
        )

    def minus(self, other: "Cost") -> "Cost":
        return self.plus(Cost(calls=-other.calls, tokens=-other.tokens, microusd=-other.microusd))

    def within(self, other: "Cost") -> bool:
        return self.calls <= other.calls and self.tokens <= other.tokens and self.microusd <= other.microusd


FREE = Cost()


def without_call(worst: Cost) -> Cost:
    """The maximum cost of an unanswered call, without the call itself: outages do not use up calls."""
    return replace(worst, calls=0, at_most=bool(worst.tokens or worst.microusd))


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The settings that `decide` depends on. Each field is a setting of the same name (`config/settings.py`)."""

    max_calls: int = 30
    max_tokens: int | None = None
    max_cost_usd: float | None = None
    ask_for_more: bool = True
    max_wall_seconds: float = 3600.0
    deadline_seconds: float | None = None
    max_segments: int = 20
    max_replans: int = 5
    max_error_replans: int = 3
    max_step_retries: int = 3
    max_plan_steps: int = 50
    max_reopenings: int = 3
    max_outage_seconds: float = 600.0
    detour_iterations: int = 10
    outline: Outlines = "auto"
    monitor: Monitors = "off"
    visible_plans: int | None = None
    count_extensions: bool = False
    replan_admission: bool = True
    structural_stop: bool = True
    auto_replan: bool = True
    replan_on_critical: bool = True
    replan_on_high: bool = True
    replan_on_medium: bool = False
    replan_interval_seconds: float = 5.0
    replan_timeout_seconds: float = 300.0
    human_after: int | None = None
    failures: tuple[FailureRule, ...] = ()
    lesson_stop_after: int | None = 5
    lesson_tries: float = 0.1
    retry_delay_seconds: float = 2.0
    max_retry_delay_seconds: float = 60.0
    backoff_jitter: float = 0.1
    approvals: Approvals = "always"
    approval_seconds: float = 3600.0
    wrap_up_at: float = 0.8
    look_calls: int = 0
    vision: bool = False
    reads_words: bool | None = None
    final_looks: FinalLooks = "each"
    plan_tokens: int = 0
    plan_cost_usd: float = 0.0
    act_timeout_seconds: float = 30.0
    look_timeout_seconds: float = 60.0
    plan_timeout_seconds: float = 120.0

    def __new__(cls, **given: Any) -> Self:
        """Record the names of the given arguments, to distinguish an explicit default from an omitted one."""
        limits = object.__new__(cls)
        object.__setattr__(limits, "_given", frozenset(given))
        return limits

    def explicit_names(self) -> frozenset[str]:
        """Names of the limits that were given explicitly. For limits read from a store, that is all of them."""
        names = {field.name: field.default for field in fields(self)}
        explicit: frozenset[str] = self.__dict__.get("_given", frozenset(names))
        return explicit | {name for name, default in names.items() if getattr(self, name) != default}

    def with_defaults(self, defaults: "Limits") -> "Limits":
        """These limits, with those of `defaults` where none was given."""
        return replace(defaults, **{name: getattr(self, name) for name in sorted(self.explicit_names())})


@dataclass(frozen=True, kw_only=True)
class Budget:
    """What is spent and reserved. Their sum never exceeds the limits and what people added: a command's maximum cost is reserved first."""

    spent: Cost = FREE
    reserved: Cost = FREE
    active_seconds: float = 0.0
    """Time in which the run was not paused, not waiting for a person, and had a process."""

    @property
    def committed(self) -> Cost:
        return self.spent.plus(self.reserved)


@dataclass(frozen=True, kw_only=True)
class Spent:
    """The cost of the calls of one role. Without a role the purpose is unknown, because the answer was lost or the call abandoned."""

    role: str = ""
    version: int = 0
    """The plan that it was spent on, or 0."""
    model: str = ""
    cost: Cost = FREE


def bill(role: str, cost: Cost, version: int = 0, model: str = "") -> tuple[Spent, ...]:
    """The cost as one line, or no line if it is free."""
    return () if cost == FREE else (Spent(role=role, version=version, model=model, cost=cost),)


def total(parts: tuple[Spent, ...]) -> Cost:
    cost = FREE
    for part in parts:
        cost = cost.plus(part.cost)
    return cost
