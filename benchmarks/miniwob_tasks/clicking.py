"""Rules for tasks that click visible things."""

import re
from collections.abc import Sequence

from benchmarks.miniwob_tasks.planner import plans
from benchmarks.miniwob_tasks.screen import NotSeen, Screen, find_groups, nth, ordinal, quoted
from benchmarks.miniwob_tasks.step import check, choose, click
from midcourse.domain.observation import Zone
from midcourse.domain.plan import Draft

DIGITS = {
    "0": "0110 1001 1001 1001 1001 1001 0110",
    "1": "0010 0110 0010 0010 0010 0010 0010",
    "2": "0110 1001 1001 0010 0100 1000 1111",
    "3": "0110 1001 0001 0110 0001 1001 0110",
    "4": "1000 1010 1010 1111 0010 0010 0010",
    "5": "1111 1000 1000 1110 0001 1001 0110",
    "6": "0110 1001 1000 1110 1001 1001 0110",
    "7": "1111 1001 0001 0010 0010 0100 0100",
    "8": "0110 1001 1001 0110 1001 1001 0110",
    "9": "0110 1001 1001 0111 0001 1001 0110",
}
"""How a figure is drawn in four by seven boxes. The page shows it as a picture, which is not a zone."""


def submit(seen: Screen) -> Draft:
    return click(seen.get("Submit", "button"))


@plans("click-button", "unicode-test")
def named_button(said: str, seen: Screen) -> Sequence[Draft]:
    return [click(seen.get(quoted(said)[0], "button"))]


@plans("click-test")
def the_button(said: str, seen: Screen) -> Sequence[Draft]:
    return [click(seen.first("button"))]


@plans("click-test-2", "click-test-transfer")
def numbered_button(said: str, seen: Screen) -> Sequence[Draft]:
    return [click(seen.get(*find_groups(said, r"button (\w+)"), "button"))]


@plans("click-button-sequence")
def two_buttons(said: str, seen: Screen) -> Sequence[Draft]:
    return [click(seen.get(name, "button")) for name in re.findall(r"button (\w+)", said)]


@plans("click-link")
def named_link(said: str, seen: Screen) -> Sequence[Draft]:
    return [click(seen.get(quoted(said)[0]))]


@plans("click-dialog", "click-dialog-2")
def button_of_a_dialog(said: str, seen: Screen) -> Sequence[Draft]:
    name = quoted(said)[0]
    return [click(seen.get("Close" if name == "x" else name, "button"))]


@plans("click-tab")
def named_tab(said: str, seen: Screen) -> Sequence[Draft]:
    return [click(seen.get(*find_groups(said, r"(Tab #\d)"), "tab"))]


@plans("click-checkboxes", "click-checkboxes-large", "click-checkboxes-transfer")
def boxes(said: str, seen: Screen) -> Sequence[Draft]:
    names = find_groups(said, r"^Select (.*) and click Submit")[0].split(", ")
    return [*(check(seen.get(name, "checkbox")) for name in names if name != "nothing"), submit(seen)]


@plans("click-option")
def option(said: str, seen: Screen) -> Sequence[Draft]:
    return [check(seen.get(*find_groups(said, r"^Select (.*) and click Submit"), "radio")), submit(seen)]


@plans("choose-list")
def item_of_a_list(said: str, seen: Screen) -> Sequence[Draft]:
    return [choose(seen.first("combobox"), *find_groups(said, r"^Select (.*) from the list")), submit(seen)]


@plans("click-scroll-list")
def items_of_a_list(said: str, seen: Screen) -> Sequence[Draft]:
    names = find_groups(said, r"^Select (.*) from the scroll list")[0].split(", ")
    return [choose(seen.first("listbox"), " | ".join(names)), submit(seen)]


@plans("grid-coordinate")
def point_of_a_grid(said: str, seen: Screen) -> Sequence[Draft]:
    """Column by column, each from the top."""
    x, y = map(int, find_groups(said, r"\((-?\d),(-?\d)\)"))
    return [click(nth(seen.actable(""), 5 * (x + 2) + 3 - y))]


@plans("find-greatest")
def greatest_card(said: str, seen: Screen) -> Sequence[Draft]:
    cards = [zone for zone in seen.actable() if zone.label.isdigit()]
    return [click(max(cards, key=lambda card: int(card.label))), submit(seen)]


@plans("click-widget")
def widget(said: str, seen: Screen) -> Sequence[Draft]:
    kind = quoted(said)[0]
    if kind not in ("text", "textarea"):
        return [click(seen.first(kind))]
    fitting = [zone for zone in seen.fields() if bool(zone.get("multiline")) == (kind == "textarea")]
    return [click(nth(fitting, 1))]


@plans("focus-text")
def the_field(said: str, seen: Screen) -> Sequence[Draft]:
    return [click(nth(seen.fields(), 1))]


@plans("focus-text-2")
def nth_field(said: str, seen: Screen) -> Sequence[Draft]:
    return [click(nth(seen.fields(), ordinal(said)))]


@plans("click-collapsible", "click-collapsible-nodelay")
def expand_and_submit(said: str, seen: Screen) -> Sequence[Draft]:
    section = next((zone for zone in seen.actable() if zone.label.startswith("Section #")), None)
    if section is None:
        raise NotSeen("no section to expand")
    return [click(section), submit(seen)]


@plans("odd-or-even")
def odd_or_even(said: str, seen: Screen) -> Sequence[Draft]:
    steps = list[Draft]()
    for zone in seen.all("text"):
        if re.fullmatch(r"-?\d+", zone.label):
            odd, even = seen.before(zone).all("button")[-1], seen.after(zone).first("button")
            steps.append(click(odd if int(zone.label) % 2 else even))
    return [*steps, submit(seen)]


@plans("number-checkboxes")
def draw_a_figure(said: str, seen: Screen) -> Sequence[Draft]:
    pattern = DIGITS[quoted(said)[0]].replace(" ", "")
    drawn = zip(seen.all("checkbox"), pattern, strict=True)
    return [*(check(box) for box, filled in drawn if filled == "1"), submit(seen)]


@plans("buy-ticket")
def buy_ticket(said: str, seen: Screen) -> Sequence[Draft]:
    return [click(best_offer(said, seen))]


def best_offer(said: str, seen: Screen) -> Zone:
    """The button under the cheapest, dearest, shortest or longest trip."""
    offers = [zone for zone in seen.all("button") if "$" in zone.label]
    minutes = [60 * int(h) + int(m) for text in seen.texts() for h, m in re.findall(r"(\d+)h (\d+)m", text)]
    prices = [int(zone.label.rpartition("$")[2]) for zone in offers]
    ranks = prices if re.search("cheapest|expensive", said) else minutes
    pick = max if re.search("expensive|longest", said) else min
    return pick(zip(offers, ranks, strict=True), key=lambda pair: pair[1])[0]
