"""The output of a task as it is written: as `name:type`, as a JSON schema, or as a type in Python."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, cast, get_args

from pydantic import TypeAdapter
from pydantic.errors import PydanticUserError

from midcourse.domain.skill import Parameter, ValueType
from midcourse.errors import TaskInvalid
from midcourse.json_schema import read_parameter, read_properties
from midcourse.policy.spelling import describe_unknown


def parse_fields(written: Iterable[str]) -> tuple[Parameter, ...]:
    """Parse fields such as `total:number`; without a type they are text. Raises `TaskInvalid`."""
    fields: dict[str, Parameter] = {}
    for each in written:
        name, _, kind = (part.strip() for part in each.partition(":"))
        if not name:
            raise TaskInvalid(f"output '{each}': write a name and its type, such as total:number")
        if kind and kind not in get_args(ValueType):
            raise TaskInvalid(f"output '{each}': {describe_unknown('type', kind, get_args(ValueType))}")
        if name in fields:
            raise TaskInvalid(f"output '{name}' is given twice")
        fields[name] = Parameter(name=name, type=cast(ValueType, kind or "string"))
    return tuple(fields.values())


def read_output_schema(text: str, where: str) -> tuple[Parameter, ...]:
    """Read the fields of a JSON schema. Raises `TaskInvalid`."""
    try:
        schema: object = json.loads(text)
    except ValueError as error:
        raise TaskInvalid(f"{where} is not JSON: {error}") from None
    return _read_fields(schema, where)


def read_output_type(kind: Any) -> tuple[Parameter, ...]:
    """Read the fields of a Pydantic model, a dataclass or a TypedDict. Raises `TaskInvalid`."""
    name = getattr(kind, "__name__", str(kind))
    try:
        schema = TypeAdapter(kind).json_schema(mode="validation")
    except PydanticUserError as error:
        raise TaskInvalid(f"output_type {name} has no JSON schema: {error.message}") from None
    return _read_fields(schema, f"output_type {name}")


def _read_fields(schema: object, where: str) -> tuple[Parameter, ...]:
    if not isinstance(schema, dict):
        raise TaskInvalid(f"{where} is not the schema of an object")
    root = cast(dict[str, Any], schema)
    definitions = {f"#/$defs/{name}": each for name, each in root.get("$defs", {}).items()}
    try:
        inlined = cast(Mapping[str, Any], _inline(root, definitions))
    except RecursionError:
        raise TaskInvalid(f"{where} is recursive: write a schema without a definition that contains itself") from None
    required = inlined.get("required") or ()
    fields = tuple(read_parameter(name, each, name in required)[0] for name, each in read_properties(inlined).items())
    if not fields:
        raise TaskInvalid(f"{where} has no properties: the output is an object with named values")
    return fields


def _inline(part: object, definitions: Mapping[str, object]) -> object:
    """Return the schema with definitions where they are used, and without titles."""
    if isinstance(part, list):
        return [_inline(each, definitions) for each in cast(list[object], part)]
    if not isinstance(part, dict):
        return part
    node = cast(dict[str, object], part)
    if isinstance(found := definitions.get(str(node.get("$ref", ""))), dict):
        return _inline({**found, **{key: each for key, each in node.items() if key != "$ref"}}, definitions)
    return {
        key: _inline(each, definitions)
        for key, each in node.items()
        if key != "$defs" and not (key == "title" and isinstance(each, str))
    }
