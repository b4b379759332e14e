"""What now, after a failure? Retry what is transient, stop at what no plan can mend, plan again for the rest."""

from typing import Literal, TypeAlias

from midcourse.domain.budget import Limits
from midcourse.policy.classify import AT_ONCE, OUT_OF_SIGHT, kind_of

Answer: TypeAlias = Literal["retry", "look_and_retry", "replan", "stop"]


def what_now(limits: Limits, reason: str, tries: int) -> Answer:
    """`tries` is how often this step has been retried already."""
    kind = kind_of(reason)
    if kind == "structural" and limits.structural_stop:
        return "stop"
    if kind == "transient" and tries < limits.max_step_retries:
        return "retry"
    if reason in OUT_OF_SIGHT and tries == 0 and limits.max_step_retries > 0:
        return "look_and_retry"
    return "replan"


def retry_delay(limits: Limits, reason: str, tries: int) -> float:
    """Doubles with each retry of the same step, up to a ceiling."""
    if reason in AT_ONCE:
        return 0.0
    return min(limits.retry_delay_seconds * 2.0 ** min(tries, 32), limits.max_retry_delay_seconds)
