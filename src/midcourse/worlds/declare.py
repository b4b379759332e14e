"""The decorators `@skill` and `@probe`, which declare what a world can do. They are read once, when the class is created."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeGuard, TypeVar, cast, get_args, overload

from midcourse.domain.argument import Argument, Reference
from midcourse.domain.expectation import Expectation, Probe
from midcourse.domain.skill import Effect, Skill, Undo
from midcourse.errors import SkillInvalid
from midcourse.ports.world import Catalogue, ProbeSpec
from midcourse.worlds.signature import Signature, read_method_signature

Method = TypeVar("Method", bound=Callable[..., Any])
_MARK = "__midcourse_mark__"
PROBE_SUFFIX = "_happened"
"""The ending of the name of a probe that belongs to a function or a tool."""


@dataclass(frozen=True, kw_only=True)
class SkillMark:
    """The options of `@skill`. The rest is in the method's signature."""

    effect: Effect = "set_state"
    transition: bool = False
    undo: Undo | str = ""
    probe: Probe | str | None = None
    settles_after: float = 0.0
    absent_when: Expectation | None = None
    absent_on: tuple[type[Exception], ...] = ()
    commit_set: str | Callable[..., Any] | None = None
    offered_with: tuple[str, ...] = ()
    by_position: bool = False


@dataclass(frozen=True, kw_only=True)
class ProbeMark:
    """The options of `@probe`."""

    settles_after: float = 0.0
    looks_for: str = ""


@dataclass(frozen=True, kw_only=True)
class DeclaredSkill:
    skill: Skill
    signature: Signature
    commit_set: str | Callable[..., Any] | None
    by_position: bool = False
    absent_on: tuple[type[Exception], ...] = ()


@dataclass(frozen=True, kw_only=True)
class DeclaredProbe:
    spec: ProbeSpec
    signature: Signature


@dataclass(frozen=True, kw_only=True)
class Declared:
    """All skills and probes of a class, in the order of definition, inherited ones first."""

    skills: tuple[DeclaredSkill, ...] = ()
    probes: tuple[DeclaredProbe, ...] = ()

    @property
    def catalogue(self) -> Catalogue:
        return Catalogue(skills=tuple(s.skill for s in self.skills), probes=tuple(p.spec for p in self.probes))

    def skill(self, name: str) -> DeclaredSkill | None:
        return next((declared for declared in self.skills if declared.skill.name == name), None)

    def probe(self, name: str) -> DeclaredProbe | None:
        return next((declared for declared in self.probes if declared.spec.name == name), None)


