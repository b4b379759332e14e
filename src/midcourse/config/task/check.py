"""Checks that a task fits its world before it runs: in the middle of a run, an order may already have been sent."""

from midcourse.config.task.file import TaskFile
from midcourse.domain.expectation import Probe
from midcourse.domain.plan import REPLAN, Draft
from midcourse.domain.skill import Catalogue
from midcourse.errors import TaskInvalid
from midcourse.policy.spelling import describe_unknown


def check_against(file: TaskFile, catalogue: Catalogue) -> None:
    """Check that the world has every skill and probe that the task names. If not, raises `TaskInvalid` with the nearest name.

    A world that has no catalogue before it is open is not checked.
    """
    if not catalogue.skills:
        return
    for step in _steps(file):
        _check("skill", step.skill, [skill.name for skill in catalogue.skills], file, f"step '{step.says}'")
        if step.probe is not None:
            _check_probe(step.probe, catalogue, file, f"step '{step.says}'")
    if isinstance(file.task.done_when, Probe):
        _check_probe(file.task.done_when, catalogue, file, "done_when")


def _steps(file: TaskFile) -> list[Draft]:
    planned = [step for rule in file.planner.rules for step in rule.steps]
    return [step for step in (*planned, *file.planner.steps) if step.zone != REPLAN]


def _check_probe(probe: Probe, catalogue: Catalogue, file: TaskFile, where: str) -> None:
    _check("probe", probe.name, [spec.name for spec in catalogue.probes], file, where)


def _check(what: str, name: str, known: list[str], file: TaskFile, where: str) -> None:
    if name not in known:
        raise TaskInvalid(f"{where}: {describe_unknown(what, name, known)} (in the world '{file.world.name}')")
