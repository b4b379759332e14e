"""Completes the OpenAPI document with the schema of refusals, and with the descriptions of fields.

Pydantic can take descriptions from docstrings itself (`use_attribute_docstrings`), but does so when a model is defined. That takes
a quarter of the time in which the server starts, and few servers are ever asked for the document.
"""

import ast
import inspect
import sys
from collections.abc import Iterator
from dataclasses import is_dataclass
from functools import cache
from typing import Any, get_args, get_type_hints

from midcourse.server.models.base import Model
from midcourse.server.models.problem import Problem


def complete_document(document: dict[str, Any]) -> dict[str, Any]:
    schemas = document["components"]["schemas"]
    problem = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
    for name, inner in problem.pop("$defs").items():
        schemas.setdefault(name, inner)
    schemas["Problem"] = problem
    for described in _list_described():
        properties = schemas.get(described.__name__, {}).get("properties", {})
        for field, text in _describe_fields(described).items():
            if field in properties:
                properties[field].setdefault("description", text)
    return document


def _list_described() -> set[type]:
    """Return all models, and all dataclasses in their fields."""
    found: set[type] = set()

    def add(annotation: Any) -> None:
        for argument in get_args(annotation):
            add(argument)
        if not isinstance(annotation, type) or annotation in found:
            return
        is_model = issubclass(annotation, Model)
        if is_model or is_dataclass(annotation):
            found.add(annotation)
            for hint in get_type_hints(annotation).values():
                add(hint)
        for model in annotation.__subclasses__() if is_model else ():
            add(model)

    add(Model)
    return found


def _describe_fields(described: type) -> dict[str, str]:
    """Return the docstrings of a class's fields, including inherited ones."""
    found: dict[str, str] = {}
    for each in reversed(described.__mro__):
        if each.__module__.startswith("midcourse."):
            found |= _read_module(each.__module__).get(each.__name__, {})
    return found


@cache
def _read_module(name: str) -> dict[str, dict[str, str]]:
    """Return the docstrings of the fields of each class in a module."""
    classes = [node for node in ast.parse(inspect.getsource(sys.modules[name])).body if isinstance(node, ast.ClassDef)]
    return {each.name: dict(_read_fields(each)) for each in classes}


def _read_fields(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for field, after in zip(node.body, node.body[1:], strict=False):
        match field, after:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                yield name, inspect.cleandoc(text)
            case _:
                pass
