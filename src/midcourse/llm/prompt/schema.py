"""Compact JSON schemas of answers. A schema is part of every prompt and paid for each time."""

import json
from typing import Any, cast

_NEEDLESS = frozenset(("title", "default", "description"))
"""Names of classes, defaults, and docstrings, which are for readers of the code."""


def compact_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """Shorten a schema. It accepts the same answers, except null for an optional field. Definitions that are used once are inlined."""
    short = cast(dict[str, Any], _compact(schema))
    definitions = cast(dict[str, object], short.pop("$defs", {}))
    written = json.dumps([short, definitions])
    once = {name: each for name, each in definitions.items() if written.count(json.dumps(_reference(name))) == 1}
    kept = {name: _inline(each, once) for name, each in definitions.items() if name not in once}
    whole = cast(dict[str, Any], _inline(short, once))
    return whole | ({"$defs": kept} if kept else {})


def _compact(part: object, under: str = "") -> object:
    """`under` is the key that it stands under, if that is a word of the schema and not the name of a field or definition."""
    if isinstance(part, list):
        return [_compact(each) for each in cast(list[object], part)]
    if not isinstance(part, dict):
        return part
    named = under in ("properties", "$defs")
    kept = {
        key: _compact(value, "" if named else key)
        for key, value in cast(dict[str, object], part).items()
        if named or key not in _NEEDLESS
    }
    options = kept.get("anyOf")
    if named or not isinstance(options, list):
        return kept
    return _narrow_options(
        kept, cast(list[dict[str, object]], options), optional="default" in part or under == "additionalProperties"
    )


def _narrow_options(kept: dict[str, object], options: list[dict[str, object]], *, optional: bool) -> dict[str, object]:
    """Drop integers beside numbers, and null where leaving the field out means the same."""
    types = [option.get("type") for option in options]
    needless = ({"integer"} if "number" in types else set[str]()) | ({"null"} if optional else set[str]())
    left = [option for option in options if option.get("type") not in needless]
    if not left:
        return kept
    rest = {key: value for key, value in kept.items() if key != "anyOf"}
    return {**rest, **left[0]} if len(left) == 1 else {**rest, "anyOf": left}


def _reference(name: str) -> dict[str, str]:
    return {"$ref": f"#/$defs/{name}"}


def _inline(part: object, definitions: dict[str, object]) -> object:
    if isinstance(part, list):
        return [_inline(each, definitions) for each in cast(list[object], part)]
    if not isinstance(part, dict):
        return part
    found = next((each for name, each in definitions.items() if part == _reference(name)), None)
    if found is not None:
        return _inline(found, definitions)
    return {key: _inline(value, definitions) for key, value in cast(dict[str, object], part).items()}
