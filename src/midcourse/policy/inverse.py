"""Inverses of acts: which skill undoes an act, with which arguments, and why there is none."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from midcourse.domain.argument import Argument, Arguments, Pairs, Reference
from midcourse.domain.expectation import Probe
from midcourse.domain.plan import Step
from midcourse.domain.replace import replace
from midcourse.domain.skill import Catalogue, Effect, Skill

Certainty: TypeAlias = Literal["yes", "perhaps"]


@dataclass(frozen=True, kw_only=True)
class PastAct:
    """An act of an earlier run that had an effect, or may have had one."""

    number: int
    """Its position among the run's acts, counted from 1 in the order in which they were sent."""
    command: int
    step: Step
    """The step, with the results of earlier steps filled in."""
    effect: Effect
    happened: Certainty
    results: Pairs = ()


@dataclass(frozen=True, kw_only=True)
class Inverse:
    """The call that undoes an act."""

    act: PastAct
    skill: Skill
    arguments: Arguments
    effect: Probe | None = None
    """Finds the effect of the act, if the act's skill has a probe."""
    undone: Probe | None = None
    """Finds that the act is undone: the inverse's own probe, or else that of the act, negated.

    The act's own comes second, because some effects leave a trace when they are undone: a commit that was reverted is still in the log.
    """


def find_inverse(act: PastAct, catalogue: Catalogue) -> Inverse | str:
    """The inverse of an act, or the reason why there is none."""
    done = catalogue.skill(act.step.skill)
    if done is None:
        return f"the world has no skill '{act.step.skill}' any more"
    if not done.undo:
        return f"'{done.name}' names no undo"
    skill = catalogue.skill(done.undo)
    if skill is None:
        return f"the world has no skill '{done.undo}', which undoes '{done.name}'"
    if act.effect == "set_state" and skill.on_zone:
        return f"'{done.name}' only sets a state of what is on the screen"
    effect = _fill_in_probe(act.step.probe or done.probe, act.step.arguments, catalogue)
    if act.happened == "perhaps" and effect is None:
        return "it may have happened, and there is no probe to find out"
    found = dict(_inverse_arguments(act, done, skill))
    if missing := [
        parameter.name for parameter in skill.parameters if parameter.required and parameter.name not in found
    ]:
        return (
            f"'{skill.name}' needs {', '.join(map(repr, missing))}, which '{done.name}' neither was given nor returned"
        )
    arguments = tuple(found.items())
    negated = replace(effect, negated=not effect.negated) if effect else None
    undone = _fill_in_probe(skill.probe, arguments, catalogue) or negated
    return Inverse(act=act, skill=skill, arguments=arguments, effect=effect, undone=undone)


def _inverse_arguments(act: PastAct, done: Skill, inverse: Skill) -> Arguments:
    """Arguments of the inverse: as declared, else the act's argument of the same name, else its result of the same name."""
    called, returned = dict(act.step.arguments), dict(act.results)
    by_name: dict[str, Argument] = {**returned, **called}
    found = {parameter.name: by_name[parameter.name] for parameter in inverse.parameters if parameter.name in by_name}
    for name, value in done.undo_arguments:
        found.pop(name, None)
        if not isinstance(value, Reference) or value.source not in ("argument", "result"):
            found[name] = value
        elif value.name in (source := called if value.source == "argument" else returned):
            found[name] = source[value.name]
    return tuple(found.items())


def _fill_in_probe(named: Probe | None, arguments: Arguments, catalogue: Catalogue) -> Probe | None:
    """The probe for the effect of a call with these arguments, if it can be asked without others."""
    spec = catalogue.probe(named.name) if named else None
    if named is None or spec is None:
        return None
    called = dict(arguments)
    filled = {parameter.name: called[parameter.name] for parameter in spec.parameters if parameter.name in called}
    for name, value in named.arguments:
        of_call = isinstance(value, Reference) and value.source == "argument"
        filled[name] = called.get(value.name) if of_call and isinstance(value, Reference) else value
    if any(parameter.required and parameter.name not in filled for parameter in spec.parameters):
        return None
    return replace(named, arguments=tuple(filled.items()))
