"""Transcripts of the reading mind, replayed against the code as it is."""

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.reading_mind import replay
from midcourse.llm.roles import planner
from midcourse.ports.planner import PlanningContext
from tests.llm.situations import FIRST

KEPT = sorted(replay.TRANSCRIPTS.glob("*.jsonl"))
ANSWER = {
    "steps": [
        {"zone": "z2", "skill": "fill", "arguments": [{"name": "text", "value": "1 Harbour Street"}]},
        {"zone": "z4", "skill": "place_order"},
    ],
    "final": True,
}


def record(path: Path, answers: Iterable[object], monkeypatch: pytest.MonkeyPatch) -> replay.Planned:
    """Record a transcript of one request, and read it again."""
    monkeypatch.setattr(planner, "build_planner_prompt", planner.build_planner_prompt)
    kept = path.with_suffix(".kept")
    replay.keep_contexts(kept)
    lines: list[replay.Line] = [{"kind": "transcript"}]
    for answer in answers:
        prompt = planner.build_planner_prompt(FIRST, 50_000)
        asked = [("system", prompt.instructions), ("user", "\n".join(prompt.parts))]
        exchange = {"kind": "exchange", "role": "planner", "answer": json.dumps(answer)}
        lines.append({**exchange, "asked": [{"role": role, "text": text} for role, text in asked]})
    used = replay.bind_contexts(lines, kept.read_text().splitlines(keepends=True))
    replay.write_transcript(path, lines)
    replay.write_contexts(path, used)
    return replay.read_planned(path, replay.read_transcript(path))[0]


def test_an_answer_holds_while_its_prompt_shows_what_it_names_and_it_means_the_same_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    planned = record(tmp_path / "order.jsonl", [ANSWER], monkeypatch)
    assert planned.list_names() == ["z2", "1 Harbour Street", "z4"]
    assert planned.find_changes() == []
    assert [step["on"] for step in planned.exchange["steps"]] == ["textbox:Address", "button:Place order"]


def test_an_answer_does_not_hold_if_its_zone_is_not_listed_any_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    planned = record(tmp_path / "order.jsonl", [ANSWER], monkeypatch)
    seen = FIRST.observation
    fewer = replace(seen, zones=tuple(zone for zone in seen.zones if zone.id != "z4"))
    other: PlanningContext = replace(FIRST, observation=fewer)
    lost, read = replace(planned, context=other).find_changes()
    assert lost == "'z4' was in the prompt and is not any more"
    assert "it was read as" in read


def test_a_transcript_that_holds_gets_the_prompts_of_today(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "order.jsonl"
    record(path, [ANSWER], monkeypatch)
    path.write_text(path.read_text().replace("You plan the next steps", "You planned the next steps"))
    assert replay.rekey(path) == []
    (planned,) = replay.read_planned(path, replay.read_transcript(path))
    assert planned.exchange["asked"][0]["text"] == planned.prompt.instructions
    assert planned.find_changes() == []


@pytest.mark.slow
@pytest.mark.parametrize("path", KEPT, ids=[path.stem for path in KEPT])
def test_every_answer_of_a_kept_transcript_holds_today(path: Path):
    planned = replay.read_planned(path, replay.read_transcript(path))
    assert [name for each in planned for name in each.list_names()], "its answers take nothing from their prompts"
    assert {change for each in planned for change in each.find_changes()} == set()