@overload
def skill(method: Method, /) -> Method: ...
@overload
def skill(
    *,
    effect: Effect = "set_state",
    transition: bool = False,
    undo: Undo | str = "",
    probe: Probe | str | None = None,
    settles_after: float = 0.0,
    absent_when: Expectation | None = None,
    absent_on: tuple[type[Exception], ...] = (),
    commit_set: str | Callable[..., Any] | None = None,
    offered_with: tuple[str, ...] = (),
    by_position: bool = False,
) -> Callable[[Method], Method]: ...
def skill(method: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Make a method a skill; name, description and parameters are taken from it.

    A parameter `zone: Zone` makes it a skill on a zone. `commit_set` names a method that takes the same arguments and
    returns everything the skill would send, without acting; without it the call's own arguments are all that is sent.
    `offered_with` says when planners are told of it (see `Skill`); a plan may use it at any time.
    `by_position`: it can also act on a zone that a reader found in a picture (`zone.pictured`), at its bounds.
    `undo` names the skill that reverts this one. It is passed the call's arguments of the same names, and its results where there
    is no such argument; `Undo(skill=…, arguments={"source": Reference(source="argument", name="destination")})` passes others.
    `probe` names a probe that tells whether the effect is there. It is passed the call's arguments of the same names;
    `Probe(name=…, arguments={"title": Reference(source="argument", name="subject")})` passes one under another name.
    `absent_on` lists exceptions that the skill raises only before it has sent anything. After all others its outcome is unknown.
    """
    return _apply_mark(SkillMark(**options), method)


@overload
def probe(method: Method, /) -> Method: ...
@overload
def probe(*, settles_after: float = 0.0, looks_for: str = "") -> Callable[[Method], Method]: ...
def probe(method: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Make a method a probe: True means the effect is there, False that it is not, None that it cannot be told.

    `settles_after`: for how many seconds after an act False means nothing, because what the probe reads may be behind.
    `looks_for`: the parameter with the text to be found. If nothing like it was sent, False means nothing either.
    """
    return _apply_mark(ProbeMark(**options), method)


def _apply_mark(mark: SkillMark | ProbeMark, method: Any) -> Any:
    def mark_method(unmarked: Any) -> Any:
        setattr(unmarked, _MARK, mark)
        return unmarked

    return mark_method if method is None else mark_method(method)


def read_declarations(cls: type, root: type) -> Declared:
    """Read the skills and probes of a subclass of `root`. Raise `SkillInvalid` for an invalid declaration."""
    skills: dict[str, DeclaredSkill] = {}
    probes: dict[str, DeclaredProbe] = {}
    for base in reversed(cls.__mro__):
        for name, value in vars(base).items():
            mark: object = getattr(value, _MARK, None)
            if isinstance(mark, SkillMark | ProbeMark) and hasattr(root, name):
                raise SkillInvalid(f"{cls.__name__}.{name}: every world has a method of this name; choose another")
            if isinstance(mark, SkillMark):
                skills[name] = _declare_skill(cls, name, value, mark)
            elif isinstance(mark, ProbeMark):
                probes[name] = _declare_probe(cls, name, value, mark)
    declared = Declared(skills=tuple(skills.values()), probes=tuple(probes.values()))
    for entry in declared.skills:
        _check_skill(cls, entry, declared)
    return declared


def _declare_skill(cls: type, name: str, method: Callable[..., Any], mark: SkillMark) -> DeclaredSkill:
    where = f"{cls.__name__}.{name}"
    if mark.effect not in get_args(Effect):
        raise SkillInvalid(f"{where}: effect '{mark.effect}' is none of {', '.join(get_args(Effect))}")
    named = Probe(name=mark.probe) if isinstance(mark.probe, str) else mark.probe
    if mark.settles_after:
        if named is None:
            raise SkillInvalid(f"{where}: settles_after says how long a probe needs, and there is no probe")
        named = replace(named, settles_after=mark.settles_after)
    check_absent_on(where, mark.absent_on)
    signature = read_method_signature(cls.__name__, method)
    undo = Undo(skill=mark.undo) if isinstance(mark.undo, str) else mark.undo
    return DeclaredSkill(
        skill=Skill(
            name=name,
            description=_first_line(method),
            parameters=signature.parameters,
            effect=mark.effect,
            transition=mark.transition,
            on_zone=signature.on_zone,
            commits="call" if mark.commit_set is None else "world",
            undo=undo.skill,
            undo_arguments=undo.arguments,
            probe=named,
            absent_when=mark.absent_when,
            offered_with=mark.offered_with,
        ),
        signature=signature,
        commit_set=mark.commit_set,
        by_position=mark.by_position,
        absent_on=mark.absent_on,
    )


def check_absent_on(where: str, exceptions: object) -> None:
    """Raise `SkillInvalid` unless these are exceptions in a tuple."""
    listed = cast(tuple[object, ...], exceptions) if isinstance(exceptions, tuple) else (None,)
    if not all(isinstance(each, type) and issubclass(each, Exception) for each in listed):
        raise SkillInvalid(f"{where}: absent_on is a tuple of exceptions, such as (PermissionError,)")


def _declare_probe(cls: type, name: str, method: Callable[..., Any], mark: ProbeMark) -> DeclaredProbe:
    signature = read_method_signature(cls.__name__, method)
    if signature.on_zone:
        raise SkillInvalid(f"{cls.__name__}.{name}: a probe has no zone; it must work wherever the world is")
    if mark.looks_for and mark.looks_for not in {parameter.name for parameter in signature.parameters}:
        raise SkillInvalid(
            f"{cls.__name__}.{name}: it looks for '{mark.looks_for}', which is not one of its parameters"
        )
    spec = ProbeSpec(
        name=name,
        description=_first_line(method),
        parameters=signature.parameters,
        settles_after=mark.settles_after,
        looks_for=mark.looks_for,
    )
    return DeclaredProbe(spec=spec, signature=signature)


def _first_line(method: Callable[..., Any]) -> str:
    return (inspect.getdoc(method) or "").partition("\n")[0]


def _check_skill(cls: type, entry: DeclaredSkill, declared: Declared) -> None:
    """Check that everything a skill names exists and fits."""
    where = f"{cls.__name__}.{entry.skill.name}"
    if entry.skill.undo:
        _check_undo(where, cls.__name__, entry.skill, declared.skill(entry.skill.undo))
    if entry.skill.probe is not None:
        _check_probe(where, cls.__name__, entry.skill.probe, entry.skill, declared)
    if entry.commit_set is not None:
        reader: object = getattr(cls, entry.commit_set, None) if isinstance(entry.commit_set, str) else entry.commit_set
        if not callable(reader):
            raise SkillInvalid(f"{where}: commit_set '{entry.commit_set}' is not a method of {cls.__name__}")
        skill_takes = list(inspect.signature(getattr(cls, entry.skill.name)).parameters)[1:]
        if list(inspect.signature(reader).parameters)[1:] != skill_takes:
            raise SkillInvalid(f"{where}: its commit_set must take the same arguments ({', '.join(skill_takes)})")


def _check_undo(where: str, owner: str, skill: Skill, inverse: DeclaredSkill | None) -> None:
    """Check that the inverse exists and that its arguments exist. Results are known only after a call."""
    if inverse is None:
        raise SkillInvalid(f"{where}: undone by '{skill.undo}', which is not a skill of {owner}")
    takes, own = ([parameter.name for parameter in each.parameters] for each in (inverse.skill, skill))
    for name, value in skill.undo_arguments:
        if name not in takes:
            raise SkillInvalid(f"{where}: '{skill.undo}', which undoes it, takes ({', '.join(takes)}), and no '{name}'")
        if _is_of_call(value) and value.name not in own:
            raise SkillInvalid(f"{where}: '{skill.undo}' would need '{value.name}', which {skill.name} does not take")


def _check_probe(where: str, owner: str, named: Probe, skill: Skill, declared: Declared) -> None:
    """Check that each parameter of the probe is given or passed on from the call's argument of the same name."""
    spec = declared.catalogue.probe(named.name)
    if spec is None:
        raise SkillInvalid(f"{where}: probe '{named.name}' is not a probe of {owner}")
    given = [name for name, _ in named.arguments]
    known = [parameter.name for parameter in spec.parameters]
    own = {parameter.name: parameter for parameter in skill.parameters}
    wrong = [name for name in given if name not in known]
    missing = [p.name for p in spec.parameters if p.required and p.name not in given and p.name not in own]
    if wrong or missing:
        raise SkillInvalid(
            f"{where}: probe '{named.name}' takes ({', '.join(known)}), not ({', '.join(given)}); "
            f"arguments of the same names are passed on from the call, and {skill.name} takes ({', '.join(own)})"
        )
    passed_on = {name: value.name for name, value in named.arguments if _is_of_call(value)}
    passed_on |= {name: name for name in known if name not in given and name in own}
    for parameter in spec.parameters:
        name = passed_on.get(parameter.name)
        if name is None:
            continue
        if name not in own:
            raise SkillInvalid(f"{where}: probe '{named.name}' would need '{name}', which {skill.name} does not take")
        if parameter.required and not own[name].required:
            raise SkillInvalid(
                f"{where}: probe '{named.name}' needs '{parameter.name}', which a call may leave out; give it a default"
            )
        if own[name].type != parameter.type:
            raise SkillInvalid(
                f"{where}: probe '{named.name}' takes '{parameter.name}' as {parameter.type}, and the skill has it as {own[name].type}"
            )


def _is_of_call(value: Argument) -> TypeGuard[Reference]:
    return isinstance(value, Reference) and value.source == "argument"
