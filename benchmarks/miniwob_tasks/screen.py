"""Readers of a screen and of an utterance, for the rules."""

import re
from collections.abc import Sequence

from midcourse.domain.observation import Zone

FIELDS = ("textbox", "searchbox", "spinbutton", "combobox")
WRITTEN = ("text", "heading", "cell", "status", "alert")
NOT_ACTED_ON = (*WRITTEN, "page", "dialog", "img")


class NotSeen(Exception):
    """The screen does not show what a planner needs."""


class Screen:
    """The zones of one look, in the order of the document."""

    def __init__(self, zones: Sequence[Zone]) -> None:
        self.zones = tuple(zones)

    def all(self, *roles: str) -> list[Zone]:
        return [zone for zone in self.zones if zone.role in roles]

    def actable(self, label: str | None = None) -> list[Zone]:
        """Zones of any role that can be acted on, optionally with this label."""
        return [z for z in self.zones if z.role not in NOT_ACTED_ON and (label is None or z.label == label)]

    def fields(self) -> list[Zone]:
        return self.all(*FIELDS)

    def find(self, label: str, *roles: str) -> Zone | None:
        """The first thing under exactly this label; of these roles, or else anything that can be acted on."""
        return next((z for z in self.actable(label) if not roles or z.role in roles), None)

    def get(self, label: str, *roles: str) -> Zone:
        """`find` for what must be there; its case may differ."""
        found = self.find(label, *roles) or next(
            (z for z in self.actable() if z.label.lower() == label.lower() and (not roles or z.role in roles)), None
        )
        if found is None:
            raise NotSeen(f"there is no {' or '.join(roles) or 'zone'} '{label}'")
        return found

    def first(self, *roles: str) -> Zone:
        return nth(self.all(*roles), 1)

    def find_groups(self, pattern: str) -> tuple[str, ...]:
        """The groups of the pattern in the first text that matches it as a whole."""
        for text in self.texts():
            if match := re.fullmatch(pattern, text):
                return match.groups()
        raise NotSeen(f"nothing on the screen is of the form '{pattern}'")

    def texts(self, pattern: str = ".+") -> list[str]:
        """What is written and cannot be acted on, where it matches as a whole."""
        return [zone.label for zone in self.all(*WRITTEN) if re.fullmatch(pattern, zone.label)]

    def after(self, mark: Zone) -> "Screen":
        """What follows it in the document."""
        return Screen(self.zones[self.zones.index(mark) + 1 :])

    def before(self, mark: Zone) -> "Screen":
        return Screen(self.zones[: self.zones.index(mark)])

    def labelled(self, name: str) -> Zone:
        """The first zone of any role with this label; a colon at its end does not count, nor does case."""
        for zone in self.zones:
            if zone.label.rstrip(":").lower() == name.rstrip(":").lower():
                return zone
        raise NotSeen(f"nothing is labelled '{name}'")


def nth(zones: Sequence[Zone], number: int) -> Zone:
    """The first is number 1."""
    if len(zones) < number:
        raise NotSeen(f"there are only {len(zones)} of what should be at least {number}")
    return zones[number - 1]


def shortest(zones: Sequence[Zone]) -> Zone:
    """The one with the shortest label: a list contains the text of its items."""
    return min(zones, key=lambda zone: len(zone.label))


def value(zone: Zone) -> str:
    return str(zone.get("value") or "")


def box(zone: Zone) -> tuple[int, int, int, int]:
    """Where it is: left, top, width and height."""
    if zone.bounds is None:
        raise NotSeen(f"'{zone.label}' has no place on the screen")
    return zone.bounds


# --- utterances


def quoted(said: str) -> list[str]:
    return re.findall(r'"([^"]*)"', said)


def find_groups(said: str, pattern: str) -> tuple[str, ...]:
    """The groups of the pattern in an utterance."""
    match = re.search(pattern, said)
    if match is None:
        raise NotSeen(f"'{said}' is not of the form '{pattern}'")
    return tuple(match.groups())


def ordinal(said: str) -> int:
    """2 in 'the 2nd input'."""
    return int(find_groups(said, r"(\d+)(?:st|nd|rd|th)\b")[0])
