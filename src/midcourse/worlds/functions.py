"""Plain functions as a world: each is a skill, and its `happened` a probe."""

import inspect
import json
import logging
import secrets
import unicodedata
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from enum import Enum
from functools import cached_property
from typing import Any, cast, get_args, get_type_hints
from uuid import UUID

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError, to_jsonable_python

from midcourse.containment import CallAborted, Contained
from midcourse.domain.argument import Pairs, Scalar, json_text
from midcourse.domain.expectation import Probe
from midcourse.domain.outcome import ALREADY_DONE, Outcome
from midcourse.domain.skill import Effect, ProbeSpec, Skill, Undo
from midcourse.errors import AnswerLost, KeyTaken, NotSent, OutcomeUnknown, SkillInvalid, TaskInvalid
from midcourse.exception_text import describe_exception, format_traceback
from midcourse.ports.world import Call
from midcourse.process import has_ended, identify_self
from midcourse.worlds.base import BaseWorld, await_if_needed, read_refusal
from midcourse.worlds.declare import PROBE_SUFFIX, Declared, DeclaredProbe, DeclaredSkill, check_absent_on
from midcourse.worlds.signature import ArgumentsUnfit, Signature, read_signature

log = logging.getLogger(__name__)

RETURNED = "returned"
"""What a function returned, as JSON text, in the outcome of its step."""
MAX_EXACT = 2**53
"""Integers below this have a float of the same value."""
GUARD = "__midcourse_function__"
"""The attribute of a decorated function that holds its `Function`."""


@dataclass(frozen=True, kw_only=True)
class Returned:
    """What a guarded function returned, and the run of the earlier call if that was the one that returned it."""

    value: Any
    earlier_run: str = ""


