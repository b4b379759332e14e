"""The schema of an answer, as short as it can be, and as strict as it was."""

import json

from pydantic import BaseModel, Field

from midcourse.llm.prompt.schema import compact_schema
from midcourse.llm.prompt.tokens import tokens_at_most
from midcourse.llm.roles.plan_answer import PlanAnswer
from midcourse.llm.roles.verifier import VerdictAnswer


class Inner(BaseModel):
    """A docstring for readers of the code."""

    title: str = ""
    default: float | int | None = None


class Outer(BaseModel):
    first: Inner
    second: Inner | None = None
    confirmed: bool | None = Field(description="null if it is unknown")


class Once(BaseModel):
    only: list[Inner]


def test_it_has_no_titles_defaults_and_descriptions_but_fields_of_these_names() -> None:
    inner = {"properties": {"title": {"type": "string"}, "default": {"type": "number"}}, "type": "object"}
    schema = compact_schema(Outer.model_json_schema())
    assert schema["$defs"] == {"Inner": inner}
    assert schema["properties"]["second"] == {"$ref": "#/$defs/Inner"}


def test_what_has_to_be_answered_may_still_be_null() -> None:
    schema = compact_schema(Outer.model_json_schema())
    assert schema["properties"]["confirmed"] == {"anyOf": [{"type": "boolean"}, {"type": "null"}]}
    assert "null" in json.dumps(compact_schema(VerdictAnswer.model_json_schema())["properties"]["now"])


def test_what_is_used_once_is_written_in_place() -> None:
    schema = compact_schema(Once.model_json_schema())
    assert "$defs" not in schema
    assert schema["properties"]["only"]["items"]["properties"]["title"] == {"type": "string"}


def test_the_plan_has_a_short_one() -> None:
    """It is part of every prompt: by the exact count, 343 tokens with what the provider's client adds, and 779 before."""
    assert tokens_at_most(json.dumps(compact_schema(PlanAnswer.model_json_schema()))) < 850
