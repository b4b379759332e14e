"""Rules for tasks with calendars and with fields that offer completions."""

from calendar import month_name
from collections.abc import Sequence

from benchmarks.miniwob_tasks.clicking import best_offer, submit
from benchmarks.miniwob_tasks.planner import plans
from benchmarks.miniwob_tasks.screen import Screen, find_groups, nth, shortest, value
from benchmarks.miniwob_tasks.step import LOOK, click, fill, wait_for
from midcourse.domain.observation import Zone
from midcourse.domain.plan import Draft

MONTHS = list(month_name)
"""January is number 1."""


@plans("choose-date", "choose-date-easy", "choose-date-medium", "choose-date-nodelay", changes=True)
def choose_date(said: str, seen: Screen) -> Sequence[Draft]:
    return _pick_date(said, nth(seen.fields(), 1), seen) or [submit(seen)]


def _pick_date(said: str, field: Zone, seen: Screen) -> Sequence[Draft]:
    """The next steps until the field holds the date; none if it does."""
    month, day, year = find_groups(said, r"(\d\d)/(\d\d)/(\d{4})")
    if value(field) == f"{month}/{day}/{year}":
        return []
    shown = [text for text in seen.texts() if text in MONTHS]
    if not shown:
        return [click(field), LOOK]
    pages = 12 * (int(year) - int(seen.texts(r"\d{4}")[0])) + int(month) - MONTHS.index(shown[0])
    if pages:
        return [click(seen.get("Prev" if pages < 0 else "Next")), LOOK]
    return [click(seen.get(str(int(day)), "link")), LOOK]


@plans("book-flight", "book-flight-nodelay", changes=True)
def book_flight(said: str, seen: Screen) -> Sequence[Draft]:
    if any(zone.label.startswith("Book flight") for zone in seen.all("button")):
        return [click(best_offer(said, seen))]
    origin, destination = find_groups(said, r"from: (.*) to: (.*) on ")
    fields = seen.fields()
    for field, place in zip(fields, (origin, destination), strict=False):
        if place not in value(field) or "(" not in value(field):
            return _pick_place(place, field, seen)
    return _pick_date(said, nth(fields, 3), seen) or [click(seen.get("Search", "button")), LOOK]


def _pick_place(place: str, field: Zone, seen: Screen) -> Sequence[Draft]:
    offered = [zone for zone in seen.actable() if place in zone.label]
    if offered:
        return [click(shortest(offered)), LOOK]
    return [fill(field, place), wait_for(f"({place})" if place.isupper() else f"{place} ("), LOOK]
