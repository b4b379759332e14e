"""The signature of a skill or probe, read from its method, and the check of a call's arguments against it."""

import inspect
import json
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin, get_type_hints

from midcourse.domain.argument import Pairs, Scalar, is_json
from midcourse.domain.observation import Zone
from midcourse.domain.skill import Parameter, ValueType
from midcourse.errors import SkillInvalid

_TYPES: dict[type, ValueType] = {str: "string", int: "integer", float: "number", bool: "boolean"}
_TAKEN = "str, int, float, bool, a Literal of these, or one of them `| None`"


class ArgumentsUnfit(Exception):
    """The arguments of one call do not fit; the message is meant for the planner that wrote them."""


@dataclass(frozen=True, kw_only=True)
class Signature:
    """The parameters that a caller sees, and what else is needed to call the method."""

    parameters: tuple[Parameter, ...]
    on_zone: bool
    nullable: tuple[str, ...]
    """Parameters that may be None."""
    filled: tuple[str, ...]
    """Parameters that are not required and have no default, so None is passed."""

    def bind(self, arguments: Pairs) -> dict[str, Any]:
        """Check the arguments before the method is called, and return them as keyword arguments. Raise `ArgumentsUnfit`."""
        values = dict(arguments)
        known = {parameter.name: parameter for parameter in self.parameters}
        if unknown := [name for name in values if name not in known]:
            raise ArgumentsUnfit(f"no parameter is called {', '.join(map(repr, unknown))}")
        missing = [p.name for p in self.parameters if p.required and p.name not in values]
        if missing:
            raise ArgumentsUnfit(f"missing {', '.join(map(repr, missing))}")
        return dict.fromkeys(self.filled) | {name: self.bind_value(name, value) for name, value in values.items()}

    def bind_value(self, name: str, value: Scalar) -> Any:
        """Check and convert the value of one parameter. Raise `ArgumentsUnfit`."""
        parameter = next((each for each in self.parameters if each.name == name), None)
        if parameter is None:
            raise ArgumentsUnfit(f"no parameter is called {name!r}")
        return None if value is None and name in self.nullable else _check_value(parameter, value)


def read_method_signature(owner: str, method: Callable[..., Any]) -> Signature:
    """Read the signature of a method from its annotations. Raise `SkillInvalid`, naming what cannot be read."""
    return read_signature(
        f"{owner}.{method.__name__}", method, list(inspect.signature(method).parameters.items())[1:], any_type=False
    )


def read_signature(
    where: str, method: Callable[..., Any], given: list[tuple[str, inspect.Parameter]], *, any_type: bool
) -> Signature:
    """Read these parameters. `any_type`: what is not annotated as a scalar takes any JSON value, instead of being refused."""
    hints = _read_hints(where, method)
    parameters: list[Parameter] = []
    nullable: list[str] = []
    filled: list[str] = []
    on_zone = False
    for name, parameter in given:
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise SkillInvalid(f"{where}: '{name}' cannot be passed by name")
        if name not in hints and any_type:
            hints[name] = Any
        if name not in hints:
            raise SkillInvalid(f"{where}: parameter '{name}' has no annotation; give it {_TAKEN}")
        if name == "zone" and not any_type:
            if hints[name] is not Zone or parameter.default is not parameter.empty:
                raise SkillInvalid(f"{where}: a parameter named 'zone' is annotated Zone and has no default")
            on_zone = True
            continue
        has_default = parameter.default is not parameter.empty
        read, may_be_none = _read_parameter(where, name, hints[name], has_default=has_default, any_type=any_type)
        parameters.append(read)
        if may_be_none:
            nullable.append(name)
            if parameter.default is parameter.empty:
                filled.append(name)
    return Signature(parameters=tuple(parameters), on_zone=on_zone, nullable=tuple(nullable), filled=tuple(filled))


def _read_hints(where: str, method: Callable[..., Any]) -> dict[str, Any]:
    """Read the annotations of the parameters only: what a method returns may be annotated with anything."""
    annotations = {name: kind for name, kind in inspect.get_annotations(method).items() if name != "return"}
    holder = types.SimpleNamespace(__annotations__=annotations)
    try:
        return get_type_hints(holder, globalns=getattr(method, "__globals__", {}), include_extras=True)
    except NameError as error:
        raise SkillInvalid(f"{where}: {error} (its annotations must be known where the class is made)") from None


def _read_parameter(
    where: str, name: str, annotation: Any, *, has_default: bool, any_type: bool
) -> tuple[Parameter, bool]:
    """Read a parameter, and whether it may be None. `Annotated[str, "..."]` carries a description."""
    description = ""
    if get_origin(annotation) is Annotated:
        annotation, *extras = get_args(annotation)
        description = next((extra for extra in extras if isinstance(extra, str)), "")
    options, nullable = _split_none(annotation)
    kind = options[0] if len(options) == 1 else None
    choices: tuple[Scalar, ...] = ()
    if get_origin(kind) is Literal:
        nullable = nullable or None in get_args(kind)
        choices = tuple(choice for choice in get_args(kind) if choice is not None)
        kinds = {type(choice) for choice in choices}
        kind = kinds.pop() if len(kinds) == 1 else None
    if kind not in _TYPES and any_type:
        return Parameter(name=name, type="json", required=not has_default, description=description), False
    if kind not in _TYPES:
        written = annotation.__name__ if isinstance(annotation, type) else str(annotation)
        raise SkillInvalid(f"{where}: parameter '{name}' is annotated {written}; a parameter is {_TAKEN}")
    parameter = Parameter(
        name=name,
        type=_TYPES[kind],
        required=not (has_default or nullable),
        choices=choices,
        description=description,
    )
    return parameter, nullable


def _split_none(annotation: Any) -> tuple[tuple[Any, ...], bool]:
    origin: Any = get_origin(annotation)
    if origin not in (Union, types.UnionType):
        return (annotation,), False
    options = get_args(annotation)
    return tuple(option for option in options if option is not types.NoneType), types.NoneType in options


def _check_value(parameter: Parameter, value: Scalar) -> Any:
    fits: Any = value
    match parameter.type, value:
        case ("boolean", bool()) | ("string", str()):
            pass
        case "integer", int() if not isinstance(value, bool):
            pass
        case "integer", float() if float.is_integer(value):
            fits = int(value)
        case "number", int() | float() if not isinstance(value, bool):
            fits = float(cast(float, value))
        case "json", str() if is_json(value):
            fits = json.loads(value)
        case _:
            raise ArgumentsUnfit(f"'{parameter.name}' must be of type {parameter.type}, not {value!r}")
    if parameter.choices and fits not in parameter.choices:
        raise ArgumentsUnfit(f"'{parameter.name}' must be one of {', '.join(map(repr, parameter.choices))}")
    return fits
