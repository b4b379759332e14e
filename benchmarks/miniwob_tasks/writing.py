"""Rules for tasks that type what the utterance or the page contains."""

import re
from collections.abc import Sequence

from benchmarks.miniwob_tasks.clicking import submit
from benchmarks.miniwob_tasks.planner import plans
from benchmarks.miniwob_tasks.screen import FIELDS, Screen, find_groups, nth, ordinal, quoted, value
from benchmarks.miniwob_tasks.step import LOOK, check, click, fill
from midcourse.domain.plan import Draft


@plans("enter-text", "enter-text-dynamic")
def quoted_text(said: str, seen: Screen) -> Sequence[Draft]:
    return [fill(seen.first(*FIELDS), quoted(said)[0]), submit(seen)]


@plans("enter-text-2")
def in_other_case(said: str, seen: Screen) -> Sequence[Draft]:
    text = quoted(said)[0]
    return [fill(seen.first(*FIELDS), text.upper() if "upper case" in said else text.lower()), submit(seen)]


@plans("enter-password")
def same_password_twice(said: str, seen: Screen) -> Sequence[Draft]:
    return [*(fill(field, quoted(said)[0]) for field in seen.fields()), submit(seen)]


@plans("login-user")
def log_in(said: str, seen: Screen) -> Sequence[Draft]:
    filled = [fill(field, text) for field, text in zip(seen.fields(), quoted(said), strict=True)]
    return [*filled, click(seen.first("button"))]


@plans("login-user-popup", changes=True)
def log_in_past_a_popup(said: str, seen: Screen) -> Sequence[Draft]:
    cancel = seen.find("Cancel", "button")
    return [click(cancel), LOOK] if cancel else log_in(said, seen)


@plans("enter-date")
def date(said: str, seen: Screen) -> Sequence[Draft]:
    month, day, year = find_groups(said, r"(\d\d)/(\d\d)/(\d{4})")
    return [fill(seen.first(*FIELDS), f"{year}-{month}-{day}"), submit(seen)]


@plans("enter-time")
def time(said: str, seen: Screen) -> Sequence[Draft]:
    hour, minute, half = find_groups(said, r"(\d+):(\d\d) ([AP]M)")
    return [fill(seen.first(*FIELDS), f"{int(hour) % 12 + 12 * (half == 'PM'):02}:{minute}"), submit(seen)]


@plans("find-word")
def nth_word(said: str, seen: Screen) -> Sequence[Draft]:
    words = seen.texts()[0].split()
    return [fill(seen.first(*FIELDS), re.sub(r"\W", "", words[ordinal(said) - 1])), submit(seen)]


@plans("text-transform")
def slanted_text(said: str, seen: Screen) -> Sequence[Draft]:
    return [fill(seen.first(*FIELDS), "".join(seen.texts()).replace(" ", "")), submit(seen)]


@plans("copy-paste")
def copy(said: str, seen: Screen) -> Sequence[Draft]:
    source, empty = sorted(seen.fields(), key=value, reverse=True)
    return [fill(empty, value(source)), submit(seen)]


@plans("copy-paste-2")
def copy_the_nth(said: str, seen: Screen) -> Sequence[Draft]:
    *sources, empty = seen.fields()
    return [fill(empty, value(nth(sources, ordinal(said)))), submit(seen)]


@plans("scroll-text")
def last_word(said: str, seen: Screen) -> Sequence[Draft]:
    source, empty = seen.fields()
    return [fill(empty, value(source).split()[-1].rstrip(".")), submit(seen)]


@plans("simple-arithmetic")
def arithmetic(said: str, seen: Screen) -> Sequence[Draft]:
    left, sign, right = seen.find_groups(r"(\d+) ([-+x]) (\d+) =")
    result = {"+": int(left) + int(right), "-": int(left) - int(right), "x": int(left) * int(right)}[sign]
    return [fill(seen.first(*FIELDS), str(result)), submit(seen)]


@plans("simple-algebra")
def algebra(said: str, seen: Screen) -> Sequence[Draft]:
    left, sign, right, total = seen.find_groups(r"(\w+) ([-+]) (\w+) = (\d+)")
    if sign == "+":
        x = int(total) - int(right if left == "x" else left)
    else:
        x = int(total) + int(right) if left == "x" else int(left) - int(total)
    return [fill(seen.first(*FIELDS), str(x)), submit(seen)]


@plans("read-table")
def value_of_a_row(said: str, seen: Screen) -> Sequence[Draft]:
    (name,) = find_groups(said, r"the value of (.*) into")
    return [fill(seen.first(*FIELDS), _beside(name, seen)), submit(seen)]


@plans("read-table-2")
def values_of_rows(said: str, seen: Screen) -> Sequence[Draft]:
    """Each field is labelled by the text before it."""
    return [*(fill(field, _beside(seen.before(field).texts()[-1], seen)) for field in seen.fields()), submit(seen)]


def _beside(name: str, seen: Screen) -> str:
    return nth(seen.after(seen.labelled(name)).zones, 1).label


@plans("multi-orderings", "multi-layouts")
def search_form(said: str, seen: Screen) -> Sequence[Draft]:
    genre, director, year = find_groups(said, r"Search for (.*) movies directed by (.*) from year (\d+)")
    wanted = {"genre": genre, "director": director, "year": year, "date": year}
    steps = list[Draft]()  # labels stand before their fields or after them, in the same order
    for field, label in zip(seen.fields(), seen.texts("(?i).*(genre|director|year|date).*"), strict=True):
        steps.append(fill(field, next(text for word, text in wanted.items() if word in label.lower())))
    return [*steps, click(seen.actable()[-1])]


@plans("form-sequence-2")
def radio_and_number(said: str, seen: Screen) -> Sequence[Draft]:
    radio, number, field = find_groups(said, r'the (\d)\w\w radio button and enter the number "(-?\d+)" into the (\d)')
    chosen = check(nth(seen.all("radio"), int(radio)))
    return [chosen, fill(nth(seen.fields(), int(field)), number), submit(seen)]