@dataclass(frozen=True, kw_only=True)
class Function:
    """A function, its effect, and how to find out whether that effect is there."""

    call: Callable[..., Any]
    effect: Effect = "irreversible"
    happened: Callable[..., Any] | None = None
    absent_on: tuple[type[Exception], ...] = ()
    """Exceptions that it raises only before it has sent anything."""
    settles_after: float = 0.0
    """Seconds until `happened` sees the effect."""
    undo: Undo | None = None
    """The function that reverts it."""
    call_once: Callable[[Pairs, bool], Awaitable["Returned"]] | None = None
    """Calls a guarded function, or returns what an earlier call under its key returned. Its second argument says whether an earlier
    call in doubt was found not to have happened. None: each call is made."""

    def __post_init__(self) -> None:
        if self.effect not in get_args(Effect):
            raise SkillInvalid(f"{self.name}: effect '{self.effect}' is none of {', '.join(get_args(Effect))}")
        check_absent_on(self.name, self.absent_on)
        assert self.signature  # raises for parameters that cannot be passed by name

    @property
    def name(self) -> str:
        return self.call.__name__

    @cached_property
    def signature(self) -> Signature:
        parameters = list(inspect.signature(self.call).parameters.items())
        return read_signature(self.name, self.call, parameters, any_type=True)

    def arguments(self, *args: Any, **kwargs: Any) -> Pairs:
        """The arguments of a call, defaults included, as they are shown, stored and passed. Raises `TypeError`."""
        bound = inspect.signature(self.call).bind(*args, **kwargs)
        bound.apply_defaults()
        types = {parameter.name: parameter.type for parameter in self.signature.parameters}
        pairs = tuple((name, _as_argument(name, value, types[name])) for name, value in bound.arguments.items())
        try:
            self.bind(pairs)
        except (ArgumentsUnfit, ValidationError) as unfit:
            raise TypeError(f"{self.name}(): {unfit}") from None
        return pairs

    def bind(self, arguments: Pairs) -> dict[str, Any]:
        """Keyword arguments, with values of annotated types such as dataclasses made from their JSON."""
        bound = self.signature.bind(arguments)
        for parameter in self.signature.parameters:
            if parameter.type == "json" and parameter.name in bound and parameter.name in self._hints:
                bound[parameter.name] = TypeAdapter(self._hints[parameter.name]).validate_python(bound[parameter.name])
        return bound

    def as_key(self, name: str, value: Scalar) -> Scalar:
        """The value of an argument as keys have it, and as values are compared.

        It is converted to its type as for the call; text is in Unicode's composed form, and JSON has one text for equal numbers.
        """
        try:
            converted = self.signature.bind_value(name, value)
            if self._is_json(name):
                return json_text(_as_json_key(self._convert(name, converted)))
        except (ArgumentsUnfit, ValidationError):  # stored by an earlier version of the function
            converted = value
        return _as_json_key(converted) if isinstance(converted, str) else converted

    def spell_for_key(self, name: str, value: Scalar) -> list[Scalar]:
        """The value as keys have it, and after it the forms that equal values had in keys before values were converted."""
        key = self.as_key(name, value)
        spelled: list[Scalar] = [key, value]
        match json.loads(key) if self._is_json(name) and isinstance(key, str) else key:
            case bool() | None:
                pass
            case int() | float() as number if abs(number) < MAX_EXACT:
                others = [float(number), *([int(number)] if float(number).is_integer() else [])]
                spelled += [str(each) for each in others] if self._is_json(name) else others
            case _:
                spelled.append(unicodedata.normalize("NFD", str(key)))
        return list({(type(each), each): each for each in spelled}.values())

    def is_empty(self, name: str, value: Scalar) -> bool:
        """Whether a value identifies nothing."""
        try:
            given = self.signature.bind_value(name, value)
        except ArgumentsUnfit:
            given = value
        return given is None or (isinstance(given, str) and not given.strip())

    def _is_json(self, name: str) -> bool:
        return any(each.name == name and each.type == "json" for each in self.signature.parameters)

    def _convert(self, name: str, value: Any) -> Any:
        """Convert JSON to the annotated type, if that has one text for equal values.

        Others are left as they are: the defaults of an object may be random or the time, and a secret is written as asterisks.
        """
        if name not in self._hints or not isinstance(value, str | int | float):
            return value
        converted = TypeAdapter(self._hints[name]).validate_python(value)
        if isinstance(converted, Decimal) and converted.is_finite():
            return format(converted.normalize(), "f")  # 17 and 17.0 are equal
        return to_jsonable_python(converted) if isinstance(converted, UUID | date | Enum) else value

    def read_returned(self, text: str) -> Any:
        """What the function returned, in its annotated type if it has one."""
        kind = self._hints.get("return")
        return json.loads(text) if kind is None else TypeAdapter(kind).validate_json(text)

    @property
    def returns_nothing(self) -> bool:
        return self._hints.get("return", object) is type(None)

    @cached_property
    def _hints(self) -> dict[str, Any]:
        return get_type_hints(self.call, include_extras=True)

    def declare(self) -> tuple[DeclaredSkill, DeclaredProbe | None]:
        named = self.name + PROBE_SUFFIX
        probe = ProbeSpec(name=named, description=f"whether {self.name} happened", parameters=self.signature.parameters)
        skill = Skill(
            name=self.name,
            description=(inspect.getdoc(self.call) or "").partition("\n")[0],
            parameters=self.signature.parameters,
            effect=self.effect,
            on_zone=False,
            probe=Probe(name=named, settles_after=self.settles_after) if self.happened else None,
            undo=self.undo.skill if self.undo else "",
            undo_arguments=self.undo.arguments if self.undo else (),
        )
        declared = DeclaredSkill(skill=skill, signature=self.signature, commit_set=None)
        return declared, DeclaredProbe(spec=probe, signature=self.signature) if self.happened else None


