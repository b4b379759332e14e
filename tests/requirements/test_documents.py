"""Short tests of single sentences of the documents, where no scenario shows them through what a user can reach."""

import json
from pathlib import Path
from typing import Any

import pytest

from midcourse.domain.result import DetourCounts
from midcourse.testing import ScriptedOutlines, ScriptedProgress
from tests.cli.conftest import Cli
from tests.scenarios.stage import Played, example
from tests.scenarios.test_detour import SIX, adding_files, closeness, opening_settings, tries
from tests.scenarios.test_outline import GOALS, bookmarks
from tests.scenarios.test_recovery import disk, fails

# --- document 000


async def test_global_steps_need_no_zone() -> None:
    played = await example("notepad").play()
    zones = [step.zone for version in played.plans for step in version.steps]
    assert zones.count("__global__") == 7
    assert played.result.success


# --- document 001


async def classified(message: str, reason: str = "error") -> tuple[str, str, str]:
    """Severity, category and error type of a failure, as the next planner call shows them."""
    played = await disk(fails(reason, message), replan_interval_seconds=0, replan_on_medium=True).play()
    recovery = played.contexts[1].recovery
    assert recovery is not None
    found = recovery.failure.found
    return found.severity, found.category, found.error_type


@pytest.mark.parametrize(
    ("message", "severity", "category"),
    [
        ("Plan has no steps", "CRITICAL", "LOGIC"),
        ("Dependency not found", "CRITICAL", "DEPENDENCY"),
        ("Agent not found", "HIGH", "DEPENDENCY"),
        ("Validation failed", "HIGH", "VALIDATION"),
        ("Permission denied: cannot write to /protected", "HIGH", "ENVIRONMENT"),
    ],
)
async def test_the_messages_of_document_001_are_classified_as_it_says(
    message: str, severity: str, category: str
) -> None:
    assert (await classified(message))[:2] == (severity, category)


@pytest.mark.parametrize("reason", ["busy", "not_needed"])
async def test_medium_and_low_make_no_new_plan_by_default(reason: str) -> None:
    attempts = 0

    def passes_after_one() -> Any:
        nonlocal attempts
        attempts += 1
        return fails(reason)() if attempts == 1 else None

    played = await disk(passes_after_one).play()
    assert played.ended == (True, False, "plan_complete")
    assert played.result.planner_calls == 1


ERROR_TYPES = {
    "timeout": "TimeoutError: no answer",
    "permission": "Permission denied: cannot write to /protected",
    "not_found": "FileNotFoundError: report.csv",
    "invalid_input": "Validation failed for field 'date'",
    "network": "ConnectionError: connection reset by peer",
    "syntax": "SyntaxError: invalid syntax",
    "type_error": "TypeError: int expected",
    "attribute_error": "AttributeError: 'NoneType' object has no attribute 'text'",
    "key_error": "KeyError: 'total'",
    "value_error": "ValueError: -1",
    "index_error": "IndexError: list index out of range",
}


@pytest.mark.parametrize("error_type", ERROR_TYPES)
async def test_every_error_type_of_document_001_is_told_apart(error_type: str) -> None:
    assert (await classified(ERROR_TYPES[error_type]))[2] == error_type


# --- document 002


async def test_goals_are_stored_without_markers() -> None:
    stage = bookmarks(outliner=ScriptedOutlines(GOALS), progress_judge=ScriptedProgress(2, 3, 4))
    played = await stage.play()
    outline = played.final_run.outline
    assert outline is not None
    assert outline.current == 4
    assert [goal.says for goal in outline.goals] == list(GOALS)


# --- document 003


async def detour() -> Played:
    return await adding_files().play()


async def test_closeness_before_and_after_each_try_is_told() -> None:
    assert closeness(await detour()) == [(2.0, 3.5), (3.5, 2.0)]


async def test_states_of_a_detour_are_numbered_below_their_step() -> None:
    assert [one.label for one in tries(await detour())] == ["1.1", "1.2", "1.3"]


async def test_iterations_reverts_explorations_and_cancels_are_in_the_result() -> None:
    found = (await detour()).result.detours
    assert found == DetourCounts(detours=1, tries=3, reverts=0, explorations=1, cancels=0)
    dead_end = (await opening_settings(*SIX).play()).result.detours
    assert (dead_end.tries, dead_end.reverts) == (6, 1)
    in_vain = (await adding_files(detour_iterations=1).play()).result.detours
    assert in_vain.cancels == in_vain.detours > 0


# --- document 004

PLAIN_LOOP = ("--set", "replan_admission=off", "--set", "structural_stop=off", "--set", "max_error_replans=2")


def test_the_demo_of_document_004_has_its_verdict(cli: Cli) -> None:
    output = cli("run", "unreachable_cube", *PLAIN_LOOP, "--set", "replan_interval_seconds=0", "--json").json
    assert (output["success"], output["replans"], output["executions"]) == (False, 2, 3)
    assert output["final_reason"] == "replan_exhausted"
    assert "IK did not converge in 400 iters" in output["final_detail"]


def test_result_json_has_the_fields_of_document_004(cli: Cli, home: Path) -> None:
    cli("run", "unreachable_cube", "--run-id", "cube", "--quiet")
    result = json.loads((home / "runs" / "cube" / "result.json").read_text())
    assert result["replans"] == 1
    assert result["final_reason"] == "structural_failure"
    assert "unreachable" in result["final_detail"]
