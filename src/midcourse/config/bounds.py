"""How far the request for a run may change each setting: the task file and the server's own settings are the bound.

A request may come from a user who may start runs and nothing else. So it may make a run cheaper, shorter or stricter; what makes
it more expensive, or has it ask less, is for those who answer for that.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Literal, TypeAlias

from midcourse.config.settings import Settings, format_value

Change: TypeAlias = Literal["free", "only lower", "only stricter", "administrators"]


@dataclass(frozen=True, kw_only=True)
class Bound:
    """What a request may do with one setting."""

    change: Change
    order: tuple[object, ...] = ()
    """The values of a setting that may only become stricter, the loosest first."""

    def allows(self, before: object, now: object) -> bool:
        """Whether a request may change the setting from `before` to `now` without loosening it."""
        match self.change:
            case "free":
                return True
            case "only lower":
                return _as_ceiling(now) <= _as_ceiling(before)
            case "only stricter":
                return self.order.index(now) >= self.order.index(before)
            case "administrators":
                return now == before


def _as_ceiling(value: object) -> float:
    """The ceiling as a number: without a value there is none."""
    assert value is None or isinstance(value, int | float), "only numbers are ceilings"
    return inf if value is None else value


def _stricter(*order: object) -> Bound:
    return Bound(change="only stricter", order=order)


FREE = Bound(change="free")
ONLY_LOWER = Bound(change="only lower")
ADMINISTRATORS = Bound(change="administrators")

BOUNDS: Mapping[str, Bound] = {
    # What it may cost, and how long it may take.
    "max_calls": ONLY_LOWER,
    "max_tokens": ONLY_LOWER,
    "max_cost_usd": ONLY_LOWER,
    "max_wall_seconds": ONLY_LOWER,
    "deadline_seconds": ONLY_LOWER,
    "max_segments": ONLY_LOWER,
    "max_replans": ONLY_LOWER,
    "max_error_replans": ONLY_LOWER,
    "max_step_retries": ONLY_LOWER,
    "max_plan_steps": ONLY_LOWER,
    "max_reopenings": ONLY_LOWER,
    "max_outage_seconds": ONLY_LOWER,
    "replan_timeout_seconds": ONLY_LOWER,
    "detour_iterations": ONLY_LOWER,
    "answer_tokens": ONLY_LOWER,
    "thinking_tokens": ONLY_LOWER,
    # Reserved before each call: the ceilings hold only if these are not too low.
    "look_calls": ADMINISTRATORS,
    "plan_tokens": ADMINISTRATORS,
    "plan_cost_usd": ADMINISTRATORS,
    # Whether a person is asked.
    "approvals": _stricter("never", "always", "adaptive"),
    "ask_for_more": _stricter(True, False),
    "approval_seconds": ONLY_LOWER,
    "approval_policy": ADMINISTRATORS,
    "human_after": ONLY_LOWER,
    # What stops a run that makes no progress.
    "monitor": _stricter("off", "path", "proposals"),
    "replan_admission": _stricter(False, True),
    "structural_stop": _stricter(False, True),
    "count_extensions": _stricter(False, True),
    "auto_replan": _stricter(True, False),
    "lesson_stop_after": ONLY_LOWER,
    "lesson_tries": ONLY_LOWER,
    "visible_plans": ADMINISTRATORS,
    "failures": ADMINISTRATORS,
    # Which models answer, what they are sent, and whose memory is read.
    "model": ADMINISTRATORS,
    "model_base_url": ADMINISTRATORS,
    "role_models": ADMINISTRATORS,
    "model_effort": ADMINISTRATORS,
    "model_output": ADMINISTRATORS,
    "embedder": ADMINISTRATORS,
    "embedder_base_url": ADMINISTRATORS,
    "agent": ADMINISTRATORS,
    "images": ADMINISTRATORS,
    "vision": ADMINISTRATORS,
    "reads_words": ADMINISTRATORS,
    "trace_content": ADMINISTRATORS,
    # What is kept, and where.
    "home": ADMINISTRATORS,
    "record": ADMINISTRATORS,
    "cassette": ADMINISTRATORS,
    "retention_days": ADMINISTRATORS,
    # How it works within all of this.
    "recovery": FREE,  # what it stands for is bounded setting by setting
    "replan_on_critical": FREE,
    "replan_on_high": FREE,
    "replan_on_medium": FREE,
    "replan_interval_seconds": FREE,
    "retry_delay_seconds": FREE,
    "max_retry_delay_seconds": FREE,
    "backoff_jitter": FREE,
    "outline": FREE,
    "detours": FREE,
    "reuse": FREE,
    "lessons": FREE,
    "lesson_similarity": FREE,
    "wrap_up_at": FREE,
    "final_looks": _stricter("last", "each"),
    "act_timeout_seconds": FREE,
    "look_timeout_seconds": FREE,
    "plan_timeout_seconds": FREE,
    "step_delay_seconds": FREE,
}
"""The bound of every setting of a run."""


@dataclass(frozen=True, kw_only=True)
class Loosened:
    """A setting that a request would loosen."""

    name: str
    before: object
    now: object

    def __str__(self) -> str:
        bound = BOUNDS[self.name]
        match bound.change:
            case "only stricter":
                order = ", ".join(map(format_value, bound.order))
                may = f"a request may only make it stricter (from the loosest: {order})"
            case "only lower":
                may = "a request may only lower it"
            case _:
                may = "a request may not change it"
        now, before = (format_value(value) or "empty" for value in (self.now, self.before))
        return f"settings.{self.name} would be {now}; the task and the server's own settings say {before}, and {may}"


def find_loosened(before: Settings, now: Mapping[str, object]) -> tuple[Loosened, ...]:
    """The settings that a request loosens. `before` are those of the task and the server; `now` are those that would apply.

    All settings are compared, not only those that the request names: a preset changes several.
    """
    changes = [Loosened(name=name, before=getattr(before, name), now=value) for name, value in now.items()]
    return tuple(change for change in changes if not BOUNDS[change.name].allows(change.before, change.now))
