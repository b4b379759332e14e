"""Cause and fix of a failure, by rules."""

from typing import get_args

import pytest

from midcourse.domain.failure import Classification, ErrorType, FailedStep, Failure, Nature
from midcourse.policy.failure.classification import classify
from midcourse.policy.failure.reflection import BY_NATURE, BY_TYPE, explain_failure


def attempt(reason: str = "permission", target: str = "/protected", skill: str = "write") -> FailedStep:
    return FailedStep(version=1, index=1, skill=skill, target=target, arguments=(), reason=reason, detail="")


def failure(reason: str = "permission", detail: str = "", tries: int = 0) -> Failure:
    found = classify(reason, detail)
    return Failure(reason=reason, detail=detail, found=found, version=1, index=1, tries=tries)


def test_there_is_advice_for_every_error_type_and_every_nature() -> None:
    assert set(BY_TYPE) == set(get_args(ErrorType)) - {"other"}
    assert set(BY_NATURE) == set(get_args(Nature))


@pytest.mark.parametrize("error_type", get_args(ErrorType))
def test_every_error_type_has_a_cause_a_fix_and_changes(error_type: ErrorType) -> None:
    found = Classification(error_type=error_type)
    reflection = explain_failure(Failure(reason="x", found=found))
    assert reflection.analysis.error_type == error_type
    assert reflection.analysis.root_cause
    assert reflection.fix.message
    assert reflection.fix.changes


def test_the_cause_names_step_target_and_what_was_said() -> None:
    reflection = explain_failure(failure(detail="cannot write to /protected"), attempt())
    assert reflection.analysis.root_cause == (
        "write on '/protected': the account in use has no right to do this (cannot write to /protected)"
    )
    assert (reflection.analysis.severity, reflection.analysis.preventable, reflection.by) == ("HIGH", True, "rules")


def test_earlier_tries_are_contributing_factors() -> None:
    tried = (attempt(target="/other"), attempt(), attempt())
    assert explain_failure(failure(), attempt(), tried).analysis.contributing_factors == (
        "3 tries failed for the same reason, 'permission'",
        "write failed on 1 other things as well",
    )
    retried = explain_failure(failure("busy", tries=3), attempt("busy"), (attempt("busy"),) * 4)
    assert retried.analysis.contributing_factors == ("it was tried 4 times, with waits in between",)


def test_what_nobody_knows_is_said_to_be_unknown() -> None:
    reflection = explain_failure(failure("something new"))
    assert reflection.analysis.contributing_factors == ("nothing is known about failures of this kind",)
    assert reflection.analysis.preventable is None


def test_a_failure_without_a_step_has_a_cause_as_well() -> None:
    nothing = Failure(reason="no_steps", detail="the plan had no steps", found=classify("no_steps"))
    assert explain_failure(nothing).analysis.root_cause.endswith("(the plan had no steps)")