class Functions(BaseWorld):
    """A world of plain functions that a planner can use. `@guarded` functions keep the effect that they declare, and their key.

    List functions that change nothing in `read`: `Functions(charge, read=[find_order])`. All others that are not guarded are irreversible.
    """

    name = "functions"

    def __init__(
        self, *functions: Callable[..., Any] | Function, read: Sequence[Callable[..., Any]] = (), shared: bool = False
    ) -> None:
        """`shared`: other machines may continue its runs, where it cannot be known whether a process of this one still runs."""
        super().__init__()
        self._shared = shared
        self._holder = f"{identify_self()}/{secrets.token_hex(8)}" if shared else ""
        self._holders: tuple[str, ...] = ()
        known = [function_of(each) for each in functions] + [Function(call=each, effect="read") for each in read]
        self._functions = {function.name: function for function in known}
        if len(self._functions) < len(known):
            raise SkillInvalid("two functions have the same name; the plan could not tell them apart")
        declared = [function.declare() for function in known]
        self._declared = Declared(
            skills=tuple(skill for skill, _ in declared), probes=tuple(probe for _, probe in declared if probe)
        )
        self._in_doubt: set[tuple[str, Pairs]] = set()
        """Calls of this run to guarded functions that may have happened: it makes one of them again only if it was found not to have."""
        self.raised: BaseException | None = None
        """The exception of the latest call that raised one."""

    async def open(self) -> str:
        await super().open()
        self._in_doubt.clear()
        self._holders = (self._holder,)
        return json.dumps(self._holders) if self._shared else self.name

    async def attach(self, handle: str) -> bool:
        """Functions have no session that could be lost: the effects of finished calls still exist in the next process.

        If an earlier process may still be in a call, a missing effect does not prove that it will not happen.
        """
        self._in_doubt.clear()
        if self._shared:
            earlier = tuple(holder for holder in json.loads(handle) if not _is_idle(holder))
            self.fences = not earlier
            self._holders = (*earlier, self._holder)
        return True

    def renewed_handle(self) -> str:
        return json.dumps(self._holders) if self._shared else ""

    def _check(self, declared: DeclaredProbe, arguments: Pairs) -> Any:
        function = self._functions[declared.spec.name.removesuffix(PROBE_SUFFIX)]
        assert function.happened, "only such a function has a probe"
        return _call_with_known(function.happened, function.bind(arguments))

    async def _invoke(self, call: Call, arguments: dict[str, Any]) -> Outcome:
        function = self._functions[call.skill]
        _CALLING.add(self._holder)
        try:
            async with Contained():
                if function.call_once:
                    returned = await function.call_once(call.arguments, (call.skill, call.arguments) in self._in_doubt)
                else:
                    returned = Returned(value=await await_if_needed(function.call(**function.bind(call.arguments))))
        except AnswerLost:
            return Outcome(evidence="probe")
        except Exception as problem:
            error = self.raised = problem.raised if isinstance(problem, CallAborted) else problem
            if function.call_once and isinstance(error, KeyTaken | SkillInvalid | TaskInvalid):  # the guard refused it
                return Outcome(status="no_effect", reason="not_sent", detail=describe_exception(error), evidence="rule")
            if function.call_once and isinstance(error, NotSent):  # the guard has checked who said so
                error.raised_by = self
            if refused := read_refusal(error, function.absent_on, self):
                return refused
            if isinstance(error, OutcomeUnknown):
                self._in_doubt.add((call.skill, call.arguments))
            log.info("%s raised\n%s", function.name, format_traceback(error))
            return Outcome(status="unknown", reason="error", detail=describe_exception(error))
        finally:
            _CALLING.discard(self._holder)
        evidence = "response" if function.effect == "irreversible" else ""
        outcome = Outcome(data=_as_data(function.name, returned.value), evidence=evidence)
        if not returned.earlier_run:
            return outcome
        detail = f"nothing was sent: run {returned.earlier_run} had done it under the same key"
        return replace(outcome, reason=ALREADY_DONE, detail=detail)


_CALLING: set[str] = set()
"""Holders in this process that are in a call."""


def _is_idle(holder: str) -> bool:
    """Whether it is certain that a holder is no longer in a call."""
    process, _, _ = holder.rpartition("/")
    return holder not in _CALLING if process and process == identify_self() else has_ended(process)


def function_of(function: Callable[..., Any] | Function) -> Function:
    """Return the declaration of a function. One that is not guarded counts as irreversible."""
    if isinstance(function, Function):
        return function
    return getattr(function, GUARD, None) or Function(call=function)


def _call_with_known(function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """Call a function with those of the arguments that it takes."""
    parameters = inspect.signature(function).parameters.values()
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return function(**arguments)
    return function(**{p.name: arguments[p.name] for p in parameters if p.name in arguments})


def _as_argument(name: str, value: Any, kind: str) -> Scalar:
    if kind != "json":
        return value
    try:
        return json_text(to_jsonable_python(value))
    except (PydanticSerializationError, TypeError, ValueError) as error:
        raise TypeError(f"argument '{name}' cannot be stored as JSON: {error}") from None


def _as_json_key(value: Any) -> Any:
    """A JSON value in the one form that equal values share."""
    match value:
        case str():
            return unicodedata.normalize("NFC", value)
        case float() if value.is_integer():
            return int(value)
        case list():
            return [_as_json_key(each) for each in cast(list[Any], value)]
        case dict():
            return {_as_json_key(name): _as_json_key(each) for name, each in cast(dict[str, Any], value).items()}
        case _:
            return value


def _as_data(function: str, returned: Any) -> Pairs:
    """Convert what a call returned, if it can be stored: to JSON, and for other steps also to its fields, or to one under the function's name."""
    try:
        value = to_jsonable_python(returned)
        text = json_text(value)
    except (PydanticSerializationError, TypeError, ValueError):
        return ()
    if isinstance(value, dict):
        fields = cast(dict[str, Any], value)
    else:
        fields = dict[str, Any]() if value is None else {function: value}
    named = {name: _as_scalar(each) for name, each in fields.items()}
    return tuple((named | {RETURNED: text}).items())


def _as_scalar(value: Any) -> Scalar:
    return value if isinstance(value, str | int | float | bool | None) else json_text(value)
