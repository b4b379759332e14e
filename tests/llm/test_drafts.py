"""A model's answer is a draft: repaired where that is certain, asked for again where it is not, and never more than a draft."""

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from midcourse import Agent, Settings
from midcourse.domain.argument import OutputValue, Reference
from midcourse.domain.expectation import (
    Check,
    Expectation,
    SurfaceMatches,
    TextContains,
    ZoneAppears,
    ZoneGone,
    ZoneHasState,
)
from midcourse.domain.plan import Draft
from midcourse.domain.skill import Catalogue, Parameter, ProbeSpec, Skill
from midcourse.llm.model_client import ModelClient
from midcourse.llm.roles.planner import ModelPlanner
from midcourse.policy.plan.horizon import Scope, resolve
from midcourse.ports.planner import PlanDraft
from midcourse.testing import MemoryStore
from midcourse.worlds.simulated.shop import Shop
from tests.llm.scripted import Answer, ScriptedModel
from tests.llm.situations import FIRST, form, make_screen

SKILLS = (
    Skill(name="click"),
    Skill(name="set_quantity", parameters=(Parameter(name="quantity", type="integer"),)),
    Skill(
        name="slide",
        parameters=(Parameter(name="to", type="number"), Parameter(name="fast", type="boolean", required=False)),
    ),
    Skill(name="fill", parameters=(Parameter(name="text"),)),
    Skill(name="press", parameters=(Parameter(name="key", choices=("Enter", "Escape")),), on_zone=False),
    Skill(name="call", parameters=(Parameter(name="paths", type="json"),)),
)
CATALOGUE = Catalogue(
    skills=SKILLS, probes=tuple(ProbeSpec(name=skill.name, parameters=skill.parameters) for skill in SKILLS)
)
CONTEXT = replace(FIRST, catalogue=CATALOGUE, observation=make_screen(*form()))


async def make_draft(answer: Answer) -> PlanDraft:
    planner = ModelPlanner(ModelClient([ScriptedModel([answer]).model], answer_tokens=1000))
    return await planner.plan(CONTEXT)


async def plan_step(**written: object) -> tuple[Draft, tuple[str, ...]]:
    draft = await make_draft({"steps": [written]})
    return draft.steps[0], draft.repairs


async def test_a_step_as_it_should_be_is_left_alone():
    draft, repairs = await plan_step(zone="z2", skill="fill", arguments={"text": "$input.reference"}, says="Fill it in")
    wanted = Draft(
        zone="z2", skill="fill", arguments=(("text", Reference(source="input", name="reference")),), says="Fill it in"
    )
    assert (draft, repairs) == (wanted, ())


@pytest.mark.parametrize(
    ("written", "zone", "skill", "arguments"),
    [
        ({"zone": "Address", "skill": "click"}, "z2", "click", {}),
        ({"zone": "textbox:Address", "skill": "Click"}, "z2", "click", {}),
        ({"zone": 'z4 button "Place order"', "skill": "click"}, "z4", "click", {}),
        (
            {"zone": "z2", "skill": "set-quantity", "arguments": {"quantity": "3"}},
            "z2",
            "set_quantity",
            {"quantity": 3},
        ),
        (
            {"zone": "z2", "skill": "set_quantity", "arguments": {"quantity": 3.0}},
            "z2",
            "set_quantity",
            {"quantity": 3},
        ),
        ({"zone": "z2", "skill": "slide", "arguments": {"to": 1, "fast": None}}, "z2", "slide", {"to": 1}),
        ({"zone": "z2", "skill": "fill", "arguments": {"text": 4711}}, "z2", "fill", {"text": "4711"}),
        ({"zone": "", "skill": "press", "arguments": {"key": "enter"}}, "__global__", "press", {"key": "Enter"}),
    ],
)
async def test_unambiguous_mistake_is_repaired_and_reported(
    written: dict[str, object], zone: str, skill: str, arguments: dict[str, object]
):
    draft, repairs = await plan_step(**written)
    assert (draft.zone, draft.skill, dict(draft.arguments)) == (zone, skill, arguments)
    assert repairs


