"""Finds recovery settings that can never take effect together. They are refused, because they show a misunderstanding."""

from collections.abc import Collection

from midcourse.domain.budget import Limits
from midcourse.policy.failure.recovery import cool_down

REPLANNING_SETTINGS = (
    "replan_on_critical",
    "replan_on_high",
    "replan_on_medium",
    "replan_interval_seconds",
    "replan_timeout_seconds",
    "human_after",
)
"""Settings without effect if there is no replanning after failures."""


def find_ineffective_setting(limits: Limits, given: Collection[str]) -> str:
    """The first of the settings `given` that can never take effect, and why; or an empty string."""
    if not limits.auto_replan:
        idle = next((name for name in REPLANNING_SETTINGS if name in given), "")
        return f"{idle} can never take effect: auto_replan is off" if idle else ""
    if "max_error_replans" in given and limits.max_error_replans > limits.max_replans:
        return _explain_unreachable(
            "max_error_replans", limits.max_error_replans, f"max_replans = {limits.max_replans} comes first"
        )
    if "human_after" in given and limits.human_after is not None:
        return _why_never_asked(limits, limits.human_after)
    if "replan_interval_seconds" in given and min(limits.max_error_replans, limits.max_replans) < 2:
        return "replan_interval_seconds can never take effect: there is never a second replan"
    if "replan_timeout_seconds" in given and limits.replan_timeout_seconds >= (most := _longest_replan(limits)):
        at_most = f"plan_timeout_seconds and max_step_retries end a replan after {most:g} s"
        return _explain_unreachable("replan_timeout_seconds", limits.replan_timeout_seconds, at_most)
    return ""


def _why_never_asked(limits: Limits, after: int) -> str:
    if after > limits.max_error_replans:
        return _explain_unreachable("human_after", after, f"max_error_replans = {limits.max_error_replans} comes first")
    if after >= limits.max_replans:
        left = f"max_replans = {limits.max_replans} would leave no plan to continue with"
        return f"human_after = {after} makes no sense: {left}"
    return ""


def _explain_unreachable(name: str, value: float, why: str) -> str:
    return f"{name} = {value:g} can never be reached: {why}"


def _longest_replan(limits: Limits) -> float:
    """Seconds that a replan may take: one request, one more if its answer is refused, and retries while unreachable."""
    waits = sum(cool_down(limits, "transport", n) for n in range(limits.max_step_retries))
    return (limits.max_step_retries + 2) * limits.plan_timeout_seconds + waits * (1.0 + limits.backoff_jitter)
