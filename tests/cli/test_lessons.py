"""`midcourse lessons`: what people see of what agents learned, and what they can do about it."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from midcourse.domain.records.lesson import Recalled, Untrusted
from midcourse.store.sqlite.memory import SqliteMemory
from midcourse.testing.conformance.memory import DENIED, FIX, GONE
from tests.cli.conftest import Cli

HOSTILE = "\x1b[2JPress 'Pay' now"


def open_memory(home: Path, agent: str) -> SqliteMemory:
    return SqliteMemory(home / "lessons.db", agent=agent)


@pytest.fixture
def learned(home: Path) -> None:
    """Ann knows two failures, and Bob one of them."""

    async def learn() -> None:
        await open_memory(home, "ann").save(GONE)
        await open_memory(home, "ann").save(replace(DENIED, root_cause=Untrusted(text=HOSTILE)))
        await open_memory(home, "ann").credit(DENIED.key, "r1", FIX)
        await open_memory(home, "ann").debit(DENIED.key, "r2")
        await open_memory(home, "bob").save(DENIED)

    asyncio.run(learn())


def recall(home: Path, agent: str) -> tuple[Recalled, ...]:
    return asyncio.run(open_memory(home, agent).recall(DENIED.signature))


def test_without_lessons_listing_makes_no_file(cli: Cli, home: Path) -> None:
    assert cli("lessons").out == "no lessons yet: nothing has failed that a lesson could be drawn from\n"
    assert cli("lessons", "--json").json == []
    assert not home.exists()


@pytest.mark.usefixtures("learned")
def test_they_are_listed_with_what_became_of_them(cli: Cli) -> None:
    assert [line.split("\t") for line in cli("lessons").out.splitlines()] == [
        ["00112233", "bob", "1 of 2", "", DENIED.signature],
        ["00112233", "ann", "1 of 2", "", DENIED.signature],
        ["ffeeddcc", "ann", "0 of 0", "", GONE.signature],
    ]
    first = cli("lessons", "--json").json[1]
    assert (first["lesson"], first["importance"], first["tags"]) == (DENIED.key, 0.8, ["learning", "pattern", "fix"])
    assert first["untrusted"]["fix"] == FIX.text


@pytest.mark.usefixtures("learned")
def test_what_is_shown_cannot_speak_to_the_terminal(cli: Cli) -> None:
    shown = cli("lessons", "show", "0011").out
    assert "\x1b" not in shown
    assert "because    \\x1b[2JPress 'Pay' now" in shown
    assert "fixed      in 1 of 2 runs that planned again" in shown
    assert "\x1b" not in cli("lessons").out


@pytest.mark.usefixtures("learned")
def test_sharing_needs_a_person_who_has_read_it(cli: Cli, home: Path) -> None:
    assert recall(home, "eve") == ()
    refused = cli("lessons", "share", "0011", "--agent", "ann")
    assert (refused.code, "read it first" in refused.err) == (2, True)
    assert recall(home, "eve") == ()
    shared = cli("lessons", "share", "0011", "--agent", "ann", "--yes", "--json").json
    assert (shared["shared"], shared["agent"]) == (DENIED.key, "ann")
    (lesson,) = recall(home, "eve")
    assert (lesson.lesson.fix, lesson.lesson.shared_by) == (FIX, shared["by"])
    assert f"shared by {shared['by']}" in cli("lessons").out


@pytest.mark.usefixtures("learned")
def test_agent_has_to_be_named_if_several_have_the_lesson(cli: Cli) -> None:
    result = cli("lessons", "share", "0011", "--yes")
    assert (result.code, "bob, ann has learned '0011': name the agent with --agent" in result.err) == (2, True)
    assert cli("lessons", "share", "ffee", "--yes").code == 0


@pytest.mark.usefixtures("learned")
def test_what_is_forgotten_is_gone(cli: Cli) -> None:
    assert cli("lessons", "forget", "0011").out == "forgot 2 lessons, and all numbers\n"
    assert [one["lesson"] for one in cli("lessons", "--json").json] == [GONE.key]


@pytest.mark.usefixtures("learned")
@pytest.mark.parametrize("name", ["nowhere", ""])
def test_forget_needs_the_name_of_a_lesson(cli: Cli, name: str) -> None:
    result = cli("lessons", "forget", name)
    assert (result.code, "midcourse lessons lists them" in result.err) == (2, True)


def test_a_run_from_the_command_line_learns(cli: Cli) -> None:
    loop = ("--set", "structural_stop=off", "--set", "replan_interval_seconds=0")
    assert cli("run", "unreachable_cube", "--json", "--set", "agent=ann", *loop).json["success"] is False
    (lesson,) = cli("lessons", "--json").json
    assert (lesson["agent"], lesson["reason"], lesson["not_fixed"], lesson["unmended"]) == ("ann", "unreachable", 1, 1)
