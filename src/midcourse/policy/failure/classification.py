"""Classification of failures: by reason first, a slug that skills and ports choose; then by the message.

Three tables in this order: the user's rules, which change only what they name; REASONS; and, for a reason that is not
listed, the name of an exception or a phrase in the detail. A failure that is in none of them counts as serious.
"""

from fnmatch import fnmatchcase

from midcourse.domain.failure import Category, Classification, ErrorType, FailureRule, Nature, Severity
from midcourse.domain.replace import replace

UNCLASSIFIED = Classification()


def _kind(severity: Severity, category: Category, error_type: ErrorType, nature: Nature) -> Classification:
    return Classification(severity=severity, category=category, error_type=error_type, nature=nature)


# The same step may well work in a moment.
SLIP = _kind("MEDIUM", "ENVIRONMENT", "other", "transient")
BUSY = _kind("MEDIUM", "RESOURCE", "other", "transient")
LATE = _kind("MEDIUM", "TIMEOUT", "timeout", "transient")
CUT_OFF = _kind("MEDIUM", "ENVIRONMENT", "network", "transport")
UNSEEN = _kind("MEDIUM", "ENVIRONMENT", "not_found", "recoverable")
# Another step may work.
MISTAKEN = _kind("HIGH", "LOGIC", "other", "recoverable")
BLOCKED = _kind("HIGH", "ENVIRONMENT", "other", "recoverable")
MISSING = _kind("HIGH", "DEPENDENCY", "not_found", "recoverable")
REFUSED = _kind("HIGH", "ENVIRONMENT", "permission", "permission")
FULL = _kind("HIGH", "RESOURCE", "other", "recoverable")
UNFIT = _kind("HIGH", "VALIDATION", "invalid_input", "under_specified")
MISTYPED = _kind("HIGH", "VALIDATION", "type_error", "under_specified")
MISVALUED = _kind("HIGH", "VALIDATION", "value_error", "under_specified")
MISWRITTEN = _kind("HIGH", "VALIDATION", "syntax", "under_specified")
MISNAMED = _kind("HIGH", "LOGIC", "attribute_error", "recoverable")
UNKEYED = _kind("HIGH", "LOGIC", "key_error", "recoverable")
BEYOND = _kind("HIGH", "LOGIC", "index_error", "recoverable")
# The plan itself cannot continue.
NO_PLAN = _kind("CRITICAL", "LOGIC", "other", "recoverable")
UNMET_NEED = _kind("CRITICAL", "DEPENDENCY", "not_found", "under_specified")
# No step of this kind can ever work from here.
OUT_OF_REACH = _kind("CRITICAL", "ENVIRONMENT", "other", "structural")
FORBIDDEN = _kind("CRITICAL", "ENVIRONMENT", "permission", "structural")
# It was not needed.
NEEDLESS = _kind("LOW", "LOGIC", "other", "recoverable")

REASONS: dict[str, Classification] = {
    "busy": BUSY,
    "grasp_slipped": SLIP,
    "no_effect": SLIP,
    "not_dispatched": SLIP,
    "object_moved": SLIP,
    "transient": SLIP,
    "timeout": LATE,
    "network": CUT_OFF,
    "connection_lost": CUT_OFF,
    "rate_limited": BUSY,
    "target_not_visible": UNSEEN,
    "stale_target": UNSEEN,
    "out_of_reach": UNSEEN,
    "detour_cancelled": BLOCKED,
    "revert_unverified": BLOCKED,
    "expectation_unmet": MISTAKEN,
    "wrong_target": MISTAKEN,
    "wrong_skill": MISTAKEN,
    "unknown_skill": MISTAKEN,
    "consequence_unstable": MISTAKEN,
    "done_when_unmet": MISTAKEN,
    "plan_refused": MISTAKEN,
    "planner_refused": MISTAKEN,
    "planner_garbage": UNFIT,
    "undecided": BLOCKED,
    "commit_unreadable": BLOCKED,
    "disabled": BLOCKED,
    "covered": BLOCKED,
    "dialog_open": BLOCKED,
    "page_crashed": BLOCKED,
    "object_not_found": MISSING,
    "not_found": MISSING,
    "no_such_file": MISSING,
    "no_such_option": UNFIT,
    "bad_arguments": UNFIT,
    "invalid_input": UNFIT,
    "permission": REFUSED,
    "signed_out": REFUSED,
    "secret_not_allowed_here": REFUSED,
    "resource_exhausted": FULL,
    "no_steps": NO_PLAN,
    "missing_dependency": UNMET_NEED,
    "missing_result": UNKEYED,
    "unreachable": OUT_OF_REACH,
    "impossible": OUT_OF_REACH,
    "not_permitted": FORBIDDEN,
    "not_needed": NEEDLESS,
}

