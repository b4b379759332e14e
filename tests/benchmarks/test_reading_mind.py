"""The bench with a reading mind: its tasks, its judge, its model server and its driver, without any of its applications."""

import json
import threading
from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any, get_args
from urllib.request import Request, urlopen

import pytest

from benchmarks.reading_mind import session as sessions
from benchmarks.reading_mind.apps.application import Records
from benchmarks.reading_mind.apps.registry import APPLICATIONS
from benchmarks.reading_mind.chosen import CHOSEN
from benchmarks.reading_mind.judging import (
    Appended,
    Effect,
    NextMonday,
    Text,
    changed,
    compare,
    created,
    deleted,
    find_missing_words,
)
from benchmarks.reading_mind.model_server import ModelServer, wants_json
from benchmarks.reading_mind.opponents.session import OpponentSession
from benchmarks.reading_mind.session import FILES, Session
from benchmarks.reading_mind.table import make_comparison, make_table
from benchmarks.reading_mind.task import Kind, Task
from benchmarks.reading_mind.tasks import TASKS

THURSDAY = date(2026, 11, 19)
ASKED = {
    "model": "by-hand",
    "messages": [
        {"role": "system", "content": "Plan."},
        {"role": "user", "content": [{"type": "text", "text": "Screen: e1"}]},
    ],
    "response_format": {"type": "json_schema", "json_schema": {"name": "planner", "schema": {"type": "object"}}},
}


def test_there_are_three_tasks_for_each_of_twelve_applications() -> None:
    assert len(TASKS) == len({task.id for task in TASKS}) == 36
    assert Counter(task.app for task in TASKS) == dict.fromkeys(APPLICATIONS, 3)
    assert len(APPLICATIONS) == 12


def test_every_kind_of_task_is_there() -> None:
    kinds = Counter(task.kind for task in TASKS)
    assert set(kinds) == set(get_args(Kind.__value__ if hasattr(Kind, "__value__") else Kind))
    assert all(kinds[kind] >= 2 for kind in ("impossible", "ambiguous", "lost_answer", "long_text"))


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_a_task_can_be_judged(task: Task) -> None:
    assert task.effects or task.answer or not task.possible
    assert bool(task.trouble) == (task.kind == "lost_answer")
    assert not task.must_ask or task.person
    assert all((FILES / file).is_file() for file in task.files)
    assert not any(value in task.goal for value in task.secrets.values())
    if task.possible and not task.effects:
        assert find_missing_words(task.goal, task.answer), "the goal alone must not be the answer"


BEFORE: Records = {"book/1": {"title": "Salt", "price": "9.90"}, "book/2": {"title": "Glass", "price": "5.00"}}


def change(**books: dict[str, str] | None) -> Records:
    after = {key: dict(fields) for key, fields in BEFORE.items()}
    for number, fields in books.items():
        key = f"book/{number[1:]}"
        if fields is None:
            del after[key]
        else:
            after[key] = {**after.get(key, {}), **fields}
    return after


NEW = {"title": "Amber", "price": "1.00"}
PRICE = changed("book", {"title": "Salt"}, price="7.00")


@pytest.mark.parametrize(
    ("after", "effects", "found"),
    [
        (change(b3=NEW), [created("book", title="Amber")], (1, 0, 0, 0)),
        (change(b3=NEW, b4=NEW), [created("book", title="Amber")], (1, 0, 1, 0)),
        (change(), [created("book", title="Amber")], (0, 1, 0, 0)),
        (change(b1={"price": "7.00"}), [PRICE], (1, 0, 0, 0)),
        (change(b1={"price": "7.00", "title": "Pepper"}), [PRICE], (0, 1, 0, 1)),
        (change(b1={"price": "7.00"}, b2={"price": "6.00"}), [PRICE], (1, 0, 0, 1)),
        (change(b2=None), [deleted("book", {"title": "Glass"})], (1, 0, 0, 0)),
        (change(b1=None), [deleted("book", {"title": "Glass"})], (0, 1, 0, 1)),
        (change(b1=None), [], (0, 0, 0, 1)),
    ],
)
def test_every_difference_is_an_effect_that_was_asked_for_or_one_too_many(
    after: Records, effects: list[Effect], found: tuple[int, ...]
) -> None:
    outcome = compare(BEFORE, after, effects, THURSDAY)
    assert (outcome.done, len(outcome.missing), len(outcome.twice), len(outcome.unasked)) == found
    assert outcome.right == (found == (len(effects), 0, 0, 0))


def test_next_monday_is_the_one_after_the_day_of_the_task() -> None:
    monday = NextMonday("%Y-%m-%d 18:00")
    assert monday.accepts("2026-11-23 18:00:00", "", THURSDAY)
    assert not monday.accepts("2026-11-30 18:00:00", "", THURSDAY)
    assert NextMonday().accepts("2026-11-30", "", date(2026, 11, 23))


