"""Recovery from failures: retry what may pass, stop where no plan can help, plan again for the rest.

Settings that can never take effect together are refused, because they show a misunderstanding.
"""

import json
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from hashlib import blake2b
from typing import Literal, TypeAlias

from midcourse.domain.budget import Limits
from midcourse.domain.failure import Classification, Failure, Severity, Track
from midcourse.domain.plan import PlannedStep
from midcourse.domain.run import Run
from midcourse.policy.detour.choice import may_detour
from midcourse.policy.failure.classification import NO_DELAY, OUT_OF_SIGHT, may_pass
from midcourse.policy.spending import can_afford, worst_plan

Answer: TypeAlias = Literal["continue", "retry", "look_and_retry", "detour", "replan", "ask", "stop"]


@dataclass(frozen=True, kw_only=True)
class Recovery:
    answer: Answer
    because: str = ""
    """A reason to report in addition to the failure itself."""
    hopeless: bool = False
    """Whether a stop means that no plan can help, rather than that no further attempt is allowed."""


def choose_recovery(
    run: Run, failure: Failure, step: PlannedStep | None = None, track: Track | None = None
) -> Recovery:
    """The cheapest recovery that can work. `step` is the one that failed, if it was a step.

    `track` says how such failures ended in other runs. It only counts against another plan: retries that work leave no track.
    """
    decision = _choose_without_track(run, failure, step)
    if decision.answer == "replan" and (because := why_give_up(run.limits, track)):
        return Recovery(answer="stop", because=because, hopeless=True)
    return decision


def _choose_without_track(run: Run, failure: Failure, step: PlannedStep | None) -> Recovery:
    limits, found = run.limits, failure.found
    if found.nature == "structural" and limits.structural_stop:
        # That the step can never work is proved, and not that the task cannot be done: its goal may name another way.
        if step is not None and run.bars_structural and _may_ask_for_another_way(run):
            return choose_after_error(run, "CRITICAL")
        return Recovery(answer="stop", hopeless=True)
    if step is not None:
        if found.severity == "LOW" and step.effect != "irreversible":
            return Recovery(answer="continue")
        if found.severity == "MEDIUM" and limits.replan_on_medium:
            return choose_after_error(run, "MEDIUM")
        if (
            may_pass(failure.reason, found)
            and failure.tries < limits.max_step_retries
            and not has_waited_for(run, failure, step)
        ):
            return Recovery(answer="retry")
        if found.nature == "transport" and has_waited_for(run, failure, step):
            return Recovery(
                answer="stop", because="the connection is still down, and a new plan did not get around that"
            )
        if failure.reason in OUT_OF_SIGHT and failure.tries == 0 and limits.max_step_retries > 0:
            return Recovery(answer="look_and_retry")
        if may_detour(run, step, failure.reason):
            return Recovery(answer="detour")
    # A failure that retries did not resolve counts as serious.
    return choose_after_error(run, "CRITICAL" if found.severity == "CRITICAL" else "HIGH")


def _may_ask_for_another_way(run: Run) -> bool:
    """Whether a plan without the step may still be made. If not, the run ends for what is proved, not for the limit."""
    limits, counts = run.limits, run.counts
    if choose_after_error(run, "CRITICAL").answer == "stop" or not may_replan(run):
        return False
    within = counts.error_replans < limits.max_error_replans and counts.segments < limits.max_segments
    return within and can_afford(run, worst_plan(limits))


def has_waited_for(run: Run, failure: Failure, step: PlannedStep) -> bool:
    """Whether another step used up its retries on this screen for the same reason. Then waiting again would not help.

    A step that worked on a retry does not count: a program may be slow at every step.
    """
    seen = run.seen.fingerprint if run.seen else ""
    tried = Counter({step.call: -failure.tries - 1})
    for attempt in run.attempts:
        if attempt.reason == failure.reason and seen in (attempt.before, attempt.after):
            tried[attempt.call] += attempt.count
    return max(tried.values()) > run.limits.max_step_retries


def choose_after_error(run: Run, severity: Severity) -> Recovery:
    """Whether the run may plan again after a failure of this severity, and whether a person is asked first."""
    limits, counts = run.limits, run.counts
    if not limits.auto_replan:
        return Recovery(answer="stop", because="auto_replan is off")
    if not _triggers_replan(limits, severity):
        return Recovery(answer="stop", because=f"replan_on_{severity.lower()} is off")
    failed = counts.error_replans - counts.helped
    if limits.human_after is not None and failed >= limits.human_after and may_replan(run):
        return Recovery(answer="ask", because=f"{counts.error_replans} new plans have not fixed it")
    return Recovery(answer="replan")


def may_replan(run: Run) -> bool:
    """Whether the ceiling allows another plan that does not continue the current one."""
    extensions = run.counts.extensions if run.limits.count_extensions else 0
    return run.counts.replans + extensions < run.limits.max_replans


