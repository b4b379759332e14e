"""The text of a file for a planner: text as it is, HTML and PDF without their markup. Anything else is refused with what it is."""

import codecs
import re
import time
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from typing import Any

from midcourse.domain.outcome import LONGEST_VALUE, cut_value

_MOST_BYTES = 4 * LONGEST_VALUE
"""More cannot be shown: no encoding has more than four bytes for a character."""
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_PDF_SECONDS = 20.0
"""A file from the web may be made to take any time. This is checked between its pages."""
_GAP = re.compile(r"\s+")
_SPACES = re.compile(" *\t *| {2,}")
NEEDS = "the text of a PDF needs pip install 'midcourse[pdf]'"


class FileUnreadable(Exception):
    """The file has no text that can be read. `reason` is a slug, and the message is for planners."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


def read_file_text(path: Path) -> str:
    """The text of a file, cut where it is longer than a result may be. Raises `FileUnreadable`."""
    with path.open("rb") as file:
        data = file.read(_MOST_BYTES)
    size = path.stat().st_size
    if data.startswith(b"%PDF-"):
        return cut_value(_read_pdf(path))
    text = _decode(data, whole=len(data) == size)
    if text is None:
        kind = "a ZIP archive, as office documents are" if data.startswith(b"PK\3\4") else "not text"
        raise FileUnreadable(
            "not_text", f"'{path.name}' is {kind} ({size} bytes): CSV, text, JSON, HTML and PDF can be read"
        )
    is_page = path.suffix.lower() in (".html", ".htm", ".xhtml") or text.lstrip()[:15].lower().startswith(
        "<!doctype html"
    )
    return cut_value(
        _strip_markup(text) if is_page else text.strip("\ufeff"), "" if len(data) == size else f"{size} bytes"
    )


def _decode(data: bytes, *, whole: bool) -> str | None:
    """The text, or None if this is none. A character that the end of what was read cuts in two is left out."""
    marked = next((name for mark, name in _MARKS if data.startswith(mark)), "")
    for name in (marked,) if marked else ("utf-8", "cp1252"):
        try:
            text = codecs.getincrementaldecoder(name)().decode(data, final=whole)
        except UnicodeDecodeError:
            continue
        if not any(letter < " " and letter not in "\t\n\r\f\v" for letter in text):
            return text
    return None


# --- HTML


def _strip_markup(text: str) -> str:
    page = _Page()
    page.feed(text)
    page.close()
    lines = (_SPACES.sub(_join, line).strip(" ") for line in "".join(page.said).split("\n"))
    return "\n".join(line for line in lines if line)


def _join(gap: re.Match[str]) -> str:
    return "\t" if "\t" in gap[0] else " "


class _Page(HTMLParser):
    """Collects the text of a page: a line for each block, cells of a row behind tabs."""

    _UNSEEN = frozenset(["script", "style", "template", "noscript"])
    _INLINE = frozenset(
        [
            "a",
            "abbr",
            "b",
            "bdi",
            "cite",
            "code",
            "del",
            "dfn",
            "em",
            "font",
            "i",
            "ins",
            "kbd",
            "label",
            "mark",
            "q",
            "s",
            "small",
            "span",
            "strong",
            "sub",
            "sup",
            "time",
            "u",
        ]
    )
    _CELLS = frozenset(["td", "th"])

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []
        self._unseen = 0
        self._cells = 0
        self._in_cell = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._unseen += tag in self._UNSEEN
        if tag in self._CELLS:
            self.said.append("\t" if self._cells else "")
            self._cells, self._in_cell = self._cells + 1, True
        elif tag == "tr":
            self._cells, self._in_cell = 0, False
            self.said.append("\n")
        elif tag not in self._INLINE:
            self.said.append(" " if self._in_cell else "\n")

    def handle_endtag(self, tag: str) -> None:
        self._unseen -= tag in self._UNSEEN and self._unseen > 0
        if tag in ("tr", "table"):
            self._in_cell = False
        if tag not in self._INLINE and tag not in self._CELLS:
            self.said.append(" " if self._in_cell else "\n")

    def handle_data(self, data: str) -> None:
        if not self._unseen:
            self.said.append(_GAP.sub(" ", data))


# --- PDF


def _read_pdf(path: Path) -> str:
    try:
        pypdf: Any = import_module("pypdf")
    except ModuleNotFoundError:
        raise FileUnreadable("not_installed", NEEDS) from None
    try:
        pages = list(_read_pages(pypdf.PdfReader(path).pages))
    except FileUnreadable:
        raise
    except Exception as error:  # of a damaged or encrypted file, and of a library that parses what the web has
        raise FileUnreadable("not_readable", f"'{path.name}' cannot be read: {error}") from error
    if not any(text for _, text in pages):
        raise FileUnreadable("no_text", f"'{path.name}' has no text, only pictures of its pages")
    return "\n".join(f"--- page {number} of {len(pages)}\n{text}" for number, text in pages)


def _read_pages(pages: Iterable[Any]) -> Iterator[tuple[int, str]]:
    until = time.monotonic() + _PDF_SECONDS
    for number, page in enumerate(pages, start=1):
        if time.monotonic() > until:
            raise FileUnreadable("timeout", f"its {number - 1} first pages took {_PDF_SECONDS:g} s to read")
        yield number, str(page.extract_text()).strip()
