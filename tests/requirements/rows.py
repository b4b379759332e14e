"""The rows of docs/requirements.md, and the tests that they name."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "requirements.md"
TEST = re.compile(r"`([\w/]+\.py::\w+(?:\[[^`]+\])?)`")
REASON = re.compile(r"Reason: \S")


@dataclass(frozen=True, kw_only=True)
class Row:
    """One requirement. `shown` is the last cell: tests or a reason."""

    number: str
    section: str
    says: str
    shown: str

    @property
    def tests(self) -> tuple[str, ...]:
        """Node ids as pytest takes them, from the project's folder."""
        return tuple(f"tests/{name}" for name in TEST.findall(self.shown))

    @property
    def has_reason(self) -> bool:
        return REASON.match(self.shown) is not None


def read_rows(page: str) -> list[Row]:
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines() if line.startswith("| 00")]
    return [Row(number=number, section=section, says=says, shown=shown) for number, section, says, shown in cells]


ROWS = read_rows(PAGE.read_text(encoding="utf-8"))
