"""Limits that keep the code readable. A limit is also shown to find what it forbids."""

from pathlib import Path

import pytest

from tests.habits import source
from tests.habits.source import ROOT

LINES, FUNCTION_LINES, COMPLEXITY, MODULES_IN_A_FOLDER = 700, 80, 15, 24
SHARE_OF_UNUSUAL_DOCSTRINGS = 0.02

SRC = ROOT / "src"
CODE = [SRC, ROOT / "benchmarks", ROOT / "examples"]


def test_files_are_short() -> None:
    assert source.long_files(source.python_files(*CODE, ROOT / "tests"), LINES) == {}


@pytest.mark.slow
def test_functions_are_short() -> None:
    assert source.long_functions(source.python_files(*CODE), FUNCTION_LINES) == {}


@pytest.mark.slow
def test_functions_are_simple() -> None:
    assert source.complex_functions(CODE, COMPLEXITY) == []


@pytest.mark.slow
def test_private_names_are_used() -> None:
    unused = source.unused_private_names(source.python_files(SRC))
    assert [name.rpartition(":")[2] for name in unused] == ["_arun"], "only CrewAI calls a private method of ours"


def test_folders_are_not_crowded() -> None:
    assert source.crowded_folders(SRC, MODULES_IN_A_FOLDER) == {}


@pytest.mark.slow
def test_modules_say_what_they_are() -> None:
    assert source.modules_without_docstring(source.python_files(SRC)) == []


@pytest.mark.slow
def test_docstrings_are_plain_english() -> None:
    files = source.python_files(SRC)
    unusual, total = source.unusual_docstrings(files), sum(1 for _ in source.docstrings(files))
    assert len(unusual) <= SHARE_OF_UNUSUAL_DOCSTRINGS * total, "\n".join(unusual)


class TestEachLimitFindsWhatItForbids:
    @pytest.fixture
    def bad(self, tmp_path: Path) -> Path:
        branches = "".join(f"    if x == {n}:\n        return {n}\n" for n in range(16))
        (tmp_path / "bad.py").write_text(
            f'def long(x: int) -> int:\n    """Whoever calls it."""\n{branches}    return 0\n' + "x = 1\n" * 700
        )
        (tmp_path / "long.py").write_text('"""A module."""\n\n\ndef f() -> None:\n' + "    x = 1\n" * 81)
        return tmp_path

    def test_a_long_file(self, bad: Path) -> None:
        assert source.long_files(source.python_files(bad), LINES) == {bad / "bad.py": 735}

    def test_a_long_function(self, bad: Path) -> None:
        assert source.long_functions(source.python_files(bad), FUNCTION_LINES) == {f"{bad / 'long.py'}:f": 82}

    @pytest.mark.slow
    def test_a_complex_function(self, bad: Path) -> None:
        assert len(source.complex_functions([bad], COMPLEXITY)) == 1

    def test_an_unused_private_name(self, tmp_path: Path) -> None:
        (tmp_path / "a.py").write_text("def _unused() -> None: ...\n\n\ndef _used() -> None: ...\n\n\n_used()\n")
        assert source.unused_private_names(source.python_files(tmp_path)) == [f"{tmp_path / 'a.py'}:_unused"]

    def test_a_crowded_folder(self, bad: Path) -> None:
        assert source.crowded_folders(bad, 1) == {bad: 2}

    def test_a_module_without_a_docstring(self, bad: Path) -> None:
        assert source.modules_without_docstring(source.python_files(bad)) == [bad / "bad.py"]

    def test_an_unusual_phrase(self, bad: Path) -> None:
        assert source.unusual_docstrings(source.python_files(bad)) == [f"{bad / 'bad.py'}:1: Whoever"]

    @pytest.mark.parametrize("phrase", ["is no error", "goes on", "at once", "has to be", "came to nothing", "mended"])
    def test_phrases(self, phrase: str) -> None:
        assert source.PHRASES.search(f"It {phrase} here.")

    @pytest.mark.parametrize("text", ["It is no longer there.", "It is not a plan.", "Amended.", "goes one further"])
    def test_plain_english(self, text: str) -> None:
        assert source.PHRASES.search(text) is None
