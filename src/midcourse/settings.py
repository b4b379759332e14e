"""Settings and policies of a run, for programs that read or check them."""

from midcourse.config.approval_policy import parse_agreement
from midcourse.config.settings import Settings
from midcourse.domain.failure import FailureRule
from midcourse.policy.failure.classification import classify

__all__ = ["FailureRule", "Settings", "classify", "parse_agreement"]
