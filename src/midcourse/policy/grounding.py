"""Finds the zone that a step means, if the zone has another id than when the step was planned, or was not seen then.

Ids of zones do not survive a reload or a list that is rendered again. The same thing is then known by what a person knows it
by: role, label, container and address. It must have been the only one like it and be so again, on the same page.

A step for a screen that was not seen yet names the screen and the zone in words (design/0046). Both must be what is there then.
"""

import re
from collections.abc import Iterable

from midcourse.domain.observation import Observation, Surface, Zone
from midcourse.policy.evidence.verification import fits_pattern

_NO_ROUTE = re.compile(r"#(?![/!]).*", re.DOTALL)
"""The part of an address that leads to a place on a page, unlike `#/orders`, which is a page of its own."""
_MOST_LISTED = 5
REQUEST = "request"
"""The role of a request that the world holds back. Another one of the same address may have other contents."""


def find_again(known: Zone, then: Observation, now: Observation) -> Zone | None:
    """The zone of `now` that is the same thing as `known` was in `then`, or None if that is not certain."""
    if known.role == REQUEST or known.pictured or not _is_same_page(known, then.surface, now.surface):
        return None
    # If there were two of them, the one that is left may be the other.
    if len(_find_like(known, then)) != 1:
        return None
    found = _find_like(known, now)
    return found[0] if len(found) == 1 else None


def _find_like(known: Zone, seen: Observation) -> list[Zone]:
    return [zone for zone in seen.zones if _describe(zone) == _describe(known) and not zone.pictured]


def _describe(zone: Zone) -> tuple[object, ...]:
    return zone.role, zone.label, zone.get("within"), zone.get("href")


def _is_same_page(known: Zone, then: Surface, now: Surface) -> bool:
    if then.origin != now.origin:
        return False
    if "://" not in then.address:  # a program, a place or nothing, which does not tell two screens apart
        return (then.address, then.title) == (now.address, now.title)
    if known.get("href"):  # wherever it is listed, it leads to the same place
        return _drop_query(then.address) == _drop_query(now.address)
    return _NO_ROUTE.sub("", then.address) == _NO_ROUTE.sub("", now.address)


def _drop_query(address: str) -> str:
    return re.split(r"[?#]", address, maxsplit=1)[0]


def list_like(role: str, label: str, zones: Iterable[Zone]) -> str:
    """Where zones with this role and label are listed, as `e4`, `e4 and e9`, or `e4, e9 and 3 more`; empty if nowhere."""
    return list_ids(zone for zone in zones if (zone.role, zone.label) == (role, label))


def list_ids(zones: Iterable[Zone]) -> str:
    ids = [zone.id for zone in zones]
    if len(ids) <= 1:
        return "".join(ids)
    shown, rest = ids[:_MOST_LISTED], len(ids) - _MOST_LISTED
    return f"{', '.join(shown)} and {rest} more" if rest > 0 else f"{', '.join(shown[:-1])} and {shown[-1]}"


# --- zones of screens that were not seen yet

_KIN = (frozenset(["button", "clickable", "link", "menuitem", "tab"]), frozenset(["combobox", "searchbox", "textbox"]))
"""Roles of things that are used alike."""
_NAME = re.compile(r"([a-z][a-z0-9_-]*):(\S.*)", re.DOTALL)


def read_name(zone: str) -> tuple[str, str] | None:
    """Role and label of a zone that is named as `role:label`; None if it is not."""
    found = _NAME.fullmatch(zone)
    return (found[1], found[2]) if found else None


def find_named(zone: str, on: str, then: Surface, left: Observation, now: Observation) -> Zone | str:
    """The only zone with this name on the screen `on`, or why there is none. `then` is where the step was planned.

    `*` alone is whatever came after the last step that may have left its screen, `left`: another screen, or one with a zone that it did
    not have, as a menu that has opened. In the label, too, `*` stands for anything, unless a label is literally the same: many forms mark
    fields with a star. Links that lead to the same address are one. Rules and questions know the step by the label that is found.
    """
    surface, (role, label) = now.surface, read_name(zone) or ("", "")
    if surface.origin != then.origin:
        return f"the screen is '{surface.title}' at {surface.origin or 'another place'}, where the step was not planned"
    texts = (surface.title, surface.address, surface.address.removeprefix(surface.origin))
    if not any(fits_pattern(text, on) for text in texts):
        return f"the screen is '{surface.title}', not '{on}'"
    found = _list_named(role, label, now)
    stays = (surface.title, _NO_ROUTE.sub("", surface.address)) == (
        left.surface.title,
        _NO_ROUTE.sub("", left.surface.address),
    )
    if stays and not on.strip("*? ") and _list_named(role, label, left):
        return f"the screen is still '{surface.title}'"
    if found and all(each.get("covered") is True for each in found):
        return f"{zone} on '{surface.title}' is behind something else"
    if len({each.get("href") or each.id for each in found}) == 1 and not any(each.pictured for each in found):
        return found[0]
    listed = f"lists {zone} {len(found)} times, as {list_ids(found)}" if found else f"lists no {zone}"
    return f"'{surface.title}' {listed}"


def _list_named(role: str, label: str, seen: Observation) -> list[Zone]:
    """The zones with this name. Before a screen is seen, a link cannot be told from a button: if the named one is missing, the other counts."""
    kin = next((roles for roles in _KIN if role in roles), frozenset([role])) - {role}
    for roles in ({role}, kin):
        alike = [zone for zone in seen.zones if zone.role in roles and zone.role != REQUEST]
        alike = [zone for zone in alike if zone.get("covered") is not True] or alike
        same = [zone for zone in alike if zone.label == label]
        if found := same or [zone for zone in alike if "*" in label and fits_pattern(zone.label, label)]:
            return found
    return []
