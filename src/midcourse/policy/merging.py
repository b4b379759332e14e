"""Merging of the zones that a world reports with those that a reader found in its picture."""

from collections.abc import Sequence
from hashlib import blake2b

from midcourse.domain.observation import PICTURED, Bounds, Observation, Zone, fingerprint_of
from midcourse.domain.replace import replace

ALIKE = 5.0
"""Maximum size ratio of two boxes that show the same thing. A canvas is much larger than what is drawn on it."""
FAR_LARGER = 40.0
"""The same ratio for boxes with the same label, since a reader may box only the text of a wide row."""


def merge_zones(seen: Observation, found: Sequence[Zone]) -> Observation:
    """The observation with the zones found in its picture that are not among its own.

    Zones that the world reports keep their ids, because the world can act on them in more ways. One without a label gets that
    of the picture.
    """
    there = [zone for zone in seen.zones if zone.bounds and not zone.get("covered")]
    labels: dict[str, str] = {}
    new: list[Zone] = []
    for pictured in found:
        same = next((zone for zone in there if _is_same(zone, pictured)), None)
        if same is None:
            new.append(pictured)
        elif not same.label.strip() and pictured.label.strip():
            labels.setdefault(same.id, pictured.label)
    zones = tuple(replace(zone, label=labels[zone.id]) if zone.id in labels else zone for zone in seen.zones)
    added = _mark_pictured(new, {zone.id for zone in zones})
    if not added and not labels:
        return seen
    changed = (*added, *(zone for zone in zones if zone.id in labels))
    both = f"{seen.fingerprint}\x1e{fingerprint_of(seen.surface, changed)}"
    fingerprint = blake2b(both.encode(errors="surrogatepass"), digest_size=8).hexdigest()
    return replace(seen, zones=(*zones, *added), fingerprint=fingerprint)


def _mark_pictured(found: Sequence[Zone], taken: set[str]) -> tuple[Zone, ...]:
    """The zones, marked as found in the picture, with ids that no zone of the world has."""
    named: list[Zone] = []
    for zone in found:
        name, number = zone.id, 1
        while name in taken:
            number += 1
            name = f"{zone.id}-p{number}" if number > 2 else f"{zone.id}-p"
        taken.add(name)
        state = (*((key, value) for key, value in zone.state if key != PICTURED), (PICTURED, True))
        named.append(replace(zone, id=name, state=state))
    return tuple(named)


def _is_same(known: Zone, found: Zone) -> bool:
    """Whether both boxes show one thing: the middle of each is in the other, or they overlap and say the same."""
    assert known.bounds, "only zones with bounds are compared"
    if found.bounds is None:
        return False
    larger = _size_ratio(known.bounds, found.bounds)
    if larger <= ALIKE and _holds_middle(known, found.bounds) and _holds_middle(found, known.bounds):
        return True
    label = _plain(found.label)
    return (
        bool(label) and label == _plain(known.label) and larger <= FAR_LARGER and _overlap(known.bounds, found.bounds)
    )


def _size_ratio(first: Bounds, other: Bounds) -> float:
    areas = sorted(max(width * height, 1) for _, _, width, height in (first, other))
    return areas[1] / areas[0]


def _holds_middle(zone: Zone, around: Bounds) -> bool:
    left, top, width, height = around
    x, y = zone.middle or (left - 1.0, top - 1.0)
    return left <= x <= left + width and top <= y <= top + height


def _overlap(first: Bounds, other: Bounds) -> bool:
    left, top = max(first[0], other[0]), max(first[1], other[1])
    right, bottom = min(first[0] + first[2], other[0] + other[2]), min(first[1] + first[3], other[1] + other[3])
    return left < right and top < bottom


def _plain(label: str) -> str:
    return " ".join(label.casefold().split())