@pytest.mark.parametrize(
    ("skill", "texts", "arguments"),
    [
        ("set_quantity", {"quantity": "3"}, {"quantity": 3}),
        ("slide", {"to": "2.5", "fast": "True"}, {"to": 2.5, "fast": True}),
        ("slide", {"to": "3"}, {"to": 3}),
        ("fill", {"text": "007"}, {"text": "007"}),
        ("fill", {"text": "true"}, {"text": "true"}),
        ("fill", {"text": '["a"]'}, {"text": '["a"]'}),
        ("fill", {"text": "$secret.password"}, {"text": Reference(source="secret", name="password")}),
        ("call", {"paths": '["a", "b"]'}, {"paths": '["a", "b"]'}),
        ("call", {"paths": "3"}, {"paths": "3"}),
    ],
)
@pytest.mark.parametrize("form", ["pairs", "objects", "object"])
async def test_a_text_is_read_as_the_type_of_its_parameter(
    skill: str, texts: dict[str, str], arguments: dict[str, object], form: str
):
    """NAME=VALUE is how arguments are asked for; objects of names and values are accepted as well, and are no mistake."""
    forms: dict[str, object] = {
        "pairs": [f"{name}={text}" for name, text in texts.items()],
        "objects": [{"name": name, "value": text} for name, text in texts.items()],
        "object": texts,
    }
    given = forms[form]
    draft, repairs = await plan_step(zone="z2", skill=skill, arguments=given, probe={"name": skill, "arguments": given})
    assert draft.probe
    for read in (draft.arguments, draft.probe.arguments):
        assert [(name, type(value), value) for name, value in read] == [
            (name, type(value), value) for name, value in arguments.items()
        ]
    assert repairs == ()


async def test_what_follows_the_first_equals_sign_is_the_value_as_it_is():
    draft, repairs = await plan_step(zone="z2", skill="fill", arguments=["text = a=b\nc "])
    assert (dict(draft.arguments), repairs) == ({"text": " a=b\nc "}, ())


async def test_a_value_without_a_name_is_no_argument():
    draft, _ = await plan_step(zone="z2", skill="fill", arguments=["PO-7"])
    assert dict(draft.arguments) == {"": "PO-7"}, "admission refuses it for its name"


@pytest.mark.parametrize(
    ("value", "text"),
    [(["b", "a"], '["b","a"]'), ({"b": 1, "a": None}, '{"a":null,"b":1}'), (3, "3"), (True, "true"), (None, "null")],
)
async def test_a_json_argument_need_not_be_written_as_text(value: object, text: str):
    draft, repairs = await plan_step(zone="z2", skill="call", arguments={"paths": value})
    assert (dict(draft.arguments), repairs) == ({"paths": text}, ())


@pytest.mark.parametrize("value", [["a"], {"a": 1}, []])
async def test_a_list_for_a_text_is_asked_for_again(value: object):
    """It was not meant as the text of a list, and what was meant instead is not certain."""
    draft = await make_draft(
        {"steps": [PLAN["steps"][0], {"zone": "z2", "skill": "fill", "arguments": {"text": value}}]}
    )
    assert (draft.verdict, draft.steps) == ("garbage", ())
    assert draft.detail == "step 2 (fill) has the wrong shape: 'text' takes one string, not a list or an object"
    assert draft.cost.tokens == 120


@pytest.mark.parametrize("text", ["a.txt", "[1, 2", "[" * 100_000])
async def test_a_text_that_is_not_json_is_dropped_with_what_to_write(text: str):
    draft = await make_draft(
        {"steps": [{"zone": "z2", "skill": "call", "arguments": [{"name": "paths", "value": text}]}]}
    )
    scope = Scope(task=CONTEXT.task, observation=CONTEXT.observation, catalogue=CATALOGUE)
    (why,) = resolve(draft.steps, draft.final, 1, scope).repairs[:1]
    assert "'paths' must be json as text, such as '[1, 2]' or '\"a\"', not " in why


async def test_an_argument_given_twice_is_left_for_admission():
    twice = [{"name": "text", "value": "a"}, {"name": "text", "value": "b"}]
    draft, _ = await plan_step(zone="z2", skill="fill", arguments=twice)
    assert draft.arguments == (("text", "a"), ("text", "b"))


@pytest.mark.parametrize(
    "written",
    [
        {"zone": "Department", "skill": "click"},
        {"zone": "address", "skill": "click"},
        {"zone": "z2", "skill": "set_quantity", "arguments": {"quantity": "three"}},
        {"zone": "z2", "skill": "set_quantity", "arguments": {"quantity": "3 "}},
        {"zone": "z2", "skill": "set_quantity", "arguments": {"quantity": 3.5}},
        {"zone": "z2", "skill": "fill", "arguments": {"text": True}},
        {"zone": "z2", "skill": "fill", "arguments": {"text": None}},
        {"zone": "__global__", "skill": "press", "arguments": {"key": "Return"}},
    ],
)
async def test_ambiguous_mistake_is_not_repaired(written: dict[str, object]):
    draft, repairs = await plan_step(**written)
    assert repairs == ()
    assert dict(draft.arguments) == written.get("arguments", {})
    assert draft.zone == written["zone"]


