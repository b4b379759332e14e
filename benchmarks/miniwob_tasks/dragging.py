"""Rules for tasks that drag things."""

from collections.abc import Sequence

from benchmarks.miniwob_tasks.clicking import submit
from benchmarks.miniwob_tasks.planner import plans
from benchmarks.miniwob_tasks.screen import Screen, box, find_groups, nth
from benchmarks.miniwob_tasks.step import drag, push
from midcourse.domain.observation import Zone
from midcourse.domain.plan import Draft

WAYS = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}


@plans("drag-box")
def box_into_a_box(said: str, seen: Screen) -> Sequence[Draft]:
    small, large = seen.get("s"), seen.get("L")
    return [submit(seen)] if _is_inside(small, large) else [drag(small, onto=large), submit(seen)]


def _is_inside(small: Zone, large: Zone) -> bool:
    (x, y, width, height), (left, top, wide, high) = box(small), box(large)
    return 0 < x - left < wide - width and 0 < y - top < high - height


@plans("drag-circle", "drag-single-shape")
def push_a_shape(said: str, seen: Screen) -> Sequence[Draft]:
    right, down = WAYS[find_groups(said, r"(left|right|up|down)")[0]]
    return [push(nth(seen.actable(), 1), right=15 * right, down=15 * down), submit(seen)]


@plans("resize-textarea")
def resize(said: str, seen: Screen) -> Sequence[Draft]:
    """Of the handles the first is at the side, the second at the bottom."""
    grow = 15 if "larger" in said else -15
    side, bottom, *_ = seen.actable("")[1:]
    return [push(side, right=grow) if "width" in said else push(bottom, down=grow), submit(seen)]


@plans("drag-items")
def move_in_a_list(said: str, seen: Screen) -> Sequence[Draft]:
    items = _items(seen)
    name, where = find_groups(said, r"^Drag (\S+) (?:to the )?(top|bottom|up|down|\d)")
    place = [item.label for item in items].index(name)
    named = {"top": 0, "bottom": len(items) - 1, "up": place - 1, "down": place + 1}
    target = named[where] if where in named else int(where) - 1
    return [_move(items[place], items[target], down=target > place)]


@plans("drag-sort-numbers")
def sort(said: str, seen: Screen) -> Sequence[Draft]:
    """The smallest of those that are left goes up to where they begin."""
    items, steps = _items(seen), list[Draft]()
    for place, smallest in enumerate(sorted(items, key=lambda item: int(item.label))):
        if items[place] != smallest:
            steps.append(_move(smallest, items[place], down=False))
            items.remove(smallest)
            items.insert(place, smallest)
    return [*steps, submit(seen)]


def _move(item: Zone, place: Zone, *, down: bool) -> Draft:
    """A little beyond the middle of what is there: only then does it make room."""
    return drag(item, onto=place, down=6 if down else -6)


def _items(seen: Screen) -> list[Zone]:
    """Of the one list there is; it comes first itself."""
    return seen.all("clickable")[1:]
