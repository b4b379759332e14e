"""The text of downloaded files: what can be read, and what is said of the rest."""

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from midcourse.worlds.file_text import FileUnreadable, read_file_text

PAGE = """<!doctype html><title>T</title><style>x { }</style><h1>Hi <b>you</b></h1><p>one
 two</p><table><tr><th>A<th>B</tr><tr><td><p>1</p><p>2</p></td><td>x</td></tr></table><script>bad()</script>"""


@pytest.mark.parametrize(
    ("name", "data", "text"),
    [
        ("a.csv", b"name,sum\nAda,7\n", "name,sum\nAda,7\n"),
        ("a.csv", "é;ü\n".encode("cp1252"), "é;ü\n"),
        ("a.txt", "é\n".encode("utf-16"), "é\n"),
        ("a.json", b'\xef\xbb\xbf{"a": 1}', '{"a": 1}'),
        ("a.html", PAGE.encode(), "T\nHi you\none two\nA\tB\n1 2\tx"),
    ],
)
def test_text_is_read(tmp_path: Path, name: str, data: bytes, text: str):
    (tmp_path / name).write_bytes(data)
    assert read_file_text(tmp_path / name) == text


def test_a_large_file_is_cut_where_it_says_so(tmp_path: Path):
    (tmp_path / "a.txt").write_text("é" * 1_000_000)
    assert read_file_text(tmp_path / "a.txt").endswith("é\n… cut here: 199900 characters of 2000000 bytes")


@pytest.mark.parametrize(
    ("data", "reason"),
    [(b"PK\3\4office", "not_text"), (b"\0\1\2", "not_text"), (b"%PDF-1.7", "not_installed")],
)
def test_what_has_no_text_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes, reason: str):
    monkeypatch.setitem(sys.modules, "pypdf", None)
    (tmp_path / "a.bin").write_bytes(data)
    with pytest.raises(FileUnreadable) as refused:
        read_file_text(tmp_path / "a.bin")
    assert refused.value.reason == reason


@pytest.mark.parametrize(
    ("pages", "text"), [(["one", "two"], "--- page 1 of 2\none\n--- page 2 of 2\ntwo"), ([""], "")]
)
def test_pages_of_a_pdf_are_numbered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pages: list[str], text: str):
    def read(_: Path) -> Any:
        return SimpleNamespace(pages=[SimpleNamespace(extract_text=lambda page=page: page) for page in pages])

    monkeypatch.setitem(sys.modules, "pypdf", SimpleNamespace(PdfReader=read))
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.7")
    if text:
        assert read_file_text(tmp_path / "a.pdf") == text
    else:
        with pytest.raises(FileUnreadable, match="no text, only pictures"):
            read_file_text(tmp_path / "a.pdf")
