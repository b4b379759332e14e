"""Drawings can be read: their text is text, is large enough, is inside the drawing, and does not overlap; and there is text instead of them."""

import re
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[2]
SVG = "{http://www.w3.org/2000/svg}"
PICTURES = sorted((ROOT / "docs" / "img").glob("*.svg"))
DRAWINGS = [path for path in PICTURES if path.stem != "killed-and-resumed"]
"""Without the recording of a terminal."""
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
IMAGE = re.compile(r"!\[([^\]]*)\]\(([^)\s]+)\)")
SIZES = {"title": 16, "small": 12}
CHARACTER = 0.52
"""The mean width of a character, of the font size: that of narrow fonts, so that what overlaps here overlaps everywhere."""


@dataclass(frozen=True)
class Box:
    text: str
    left: float
    right: float
    top: float
    bottom: float

    def overlaps(self, other: "Box") -> bool:
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom


def read_boxes(drawing: ElementTree.Element) -> list[Box]:
    return [read_box(text) for text in drawing.iter(f"{SVG}text")]


def read_box(text: ElementTree.Element) -> Box:
    said = text.text or ""
    size = next((SIZES[kind] for kind in text.get("class", "").split() if kind in SIZES), 13)
    width = CHARACTER * size * len(said)
    x, y = float(text.get("x", "")), float(text.get("y", ""))
    left = x - width * {"end": 1.0, "middle": 0.5}.get(text.get("text-anchor", ""), 0.0)
    return Box(said, left, left + width, y - 0.75 * size, y)


def test_the_expected_drawings_exist():
    assert {path.stem for path in DRAWINGS} >= {
        "drift",
        "scale-growth",
        "scale-needs",
        "tau2",
    }


@pytest.mark.parametrize("path", DRAWINGS, ids=lambda path: path.stem)
def test_text_of_a_drawing_is_large_enough_inside_and_does_not_overlap(path: Path):
    drawing = ElementTree.fromstring(path.read_text(encoding="utf-8"))
    width, height = (float(number) for number in drawing.get("viewBox", "").split()[2:])
    assert len(drawing.findtext(f"{SVG}desc") or "") > 60
    assert min(int(size) for size in re.findall(r"(\d+)px", drawing.findtext(f"{SVG}style") or "")) >= 11
    boxes = read_boxes(drawing)
    assert len(boxes) > 5
    assert [box.text for box in boxes if box.left < 0 or box.right > width or box.top < 0 or box.bottom > height] == []
    assert [(one.text, other.text) for one, other in combinations(boxes, 2) if one.overlaps(other)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_pictures_have_text_instead(page: Path):
    assert [target for said, target in IMAGE.findall(page.read_text(encoding="utf-8")) if len(said) < 15] == []
