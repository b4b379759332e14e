"""Habits that keep the code readable. Each is also shown to find what it forbids."""

from pathlib import Path

import pytest

from tests.habits import source
from tests.habits.source import ROOT

SHARE_OF_UNUSUAL_DOCSTRINGS = 0.02

SRC = ROOT / "src"


@pytest.mark.slow
def test_private_names_are_used() -> None:
    unused = source.unused_private_names(source.python_files(SRC))
    assert [name.rpartition(":")[2] for name in unused] == ["_arun"], "only CrewAI calls a private method of ours"


@pytest.mark.slow
def test_no_modules_import_each_other_in_a_circle() -> None:
    assert source.circles_of_imports(SRC / "midcourse") == []


@pytest.mark.slow
def test_modules_say_what_they_are() -> None:
    assert source.modules_without_docstring(source.python_files(SRC)) == []


@pytest.mark.slow
def test_docstrings_are_plain_english() -> None:
    files = source.python_files(SRC)
    unusual, total = source.unusual_docstrings(files), sum(1 for _ in source.docstrings(files))
    assert len(unusual) <= SHARE_OF_UNUSUAL_DOCSTRINGS * total, "\n".join(unusual)


class TestEachHabitFindsWhatItForbids:
    @pytest.fixture
    def bad(self, tmp_path: Path) -> Path:
        body = "    x = 1\n" * source.FUNCTION_LINES
        (tmp_path / "bad.py").write_text(
            f'def long() -> None:\n    """Whoever calls it."""\n{body}' + "x = 1\n" * source.LINES
        )
        return tmp_path

    def test_a_long_file_and_a_long_function_are_alarms(self, bad: Path) -> None:
        files, lines = source.python_files(bad), source.LINES + source.FUNCTION_LINES + 2
        assert source.long_files(files, source.LINES) == {bad / "bad.py": lines}
        assert source.long_functions(files, source.FUNCTION_LINES) == {
            f"{bad / 'bad.py'}:long": source.FUNCTION_LINES + 2
        }

    def test_a_circle_of_imports_is_found(self, tmp_path: Path) -> None:
        package = tmp_path / "house"
        package.mkdir()
        (package / "__init__.py").write_text("")
        (package / "a.py").write_text("from house import b\n")
        (package / "b.py").write_text("def late() -> None:\n    from house.c import name\n")
        (package / "c.py").write_text("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import house.a\n")
        (package / "d.py").write_text("import house.a\n")
        assert source.circles_of_imports(package) == [["house.a", "house.b", "house.c"]]

    def test_an_unused_private_name_is_found(self, tmp_path: Path) -> None:
        (tmp_path / "a.py").write_text("def _unused() -> None: ...\n\n\ndef _used() -> None: ...\n\n\n_used()\n")
        assert source.unused_private_names(source.python_files(tmp_path)) == [f"{tmp_path / 'a.py'}:_unused"]

    def test_a_module_without_a_docstring_is_found(self, bad: Path) -> None:
        assert source.modules_without_docstring(source.python_files(bad)) == [bad / "bad.py"]

    def test_a_docstring_with_an_unusual_phrase_is_found(self, bad: Path) -> None:
        assert source.unusual_docstrings(source.python_files(bad)) == [f"{bad / 'bad.py'}:1: Whoever"]

    @pytest.mark.parametrize("phrase", ["is no error", "goes on", "at once", "has to be", "came to nothing", "mended"])
    def test_each_phrase_is_found(self, phrase: str) -> None:
        assert source.PHRASES.search(f"It {phrase} here.")

    @pytest.mark.parametrize("text", ["It is no longer there.", "It is not a plan.", "Amended.", "goes one further"])
    def test_plain_english_is_not_reported(self, text: str) -> None:
        assert source.PHRASES.search(text) is None
