"""Classification of failures: by reason first, a slug that skills and ports choose; then by the message.

Three tables in this order: the user's rules, which change only what they name; REASONS; and, for a reason that is not
listed, the name of an exception or a phrase in the detail. A failure that matches none of them counts as serious.
"""

from fnmatch import fnmatchcase

from midcourse.domain.failure import Category, Classification, ErrorType, FailureRule, Nature, Severity
from midcourse.domain.outcome import REFUSED_BY_SERVER, SIGN_IN_REFUSED, SIGNED_IN
from midcourse.domain.replace import replace

UNCLASSIFIED = Classification()


def _classification(severity: Severity, category: Category, error_type: ErrorType, nature: Nature) -> Classification:
    return Classification(severity=severity, category=category, error_type=error_type, nature=nature)


# The same step may work when retried. RESOURCE and TIMEOUT wait longer before each try (`retry_delay`).
SLIP = _classification("MEDIUM", "ENVIRONMENT", "other", "transient")
BUSY = _classification("MEDIUM", "RESOURCE", "other", "transient")
TIMEOUT = _classification("MEDIUM", "TIMEOUT", "timeout", "transient")
DISCONNECTED = _classification("MEDIUM", "ENVIRONMENT", "network", "transport")
UNSEEN = _classification("MEDIUM", "ENVIRONMENT", "not_found", "recoverable")
# Another step may work.
WRONG_STEP = _classification("HIGH", "LOGIC", "other", "recoverable")
BLOCKED = _classification("HIGH", "ENVIRONMENT", "other", "recoverable")
MISSING = _classification("HIGH", "DEPENDENCY", "not_found", "recoverable")
REFUSED = _classification("HIGH", "ENVIRONMENT", "permission", "permission")
EXHAUSTED = _classification("HIGH", "RESOURCE", "other", "recoverable")
INVALID_INPUT = _classification("HIGH", "VALIDATION", "invalid_input", "under_specified")
TYPE_ERROR = _classification("HIGH", "VALIDATION", "type_error", "under_specified")
VALUE_ERROR = _classification("HIGH", "VALIDATION", "value_error", "under_specified")
SYNTAX_ERROR = _classification("HIGH", "VALIDATION", "syntax", "under_specified")
ATTRIBUTE_ERROR = _classification("HIGH", "LOGIC", "attribute_error", "recoverable")
KEY_ERROR = _classification("HIGH", "LOGIC", "key_error", "recoverable")
INDEX_ERROR = _classification("HIGH", "LOGIC", "index_error", "recoverable")
# The plan itself cannot continue.
NO_PLAN = _classification("CRITICAL", "LOGIC", "other", "recoverable")
MISSING_DEPENDENCY = _classification("CRITICAL", "DEPENDENCY", "not_found", "under_specified")
# No step of this kind can ever work from here.
OUT_OF_REACH = _classification("CRITICAL", "ENVIRONMENT", "other", "structural")
FORBIDDEN = _classification("CRITICAL", "ENVIRONMENT", "permission", "structural")
# The step was not needed.
UNNEEDED = _classification("LOW", "LOGIC", "other", "recoverable")

REASONS: dict[str, Classification] = {
    "busy": BUSY,
    "grasp_slipped": SLIP,
    "no_effect": SLIP,
    "not_dispatched": SLIP,
    "object_moved": SLIP,
    "transient": SLIP,
    "timeout": TIMEOUT,
    "network": DISCONNECTED,
    "connection_lost": DISCONNECTED,
    "rate_limited": BUSY,
    "target_not_visible": UNSEEN,
    "stale_target": UNSEEN,
    "out_of_reach": UNSEEN,
    "detour_cancelled": BLOCKED,
    "revert_unverified": BLOCKED,
    "expectation_unmet": WRONG_STEP,
    SIGNED_IN: WRONG_STEP,
    "wrong_target": WRONG_STEP,
    "wrong_skill": WRONG_STEP,
    "unknown_skill": WRONG_STEP,
    "consequence_unstable": WRONG_STEP,
    "done_when_unmet": WRONG_STEP,
    "plan_refused": WRONG_STEP,
    "planner_refused": WRONG_STEP,
    "planner_garbage": INVALID_INPUT,
    "undecided": BLOCKED,
    "commit_unreadable": BLOCKED,
    "disabled": BLOCKED,
    "covered": BLOCKED,
    "dialog_open": BLOCKED,
    "page_crashed": BLOCKED,
    "object_not_found": MISSING,
    "not_found": MISSING,
    "no_such_file": MISSING,
    "no_such_option": INVALID_INPUT,
    "bad_arguments": INVALID_INPUT,
    "invalid_input": INVALID_INPUT,
    REFUSED_BY_SERVER: INVALID_INPUT,
    "permission": REFUSED,
    "signed_out": REFUSED,
    SIGN_IN_REFUSED: REFUSED,
    "secret_not_allowed_here": REFUSED,
    "resource_exhausted": EXHAUSTED,
    "no_steps": NO_PLAN,
    "missing_dependency": MISSING_DEPENDENCY,
    "missing_result": KEY_ERROR,
    "unreachable": OUT_OF_REACH,
    "impossible": OUT_OF_REACH,
    "not_permitted": FORBIDDEN,
    "not_needed": UNNEEDED,
}