def _triggers_replan(limits: Limits, severity: Severity) -> bool:
    match severity:
        case "CRITICAL":
            return limits.replan_on_critical
        case "HIGH":
            return limits.replan_on_high
        case "MEDIUM":
            return limits.replan_on_medium
        case "LOW":
            return False


SLOW_GROWTH = 3.0
"""The factor by which the delay grows if something is overloaded or a connection is down. Measured: fewer tries fail than with
doubling, and three of them span more than a minute."""


def retry_delay(run: Run, reason: str, tries: int, found: Classification | None = None) -> float:
    """Seconds before the next retry: doubled each time, or tripled for what needs time, up to a ceiling, with jitter."""
    needs_time = found is not None and (found.category in ("RESOURCE", "TIMEOUT") or found.nature == "transport")
    if not needs_time or reason in NO_DELAY:
        return add_jitter(run, cool_down(run.limits, reason, tries))
    limits = run.limits
    return add_jitter(run, _grow(limits.retry_delay_seconds, SLOW_GROWTH, tries + 1, limits.max_retry_delay_seconds))


def cool_down(limits: Limits, reason: str, tries: int) -> float:
    """The minimum seconds that the same step must wait."""
    if reason in NO_DELAY:
        return 0.0
    return _grow(limits.retry_delay_seconds, 2.0, tries, limits.max_retry_delay_seconds)


def replan_delay(run: Run) -> float:
    """Seconds before the next plan after a failure: 0 for the first, then an interval that doubles each time.

    To the millisecond, as delays are waited for: less than that left would be no wait but another look, again and again.
    """
    if run.replanned_at is None:
        return 0.0
    least = run.limits.replan_interval_seconds
    interval = _grow(least, 2.0, run.counts.error_replans - 1, max(least, run.limits.max_retry_delay_seconds))
    return max(0.0, round(run.replanned_at + interval - run.now, 3))


def _grow(seconds: float, growth: float, times: int, most: float) -> float:
    return min(seconds * growth ** min(max(times, 0), 32), most)


SHORTEST_WAIT = 1.0
"""The minimum seconds of a wait for a model, since a shorter one would not help."""


def add_jitter(run: Run, seconds: float) -> float:
    """The delay, extended by up to `backoff_jitter` of itself, so that runs that failed together do not retry together."""
    return round(seconds * (1.0 + run.limits.backoff_jitter * stable_fraction(run.started_at, run.next_id)), 3)


def stable_fraction(*of: str | int | float) -> float:
    """A pseudorandom number in [0, 1) derived from data, since the core has no randomness."""
    digest = blake2b(json.dumps(of).encode(), digest_size=8).digest()
    return int.from_bytes(digest) / 2**64


def why_give_up(limits: Limits, track: Track | None) -> str:
    """The statistics that argue against another plan, or an empty string."""
    after = limits.lesson_stop_after
    if track is None or after is None or track.fixed or track.not_fixed < after or track.sample < limits.lesson_tries:
        return ""
    numbers = f"of the last {track.not_fixed} runs that met this and planned again, 0 got past it"
    known_as = f"lesson {track.lesson}; " if track.lesson else ""
    return f"{numbers}; {known_as}{limits.lesson_tries:.0%} of runs try all the same"


def sample_fraction(run_id: str, lesson: str) -> float:
    """A number in [0, 1) that is always the same for this run and this failure."""
    return stable_fraction("lesson", run_id, lesson)


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
        after = limits.human_after
        if after > limits.max_error_replans:
            first = f"max_error_replans = {limits.max_error_replans} comes first"
            return _explain_unreachable("human_after", after, first)
        if after >= limits.max_replans:
            left = f"max_replans = {limits.max_replans} would leave no plan to continue with"
            return f"human_after = {after} makes no sense: {left}"
        return ""
    if "replan_interval_seconds" in given and min(limits.max_error_replans, limits.max_replans) < 2:
        return "replan_interval_seconds can never take effect: there is never a second replan"
    if "replan_timeout_seconds" in given and limits.replan_timeout_seconds >= (most := _compute_longest_replan(limits)):
        at_most = f"plan_timeout_seconds and max_step_retries end a replan after {most:g} s"
        return _explain_unreachable("replan_timeout_seconds", limits.replan_timeout_seconds, at_most)
    return ""


def _explain_unreachable(name: str, value: float, why: str) -> str:
    return f"{name} = {value:g} can never be reached: {why}"


def _compute_longest_replan(limits: Limits) -> float:
    """Seconds that a replan may take: one request, one more if its answer is refused, and retries while unreachable."""
    waits = sum(cool_down(limits, "transport", n) for n in range(limits.max_step_retries))
    return (limits.max_step_retries + 2) * limits.plan_timeout_seconds + waits * (1.0 + limits.backoff_jitter)
