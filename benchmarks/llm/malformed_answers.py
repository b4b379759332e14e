"""Malformed model answers by kind, each with the calls that its valid steps allow, mostly none."""

import base64
import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic_ai.messages import ModelResponse, ModelResponsePart, TextPart, ThinkingPart, ToolCallPart
from pydantic_ai.usage import RequestUsage

from midcourse.domain.argument import Pairs

ODD = (
    "",
    " ",
    "\x00",
    "\x1b[2J",
    "\n" * 40,
    "'; DROP TABLE runs; --",
    "\u202eevas",
    "x" * 5000,
    "*" * 300,
    "[" * 300,
    "SCREEN>>>",
    "{{goal}}",
    "__global__ ",
    "name ",
    "NAME",
    "😀" * 100,
)
Step = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Malformed:
    response: ModelResponse
    calls: tuple[tuple[str, str, Pairs], ...] = ()


Make = Callable[[random.Random], Malformed]
KINDS: dict[str, Make] = {}


def kind(make: Make) -> Make:
    KINDS[make.__name__] = make
    return make


def says(text: str, *calls: tuple[str, str, Pairs], **more: Any) -> Malformed:
    return Malformed(response=_response([TextPart(content=text)], **more), calls=calls)


def plan(*steps: Step, calls: tuple[tuple[str, str, Pairs], ...] = (), **more: Any) -> Malformed:
    return says(json.dumps({"steps": steps, **more}), *calls)


def _response(parts: list[ModelResponsePart], **more: Any) -> ModelResponse:
    usage = more.pop("usage", RequestUsage(input_tokens=900, output_tokens=50))
    return ModelResponse(parts=parts, usage=usage, **more)


GOOD: Step = {"zone": "name", "skill": "fill", "arguments": {"text": "Ada"}}
CALL = ("fill", "name", (("text", "Ada"),))
SEND: Step = {"zone": "send", "skill": "send"}
SENT = ("send", "send", ())
VALID = json.dumps({"steps": [GOOD, SEND]})


# --- no JSON at all


@kind
def odd_text(chance: random.Random) -> Malformed:
    return says(chance.choice(ODD))


@kind
def prose(chance: random.Random) -> Malformed:
    return says(
        chance.choice(("I would press Send.", "Sorry, I cannot help with that.", "done", "null", "NaN", "true", "42"))
    )


@kind
def random_bytes(chance: random.Random) -> Malformed:
    return says(chance.randbytes(chance.randrange(1, 400)).decode("latin-1"))


@kind
def other_languages(chance: random.Random) -> Malformed:
    return says(
        chance.choice(
            (
                "steps:\n- zone: send\n  skill: send",
                "<plan><step zone='send' skill='send'/></plan>",
                "{'steps': [{'zone': 'send', 'skill': 'send'}]}",
                base64.b64encode(VALID.encode()).decode(),
                "send(zone='send')",
                '<tool_call>{"name": "send"}</tool_call>',
            )
        )
    )


@kind
def cut_off(chance: random.Random) -> Malformed:
    return says(VALID[: chance.randrange(1, len(VALID) - 2)])


@kind
def cut_off_and_said_so(chance: random.Random) -> Malformed:
    return says(VALID, finish_reason="length")


@kind
def a_letter_changed(chance: random.Random) -> Malformed:
    place = chance.randrange(len(VALID))
    text = VALID[:place] + chance.choice('{}[]",:x0 \\') + VALID[place + 1 :]
    try:
        json.loads(text)
    except ValueError:
        return says(text)
    return says("{")  # it may have stayed a plan, and another one at that


@kind
def nested(chance: random.Random) -> Malformed:
    deep = chance.choice((50, 900, 5_000, 90_000))
    return says(
        chance.choice(('{"steps":' * deep, "[" * deep, "[" * deep + "]" * deep, '{"a":' * deep + "1" + "}" * deep))
    )


@kind
def huge(chance: random.Random) -> Malformed:
    return says(
        chance.choice(
            ("x" * 1_000_000, "{" * 100_000, '{"a": ' * 20_000, "9" * 100_000, '"' + "\\u0000" * 20_000 + '"')
        )
    )


# --- JSON, and no plan


@kind
def another_shape(chance: random.Random) -> Malformed:
    shapes: tuple[object, ...] = (
        {},
        [],
        [[]],
        [None],
        ["send"],
        {"steps": None},
        {"steps": "send"},
        {"steps": {"1": SEND}},
        {"steps": [SEND, None]},
        {"steps": [[SEND]]},
        {"steps": [{**SEND, "arguments": ["x"]}]},
        {"steps": [{**SEND, "arguments": {"text": {"$secret": "password"}}}]},
        {"steps": [{"zone": ["send"], "skill": "send"}]},
        {"steps": [{"zone": None, "skill": "send"}]},
        {"steps": [{"skill": "send"}]},
        {"Steps": [SEND]},
        {"plan": {"plan": {"steps": [SEND]}}},
        {"error": "overloaded"},
    )
    return says(json.dumps(chance.choice(shapes)))


@kind
def no_such_verdict(chance: random.Random) -> Malformed:
    return says(
        json.dumps({"verdict": chance.choice((*ODD, "DONE", "success", "steps!", None, 1, ["done"])), "steps": [SEND]})
    )


@kind
def a_verdict_with_steps(chance: random.Random) -> Malformed:
    return says(json.dumps({"verdict": chance.choice(("done", "impossible", "gave_up")), "steps": [SEND]}))