def test_what_was_appended_to_must_still_be_there() -> None:
    assert Appended("More.").accepts("All.\r\n\r\nMore.\n", "All.\n", THURSDAY)
    assert not Appended("More.").accepts("Al\n\nMore.", "All.", THURSDAY)
    assert not Appended("More.").accepts("All. More. More.", "All.", THURSDAY)
    assert Text(("a b",)).accepts("xA  Bx", "", THURSDAY)


def test_an_answer_is_found_in_the_frame_of_a_terminal() -> None:
    assert find_missing_words("│ it is 17.2 │\n│ 5 EUR     │", ("17.25 EUR", "ten|10")) == ("ten|10",)


def ask(server: ModelServer) -> dict[str, Any]:
    with urlopen(Request(f"{server.url}/chat/completions", json.dumps(ASKED).encode()), timeout=20) as answer:
        return json.loads(answer.read())


def test_a_request_waits_until_its_answer_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.reading_mind.model_server.ALIVE_EVERY", 0.01)
    monkeypatch.setattr(Session, "_read_terminal", lambda _: ("", ""))
    driver = Session(TASKS[0], tmp_path)
    server = ModelServer(tmp_path / "calls")
    server.start()
    answered: list[dict[str, Any]] = []
    client = threading.Thread(target=lambda: answered.append(ask(server)))
    client.start()
    shown = driver.wait(10)
    assert "Screen: e1" in shown
    assert '{"type": "object"}' in shown
    with pytest.raises(SystemExit, match="no JSON"):
        driver.answer("{")
    driver.answer('{"verdict": "done"}')
    client.join(10)
    server.stop()
    assert answered[0]["choices"][0]["message"]["content"] == '{"verdict": "done"}'
    assert answered[0]["usage"]["prompt_tokens"] > 0
    assert json.loads((tmp_path / "calls" / "00.usage.json").read_text())["role"] == "planner"


def test_questions_are_kept_with_what_was_typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    panel = "╭─ May this be done? ─╮\n│ Save │\n╰─╯\n  [y]es, once\ny/n> "
    screens = [panel]
    monkeypatch.setattr(Session, "_read_terminal", lambda _: (screens[-1], screens[-1].split("\n")[-1]))
    monkeypatch.setattr(Session, "_tmux", lambda *_, **__: "")
    monkeypatch.setattr(sessions, "POLL", 0.001)
    driver = Session(TASKS[2], tmp_path)
    shown = driver.wait(5)
    assert "May this be done?" in shown
    assert TASKS[2].person in shown
    driver.type_lines(["y"], unnecessary="it sends nothing")
    (event,) = [json.loads(line) for line in (tmp_path / "events.jsonl").read_text().splitlines()]
    assert (event["typed"], event["unnecessary"]) == (["y"], "it sends nothing")
    screens.append(panel + "\n" + panel.replace("Save", "Send"))
    driver.wait(5)
    driver.type_lines(["a"])
    driver.type_lines(["the second"])
    events = [json.loads(line) for line in (tmp_path / "events.jsonl").read_text().splitlines()]
    assert [each["typed"] for each in events] == [["y"], ["a", "the second"]]


def test_the_table_counts_what_was_judged() -> None:
    judged = {
        "id": "trac-lost",
        "kind_of_task": "lost_answer",
        "right": False,
        "verdict": "✓ done, verified",
        "effects": {"done": 1, "expected": 1, "missing": [], "twice": ["created ticket/8"], "unasked": []},
        "missing_in_answer": [],
        "calls": {"planner": 3, "others": 1},
        "tokens": {"prompt": 5000},
        "counted_as": "o200k_base",
        "questions": {"all": 4, "unnecessary": 1},
        "note": "",
    }
    lines = "\n".join(make_table([judged]))
    assert "| trac-lost | lost_answer | **no** | 1 of 1, 1 twice | 3+1 | 5,000 | 4/1 |" in lines
    assert "0 of 1 ended right (36 tasks); 1 effects twice, 0 unasked; 1 false 'verified'" in lines
    assert "4 calls, 5,000 prompt tokens (counted as o200k_base)" in lines


def judge(task: str, system: str, *, right: bool, calls: int) -> dict[str, Any]:
    return {
        "id": task,
        "kind_of_task": "date",
        "with": system,
        "right": right,
        "verdict": "done",
        "effects": {
            "done": 1,
            "expected": 1,
            "missing": [],
            "twice": [],
            "unasked": [] if right else ["created loan/9"],
        },
        "missing_in_answer": [],
        "calls": {"planner": calls, "others": 1},
        "tokens": {"prompt": 1000 * calls, "cached": 400 * calls, "answer": 10 * calls},
        "counted_as": "o200k_base",
        "questions": {"all": 0, "unnecessary": 0},
        "note": "",
    }


