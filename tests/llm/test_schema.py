"""The schema of an answer, as short as it can be, and as strict as it was."""

import json
from functools import partial
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel, Field
from pydantic_ai.profiles import InlineDefsJsonSchemaTransformer
from pydantic_ai.profiles.google import GoogleJsonSchemaTransformer
from pydantic_ai.profiles.openai import OpenAIJsonSchemaTransformer
from pydantic_ai.providers.bedrock import BedrockJsonSchemaTransformer

from midcourse.config.model_settings import ROLE_NAMES
from midcourse.llm.prompt.schema import MOST_OPTIONAL, MOST_UNIONS, compact_schema, find_obstacle
from midcourse.llm.prompt.template import estimate_tokens
from midcourse.llm.roles.plan_answer import PlanAnswer
from midcourse.llm.roles.verifier import VerdictAnswer
from tests.llm.full_answers import FULL, answer_type

TRANSFORMERS = {
    "openai": OpenAIJsonSchemaTransformer,
    "openai_strict": partial(OpenAIJsonSchemaTransformer, strict=True),
    "bedrock": BedrockJsonSchemaTransformer,
    "bedrock_strict": partial(BedrockJsonSchemaTransformer, strict=True),
    "gemini": GoogleJsonSchemaTransformer,
    "nova": InlineDefsJsonSchemaTransformer,
}
"""What the clients of providers make of a schema. Those of the others are not locked here: see tests/providers."""


class Inner(BaseModel):
    """A docstring for readers of the code."""

    title: str = ""
    default: float | int | None = None


class Outer(BaseModel):
    first: Inner
    second: Inner | None = None
    confirmed: bool | None = Field(description="null if it is unknown")


class Tree(BaseModel):
    branches: "list[Tree]"


class Named(BaseModel):
    arguments: dict[str, str]


def test_it_has_no_titles_defaults_and_descriptions_but_fields_of_these_names() -> None:
    inner = {"properties": {"title": {"type": "string"}, "default": {"type": "number"}}, "type": "object"}
    schema = compact_schema(Outer.model_json_schema())
    assert schema["properties"]["second"] == inner


def test_what_has_to_be_answered_may_still_be_null() -> None:
    schema = compact_schema(Outer.model_json_schema())
    assert schema["properties"]["confirmed"] == {"anyOf": [{"type": "boolean"}, {"type": "null"}]}
    assert "null" in json.dumps(compact_schema(VerdictAnswer.model_json_schema())["properties"]["now"])


def test_definitions_are_written_where_they_are_used() -> None:
    schema = compact_schema(Outer.model_json_schema())
    assert "$defs" not in schema
    assert schema["properties"]["first"]["properties"]["title"] == {"type": "string"}


def test_the_schema_of_a_plan_is_short() -> None:
    """It is part of every prompt."""
    assert estimate_tokens(json.dumps(compact_schema(PlanAnswer.model_json_schema()))) < 1150


# --- every provider can enforce it, and none empties it


def test_an_object_with_names_of_its_own_is_an_obstacle() -> None:
    """A provider that closes every object leaves nothing that could be written in this one."""
    schema = compact_schema(Named.model_json_schema())
    sent = BedrockJsonSchemaTransformer(schema, strict=True).walk()
    assert not Draft202012Validator(sent).is_valid({"arguments": {"text": "PO-7"}})
    for each in (schema, sent):
        assert find_obstacle(each).startswith("the answer.arguments is an object without a closed list of fields")


def test_recursion_is_an_obstacle() -> None:
    with pytest.raises(RecursionError):
        compact_schema(Tree.model_json_schema())
    assert "is a reference" in find_obstacle(Tree.model_json_schema()["$defs"]["Tree"])


def closed(*required: str, **fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": [*required]}


def numbered(count: int, field: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {f"f{n}": field for n in range(count)}


def test_optional_fields_are_counted_at_every_depth() -> None:
    text = {"type": "string"}
    most = closed("deep", deep={"type": "array", "items": closed(**numbered(MOST_OPTIONAL, text))})
    assert find_obstacle(most) == ""
    assert find_obstacle(closed(**most["properties"])) == "21 optional fields are more than 20"


@pytest.mark.parametrize(
    "union", [{"anyOf": [{"type": "string"}, {"type": "null"}]}, {"type": ["string", "null"]}], ids=("options", "types")
)
def test_a_required_field_that_may_be_null_counts_as_a_union(union: dict[str, Any]) -> None:
    fields = numbered(MOST_UNIONS, union)
    assert find_obstacle(closed(*fields, **fields)) == ""
    more = {**fields, "another": union}
    assert find_obstacle(closed(*more, **more)) == "13 fields of several types are more than 12"


@pytest.mark.parametrize("role", ROLE_NAMES)
def test_every_answer_survives_what_clients_of_providers_make_of_its_schema(role: str) -> None:
    schema = compact_schema(answer_type(role).model_json_schema())
    assert find_obstacle(schema) == ""
    for name, transformer in TRANSFORMERS.items():
        sent = transformer(schema).walk()
        assert find_obstacle(sent) == "", name
        Draft202012Validator(sent).validate(FULL[role])
