"""Compact JSON schemas of answers that every provider can enforce.

A schema is part of every prompt and paid for each time. Providers that constrain the answer to it accept only a part of JSON
Schema, and some change silently what they do not accept: an object with names of its own choosing became an empty one for Claude,
so that the model could not write any argument.
"""

from collections.abc import Iterator
from typing import Any, cast

MOST_OPTIONAL = 20
"""Optional fields of a schema. Anthropic refuses more than 24."""
MOST_UNIONS = 12
"""Fields of more than one type, such as a required one that may be null. Anthropic refuses more than 16."""

_NEEDLESS = frozenset(("title", "default", "description"))
"""Names of classes, defaults, and docstrings, which are for readers of the code."""
_UNIONS = ("anyOf", "oneOf")


def compact_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """Shorten a schema. It accepts the same answers, except null for an optional field. Definitions are inlined."""
    definitions = cast(dict[str, object], schema.get("$defs", {}))
    whole = {key: value for key, value in schema.items() if key != "$defs"}
    return cast(dict[str, Any], _compact(_inline(whole, definitions)))


def _inline(part: object, definitions: dict[str, object]) -> object:
    """Raises `RecursionError` for a recursive schema, which Claude refuses."""
    if isinstance(part, list):
        return [_inline(each, definitions) for each in cast(list[object], part)]
    if not isinstance(part, dict):
        return part
    node = cast(dict[str, object], part)
    if "$ref" in node:
        name = str(node["$ref"]).removeprefix("#/$defs/")
        beside = {key: value for key, value in node.items() if key != "$ref"}
        return {**cast(dict[str, object], _inline(definitions[name], definitions)), **beside}
    return {key: _inline(value, definitions) for key, value in node.items()}


def _compact(part: object, under: str = "") -> object:
    """`under` is the key that it stands under, if that is a word of the schema and not the name of a field."""
    if isinstance(part, list):
        return [_compact(each) for each in cast(list[object], part)]
    if not isinstance(part, dict):
        return part
    named = under == "properties"
    kept = {
        key: _compact(value, "" if named else key)
        for key, value in cast(dict[str, object], part).items()
        if named or key not in _NEEDLESS
    }
    options = kept.get("anyOf")
    if named or not isinstance(options, list):
        return kept
    return _narrow_options(kept, cast(list[dict[str, object]], options), optional="default" in part)


def _narrow_options(kept: dict[str, object], options: list[dict[str, object]], *, optional: bool) -> dict[str, object]:
    """Drop integers beside numbers, and null where leaving the field out means the same."""
    types = [option.get("type") for option in options]
    needless = ({"integer"} if "number" in types else set[str]()) | ({"null"} if optional else set[str]())
    left = [option for option in options if option.get("type") not in needless]
    if not left:
        return kept
    rest = {key: value for key, value in kept.items() if key != "anyOf"}
    return {**rest, **left[0]} if len(left) == 1 else {**rest, "anyOf": left}


def find_obstacle(schema: dict[str, Any]) -> str:
    """Say why some provider would refuse or empty this schema, or return an empty string.

    It may be called for a schema as it was written, and as a provider's client has transformed it.
    """
    for path, node in _walk(schema, "the answer"):
        if "$ref" in node:
            return f"{path} is a reference: a definition must be written where it is used"
        if node.get("type") == "object" and (not node.get("properties") or node.get("additionalProperties")):
            return f"{path} is an object without a closed list of fields: write a list of names and values"
    optional, unions = count_fields(schema)
    if optional > MOST_OPTIONAL:
        return f"{optional} optional fields are more than {MOST_OPTIONAL}"
    return f"{unions} fields of several types are more than {MOST_UNIONS}" if unions > MOST_UNIONS else ""


def count_fields(schema: dict[str, Any]) -> tuple[int, int]:
    """Count what providers limit: the optional fields at every depth, and the fields of several types."""
    optional = unions = 0
    for _, node in _walk(schema, ""):
        fields = cast(dict[str, object], node.get("properties", {}))
        optional += len(fields.keys() - set(cast(list[str], node.get("required", []))))
        unions += any(word in node for word in _UNIONS) or isinstance(node.get("type"), list)
    return optional, unions


def _walk(part: object, path: str) -> Iterator[tuple[str, dict[str, object]]]:
    """Every schema in this one, itself first, with its place in the answer."""
    if not isinstance(part, dict):
        return
    node = cast(dict[str, object], part)
    yield path, node
    for name, field in cast(dict[str, object], node.get("properties", {})).items():
        yield from _walk(field, f"{path}.{name}")
    yield from _walk(node.get("items"), f"{path}[]")
    yield from _walk(node.get("additionalProperties"), f"{path}.*")
    for word in _UNIONS:
        for option in cast(list[object], node.get(word, [])):
            yield from _walk(option, path)