async def test_an_ambiguous_label_is_not_replaced_by_an_id():
    twins = (*form(), replace(form()[-1], id="z5"))
    planner = ModelPlanner(
        ModelClient([ScriptedModel([{"steps": [{"zone": "Place order", "skill": "click"}]}]).model], answer_tokens=1000)
    )
    draft = await planner.plan(replace(CONTEXT, observation=make_screen(*twins)))
    assert draft.steps[0].zone == "Place order"


PLAN: dict[str, Any] = {"steps": [{"zone": "z2", "skill": "click"}], "final": True}


@pytest.mark.parametrize(
    "text",
    [
        f"```json\n{json.dumps(PLAN)}\n```",
        f"Here is the plan {{as JSON}}:\n{json.dumps(PLAN)}\nGood luck!",
        json.dumps(PLAN["steps"]),
        json.dumps({"plan": PLAN}),
        json.dumps({"plan": PLAN["steps"]}),
    ],
)
async def test_a_plan_is_read_however_it_is_wrapped(text: str):
    draft = await make_draft(text)
    assert [(one.zone, one.skill) for one in draft.steps][:1] == [("z2", "click")]


async def test_a_plan_that_does_not_say_that_it_is_the_last_is_followed_by_another():
    step: dict[str, object] = {"zone": "z2", "skill": "click"}
    steps = {
        "unsaid": await make_draft({"steps": [step]}),
        "written": await make_draft({"steps": [step, {"zone": "__replan__"}]}),
        "final": await make_draft({"steps": [step], "final": True}),
    }
    zones = {name: [one.zone for one in draft.steps] for name, draft in steps.items()}
    assert zones == {"unsaid": ["z2", "__replan__"], "written": ["z2", "__replan__"], "final": ["z2"]}
    assert not any(draft.repairs for draft in steps.values())


async def test_a_skill_without_a_zone_needs_none():
    draft, repairs = await plan_step(skill="press", arguments={"key": "Enter"})
    assert (draft.zone, repairs) == ("__global__", ())


@pytest.mark.parametrize(
    ("written", "check"),
    [
        ({"page": "Thank you*"}, SurfaceMatches(pattern="Thank you*")),
        ({"text": "PO-7"}, TextContains(text="PO-7")),
        ({"appears": "button:Pay: now"}, ZoneAppears(role="button", label="Pay: now")),
        ({"appears": "Note: paid"}, ZoneAppears(label="Note: paid")),
        ({"gone": "Spinner"}, ZoneGone(label="Spinner")),
        (
            {"state": "checkbox:Gift checked=true"},
            ZoneHasState(role="checkbox", label="Gift", state="checked", value=True),
        ),
        ({"state": "Total sum value=49 EUR"}, ZoneHasState(label="Total sum", state="value", value="49 EUR")),
    ],
)
async def test_an_expectation_names_what_is_to_be_seen(written: dict[str, object], check: Check):
    draft, _ = await plan_step(zone="z2", skill="click", expect=written)
    assert draft.expect == Expectation(checks=(check,))


@pytest.mark.parametrize(
    ("written", "address"),
    [
        ("/orders?page=2", "https://shop.example/orders?page=2"),
        ("//evil.example/orders", "//evil.example/orders"),
        ("https://other.example/", "https://other.example/"),
        ("orders", "orders"),
    ],
)
async def test_an_address_may_be_relative_to_the_page_it_is_given_on(written: str, address: str):
    surface = replace(CONTEXT.observation.surface, origin="https://shop.example")
    context = replace(CONTEXT, observation=replace(CONTEXT.observation, surface=surface))
    answer = {"steps": [{"zone": "z2", "skill": "open", "arguments": {"url": written, "text": "/orders"}}]}
    draft = await ModelPlanner(ModelClient([ScriptedModel([answer]).model], answer_tokens=1000)).plan(context)
    assert dict(draft.steps[0].arguments) == {"url": address, "text": "/orders"}


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("", "empty"),
        ("I would click on it.", "not JSON"),
        (json.dumps(PLAN)[:-2], "neither steps nor a verdict"),
        ('{"steps": [{"zone": "z2", "skill": "click", "arguments": {"x": NaN}}]}', "not JSON"),
        ({"steps": [{"zone": ["z2"], "skill": "click"}]}, "steps.0.zone"),
        ({}, "neither steps nor a verdict"),
        ({"verdict": "maybe"}, "verdict"),
        ({"steps": "click z2"}, "steps"),
        ({"steps": [{"zone": "z2", "skill": "fill", "arguments": [{"text": "a"}]}]}, "steps.0.arguments.0.name"),
        ({"steps": [{"zone": "z2", "skill": "fill", "arguments": "a"}]}, "steps.0.arguments"),
        ("[" * 100_000, "nested too deeply|not JSON"),
        ("x" * 300_000, "too long"),
    ],
)
async def test_malformed_answer_is_garbage_with_the_reason(answer: Answer, why: str):
    draft = await make_draft(answer)
    assert draft.verdict == "garbage"
    assert re.search(why, draft.detail), draft.detail
    assert draft.cost.tokens == 120


