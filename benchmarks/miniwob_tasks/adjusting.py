"""Rules for tasks that set, mark or scroll something."""

import json
from collections.abc import Sequence

from benchmarks.miniwob_tasks.clicking import submit
from benchmarks.miniwob_tasks.planner import plans
from benchmarks.miniwob_tasks.screen import Screen, find_groups, nth, ordinal, quoted
from benchmarks.miniwob_tasks.step import LOOK, check, click, fill, press, scroll_to_end
from midcourse.domain.observation import Zone
from midcourse.domain.plan import Draft


@plans("use-slider")
def slider(said: str, seen: Screen) -> Sequence[Draft]:
    return [*_slide([int(*find_groups(said, r"Select (-?\d+)"))], seen), submit(seen)]


@plans("use-slider-2")
def sliders(said: str, seen: Screen) -> Sequence[Draft]:
    return [*_slide(json.loads(*find_groups(said, r"(\[.*\])")), seen), submit(seen)]


@plans("form-sequence")
def slider_and_box(said: str, seen: Screen) -> Sequence[Draft]:
    box = check(nth(seen.all("checkbox"), ordinal(said)))
    return [*_slide([int(*find_groups(said, r"Select (-?\d+)"))], seen), box, submit(seen)]


def _slide(wanted: Sequence[int], seen: Screen) -> list[Draft]:
    """The bar of a slider comes first, then its handle, then the number that it stands at."""
    handles = seen.all("clickable")[1::2]
    shown = [int(number) for number in seen.texts(r"-?\d+")]
    return [_move(*one) for one in zip(handles, shown, wanted, strict=True) if one[1] != one[2]]


def _move(handle: Zone, shown: int, wanted: int) -> Draft:
    return press(handle, " ".join(["ArrowRight" if wanted > shown else "ArrowLeft"] * abs(wanted - shown)))


@plans("use-spinner")
def spinner(said: str, seen: Screen) -> Sequence[Draft]:
    """It begins at 0 and takes no typing; beside it are a button up and one down."""
    up, down = seen.actable("")
    wanted = int(*find_groups(said, r"Select (-?\d+)"))
    return [*[click(up if wanted > 0 else down)] * abs(wanted), submit(seen)]


@plans("scroll-text-2")
def scroll_to_an_end(said: str, seen: Screen) -> Sequence[Draft]:
    return [scroll_to_end(nth(seen.fields(), 1), "down" if "bottom" in said else "up"), submit(seen)]


@plans("sign-agreement", changes=True)
def sign(said: str, seen: Screen) -> Sequence[Draft]:
    """The name can be entered once the agreement has been scrolled to its end."""
    if "Click the cancel button" in said:
        return [click(seen.get("Cancel", "button"))]
    name, button = quoted(said)
    agreement, field = seen.fields()
    if field.get("disabled"):
        return [scroll_to_end(agreement, "down"), LOOK]
    return [fill(field, name), click(seen.get(button, "button"))]


@plans("highlight-text")
def mark_the_paragraph(said: str, seen: Screen) -> Sequence[Draft]:
    return [click(nth(seen.all("text"), 1), times=3), submit(seen)]


@plans("highlight-text-2")
def mark_the_nth_paragraph(said: str, seen: Screen) -> Sequence[Draft]:
    return [click(nth(seen.all("text"), ordinal(said)), times=3), submit(seen)]