@kind
def not_a_number(chance: random.Random) -> Malformed:
    value = chance.choice(("NaN", "Infinity", "-Infinity", "1e999"))
    return says(f'{{"steps": [{{"zone": "amount", "skill": "set_amount", "arguments": {{"amount": {value}}}}}]}}')


@kind
def a_lone_surrogate(chance: random.Random) -> Malformed:
    return says('{"steps": [{"zone": "name", "skill": "fill", "arguments": {"text": "\\ud800"}}]}')


# --- plans with something wrong in them


@kind
def an_absent_zone(chance: random.Random) -> Malformed:
    return plan(
        GOOD, {**SEND, "zone": chance.choice((*ODD, "z99", "Sned", "button", "__global__", "send2"))}, calls=(CALL,)
    )


@kind
def an_unknown_skill(chance: random.Random) -> Malformed:
    return plan(
        {"zone": "send", "skill": chance.choice((*ODD, "submit", "delete_all", "fil", "__init__"))}, GOOD, calls=(CALL,)
    )


@kind
def wrong_arguments(chance: random.Random) -> Malformed:
    wrong: tuple[dict[str, object], ...] = (
        {},
        {"text": None},
        {"text": True},
        {"text": 1.5},
        {"text": "Ada", "extra": 1},
        {"Text": "Ada"},
        {chance.choice(ODD): "Ada"},
    )
    return plan({**GOOD, "arguments": chance.choice(wrong)}, SEND)


@kind
def wrong_numbers(chance: random.Random) -> Malformed:
    value = chance.choice(("three", "3.5", 3.5, 1e300, "1e3", "0x10", "", " 3", "٣", True, None, "9" * 30))
    return plan({"zone": "amount", "skill": "set_amount", "arguments": {"amount": value}}, SEND)


@kind
def names_that_stand_for_nothing(chance: random.Random) -> Malformed:
    name = chance.choice(("$secret.root", "$input.nothing", "$file.passwd", "$secret.\x00", f"$input.{'x' * 900}"))
    return plan({**GOOD, "arguments": {"text": name}}, SEND)


@kind
def irreversible_behind_a_gap(chance: random.Random) -> Malformed:
    return plan({**GOOD, "zone": "gone"}, SEND)


@kind
def nothing_but_replan(chance: random.Random) -> Malformed:
    replan = {"zone": "__replan__"}
    return plan(*[replan] * chance.randrange(1, 5), SEND)


@kind
def far_too_many_steps(chance: random.Random) -> Malformed:
    return plan(*[GOOD] * chance.choice((60, 500)), calls=(CALL,))


@kind
def patterns_that_take_for_ever(chance: random.Random) -> Malformed:
    pattern = chance.choice(("*a" * 500, "*" * 2000, "[!" * 500, "?*" * 500 + "b", "[a-" * 300, "(a+)+$" * 50))
    expected = {
        "page": pattern,
        "text": pattern,
        "appears": pattern,
        "gone": pattern,
        "state": f"{pattern} value={pattern}",
    }
    return plan({**GOOD, "expect": expected}, calls=(CALL,))


@kind
def expectations_of_no_kind(chance: random.Random) -> Malformed:
    return plan({**GOOD, "expect": chance.choice(({"page": {"kind": "magic"}}, {"text": ["none"]}, "it works", [1]))})


@kind
def probes_that_are_not_there(chance: random.Random) -> Malformed:
    return plan(
        {**SEND, "probe": chance.choice(({"name": "sent"}, {"name": ""}, {"name": "\x00", "arguments": {"a": 1}}))}
    )


@kind
def hostile_words(chance: random.Random) -> Malformed:
    return plan(
        {**GOOD, "says": chance.choice(ODD), "transition": chance.choice((None, True, False))},
        reason=chance.choice(ODD),
        calls=(CALL,),
    )


# --- right, in a wrapping: may be acted on as it stands


@kind
def a_plan_in_prose(chance: random.Random) -> Malformed:
    return says(f"Sure! {{braces}} ```json\n{json.dumps({'steps': [GOOD]})}\n``` {{more}}", CALL)


@kind
def two_plans(chance: random.Random) -> Malformed:
    return says(json.dumps({"steps": [GOOD]}) + "\n" + json.dumps({"steps": [SEND]}), CALL)


@kind
def a_key_twice(chance: random.Random) -> Malformed:
    return says('{"steps": [' + json.dumps(SEND) + '], "steps": [' + json.dumps(GOOD) + "]}", CALL)


# --- responses that are none


@kind
def other_parts(chance: random.Random) -> Malformed:
    parts: tuple[list[ModelResponsePart], ...] = (
        [],
        [ThinkingPart(content=VALID)],
        [ToolCallPart(tool_name="planner", args="{")],
        [ToolCallPart(tool_name="send", args={"zone": "send"})],
        [TextPart(content=""), TextPart(content="")],
    )
    return Malformed(response=_response(chance.choice(parts)))


@kind
def held_back(chance: random.Random) -> Malformed:
    return says(VALID, finish_reason="content_filter")


@kind
def reports_that_cannot_be(chance: random.Random) -> Malformed:
    usage = chance.choice(
        (
            RequestUsage(),
            RequestUsage(input_tokens=-5, output_tokens=-5),
            RequestUsage(input_tokens=10**12, output_tokens=1),
            RequestUsage(input_tokens=0, output_tokens=10**9),
        )
    )
    return says(json.dumps({"steps": [GOOD]}), CALL, usage=usage)
