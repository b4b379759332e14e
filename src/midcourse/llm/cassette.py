"""Cassettes: requests to models and their answers, in a file of JSON lines, without secrets.

The first line says the format. Each `exchange` is one request to a model with its answer or error, under a digest of the request.
Secrets are taken out of every text before anything is written; pictures cannot be searched for them, so only their digests
are kept. The same secrets are taken out of a request before it is looked up, so it is found with and without them.
"""

import difflib
import hashlib
import json
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, cast

from midcourse.errors import CassetteMiss, FormatUnknown, TaskInvalid

FORMAT = 1
LONGEST_DIFFERENCE = 12
"""Lines of a difference that a message shows."""
WIDEST = 160

Json: TypeAlias = Mapping[str, Any]
Mask: TypeAlias = Callable[[str], str]


@dataclass(frozen=True, kw_only=True)
class Exchange:
    model: str
    """The name by which it was requested."""
    asked: Json
    came: Json
    """An answer or an error, as `recording` writes it."""

    @property
    def key(self) -> str:
        return key_of(self.model, self.asked)


def key_of(model: str, asked: Json) -> str:
    return hashlib.sha256(json.dumps([model, asked], sort_keys=True).encode()).hexdigest()[:16]


class Recorder:
    """Appends to a cassette line by line, so that a killed process leaves a readable file."""

    def __init__(self, path: Path, mask: Mask) -> None:
        self._path = path
        self._mask = mask

    def exchange(self, model: str, asked: Json, came: Json) -> None:
        asked, came = mask_values(asked, self._mask), mask_values(came, self._mask)
        self._add({"kind": "exchange", "key": key_of(model, asked), "model": model, "asked": asked, "came": came})

    def _add(self, line: Json) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        head = {"kind": "cassette", "format": FORMAT}
        with self._path.open("a", encoding="utf-8") as file:
            lines = [line] if file.tell() else [head, line]
            file.write("".join(f"{json.dumps(each, ensure_ascii=False)}\n" for each in lines))


class Player:
    """Answers from a cassette only. A request that was recorded several times is answered in that order."""

    def __init__(self, path: Path, mask: Mask) -> None:
        self._path = path
        self._mask = mask
        self._recorded = read_exchanges(path)
        self._left: dict[str, deque[Exchange]] = defaultdict(deque)
        for exchange in self._recorded:
            self._left[exchange.key].append(exchange)

    @property
    def left(self) -> int:
        """How many exchanges have not been played yet."""
        return sum(map(len, self._left.values()))

    def find_exchange(self, model: str) -> Exchange | None:
        """Return any exchange with this model, or None if there is none."""
        return next((exchange for exchange in self._recorded if exchange.model == model), None)

    def play(self, model: str, asked: Json) -> Json:
        asked = mask_values(asked, self._mask)
        key = key_of(model, asked)
        if left := self._left[key]:
            return left.popleft().came
        times = sum(exchange.key == key for exchange in self._recorded)
        if times:
            raise CassetteMiss(f"{self._path}: request {key} was recorded {times} times, and is asked once more")
        raise CassetteMiss(f"{self._path}: request {key} was not recorded. {self._describe_difference(model, asked)}")

    def _describe_difference(self, model: str, asked: Json) -> str:
        """Describe how a request differs from the recorded one that is most similar to it."""
        lines = _format_lines(asked)
        others = [exchange for exchange in self._recorded if exchange.model == model]
        if not others:
            known = ", ".join(sorted({exchange.model for exchange in self._recorded})) or "no model"
            return f"Nothing was recorded of {model}; recorded was {known}."
        nearest = max(others, key=lambda other: _compute_similarity(lines, _format_lines(other.asked)))
        changed = [
            line[:WIDEST]
            for line in difflib.unified_diff(_format_lines(nearest.asked), lines, lineterm="", n=0)
            if not line.startswith(("---", "+++", "@@"))
        ]
        more = [f"… and {len(changed) - LONGEST_DIFFERENCE} lines more"] if len(changed) > LONGEST_DIFFERENCE else []
        shown = "\n".join(changed[:LONGEST_DIFFERENCE] + more)
        return f"From the nearest, {nearest.key}, it differs in (- recorded, + asked):\n{shown}"


def read_exchanges(path: Path) -> tuple[Exchange, ...]:
    return tuple(
        Exchange(model=line["model"], asked=line["asked"], came=line["came"])
        for line in _read(path)
        if line["kind"] == "exchange"
    )


def _read(path: Path) -> Iterator[Json]:
    try:
        head, *lines = path.read_text(encoding="utf-8").splitlines() or [""]
        found: object = json.loads(head)
    except OSError as error:
        raise TaskInvalid(f"{path}: cannot be read: {error.strerror or error}") from None
    except ValueError:
        raise TaskInvalid(f"{path}: is not a cassette") from None
    if not isinstance(found, dict) or cast(Json, found).get("kind") != "cassette":
        raise TaskInvalid(f"{path}: is not a cassette")
    if cast(Json, found)["format"] != FORMAT:
        raise FormatUnknown(f"{path}: is of format {cast(Json, found)['format']}; this version reads {FORMAT}")
    return map(json.loads, lines)


def mask_values(value: Any, mask: Mask) -> Any:
    """Mask every text, names of fields too. Numbers are kept: secrets among them were masked when the world was observed."""
    match value:
        case str():
            return mask(value)
        case dict():
            return {mask(name): mask_values(inner, mask) for name, inner in cast(dict[str, Any], value).items()}
        case list():
            return [mask_values(inner, mask) for inner in cast(list[Any], value)]
        case _:
            return value


def _format_lines(asked: Json) -> list[str]:
    return json.dumps(asked, indent=0, ensure_ascii=False, sort_keys=True).replace("\\n", "\n").splitlines()


def _compute_similarity(lines: list[str], other: list[str]) -> float:
    return difflib.SequenceMatcher(None, lines, other, autojunk=False).quick_ratio()
