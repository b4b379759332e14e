"""Classification of failures by reason, exception, phrase and the user's rules."""

from typing import get_args

import pytest

from midcourse.domain.failure import Classification, ErrorType, FailureRule, Nature
from midcourse.policy.failure.classification import EXCEPTIONS, MESSAGES, REASONS, UNCLASSIFIED, classify, may_pass

STRUCTURAL = {"unreachable", "not_permitted", "impossible"}
PASSING = {
    "busy",
    "grasp_slipped",
    "no_effect",
    "not_dispatched",
    "object_moved",
    "timeout",
    "transient",
    "network",
    "connection_lost",
    "rate_limited",
}
EVERY = (*REASONS.values(), *EXCEPTIONS.values(), *(found for _, found in MESSAGES))


def test_structural_reasons_are_a_fixed_list_and_critical() -> None:
    assert {reason for reason, found in REASONS.items() if found.nature == "structural"} == STRUCTURAL
    assert {REASONS[reason].severity for reason in STRUCTURAL} == {"CRITICAL"}
    assert not any(found.nature == "structural" for found in EXCEPTIONS.values()), "words alone never stop a run"
    assert not any(found.nature == "structural" for _, found in MESSAGES)


def test_what_may_pass_is_known_by_its_reason() -> None:
    assert {reason for reason, found in REASONS.items() if may_pass(reason, found)} == PASSING
    for reason in ("permission", "target_not_visible", "stale_target", "expectation_unmet", "", "no such word"):
        assert not may_pass(reason, classify(reason))


def test_every_severity_category_type_and_nature_is_used() -> None:
    for field in ("severity", "category", "error_type", "nature"):
        union = Classification.__annotations__[field]
        assert {getattr(found, field) for found in (*EVERY, UNCLASSIFIED)} == set(get_args(union)), field


@pytest.mark.parametrize(
    ("reason", "severity", "category"),
    [
        ("no_steps", "CRITICAL", "LOGIC"),
        ("missing_dependency", "CRITICAL", "DEPENDENCY"),
        ("bad_arguments", "HIGH", "VALIDATION"),
        ("permission", "HIGH", "ENVIRONMENT"),
        ("timeout", "MEDIUM", "TIMEOUT"),
        ("busy", "MEDIUM", "RESOURCE"),
        ("not_needed", "LOW", "LOGIC"),
        ("something new", "HIGH", "UNKNOWN"),
    ],
)
def test_severity_and_category_by_reason(reason: str, severity: str, category: str) -> None:
    found = classify(reason)
    assert (found.severity, found.category) == (severity, category)


@pytest.mark.parametrize(
    ("detail", "error_type", "nature"),
    [
        ("TimeoutError: no answer", "timeout", "transient"),
        ("Permission denied: cannot write to /protected", "permission", "permission"),
        ("HTTP 403 Forbidden", "permission", "permission"),
        ("FileNotFoundError: [Errno 2] report.csv", "not_found", "recoverable"),
        ("Agent not found", "not_found", "recoverable"),
        ("Validation failed for field 'date'", "invalid_input", "under_specified"),
        ("httpx.ConnectionError: [Errno 104] Connection reset by peer", "network", "transport"),
        ("SyntaxError: invalid syntax", "syntax", "under_specified"),
        ("TypeError: int expected", "type_error", "under_specified"),
        ("AttributeError: 'NoneType' object has no attribute 'text'", "attribute_error", "recoverable"),
        ("KeyError: 'total'", "key_error", "recoverable"),
        ("ValueError: -1", "value_error", "under_specified"),
        ("IndexError: list index out of range", "index_error", "recoverable"),
        ("Plan has no steps", "other", "recoverable"),
        ("nobody has ever said this", "other", "recoverable"),
    ],
)
def test_an_unknown_reason_is_classified_by_exception_and_phrase(
    detail: str, error_type: ErrorType, nature: Nature
) -> None:
    found = classify("error", detail)
    assert (found.error_type, found.nature) == (error_type, nature)


def test_the_reason_comes_before_the_words() -> None:
    assert classify("unreachable", "the request timed out") == REASONS["unreachable"]


def test_a_users_rule_changes_what_it_names_and_nothing_else() -> None:
    rules = (FailureRule(reason="expectation_unmet", severity="LOW"),)
    found = classify("expectation_unmet", rules=rules)
    assert (found.severity, found.category, found.nature) == ("LOW", "LOGIC", "recoverable")
    assert classify("permission", rules=rules) == REASONS["permission"]


def test_a_rule_may_go_by_patterns_and_the_first_that_fits_decides() -> None:
    rules = (
        FailureRule(reason="sap_*", message="lock*held by", severity="MEDIUM", nature="transient"),
        FailureRule(reason="sap_*", nature="structural", category="RESOURCE"),
    )
    held = classify("sap_503", "Lock on 4711 HELD BY another user", rules)
    assert (held.severity, held.nature, held.category) == ("MEDIUM", "transient", "RESOURCE")
    assert classify("sap_503", "no licence", rules).nature == "structural"


def test_what_a_user_calls_medium_may_pass_whatever_its_nature() -> None:
    rules = (FailureRule(reason="rejected", severity="MEDIUM"),)
    assert may_pass("rejected", classify("rejected", rules=rules))
