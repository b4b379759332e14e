"""Finds the places where secrets are drawn on a page, in any encoding. It reads Chromium's layout, so secrets never enter the page.

Text is found wherever it comes from: shadow roots, frames, style sheets, capitals made by a style, one letter per element.
Images, canvases and videos have no text; they are covered only if their attributes contain the secret.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from midcourse.redact import Redactor
from midcourse.worlds.browser.page.frames import Frames

Box: TypeAlias = tuple[float, float, float, float]
"""Left, top, width and height, relative to the document."""
Places: TypeAlias = Mapping[str, tuple[Box, ...]]
"""Boxes to cover, by frame."""

_WITHOUT_TEXT = frozenset(
    ("INPUT", "TEXTAREA", "SELECT", "IMG", "IMAGE", "CANVAS", "VIDEO", "OBJECT", "EMBED", "IFRAME", "FRAME", "METER")
)
"""Elements that have no text in the layout. They are searched by their attributes and covered whole."""
_IN_LIST = ("OPTION", "OPTGROUP")


class SecretLocator:
    """Knows the secrets of one session, and finds them on pages."""

    def __init__(self) -> None:
        self._secrets: dict[str, str] = {}
        self._redactor = Redactor(())

    def add(self, secrets: Iterable[tuple[str, str]]) -> None:
        known = {**self._secrets, **dict(secrets)}
        if known != self._secrets:
            self._secrets = known
            self._redactor = Redactor(known.items(), on_screen=True)

    def __bool__(self) -> bool:
        return bool(self._secrets)

    def redact(self, text: str) -> str:
        """Return the text with secrets replaced by their names."""
        return self._redactor(text)

    @property
    def values(self) -> tuple[str, ...]:
        return tuple(self._secrets.values())

    async def find_places(self, frames: Frames) -> Places:
        """Find the boxes to cover in all documents that show a secret. Raise `DocumentGone` if a document is gone."""
        found: dict[str, tuple[Box, ...]] = {}
        for snapshot in await frames.read_layout():
            for written in snapshot["documents"]:
                document = _Document(written, snapshot["strings"])
                if boxes := (*self._find_in_text(document), *self._find_in_elements(document)):
                    found[document.frame] = boxes
        return found

    def _find_in_text(self, document: "_Document") -> Iterator[Box]:
        """Search the text of all elements as one, since a secret may be spread over several."""
        runs = list(document.runs())
        spans = list(self._redactor.places("".join(run.text for run in runs)))
        at = 0
        for run in runs:
            for box, begin, end in run.boxes:
                if any(at + begin < last and first < at + end for first, last in spans):
                    yield box
            at += len(run.text)

    def _find_in_elements(self, document: "_Document") -> Iterator[Box]:
        for words, box in document.elements_without_text():
            if any(self._redactor.places(words)):
                yield box


@dataclass(frozen=True)
class _Run:
    """A piece of text, and the boxes it is laid out in, each with its range of the text."""

    text: str
    boxes: Sequence[tuple[Box, int, int]]


class _Document:
    """One document of `DOMSnapshot.captureSnapshot`, in which every text is an index into a table of strings."""

    def __init__(self, written: Mapping[str, Any], strings: Sequence[str]) -> None:
        self._strings = strings
        self._nodes = written["nodes"]
        self._layout = written["layout"]
        self._boxes = written["textBoxes"]
        self.frame = self._text(written["frameId"])

    def runs(self) -> Iterator[_Run]:
        of: dict[int, list[tuple[Box, int, int]]] = {}
        texts: list[int] = self._layout["text"]
        boxes, indexes = self._boxes, enumerate[int](self._boxes["layoutIndex"])
        for at, index in indexes:
            text, start = self._text(texts[index]), boxes["start"][at]
            place = (_count_characters(text, start), _count_characters(text, start + boxes["length"][at]))
            of.setdefault(index, []).append((_box(boxes["bounds"][at]), *place))
        for index, text in enumerate(texts):
            if text >= 0:
                yield _Run(self._text(text), of.get(index, ()))

    def elements_without_text(self) -> Iterator[tuple[str, Box]]:
        """Yield the attribute texts and boxes of elements without text."""
        bounds = dict(zip(self._layout["nodeIndex"], self._layout["bounds"], strict=True))
        names = self._nodes["nodeName"]
        for node, said in self._list_attribute_texts().items():
            if node in bounds and self._text(names[node]).upper() in _WITHOUT_TEXT:
                yield "\n".join(said), _box(bounds[node])

    def _list_attribute_texts(self) -> dict[int, list[str]]:
        """Return the attributes and values of each node, and for a list those of its options."""
        nodes, attributes = self._nodes, enumerate[list[int]](self._nodes["attributes"])
        words = {node: [self._text(at) for at in pairs[1::2]] for node, pairs in attributes}
        for kind in ("inputValue", "textValue"):
            for node, value in zip(nodes[kind]["index"], nodes[kind]["value"], strict=True):
                words[node].append(self._text(value))
        names, values = [self._text(at) for at in nodes["nodeName"]], nodes["nodeValue"]
        parents: list[int] = nodes["parentIndex"]
        for node, parent in reversed(list(enumerate(parents))):  # children come after their parents
            if names[node] in _IN_LIST:
                words[parent] += words[node]
            elif parent >= 0 and names[parent] in _IN_LIST and values[node] >= 0:
                words[parent].append(self._text(values[node]))
        return words

    def _text(self, at: int) -> str:
        return self._strings[at]


def _box(bounds: Sequence[float]) -> Box:
    left, top, width, height = bounds
    return left, top, width, height


def _count_characters(text: str, units: int) -> int:
    """Convert UTF-16 units, in which JavaScript counts, to characters."""
    return units if text.isascii() else len(text.encode("utf-16-le")[: 2 * units].decode("utf-16-le", errors="ignore"))
