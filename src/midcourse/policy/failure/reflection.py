"""Explanation of failures by rules, from their classification and the attempts so far. Needs no model."""

from dataclasses import dataclass

from midcourse.domain.failure import Attempt, ErrorType, FailedStep, Failure, Nature
from midcourse.domain.reflection import Analysis, Fix, Reflection


@dataclass(frozen=True, kw_only=True)
class Remedy:
    cause: str
    fix: str
    changes: tuple[str, ...] = ()
    preventable: bool | None = None


BY_TYPE: dict[ErrorType, Remedy] = {
    "timeout": Remedy(
        cause="it took longer than allowed, or there was no answer",
        fix="Make sure that the target is ready before it is used again",
        changes=("wait for a sign that it is ready", "do less in one step"),
    ),
    "permission": Remedy(
        cause="the account in use has no right to do this",
        fix="Reach the goal without that right",
        changes=("choose a target that is permitted", "sign in with an account that may, if the task says so"),
        preventable=True,
    ),
    "not_found": Remedy(
        cause="what the step names is not there, or has another name",
        fix="Use only what is visible now",
        changes=("take the name from the present screen", "open the place where it is first"),
        preventable=True,
    ),
    "invalid_input": Remedy(
        cause="the values do not fit what is asked for",
        fix="Give values of the kind that is asked for",
        changes=("read the parameters of the skill again", "take the values from the task instead of making them up"),
        preventable=True,
    ),
    "network": Remedy(
        cause="the connection to what is acted on broke",
        fix="Try again once the connection is back, and check first what is done already",
        changes=("look at the present state before anything else",),
        preventable=False,
    ),
    "syntax": Remedy(
        cause="what was sent does not have the required form",
        fix="Write it in the form that is expected",
        changes=("check brackets, quotes and separators",),
        preventable=True,
    ),
    "type_error": Remedy(
        cause="a value is of another type than is needed",
        fix="Give a value of the type that the parameter has",
        changes=("a number as a number, a boolean as true or false",),
        preventable=True,
    ),
    "attribute_error": Remedy(
        cause="something lacks a part that the step relies on",
        fix="Do not rely on that part",
        changes=("look what the thing really has",),
        preventable=True,
    ),
    "key_error": Remedy(
        cause="an entry that the step relies on is missing",
        fix="Use an entry that is there",
        changes=("look which entries there are", "get the missing one first"),
        preventable=True,
    ),
    "value_error": Remedy(
        cause="a value is of the right type and still impossible",
        fix="Give a value that makes sense here",
        changes=("check range and form of the value",),
        preventable=True,
    ),
    "index_error": Remedy(
        cause="there are fewer entries than the step counts on",
        fix="Count what is there first",
        changes=("use one of the entries that are visible",),
        preventable=True,
    ),
}

BY_NATURE: dict[Nature, Remedy] = {
    "transient": Remedy(
        cause="a passing condition that did not pass in time",
        fix="Take another way, or come back to it later",
        changes=("do what does not depend on it first",),
        preventable=False,
    ),
    "recoverable": Remedy(
        cause="the screen was not as the plan supposed",
        fix="Plan from what is visible now",
        changes=("take another way to the same end", "close what has come up in between"),
    ),
    "under_specified": Remedy(
        cause="the plan lacks something that the step needs",
        fix="Get what is missing before the step that needs it",
        changes=("add the step that brings it back",),
        preventable=True,
    ),
    "structural": Remedy(
        cause="this step cannot work, however often it is tried, and is not tried again",
        fix="Plan another way that the task itself names or allows, without this step, or say that it is impossible",
    ),
    "transport": BY_TYPE["network"],
    "permission": BY_TYPE["permission"],
}
"""Remedies for failures without a specific error type."""

ANSWERS = (
    "bad_arguments",
    "missing_dependency",
    "missing_result",
    "no_such_file",
    "no_such_option",
    "plan_refused",
    "planner_garbage",
    "secret_not_allowed_here",
    "unknown_skill",
    "wrong_skill",
)
"""Reasons of refusals by the runtime or by a tool that checks its arguments: the message was written to be the answer."""


def says_what_to_do(failure: Failure, attempts: tuple[Attempt, ...]) -> bool:
    """Whether the error text is the answer, so that no model is asked to explain it.

    A time-out, an unknown error, and what failed again although the text was known are worth an explanation.
    """
    if not failure.detail.strip() or failure.found.nature == "transient":
        return False
    if sum(attempt.count for attempt in attempts if attempt.reason == failure.reason) >= REPEATED:
        return False
    return failure.reason in ANSWERS or failure.found.nature == "under_specified"


REPEATED = 2
"""The number of failures with the same reason that counts as a contributing factor."""


def explain_failure(
    failure: Failure, failed: FailedStep | None = None, attempts: tuple[FailedStep, ...] = ()
) -> Reflection:
    """Explain a failure. `failed` is the step, if it was one; `attempts` are all failed ones so far, including this one."""
    found = failure.found
    by_type = None if found.nature == "structural" else BY_TYPE.get(found.error_type)
    remedy = by_type or BY_NATURE[found.nature]
    return Reflection(
        analysis=Analysis(
            error_type=found.error_type,
            severity=found.severity,
            root_cause=_root_cause(remedy, failure, failed),
            contributing_factors=_factors(failure, failed, attempts),
            preventable=remedy.preventable,
        ),
        fix=Fix(message=remedy.fix, changes=remedy.changes),
    )


def _root_cause(remedy: Remedy, failure: Failure, failed: FailedStep | None) -> str:
    detail = f" ({failure.detail})" if failure.detail else ""
    if failed is None:
        return f"{remedy.cause}{detail}"
    on = f" on '{failed.target}'" if failed.target else ""
    return f"{failed.skill}{on}: {remedy.cause}{detail}"


def _factors(failure: Failure, failed: FailedStep | None, attempts: tuple[FailedStep, ...]) -> tuple[str, ...]:
    factors: list[str] = []
    if failure.tries:
        factors.append(f"it was tried {failure.tries + 1} times, with waits in between")
    same = [attempt for attempt in attempts if attempt.reason == failure.reason]
    if len(same) >= max(REPEATED, failure.tries + 2):
        factors.append(f"{len(same)} tries failed for the same reason, '{failure.reason}'")
    if failed is not None:
        elsewhere = {attempt.target for attempt in attempts if attempt.skill == failed.skill} - {failed.target}
        if elsewhere:
            factors.append(f"{failed.skill} failed on {len(elsewhere)} other things as well")
    if failure.found.category == "UNKNOWN":
        factors.append("nothing is known about failures of this kind")
    return tuple(factors)