def test_the_table_puts_other_systems_beside_ours() -> None:
    judged = {
        (each["id"], each["with"]): each
        for each in (
            judge("django-loan", "", right=True, calls=5),
            judge("django-loan", "browser-use", right=False, calls=8),
            judge("trac-login", "", right=True, calls=3),
        )
    }
    lines = "\n".join(make_comparison(judged))
    assert "| django-loan | date | browser-use | **no** | 1 of 1, 1 unasked | 9 | 8,000 | 4,800 | 0/0 |" in lines
    assert "| trac-login | date | midcourse | yes |" in lines
    assert "midcourse: 1 of 1 tasks that all systems did ended right; 0 effects twice, 0 unasked; 6 calls" in lines
    assert make_comparison({("django-loan", ""): judge("django-loan", "", right=True, calls=5)}) == []


def test_one_task_of_each_application_is_chosen_for_other_systems() -> None:
    chosen = [task for task in TASKS if task.id in CHOSEN]
    assert sorted(task.app for task in chosen) == sorted(APPLICATIONS)
    assert len({task.kind for task in chosen}) == 9


TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}} for name in ("look", "click")
]


def test_a_model_with_tools_may_call_several_of_them_or_say_something(tmp_path: Path) -> None:
    server = ModelServer(tmp_path)
    server.start()
    body = {"model": "by-hand", "messages": [{"role": "user", "content": "Go."}], "tools": TOOLS}
    assert not wants_json(body)
    assert wants_json({**body, "tool_choice": "required"})
    given = '{"tool_calls": [{"name": "click", "arguments": {"ref": "e1"}}, {"name": "look", "arguments": {}}]}'
    called: set[str] = set()
    for answer, finish in ((given, "tool_calls"), (given, "tool_calls"), ("Done: 5 ships", "stop")):
        base, usage = server.keep(body)
        base.with_suffix(".answer").write_text(answer)
        choice = server.complete(base, usage, body)["choices"][0]
        assert choice["finish_reason"] == finish
        called |= {call["id"] for call in choice["message"].get("tool_calls", ())}
    assert len(called) == 4, "a call's id is used once in a run"
    assert choice["message"]["content"] == "Done: 5 ships"
    server.stop()


def make_opponent(folder: Path, name: str) -> OpponentSession:
    return OpponentSession(next(task for task in TASKS if task.id == "trac-login"), folder, name)


def test_what_another_system_sends_again_is_kept_once(tmp_path: Path) -> None:
    session = make_opponent(tmp_path, "playwright-mcp")
    server = ModelServer(tmp_path / "calls")
    server.start()
    messages: list[dict[str, str]] = [{"role": "user", "content": "Close\nthe ticket"}]
    for said in ("Which one?", "Done: closed"):
        body = {"model": "by-hand", "messages": messages, "tools": TOOLS}
        base, usage = server.keep(body)
        base.with_suffix(".answer").write_text(said)
        server.complete(base, usage, body)
        messages = [*messages, {"role": "assistant", "content": said}, {"role": "user", "content": "The first"}]
    server.stop()
    (tmp_path / "events.jsonl").write_text("".join(f'{{"kind": "exchange", "call": "{n:02d}"}}\n' for n in range(2)))
    session._write_transcript()
    head, first, second = map(json.loads, (tmp_path / "transcript.jsonl").read_text().splitlines())
    assert (head["with"], "@playwright/mcp" in head["versions"]) == ("playwright-mcp", True)
    assert "Close\nthe ticket" in first["asked"]
    assert "the ticket" not in second["asked"]
    assert "The first" in second["asked"]
    assert (second["begins_like"]["call"], second["schema"]) == (0, "as before")


@pytest.mark.parametrize(("typed", "right"), [(["The one about a long pause"], True), ([""], False), (None, False)])
def test_an_ambiguous_task_ends_right_only_if_another_system_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: list[str] | None, right: bool
) -> None:
    ticket = {"summary": "Login page shows an error after a long pause", "status": "new", "resolution": ""}
    after = {"ticket/1": {**ticket, "status": "closed", "resolution": "fixed"}}
    monkeypatch.setattr(APPLICATIONS["trac"], "records", lambda _: after)
    session = make_opponent(tmp_path, "browser-use")
    (tmp_path / "before.json").write_text(json.dumps({"ticket/1": ticket}))
    (tmp_path / "session.json").write_text(json.dumps({"began": 0}))
    (tmp_path / "result.json").write_text('{"answer": "Closed it."}')
    question = [] if typed is None else [{"kind": "question", "shown": "Which?", "typed": typed}]
    session._write_events([*question, {"kind": "end", "exit_code": 0, "printed": "╭─ done ─╮\nClosed it."}])
    judgement = session.judge()
    assert (judgement["right"], judgement["with"], judgement["verdict"]) == (right, "browser-use", "done")
