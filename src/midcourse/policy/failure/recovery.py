"""Recovery from failures: retry what may pass, stop where no plan can help, plan again for the rest."""

import json
from collections import Counter
from dataclasses import dataclass
from hashlib import blake2b
from typing import Literal, TypeAlias

from midcourse.domain.budget import Limits
from midcourse.domain.failure import Classification, Failure, Severity, Track
from midcourse.domain.plan import PlannedStep
from midcourse.domain.run import Run
from midcourse.policy.detour.choice import may_detour
from midcourse.policy.failure.classification import AT_ONCE, OUT_OF_SIGHT, may_pass

Answer: TypeAlias = Literal["continue", "retry", "look_and_retry", "detour", "replan", "ask", "stop"]


@dataclass(frozen=True, kw_only=True)
class Recovery:
    answer: Answer
    because: str = ""
    """A reason to report besides the failure itself."""
    hopeless: bool = False
    """Of a stop: no plan can help, as opposed to: no further attempt is allowed."""


def choose_recovery(
    run: Run, failure: Failure, step: PlannedStep | None = None, track: Track | None = None
) -> Recovery:
    """`step` is the one that failed, if it was a step; `track` is what became of such failures in other runs.

    The cheapest answer that can work comes first. What other runs met is asked only about another plan: a retry that works
    leaves no track.
    """
    decision = _on_its_own(run, failure, step)
    if decision.answer == "replan" and (because := why_give_up(run.limits, track)):
        return Recovery(answer="stop", because=because, hopeless=True)
    return decision


def _on_its_own(run: Run, failure: Failure, step: PlannedStep | None) -> Recovery:
    limits, found = run.limits, failure.found
    if found.nature == "structural" and limits.structural_stop:
        return Recovery(answer="stop", hopeless=True)
    if step is not None:
        if found.severity == "LOW" and step.effect != "irreversible":
            return Recovery(answer="continue")
        if found.severity == "MEDIUM" and limits.replan_on_medium:
            return after_error(run, "MEDIUM")
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
    return after_error(run, effective_severity(found.severity))


def has_waited_for(run: Run, failure: Failure, step: PlannedStep) -> bool:
    """Whether a step of an earlier plan has been tried on this screen until it had no retries left, for the same reason. What
    would not pass then is not waited for once more because a new plan meets it in another place. A step that worked on a
    retry does not count: a program may be slow at every step.
    """
    seen = run.seen.fingerprint if run.seen else ""
    tried = Counter({step.call: -failure.tries - 1})
    for attempt in run.attempts:
        if attempt.reason == failure.reason and seen in (attempt.before, attempt.after):
            tried[attempt.call] += attempt.count
    return max(tried.values()) > run.limits.max_step_retries


def effective_severity(severity: Severity) -> Severity:
    """A failure that retries did not resolve counts as serious."""
    return "CRITICAL" if severity == "CRITICAL" else "HIGH"


def after_error(run: Run, severity: Severity) -> Recovery:
    """Whether the run may plan again after a failure of this severity, and whether a person is asked first."""
    limits, counts = run.limits, run.counts
    if not limits.auto_replan:
        return Recovery(answer="stop", because="auto_replan is off")
    if not _triggers(limits, severity):
        return Recovery(answer="stop", because=f"replan_on_{severity.lower()} is off")
    failed = counts.error_replans - counts.helped
    if limits.human_after is not None and failed >= limits.human_after and may_replan(run):
        return Recovery(answer="ask", because=f"{counts.error_replans} new plans have not fixed it")
    return Recovery(answer="replan")


def may_replan(run: Run) -> bool:
    """Whether another plan that continues nothing is within the ceiling."""
    extensions = run.counts.extensions if run.limits.count_extensions else 0
    return run.counts.replans + extensions < run.limits.max_replans


def _triggers(limits: Limits, severity: Severity) -> bool:
    match severity:
        case "CRITICAL":
            return limits.replan_on_critical
        case "HIGH":
            return limits.replan_on_high
        case "MEDIUM":
            return limits.replan_on_medium
        case "LOW":
            return False


SLOW = 3.0
"""How many times longer, each time, what needs time to pass is waited for: something is overloaded, or a line is down. Measured:
fewer tries fail than with doubling, and three of them span more than a minute."""


def retry_delay(run: Run, reason: str, tries: int, found: Classification | None = None) -> float:
    """Doubles with each retry of the same step, or triples for what needs time, up to a ceiling; a little different for every run."""
    needs_time = found is not None and (found.category in ("RESOURCE", "TIMEOUT") or found.nature == "transport")
    if not needs_time or reason in AT_ONCE:
        return add_jitter(run, cool_down(run.limits, reason, tries))
    limits = run.limits
    return add_jitter(run, _growing(limits.retry_delay_seconds, SLOW, tries + 1, limits.max_retry_delay_seconds))


def cool_down(limits: Limits, reason: str, tries: int) -> float:
    """How long the same step has to wait at least."""
    if reason in AT_ONCE:
        return 0.0
    return _growing(limits.retry_delay_seconds, 2.0, tries, limits.max_retry_delay_seconds)


def replan_delay(run: Run) -> float:
    """How long the next plan after a failure has to wait. The first has not to; then the interval doubles each time."""
    if run.replanned_at is None:
        return 0.0
    least = run.limits.replan_interval_seconds
    interval = _growing(least, 2.0, run.counts.error_replans - 1, max(least, run.limits.max_retry_delay_seconds))
    return max(0.0, run.replanned_at + interval - run.now)


def _growing(seconds: float, growth: float, times: int, most: float) -> float:
    return min(seconds * growth ** min(max(times, 0), 32), most)


SHORTEST_WAIT = 1.0
"""Seconds that a wait for a model lasts at least: waits use up the run's time, so they must not be too short to help."""


def add_jitter(run: Run, seconds: float) -> float:
    """Longer by up to a share of itself, so that runs that failed together do not all come back together."""
    return round(seconds * (1.0 + run.limits.backoff_jitter * stable_fraction(run.started_at, run.next_id)), 3)


def stable_fraction(*of: str | int | float) -> float:
    """At least 0 and below 1, from data alone: the core has no dice."""
    digest = blake2b(json.dumps(of).encode(), digest_size=8).digest()
    return int.from_bytes(digest) / 2**64


def why_give_up(limits: Limits, track: Track | None) -> str:
    """The numbers that speak against another plan, or nothing."""
    after = limits.lesson_stop_after
    if track is None or after is None or track.mended or track.unmended < after or track.lot < limits.lesson_tries:
        return ""
    numbers = f"of the last {track.unmended} runs that met this and planned again, 0 got past it"
    known_as = f"lesson {track.lesson}; " if track.lesson else ""
    return f"{numbers}; {known_as}{limits.lesson_tries:.0%} of runs try all the same"


def sample_of(run_id: str, lesson: str) -> float:
    """For this run and this failure, the same whenever it is drawn again."""
    return stable_fraction("lesson", run_id, lesson)
