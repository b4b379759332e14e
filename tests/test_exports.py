"""The exports of `midcourse` are frozen, and importing it imports no adapter."""

import inspect
import subprocess
import sys

import pytest

import midcourse

EXPORTS = [
    "Agent",
    "BaseWorld",
    "Browser",
    "Decision",
    "Draft",
    "DryRun",
    "Expectation",
    "Limits",
    "Outcome",
    "Plan",
    "PlanDraft",
    "Probe",
    "Result",
    "RunInProgress",
    "Scene",
    "Settings",
    "Step",
    "Task",
    "TerminalApprover",
    "Zone",
    "do",
    "guarded",
    "probe",
    "skill",
]


def test_exported_names_are_frozen():
    assert dir(midcourse) == EXPORTS
    assert len(EXPORTS) <= 24


@pytest.mark.slow  # imports the browser
def test_every_exported_name_is_there():
    for name in EXPORTS:
        assert getattr(midcourse, name).__name__ == {"Plan": "PlanDraft", "Step": "Draft"}.get(name, name)


@pytest.mark.slow  # imports the browser
def test_everything_can_be_imported_with_a_star():
    names: dict[str, object] = {}
    exec("from midcourse import *", names)
    assert set(EXPORTS) <= set(names)


def test_help_of_agent_can_be_read():
    signature = str(inspect.signature(midcourse.Agent))
    assert " at 0x" not in signature
    assert len(signature) <= 1_300
    assert "Annotated" not in signature


def import_modules(statement: str) -> set[str]:
    script = f"{statement}\nimport sys\nprint(*(m for m in sys.modules if m.split('.')[0] == 'midcourse'))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.slow
def test_importing_midcourse_imports_nothing_else_of_it():
    assert import_modules("import midcourse") == {"midcourse", "midcourse.lazy"}


@pytest.mark.slow
def test_the_core_imports_no_adapter():
    loaded = import_modules("import midcourse.drive, midcourse.perform, midcourse.runtimes.driver")
    layers = {module.split(".")[1] for module in loaded if "." in module}
    assert layers == {
        "exception_text",
        "codec",
        "containment",
        "director",
        "domain",
        "drive",
        "errors",
        "lazy",
        "perform",
        "pictures",
        "policy",
        "ports",
        "redact",
        "runtimes",
    }
