"""Rules for tasks whose target is hidden at first: behind tabs, sections, pages, menus, folders, cards."""

import re
from collections.abc import Sequence

from benchmarks.miniwob_tasks.clicking import submit
from benchmarks.miniwob_tasks.planner import plans
from benchmarks.miniwob_tasks.screen import FIELDS, Screen, box, find_groups, nth, ordinal, quoted, shortest, value
from benchmarks.miniwob_tasks.step import LOOK, click, fill, hover, press, wait_for
from midcourse.domain.observation import Zone
from midcourse.domain.plan import Draft


@plans("click-tab-2", "click-tab-2-easy", "click-tab-2-medium", "click-tab-2-hard", changes=True)
def link_behind_a_tab(said: str, seen: Screen) -> Sequence[Draft]:
    return _click_or_open_next(quoted(said)[0], seen, seen.all("tab"), "selected")


@plans("click-collapsible-2", "click-collapsible-2-nodelay", changes=True)
def link_in_a_section(said: str, seen: Screen) -> Sequence[Draft]:
    sections = [zone for zone in seen.actable() if zone.label.startswith("Section #")]
    return _click_or_open_next(quoted(said)[0], seen, sections, "expanded")


def _click_or_open_next(name: str, seen: Screen, doors: Sequence[Zone], is_open: str) -> Sequence[Draft]:
    """Click on what is wanted; where it cannot be seen yet, open the door behind the one that is open now."""
    wanted = next((zone for zone in seen.actable(name) if zone not in doors), None)
    if wanted:
        return [click(wanted)]
    last = max((number for number, door in enumerate(doors, start=1) if door.get(is_open)), default=0)
    return [click(nth(doors, last % len(doors) + 1)), LOOK]


@plans("click-menu", changes=True)
def item_of_a_menu(said: str, seen: Screen) -> Sequence[Draft]:
    path = find_groups(said, r"^Select (.*)$")[0].split(">")
    depth, deepest = [(depth, zone) for depth, name in enumerate(path) if (zone := seen.find(name))][-1]
    if depth == len(path) - 1:
        return [click(deepest)]
    return [hover(deepest), wait_for(path[depth + 1]), LOOK]


@plans("navigate-tree", changes=True)
def file_in_a_tree(said: str, seen: Screen) -> Sequence[Draft]:
    wanted = seen.find(quoted(said)[0])
    if wanted:
        return [click(wanted)]
    return [*(click(zone) for zone in seen.actable("")), LOOK]


@plans("phone-book", changes=True)
def contact(said: str, seen: Screen) -> Sequence[Draft]:
    person, which = find_groups(said, r"^Find (.*) in the contact book and click on their (phone|email|address)")
    if person not in seen.texts():
        return [click(seen.get(">")), LOOK]
    return [click(nth(seen.actable(), 1 + ["phone", "email", "address"].index(which)))]


@plans("search-engine", changes=True)
def search_result(said: str, seen: Screen) -> Sequence[Draft]:
    field = seen.first(*FIELDS)
    if value(field) != quoted(said)[0]:
        return [fill(field, quoted(said)[0]), click(seen.get("Search", "button")), LOOK]
    page = 1 if not seen.find("<") else 3 if not seen.find(">") else 2
    wanted = ordinal(said) - 1
    if page != wanted // 3 + 1:
        return [click(seen.get(str(wanted // 3 + 1))), LOOK]
    results = seen.after(seen.get("Search", "button")).all("link")
    return [click(nth(results, wanted % 3 + 1))]


@plans("generate-number", changes=True)
def generate(said: str, seen: Screen) -> Sequence[Draft]:
    number = seen.texts(r"\d+")
    if number and _is_wanted(said, int(number[0])):
        return [submit(seen)]
    return [click(seen.get("Generate", "button")), LOOK]


def _is_wanted(said: str, number: int) -> bool:
    if "odd" in said or "even" in said:
        return number % 2 == ("odd" in said)
    which, bound = find_groups(said, r"(less|greater) than (\d+)")
    return number < int(bound) if which == "less" else number > int(bound)


@plans("guess-number", changes=True)
def guess(said: str, seen: Screen) -> Sequence[Draft]:
    number = 5
    if not seen.texts("Waiting for your guess.*"):
        which, last = seen.find_groups(r"The number is (lower|higher) than (\d+) ?\.")
        number = int(last) + (1 if which == "higher" else -1)
    return [fill(seen.first(*FIELDS), str(number)), submit(seen), LOOK]


@plans("ascending-numbers", changes=True)
def ascending(said: str, seen: Screen) -> Sequence[Draft]:
    """The first click turns the other numbers into blank squares, in the order of the numbers."""
    first = seen.find("1")
    return [click(first), LOOK] if first else [click(square) for square in seen.actable("")]


@plans("use-autocomplete", "use-autocomplete-nodelay", changes=True)
def autocomplete(said: str, seen: Screen) -> Sequence[Draft]:
    begins, ends = (*quoted(said), "")[:2]
    field = seen.first(*FIELDS)
    offered = [zone for zone in seen.actable() if zone.label.startswith(begins) and zone.label.endswith(ends)]
    if offered:
        return [click(shortest(offered)), LOOK]
    if value(field) != begins and value(field).startswith(begins) and value(field).endswith(ends):
        return [submit(seen)]
    return [fill(field, begins), press(field, "ArrowDown"), LOOK]


@plans("terminal", changes=True)
def terminal(said: str, seen: Screen) -> Sequence[Draft]:
    """Key by key: what is typed never stays in the field that listens."""
    keyboard = seen.first(*FIELDS)
    listed = re.search(r"user\$ ls (.*?) user\$", seen.actable()[0].label)
    if listed is None:
        return [press(keyboard, "l s Enter"), LOOK]
    ending = find_groups(said, r"(?:extension (\.\S+)|no file extension)")[0]
    wanted = next(name for name in listed[1].split() if (name.endswith(ending) if ending else "." not in name))
    return [press(keyboard, " ".join(["r", "m", "Space", *wanted, "Enter"]))]


@plans("click-pie", "click-pie-nodelay", changes=True)
def slice_of_a_pie(said: str, seen: Screen) -> Sequence[Draft]:
    """As long as the pie is folded, its slices are as small as a dot. The label of each stands after it."""
    piece = seen.before(seen.get(quoted(said)[0])).actable()[-1]
    return [click(piece)] if box(piece)[3] > 4 else [click(seen.get("+")), LOOK]


@plans("form-sequence-3", changes=True)
def dropdown_and_button(said: str, seen: Screen) -> Sequence[Draft]:
    (item,) = find_groups(said, r"^Choose (.*) from the dropdown")
    offered = seen.find(item)
    if offered is None:
        return [click(seen.first("clickable")), LOOK]
    return [click(offered), click(seen.get(quoted(said)[0], "button"))]
