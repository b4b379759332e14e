"""Selects the skills that a planner is offered for this task and screen. A skill that is left out may still be used."""

from fnmatch import fnmatchcase

from midcourse.domain.observation import Observation
from midcourse.domain.skill import Skill
from midcourse.domain.task import Task


def is_offered_by_task(skill: Skill, task: Task) -> bool:
    """Whether the task itself calls for this skill, independently of the screen."""
    has = {"file": bool(task.files), "output": bool(task.output)}
    return not skill.offered_with or any(has.get(condition, False) for condition in skill.offered_with)


def is_offered_by_screen(skill: Skill, observation: Observation) -> bool:
    """Whether something that is visible now calls for this skill."""
    return any(_is_visible(condition, observation) for condition in skill.offered_with)


def _is_visible(condition: str, observation: Observation) -> bool:
    kind, _, pattern = condition.partition(":")
    match kind:
        case "zone":
            return any(fnmatchcase(zone.id, pattern) for zone in observation.zones)
        case "role":
            return any(zone.role == pattern for zone in observation.zones)
        case "state":
            return any(zone.get(pattern) is True for zone in observation.zones)
        case _:
            return False