async def test_malformed_answer_is_asked_for_again_with_the_reason():
    look = {"steps": [{"zone": "link_basket", "skill": "click"}], "final": True}
    scripted = ScriptedModel(["no plan", {"steps": [{"zone": "link_nowhere", "skill": "click"}]}, look])
    planner = ModelPlanner(ModelClient([scripted.model], answer_tokens=1000))
    result = await Agent(world=Shop(), planner=planner, settings=Settings(), store=MemoryStore()).run("Look around")
    assert '"it could not be used: the answer is not JSON"' in scripted.prompts[1]
    assert "zone 'link_nowhere' is not visible" in scripted.prompts[2]
    assert (result.final_reason, result.budget.calls, result.budget.error_replans) == ("plan_complete", 3, 2)


async def test_what_had_to_be_put_right_is_told_with_the_next_plan():
    first = {"steps": [{"zone": "link_basket", "skill": "click"}, {"zone": "z9", "skill": "click"}]}
    scripted = ScriptedModel([first, {"verdict": "done"}])
    planner = ModelPlanner(ModelClient([scripted.model], answer_tokens=1000))
    await Agent(world=Shop(), planner=planner, settings=Settings(), store=MemoryStore()).run("Look around")
    assert "Corrected in your previous plan" in scripted.prompts[1]
    assert "zone 'z9' is not visible" in scripted.prompts[1]


EXPECTED = {"page": "Thank you*", "text": "PO-7", "gone": "button:Pay", "state": "checkbox:Gift checked=true"}


@pytest.mark.parametrize(
    "expect", [EXPECTED, [{"name": name, "value": value} for name, value in EXPECTED.items()]], ids=("object", "list")
)
async def test_what_a_step_expects_is_a_list_of_named_values_or_an_object(expect: object) -> None:
    draft, repairs = await plan_step(zone="z4", skill="click", expect=expect)
    wanted = (
        SurfaceMatches(pattern="Thank you*"),
        TextContains(text="PO-7"),
        ZoneGone(label="Pay", role="button"),
        ZoneHasState(state="checked", value=True, label="Gift", role="checkbox"),
    )
    assert (draft.expect, repairs) == (Expectation(checks=wanted), ())


async def test_an_expectation_of_an_unknown_name_is_left_out_and_reported() -> None:
    written = [{"name": "text", "value": "1"}, {"name": "text", "value": "2"}, {"name": "cost", "value": "49"}]
    draft, repairs = await plan_step(zone="z4", skill="click", expect=written)
    assert draft.expect == Expectation(checks=(TextContains(text="1"), TextContains(text="2")))
    assert repairs == ("step 1: 'expect' has no 'cost'",)


async def test_a_state_that_cannot_be_read_is_left_out_and_reported() -> None:
    draft, repairs = await plan_step(zone="z4", skill="click", expect={"text": "1", "state": "Gift is checked"})
    assert draft.expect == Expectation(checks=(TextContains(text="1"),))
    assert repairs == ("step 1: 'state' in 'expect' must be LABEL NAME=VALUE, so 'Gift is checked' is not checked",)


async def test_an_answer_its_data_and_a_note_are_kept_beside_the_steps() -> None:
    step = {"zone": "z2", "skill": "click", "as": "address", "on": "Checkout", "expect": None, "arguments": None}
    data = [{"name": "order_number", "value": 7, "source": "z4"}]
    draft = await make_draft({"steps": [step], "answer": "Done:\n- 7", "data": data, "note": "n" * 400, "final": None})
    assert (draft.steps[0].result_name, draft.steps[0].on) == ("address", "Checkout")
    assert (draft.answer, draft.data) == ("Done:\n- 7", (OutputValue(name="order_number", value="7", source="z4"),))
    assert draft.note == "n" * 300
