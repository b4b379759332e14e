"""Simulated applications: effects of clicks, keys and cancelled dialogs, and that a seed always gives the same application."""

from hashlib import blake2b

import pytest

from benchmarks.search.generated import generate_application, related
from midcourse.worlds.simulated.application import MAIN, Application, AppState, Control, View, Windows
from tests.worlds.support import Hand, ok

FROZEN = "9acb9de294fe7a16"
"""Of the first hundred applications. Figures of benchmarks are worth nothing if these change with what is measured in them."""

EDITOR = Application(
    views=(
        View(
            name=MAIN,
            title="Editor",
            kind="window",
            controls=(
                Control(label="File", role="menu", opens="file"),
                Control(label="Help", role="menu", opens="help"),
                Control(label="Page 1", role="row", context="page"),
                Control(label="Stamp", counts=True),
                Control(label="Post", sends=True),
            ),
        ),
        View(name="file", title="", kind="menu", controls=(Control(label="Setup", role="menuitem", opens="setup"),)),
        View(name="help", title="", kind="menu", controls=(Control(label="Nothing", role="menuitem"),)),
        View(name="page", title="", kind="menu", controls=(Control(label="Rename", role="menuitem", opens="setup"),)),
        View(
            name="setup",
            title="Setup",
            controls=(
                Control(label="Wrap", role="checkbox"),
                Control(label="Name", role="textbox", value="draft"),
                Control(label="More…", opens="more"),
                Control(label="OK", closes="keep"),
                Control(label="Cancel", closes="discard"),
            ),
        ),
        View(name="more", title="More", controls=(Control(label="Close", closes="discard"),)),
    ),
    shortcuts=(("Ctrl+K", "setup"),),
)


def editor() -> tuple[Windows, Hand]:
    world = Windows(EDITOR)
    return world, Hand(world)


def stack(world: Windows) -> str:
    return " > ".join(world.state.stack)


async def test_menus_open_over_the_window_and_dialogs_take_their_place() -> None:
    world, hand = editor()
    ok(await hand.on("File", "click"))
    assert stack(world) == "main > file"
    ok(await hand.on("Help", "click"))
    assert stack(world) == "main > help"
    ok(await hand.on("Stamp", "click"))
    assert (stack(world), world.state.marks) == ("main", ()), "a click elsewhere only closes the menu"
    ok(await hand.on("File", "click"))
    ok(await hand.on("Setup", "click"))
    assert stack(world) == "main > setup"
    assert (await hand.see()).zone("main/File") is None, "a dialog hides what is below it"


async def test_a_cancelled_dialog_leaves_all_as_it_was_and_an_accepted_one_does_not() -> None:
    world, hand = editor()
    for closer, kept in (("Cancel", False), ("OK", True)):
        ok(await hand.do("press", key="Ctrl+K"))
        ok(await hand.on("Wrap", "click"))
        ok(await hand.on("Name", "type_text", text="final"))
        ok(await hand.on(closer, "click"))
        assert stack(world) == "main"
        assert bool(world.state.flipped) is kept
        assert dict(world.state.texts) == ({"setup/Name": "final"} if kept else {})


async def test_escape_closes_one_thing_after_the_other() -> None:
    world, hand = editor()
    ok(await hand.do("press", key="Ctrl+K"))
    ok(await hand.on("More…", "click"))
    assert stack(world) == "main > setup > more"
    for left in ("main > setup", "main", "main"):
        ok(await hand.do("press", key="Escape"))
        assert stack(world) == left


async def test_some_things_have_a_menu_of_their_own() -> None:
    world, hand = editor()
    ok(await hand.on("Page 1", "right_click"))
    assert stack(world) == "main > page"
    assert (await hand.on("File", "right_click")).status == "no_effect"


async def test_a_mark_is_kept_after_its_button_was_clicked() -> None:
    world, hand = editor()
    ok(await hand.on("Stamp", "click"))
    ok(await hand.on("Stamp (1)", "click"))
    assert world.state.marks == ("main/Stamp", "main/Stamp")


async def test_sent_effects_are_in_the_log() -> None:
    world, hand = editor()
    ok(await hand.on("Post", "send"))
    assert [effect.values for effect in world.happened("sent")] == [{"what": "Post"}]
    assert (await hand.on("Stamp", "send")).reason == "wrong_target"


def test_how_far_away_a_dialog_is_counts_clicks() -> None:
    world = Windows(EDITOR)
    assert [world.steps_to(view) for view in ("main", "file", "setup", "more")] == [0, 1, 2, 3]
    world.state = AppState(stack=(MAIN, "help"))
    assert world.steps_to("setup") == 2


# --- generated


@pytest.mark.slow
def test_first_hundred_applications_are_unchanged() -> None:
    made = [generate_application(seed) for seed in range(100)]
    text = repr([(one.application.views, one.application.shortcuts, one.goal) for one in made])
    assert blake2b(text.encode(), digest_size=8).hexdigest() == FROZEN


@pytest.mark.parametrize("seed", range(0, 1000, 100))
def test_every_application_has_a_reachable_goal_and_unique_names(seed: int) -> None:
    made = generate_application(seed)
    views = made.application.views
    assert made.application.steps_to(made.goal, (MAIN,)) >= 2
    titles = [view.title for view in views if view.kind == "dialog"]
    assert len(titles) == len(set(titles))
    for view in views:
        labels = [control.label for control in view.controls]
        assert len(labels) == len(set(labels))


def test_labels_are_related_by_shared_words() -> None:
    assert related("Proxy", "Proxy") == 1.0
    assert related("Proxy", "Proxy Advanced") > related("Network", "Proxy Advanced") > related("View", "Proxy Advanced")
    assert related("Page 3", "Backup of Page 3") > related("Page 1", "Backup of Page 3")
