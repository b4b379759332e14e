"""Parameters of a skill, or fields of an output, read from a JSON schema."""

import json
from collections.abc import Mapping
from typing import Any, cast

from midcourse.domain.argument import Scalar
from midcourse.domain.skill import Parameter, ValueType

_SCALARS: dict[str, ValueType] = {
    "string": "string",
    "integer": "integer",
    "number": "number",
    "boolean": "boolean",
}


def as_mapping(value: object) -> Mapping[str, object]:
    """Return a JSON object as a mapping, and an empty mapping for anything else."""
    return cast(Mapping[str, object], value) if isinstance(value, dict) else dict[str, object]()


def read_properties(schema: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    return {name: as_mapping(each) for name, each in as_mapping(schema.get("properties")).items()}


def read_parameter(name: str, schema: Mapping[str, Any], required: bool) -> tuple[Parameter, bool]:
    """Return a parameter and whether it may be null. A value that is not a scalar is JSON, with its schema in the description."""
    kinds, nullable = _split_null(schema)
    kind = _SCALARS.get(str(kinds[0].get("type"))) if len(kinds) == 1 else None
    description = str(schema.get("description") or schema.get("title") or "")
    if kind is None:
        shape = json.dumps({key: value for key, value in schema.items() if key not in ("description", "title")})
        description = f"{description} JSON Schema: {shape}".strip()
        return Parameter(name=name, type="json", required=required, description=description), nullable
    offered = kinds[0].get("enum", ())
    choices = tuple(cast(Scalar, each) for each in offered if isinstance(each, str | int | float))
    return Parameter(name=name, type=kind, required=required, choices=choices, description=description), nullable


def _split_null(schema: Mapping[str, Any]) -> tuple[list[Mapping[str, Any]], bool]:
    """Return the alternatives of a schema except null, and whether null is one of them."""
    options: list[Mapping[str, Any]] = list(schema.get("anyOf") or schema.get("oneOf") or [schema])
    if isinstance(schema.get("type"), list):
        options = [{**schema, "type": each} for each in schema["type"]]
    kept = [each for each in options if each.get("type") != "null"]
    return kept or [{}], len(kept) < len(options)
