"""A journal as a file: written, read back, and refused with the line that is wrong."""

import json
from pathlib import Path
from typing import Any

import pytest

from midcourse.errors import FormatUnknown
from midcourse.history.journal import Journal, journal_of, journal_text, parse_journal, read_journal
from tests.scenarios.stage import RUN, example


@pytest.fixture
async def journal() -> Journal:
    stage = example("order")
    await stage.play()
    return await journal_of(stage.store, RUN)


async def test_a_written_journal_is_read_back_unchanged(journal: Journal, tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_text(journal_text(journal), encoding="utf-8")
    assert read_journal(path) == journal
    assert [plan.version for plan in journal.plans] == [1, 2, 3]
    assert journal.state.seq == journal.rows[-1].seq


async def test_a_run_that_has_just_begun_has_a_journal(journal: Journal) -> None:
    text = journal_text(Journal(opening=journal.opening, task=journal.task, plans=(), rows=(), state=journal.opening))
    assert parse_journal(text).rows == ()


def change_line(journal: Journal, number: int, /, **parts: Any) -> str:
    lines = journal_text(journal).splitlines()
    lines[number] = json.dumps({**json.loads(lines[number]), **parts})
    return "\n".join(lines) + "\n"


async def test_another_format_is_refused(journal: Journal) -> None:
    with pytest.raises(FormatUnknown, match=r"j, line 1: journal format 7, this version reads 1"):
        parse_journal(change_line(journal, 0, journal=7), "j")


async def test_a_journal_with_a_run_of_another_format_is_refused(journal: Journal) -> None:
    with pytest.raises(FormatUnknown, match=r"j, line 1: run format 99"):
        parse_journal(change_line(journal, 0, run={"id": "x", "format": 99}), "j")


async def test_a_turn_that_cannot_be_read_is_named(journal: Journal) -> None:
    first = len(journal.plans) + 1
    with pytest.raises(FormatUnknown, match=rf"j, line {first + 3}: JournalRow event"):
        parse_journal(change_line(journal, first + 2, event={"kind": "danced"}), "j")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "line 1: is empty"),
        ("[]\n", "line 1: is not a JSON object"),
        ("hello\n", "line 1: is not JSON"),
        ('{"goal": "x"}\n', "line 1: is not the header of a journal"),
        ('{"journal": 1}', "ends in the middle of a line"),
    ],
)
def test_text_that_is_not_a_journal_is_refused_with_the_reason(text: str, problem: str) -> None:
    with pytest.raises(FormatUnknown, match=problem):
        parse_journal(text)


async def test_a_truncated_journal_is_refused(journal: Journal) -> None:
    text = journal_text(journal)
    whole = text.splitlines(keepends=True)
    with pytest.raises(FormatUnknown, match="the state is missing"):
        parse_journal("".join(whole[:-1]))
    with pytest.raises(FormatUnknown, match="middle of a line"):
        parse_journal(text[:-10])
    with pytest.raises(FormatUnknown, match="something follows the state"):
        parse_journal(text + whole[1])


def test_a_binary_file_is_not_a_journal(tmp_path: Path) -> None:
    path = tmp_path / "picture.jsonl"
    path.write_bytes(b"\xff\xfe\x00\x81")
    with pytest.raises(FormatUnknown, match="not a journal"):
        read_journal(path)
