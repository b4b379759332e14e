"""Timetables: what they are written as, the times at which they fire, and the day that a firing belongs to."""

from datetime import UTC, date, datetime, time

import pytest

from midcourse.errors import TaskInvalid
from midcourse.fleet.timetable import Timetable, day_of

TODAY = date(2026, 11, 17)


@pytest.mark.parametrize(
    ("text", "days", "formatted"),
    [
        ("weekdays 9:00 Europe/Berlin", (1, 2, 3, 4, 5), "weekdays 09:00 Europe/Berlin"),
        ("daily 18:30 UTC", (0, 1, 2, 3, 4, 5, 6), "daily 18:30 UTC"),
        ("Mon,thursday 7:05 America/New_York", (1, 4), "mon,thu 07:05 America/New_York"),
        ("sundays 0:00 Asia/Tokyo", (0,), "sun 00:00 Asia/Tokyo"),
    ],
)
def test_days_times_and_zones_are_parsed_and_formatted(text: str, days: tuple[int, ...], formatted: str) -> None:
    parsed = Timetable.parse(text)
    assert (parsed.days, str(parsed)) == (days, formatted)
    assert Timetable.parse(str(parsed)) == parsed


@pytest.mark.parametrize(
    "text",
    [
        "9:00 Europe/Berlin",
        "weekdays 9:00",
        "weekdays 25:00 UTC",
        "t 9:00 UTC",
        "daily 9:00 Mars/Base",
        "daily 9 UTC",
        "",
    ],
)
def test_what_is_not_a_timetable_is_refused(text: str) -> None:
    with pytest.raises(TaskInvalid):
        Timetable.parse(text)


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("daily 9:00 Europe/Berlin", (time(9),)),
        ("daily 2:30 Europe/Berlin", (time(2, 30), time(3, 30))),
        ("daily 2:30 UTC", (time(2, 30),)),
        ("daily 0:00 America/Santiago", (time(0), time(1))),
        ("daily 2:15 Australia/Lord_Howe", (time(2, 15), time(2, 45))),
    ],
)
def test_a_time_that_clocks_skip_is_made_up_for(text: str, times: tuple[time, ...]) -> None:
    assert Timetable.parse(text).times(TODAY) == times


def test_both_times_of_the_day_on_which_clocks_are_put_back_are_of_that_day() -> None:
    twice = [datetime(2025, 10, 26, hour, 30, tzinfo=UTC).timestamp() for hour in (0, 1)]
    assert {day_of(at, "Europe/Berlin") for at in twice} == {"2025-10-26"}
