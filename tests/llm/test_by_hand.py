"""Runs that a language model answered by hand from the prompts alone: what was asked, what was answered, and what came of it.

The application is not part of the tests, so a run is not repeated. What it shows of prompts, schemas and questions is checked.
"""

import json
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from midcourse.agent.roles import ROLES
from midcourse.llm.answer_parser import Parsed, parse_answer

TRANSCRIPTS = Path(__file__).parent / "by_hand"
Line = dict[str, Any]
_OF_A_MACHINE = re.compile(r"/(?:home|root|tmp|var|Users)/")
_ZONE = re.compile(r"(?:^| )((?:f\d+)*e\d+|request\d+|page) ", re.MULTILINE)
OPEN_SECONDS = 180


def read(name: str) -> list[Line]:
    return [json.loads(line) for line in (TRANSCRIPTS / f"{name}.jsonl").read_text().splitlines()]


def of_kind(kind: str, name: str) -> list[Line]:
    return [line for line in read(name) if line["kind"] == kind]


NAMES = sorted(path.stem for path in TRANSCRIPTS.glob("*.jsonl"))


def test_there_is_a_transcript_without_a_policy_file():
    assert "roundcube" in NAMES
    assert read("roundcube")[0]["policy"] == "none"


@pytest.mark.parametrize("name", NAMES)
def test_a_transcript_names_nothing_of_the_machine_that_made_it(name: str):
    assert _OF_A_MACHINE.search((TRANSCRIPTS / f"{name}.jsonl").read_text()) is None


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_answer_has_the_form_that_was_asked_for_and_is_read_today(name: str):
    exchanges = of_kind("exchange", name)
    assert exchanges
    for each in exchanges:
        Draft202012Validator(each["schema"]).validate(json.loads(each["answer"]))
        role = next(role for role in ROLES.values() if role.name == each["role"])
        answer = getattr(import_module(f"midcourse.llm.roles.{role.name}"), role.answer)
        assert isinstance(parse_answer(each["answer"], answer), Parsed), each["answer"]


@pytest.mark.parametrize("name", NAMES)
def test_every_step_of_an_answer_is_on_a_zone_that_its_prompt_lists(name: str):
    for each in of_kind("exchange", name):
        listed = set(_ZONE.findall("\n".join(part["text"] for part in each["asked"]))) | {"page", None, ""}
        steps = json.loads(each["answer"]).get("steps") or []
        assert {step.get("zone") for step in steps} <= listed


def test_a_mail_was_forwarded_once_beside_a_question_that_was_open_for_minutes():
    (end,) = of_kind("end", "roundcube")
    (mail,) = end["mails"]
    assert end["exit_code"] == 0
    assert mail["to"] == ["billing@example.org"]
    assert "invoice 4711" in mail["text"], "what was written was not wiped"
    asked = of_kind("question", "roundcube")
    assert max(question["open_seconds"] for question in asked) >= OPEN_SECONDS
    assert any("billing@example.org" in question["shown"] for question in asked)
