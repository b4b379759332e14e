"""The signature of a skill, read from a JSON schema of a tool."""

from collections.abc import Mapping
from typing import Any

from midcourse.json_schema import read_parameter, read_properties
from midcourse.worlds.signature import Signature


def read_schema(schema: Mapping[str, Any]) -> Signature:
    """Read the signature of a tool from the schema of its arguments."""
    required = schema.get("required") or ()
    read = [read_parameter(name, each, name in required) for name, each in read_properties(schema).items()]
    return Signature(
        parameters=tuple(parameter for parameter, _ in read),
        on_zone=False,
        nullable=tuple(parameter.name for parameter, nullable in read if nullable),
        filled=(),
    )