EXCEPTIONS: dict[str, Classification] = {
    "TimeoutError": TIMEOUT,
    "PermissionError": REFUSED,
    "FileNotFoundError": MISSING,
    "NotADirectoryError": MISSING,
    "ModuleNotFoundError": MISSING,
    "ImportError": MISSING,
    "ConnectionError": DISCONNECTED,
    "ConnectionRefusedError": DISCONNECTED,
    "ConnectionResetError": DISCONNECTED,
    "ConnectionAbortedError": DISCONNECTED,
    "BrokenPipeError": DISCONNECTED,
    "BlockingIOError": BUSY,
    "MemoryError": EXHAUSTED,
    "SyntaxError": SYNTAX_ERROR,
    "TypeError": TYPE_ERROR,
    "ValueError": VALUE_ERROR,
    "UnicodeDecodeError": VALUE_ERROR,
    "ValidationError": INVALID_INPUT,
    "AttributeError": ATTRIBUTE_ERROR,
    "KeyError": KEY_ERROR,
    "IndexError": INDEX_ERROR,
}

MESSAGES: tuple[tuple[str, Classification], ...] = (
    ("plan has no steps", NO_PLAN),
    ("dependency not found", MISSING_DEPENDENCY),
    ("missing dependency", MISSING_DEPENDENCY),
    ("rate limit", BUSY),
    ("too many requests", BUSY),
    ("temporarily unavailable", BUSY),
    ("service unavailable", BUSY),
    ("is busy", BUSY),
    ("is locked", BUSY),
    ("timed out", TIMEOUT),
    ("timeout", TIMEOUT),
    ("deadline exceeded", TIMEOUT),
    ("bad gateway", DISCONNECTED),
    ("sslerror", DISCONNECTED),
    ("tls handshake", DISCONNECTED),
    ("broken pipe", DISCONNECTED),
    ("connection refused", DISCONNECTED),
    ("connection reset", DISCONNECTED),
    ("connection closed", DISCONNECTED),
    ("connection error", DISCONNECTED),
    ("network is unreachable", DISCONNECTED),
    ("no route to host", DISCONNECTED),
    ("name or service not known", DISCONNECTED),
    ("could not resolve", DISCONNECTED),
    ("permission denied", REFUSED),
    ("access denied", REFUSED),
    ("access is denied", REFUSED),
    ("not authorized", REFUSED),
    ("unauthorized", REFUSED),
    ("forbidden", REFUSED),
    ("operation not permitted", REFUSED),
    ("no space left", EXHAUSTED),
    ("out of memory", EXHAUSTED),
    ("quota exceeded", EXHAUSTED),
    ("syntax error", SYNTAX_ERROR),
    ("has no attribute", ATTRIBUTE_ERROR),
    ("index out of range", INDEX_ERROR),
    ("out of bounds", INDEX_ERROR),
    ("type mismatch", TYPE_ERROR),
    ("missing key", KEY_ERROR),
    ("not found", MISSING),
    ("no such", MISSING),
    ("does not exist", MISSING),
    ("validation failed", INVALID_INPUT),
    ("invalid value", VALUE_ERROR),
    ("invalid", INVALID_INPUT),
)
"""Phrases of a detail, the more specific ones first."""

NO_DELAY = ("not_dispatched",)
"""Reasons without a delay before the retry: nothing was tried yet, so there is nothing to wait for."""

OUT_OF_SIGHT = ("target_not_visible", "stale_target", "out_of_reach")
"""Reasons why nothing was tried: the target was not visible. Once it is visible again, the step may be tried."""

TRANSIENT: tuple[Nature, ...] = ("transient", "transport")
"""Natures of failures that may pass without doing anything."""


def may_pass(reason: str, found: Classification) -> bool:
    """Whether the same step may work when retried, without doing anything else."""
    if reason in OUT_OF_SIGHT or found.nature == "structural":
        return False
    return found.severity == "MEDIUM" or found.nature in TRANSIENT


def classify(reason: str, detail: str = "", rules: tuple[FailureRule, ...] = ()) -> Classification:
    """Classify a failure. For each field, the first matching rule of the user that sets it decides, else the tables."""
    found = REASONS.get(reason) or _by_words(detail)
    for rule in reversed(rules):
        if _fits(rule, reason, detail):
            decided = {name: value for name in _DECIDABLE if (value := getattr(rule, name)) is not None}
            found = replace(found, **decided)
    return found


_DECIDABLE = ("severity", "category", "error_type", "nature")


def _fits(rule: FailureRule, reason: str, detail: str) -> bool:
    if rule.reason and not fnmatchcase(reason, rule.reason):
        return False
    return not rule.message or fnmatchcase(detail.lower(), f"*{rule.message.lower()}*")


def _by_words(detail: str) -> Classification:
    name = detail.partition(":")[0].rpartition(".")[2].strip()
    if name in EXCEPTIONS:
        return EXCEPTIONS[name]
    words = detail.lower()
    return next((found for phrase, found in MESSAGES if phrase in words), UNCLASSIFIED)
