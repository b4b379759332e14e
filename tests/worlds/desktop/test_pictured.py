"""Zones that a reader found in a picture of the desktop: acted on by position, and judged by what the program says is there."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from midcourse.domain.observation import PICTURED, Bounds, Zone
from midcourse.domain.outcome import Outcome
from midcourse.testing.conformance import a_call
from midcourse.worlds.desktop import Desktop
from tests.worlds.desktop.hand import Hand

pytestmark = pytest.mark.slow

SECRET = "hunter2-hunter2"


@pytest_asyncio.fixture
async def hand(home: Path) -> AsyncIterator[Hand]:
    world = Desktop("mousepad", home=str(home), screenshots="all")
    await world.open()
    try:
        yield Hand(world)
    finally:
        await world.close()


async def at(hand: Hand, skill: str, bounds: Bounds | None, label: str = "Harmless", **arguments: str) -> Outcome:
    """The outcome of an act at this place of the last picture, which a reader called harmless."""
    zone = Zone(id="p1", role="button", label=label, bounds=bounds, state={PICTURED: True})
    call = a_call(skill, zone, tuple(arguments.items()), command=50)
    return await hand.world.act(replace(call, bounds=bounds, pictured=True))


async def test_a_place_in_a_picture_is_clicked_and_typed_into(hand: Hand) -> None:
    seen = await hand.see()
    assert seen.screenshot
    assert seen.size == (1280, 800)
    text = await hand.find("textbox:*")
    assert (await at(hand, "type", text.bounds, text="By position")).status == "ok"
    assert (await hand.find("textbox:*")).get("text") == "By position"
    assert (await at(hand, "click", (await hand.find("menu:File")).bounds)).status == "ok"
    assert await hand.find("menuitem:Save As*")


async def test_effect_is_judged_by_the_program_and_not_by_the_reader(hand: Hand) -> None:
    await hand.do("type", "textbox:*", text="Unsaved")
    await hand.do("close_window", "window:*Mousepad")
    await hand.see()
    pressed = await hand.attempt("press_keys", keys="Tab Enter")
    assert pressed.reason == "would_send", "it is not known which button that would press"
    lose = await hand.find("button:Don't Save")
    outcome = await at(hand, "click", lose.bounds, label="Help")
    assert (outcome.status, outcome.reason) == ("no_effect", "would_send"), "unsaved text would be lost"


async def test_a_place_is_not_used_after_another_window_came_up(hand: Hand) -> None:
    menu = (await hand.find("menu:File")).bounds
    await hand.world.act(a_call("press_keys", None, (("keys", "Control+O"),), command=49))
    moved = await at(hand, "click", menu)
    assert (moved.reason, moved.evidence) == ("moved", "rule"), "nothing was clicked, so nothing is in doubt"


async def test_keys_are_not_sent_to_a_window_that_came_up_since_the_last_look(hand: Hand) -> None:
    await hand.see()
    await hand.do("press_keys", keys="Control+O")
    refused = await hand.attempt("press_keys", keys="Escape")
    assert (refused.reason, refused.evidence) == ("target_not_visible", "rule")
    await hand.see()
    await hand.do("press_keys", keys="Escape")


async def test_a_secret_is_typed_only_into_the_program_that_it_belongs_to(hand: Hand) -> None:
    await hand.world.conceal((("pin@program:mousepad", SECRET), ("other@program:thunar", "x" * 9), ("none", "y" * 9)))
    field = await hand.find("textbox:*")
    call = a_call("type", field, (("text", SECRET),), command=60)
    for name in ("other", "none"):
        refused = await hand.world.act(replace(call, secrets=(("text", name),)))
        assert (refused.reason, refused.evidence) == ("secret_not_allowed_here", "rule")
    assert (await at(hand, "type", field.bounds, text="not a secret")).status == "ok"
    by_place = replace(call, pictured=True, bounds=field.bounds, secrets=(("text", "pin"),))
    assert (await hand.world.act(by_place)).reason == "secret_not_allowed_here"
    assert (await hand.world.act(replace(call, command=61, secrets=(("text", "pin"),)))).status == "ok"
    assert (await hand.find("textbox:*")).get("text") == SECRET
