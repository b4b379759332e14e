"""Rules for tasks on posts and menus, whose repeated controls differ by the text beside them."""

from collections.abc import Sequence

from benchmarks.miniwob_tasks.clicking import submit
from benchmarks.miniwob_tasks.planner import plans
from benchmarks.miniwob_tasks.screen import Screen, find_groups, nth, quoted
from benchmarks.miniwob_tasks.step import LOOK, click
from midcourse.domain.observation import Zone
from midcourse.domain.plan import Draft

ICONS = ("Reply", "Retweet", "Like", "Share")
"""As they stand under a post. Where there is a menu, it is behind the fourth."""


@plans("social-media", changes=True)
def button_of_a_post(said: str, seen: Screen) -> Sequence[Draft]:
    user, action = find_groups(said, r'user (@\S+), click on the "(.*)" button')
    offered = seen.find(action) or seen.find(f"{action} {user}")
    if offered:
        return [click(offered)]
    if action in ICONS:
        return [click(_icons(user, action, seen)[0])]
    return [click(_icons(user, "Share", seen)[0]), LOOK]


@plans("social-media-all")
def button_of_all_posts(said: str, seen: Screen) -> Sequence[Draft]:
    (user,) = find_groups(said, r"posts by (@\S+) and")
    return [*map(click, _icons(user, quoted(said)[0], seen)), submit(seen)]


@plans("social-media-some")
def button_of_some_posts(said: str, seen: Screen) -> Sequence[Draft]:
    number, user = find_groups(said, r"on (\d+) posts? by (@\S+) and")
    return [*map(click, _icons(user, quoted(said)[0], seen)[: int(number)]), submit(seen)]


def _icons(user: str, action: str, seen: Screen) -> list[Zone]:
    """That icon under each post of the user."""
    posts = [zone for zone in seen.all("text") if zone.label == user]
    return [nth(seen.after(post).actable(""), 1 + ICONS.index(action)) for post in posts]


@plans("order-food")
def order(said: str, seen: Screen) -> Sequence[Draft]:
    if "items that are" in said:
        number, kind = find_groups(said, r"Order (\d+) items that are (\S+)")
        return [*[click(_plus(kind, seen))] * int(number), click(seen.get("Order!"))]
    names = find_groups(said, r"each item: (.*)$")[0].split(", ")
    return [*(click(_plus(name, seen)) for name in names), click(seen.get("Order!"))]


def _plus(name: str, seen: Screen) -> Zone:
    return seen.after(seen.labelled(name)).get("+")
