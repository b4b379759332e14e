"""Timetables: `weekdays 9:00 Europe/Berlin` as days and times of a time zone, and the day that a firing belongs to."""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from midcourse.errors import TaskInvalid

DAYS = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
GROUPS = {"daily": range(7), "weekdays": range(1, 6), "weekends": (0, 6)}
YEARS_AHEAD = 5
"""The number of years in which to look for times that a clock change skips."""
EXAMPLE = "'weekdays 9:00 Europe/Berlin', 'daily 18:30 UTC' or 'mon,thu 7:00 America/New_York'"


@dataclass(frozen=True, kw_only=True)
class Timetable:
    """One time of day on some days of the week, by the clocks of one place."""

    days: tuple[int, ...]
    """0 is Sunday."""
    at: time
    zone: str

    @classmethod
    def parse(cls, text: str) -> "Timetable":
        """Parse a text such as `weekdays 9:00 Europe/Berlin`. Raises `TaskInvalid` if it is not `DAYS TIME ZONE`."""
        words = text.split()
        if len(words) != 3:
            raise TaskInvalid(f"'{text}' is not DAYS TIME ZONE, such as {EXAMPLE}")
        days, at, zone = words
        found = re.fullmatch(r"([01]?\d|2[0-3]):([0-5]\d)", at)
        if found is None:
            raise TaskInvalid(f"'{at}' is not a time of day, such as 9:00 or 18:30")
        try:
            ZoneInfo(zone)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise TaskInvalid(f"'{zone}' is not a time zone, such as Europe/Berlin or UTC") from None
        return cls(days=_parse_days(days.lower()), at=time(int(found[1]), int(found[2])), zone=zone)

    def __str__(self) -> str:
        group = next((name for name, days in GROUPS.items() if tuple(days) == self.days), "")
        return f"{group or ','.join(DAYS[day][:3] for day in self.days)} {self.at:%H:%M} {self.zone}"

    def times(self, since: date) -> tuple[time, ...]:
        """The times at which to fire: the time itself, and the time right after each gap of the coming years that skips it.

        On a day on which the clocks skip the time, only the second firing occurs. On all other days the second firing finds the
        run of that day.
        """
        shifted = {self._after_gap(since + timedelta(days=n)) for n in range(YEARS_AHEAD * 366)}
        return (self.at, *sorted(moved for moved in shifted if moved is not None))

    def _after_gap(self, day: date) -> time | None:
        """What the clocks show when this time should have come; None unless the clocks skip it on this day."""
        wall = datetime.combine(day, self.at)
        real = wall.replace(tzinfo=ZoneInfo(self.zone)).astimezone(UTC).astimezone(ZoneInfo(self.zone))
        return None if real.replace(tzinfo=None) == wall else real.time().replace(tzinfo=None)


def day_of(at: float, zone: str) -> str:
    """The date on the clocks of this zone: firings on the same date are the same occurrence."""
    return datetime.fromtimestamp(at, ZoneInfo(zone)).date().isoformat()


def _parse_days(text: str) -> tuple[int, ...]:
    if text in GROUPS:
        return tuple(GROUPS[text])
    days: set[int] = set()
    for word in text.split(","):
        singular = word.removesuffix("s") if len(word) > 3 else word
        found = [number for number, day in enumerate(DAYS) if len(singular) >= 3 and day.startswith(singular)]
        if len(found) != 1:
            raise TaskInvalid(f"'{word}' names no day; write {', '.join(GROUPS)}, or days such as mon,thu")
        days.add(found[0])
    return tuple(sorted(days))
