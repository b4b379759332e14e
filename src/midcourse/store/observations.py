"""The stored form of observations: what a run has seen before is stored once.

An observation is mostly the one before it. Its JSON is cut at the boundaries of zones, and parts that are in an earlier
observation of the run, its base, are stored as references. A base is a row of its own that is never changed.
"""

import json
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any

from midcourse.errors import StoreUnusable

BOUNDARY = "},{"
"""Where texts are cut: between two objects of a list, and as well in a string that looks like that."""
BASE_MARK = "#"
"""The first character of a base's id. Ids of observations begin with a letter."""
LEAST = 1_000
"""Characters below which an observation is stored whole."""
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
    """The stored form of an observation, and the base that has to be stored before it, if it is a new one."""

    body: str
    new_base: ObservationBase | None = None


def pack(text: str, base: ObservationBase | None) -> Packed:
    """The stored form of an observation's JSON. `base` is the latest one of the run."""
    if len(text) < LEAST:
        return Packed(text)
    if base is not None:
        body = _refer(text, base)
        if len(body) * WORTH <= len(text):
            return Packed(body)
    new = ObservationBase(BASE_MARK + blake2b(text.encode(), digest_size=12).hexdigest(), text)
    return Packed(_refer(text, new), new)


def base_id_of(body: str) -> str:
    """The id of the base that a stored form refers to; empty if it is whole."""
    return str(json.loads(body)[0]) if body.startswith("[") else ""


def unpack(body: str, base: ObservationBase) -> str:
    """The JSON of an observation from its stored form. Raises `StoreUnusable` if the two do not belong together."""
    _, *parts = json.loads(body)
    try:
        return BOUNDARY.join(found for part in parts for found in _expand(part, base))
    except (IndexError, TypeError, ValueError) as error:
        raise StoreUnusable(f"a stored observation is damaged ({error}); restore the store from a backup") from error


def _refer(text: str, base: ObservationBase) -> str:
    """A list of the base's id and, in order, texts, or first place and number of parts of the base."""
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