EXCEPTIONS: dict[str, Classification] = {
    "TimeoutError": LATE,
    "PermissionError": REFUSED,
    "FileNotFoundError": MISSING,
    "NotADirectoryError": MISSING,
    "ModuleNotFoundError": MISSING,
    "ImportError": MISSING,
    "ConnectionError": CUT_OFF,
    "ConnectionRefusedError": CUT_OFF,
    "ConnectionResetError": CUT_OFF,
    "ConnectionAbortedError": CUT_OFF,
    "BrokenPipeError": CUT_OFF,
    "BlockingIOError": BUSY,
    "MemoryError": FULL,
    "SyntaxError": MISWRITTEN,
    "TypeError": MISTYPED,
    "ValueError": MISVALUED,
    "UnicodeDecodeError": MISVALUED,
    "ValidationError": UNFIT,
    "AttributeError": MISNAMED,
    "KeyError": UNKEYED,
    "IndexError": BEYOND,
}

MESSAGES: tuple[tuple[str, Classification], ...] = (
    ("plan has no steps", NO_PLAN),
    ("dependency not found", UNMET_NEED),
    ("missing dependency", UNMET_NEED),
    ("rate limit", BUSY),
    ("too many requests", BUSY),
    ("temporarily unavailable", BUSY),
    ("service unavailable", BUSY),
    ("is busy", BUSY),
    ("is locked", BUSY),
    ("timed out", LATE),
    ("timeout", LATE),
    ("deadline exceeded", LATE),
    ("bad gateway", CUT_OFF),
    ("sslerror", CUT_OFF),
    ("tls handshake", CUT_OFF),
    ("broken pipe", CUT_OFF),
    ("connection refused", CUT_OFF),
    ("connection reset", CUT_OFF),
    ("connection closed", CUT_OFF),
    ("connection error", CUT_OFF),
    ("network is unreachable", CUT_OFF),
    ("no route to host", CUT_OFF),
    ("name or service not known", CUT_OFF),
    ("could not resolve", CUT_OFF),
    ("permission denied", REFUSED),
    ("access denied", REFUSED),
    ("access is denied", REFUSED),
    ("not authorized", REFUSED),
    ("unauthorized", REFUSED),
    ("forbidden", REFUSED),
    ("operation not permitted", REFUSED),
    ("no space left", FULL),
    ("out of memory", FULL),
    ("quota exceeded", FULL),
    ("syntax error", MISWRITTEN),
    ("has no attribute", MISNAMED),
    ("index out of range", BEYOND),
    ("out of bounds", BEYOND),
    ("type mismatch", MISTYPED),
    ("missing key", UNKEYED),
    ("not found", MISSING),
    ("no such", MISSING),
    ("does not exist", MISSING),
    ("validation failed", UNFIT),
    ("invalid value", MISVALUED),
    ("invalid", UNFIT),
)
"""Phrases of a detail, the more telling ones first."""

AT_ONCE = ("not_dispatched",)
"""Nothing was tried yet, so there is nothing to wait for."""

OUT_OF_SIGHT = ("target_not_visible", "stale_target", "out_of_reach")
"""Nothing was tried, because the target was not visible. Once it is visible again, the step may be tried."""

PASSING: tuple[Nature, ...] = ("transient", "transport")
"""What may be over in a moment."""


def may_pass(reason: str, found: Classification) -> bool:
    """Whether the very same step may work in a moment, with nothing else done about it."""
    if reason in OUT_OF_SIGHT or found.nature == "structural":
        return False
    return found.severity == "MEDIUM" or found.nature in PASSING


def classify(reason: str, detail: str = "", rules: tuple[FailureRule, ...] = ()) -> Classification:
    """Of all the user's rules that fit, the first that says something decides; the tables say the rest."""
    found = REASONS.get(reason) or _by_words(detail)
    for rule in reversed(rules):
        if _fits(rule, reason, detail):
            said = {name: value for name in _SAYS if (value := getattr(rule, name)) is not None}
            found = replace(found, **said)
    return found


_SAYS = ("severity", "category", "error_type", "nature")


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
