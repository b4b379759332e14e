"""The stored form of observations, in which a part that a run has seen before is stored only once.

An observation is mostly equal to the one before it. Its JSON is cut at the boundaries of zones, and parts that an earlier
observation of the run (its base) also has are stored as references. A base is stored in a separate row that never changes.
"""

import json
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any

from midcourse.errors import StoreUnusable

BOUNDARY = "},{"
"""The text at which observations are cut: between two objects of a list, and also in a string that looks like that."""
BASE_MARK = "#"
"""The first character of a base's id. Ids of observations begin with a letter."""
LEAST = 1_000
"""An observation with fewer characters is stored whole."""
WORTH = 4
"""An observation becomes the next base unless packing makes it at least this many times smaller."""


@dataclass(frozen=True, eq=False)
class ObservationBase:
    """An earlier observation that others refer to."""

    id: str
    text: str

    @cached_property
    def parts(self) -> list[str]:
        return self.text.split(BOUNDARY)

    @cached_property
    def places(self) -> dict[str, int]:
        return {part: place for place, part in enumerate(self.parts)}


@dataclass(frozen=True)
class Packed:
    """The stored form of an observation, and its base if that is new and must be stored first."""

    body: str
    new_base: ObservationBase | None = None


def pack(text: str, base: ObservationBase | None) -> Packed:
    """Return the stored form of an observation's JSON. `base` is the latest base of the run."""
    if len(text) < LEAST:
        return Packed(text)
    if base is not None:
        body = _refer(text, base)
        if len(body) * WORTH <= len(text):
            return Packed(body)
    new = ObservationBase(BASE_MARK + blake2b(text.encode(), digest_size=12).hexdigest(), text)
    return Packed(_refer(text, new), new)


def read_base_id(body: str) -> str:
    """Return the id of the base that a stored form refers to, or an empty string if it is whole."""
    return str(json.loads(body)[0]) if body.startswith("[") else ""


def unpack(body: str, base: ObservationBase) -> str:
    """Return the JSON of an observation from its stored form. Raise `StoreUnusable` if form and base do not belong together."""
    _, *parts = json.loads(body)
    try:
        return BOUNDARY.join(found for part in parts for found in _expand(part, base))
    except (IndexError, TypeError, ValueError) as error:
        raise StoreUnusable(f"a stored observation is damaged ({error}); restore the store from a backup") from error


def _refer(text: str, base: ObservationBase) -> str:
    """Return a text as a JSON list that refers to the base.

    The list begins with the base's id. Each further item is a text, or the first place and the number of parts of the base.
    """
    found: list[str | list[int]] = [base.id]
    following = len(base.parts)
    """The place after the last reference."""
    for part in text.split(BOUNDARY):
        last = found[-1]
        if isinstance(last, list) and following < len(base.parts) and base.parts[following] == part:
            last[1] += 1
            following += 1
        elif part in base.places:
            found.append([base.places[part], 1])
            following = base.places[part] + 1
        else:
            found.append(part)
    return json.dumps(found, ensure_ascii=False, separators=(",", ":"))


def _expand(part: Any, base: ObservationBase) -> list[str]:
    if isinstance(part, str):
        return [part]
    first, count = part
    found = base.parts[first : first + count]
    if len(found) != count or first < 0:
        raise IndexError(f"{base.id} has no parts {first} to {first + count}")
    return found
