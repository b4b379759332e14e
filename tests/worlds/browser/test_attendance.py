"""A person controls a headless browser remotely, and their acts are recorded without the text they typed."""

import asyncio

import pytest

from midcourse.ports.viewing import Gesture, Handled, NotAttended, PersonAction
from midcourse.worlds.browser import Browser
from tests.worlds.browser.visitor import Visitor, page_of

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

PLACED = "style='position:absolute; left:{}px; top:{}px; width:100px; height:40px'"
FORM = f"""<form method=post action=/save>
<input name=name aria-label=Name {PLACED.format(100, 100)}>
<button {PLACED.format(100, 200)}>Save</button></form>"""


def click(left: int, top: int) -> tuple[Gesture, ...]:
    x, y = (left + 20) / 1280, (top + 20) / 800
    return (Gesture(kind="press", x=x, y=y), Gesture(kind="release", x=x, y=y))


def keys(text: str) -> tuple[Gesture, ...]:
    return tuple(Gesture(kind=kind, text=key) for key in text for kind in ("key_down", "key_up"))


async def handle(visitor: Visitor, *gestures: Gesture, since: str | None = None) -> Handled:
    assert isinstance(visitor.world, Browser)
    return await visitor.world.handle(gestures, since)


async def test_a_person_fills_in_and_sends_a_form_and_it_is_recorded(visitor: Visitor) -> None:
    visitor.pages.show("/save", "<h1>Saved</h1>", title="Saved")
    await visitor.visit(FORM)
    await visitor.see()
    await visitor.world.attend()
    shown = await handle(visitor, since="")
    assert shown.view.picture.startswith(b"\xff\xd8")
    done = await handle(visitor, *click(100, 100), *keys("Ada é"))
    assert done.deeds[0] == PersonAction(kind="clicked", what="field 'Name'")
    assert done.deeds[1:] == (PersonAction(kind="typed", what="field 'Name'"),) * 5
    assert (await handle(visitor, since=shown.view.stamp)).view.picture
    deeds = list((await handle(visitor, *click(100, 200))).deeds)
    while len(deeds) < 2:  # what is sent is recorded when it leaves
        deeds += (await handle(visitor)).deeds
        await asyncio.sleep(0.05)
    assert deeds == [
        PersonAction(kind="clicked", what="button 'Save'"),
        PersonAction(kind="sent", what=f"POST {visitor.pages.url}/save"),
    ]
    while "/save" not in visitor.pages.bodies:  # it has left, and may not have arrived yet
        await asyncio.sleep(0.05)
    assert visitor.pages.bodies["/save"] == b"name=Ada+%C3%A9"
    assert await visitor.title() == "Saved"


async def test_nothing_is_shown_or_done_unless_the_browser_is_handed_over(visitor: Visitor) -> None:
    await visitor.visit(FORM)
    await visitor.see()
    hits = len(visitor.pages.hits)
    for gestures, since in (((), ""), (click(100, 200), None)):
        with pytest.raises(NotAttended):
            await handle(visitor, *gestures, since=since)
    await visitor.world.attend()
    assert (await handle(visitor, since="")).view.picture
    await visitor.see()  # the run looks again
    with pytest.raises(NotAttended):
        await handle(visitor, *click(100, 200))
    assert len(visitor.pages.hits) == hits


async def test_the_record_names_secrets_and_does_not_contain_them(visitor: Visitor) -> None:
    await visitor.world.conceal((("pin", "swordfish"),))
    await visitor.visit(f"<button {PLACED.format(100, 100)}>swordfish</button>")
    await visitor.see()
    await visitor.world.attend()
    assert [deed.what for deed in (await handle(visitor, *click(100, 100))).deeds] == ["button '<secret pin>'"]


async def test_dialog_is_reported_and_answered(visitor: Visitor) -> None:
    await visitor.visit(f"<button {PLACED.format(100, 100)} onclick=\"document.title = confirm('Sure?')\">Ask</button>")
    await visitor.see()
    await visitor.world.attend()
    done = await handle(visitor, *click(100, 100))
    async with asyncio.timeout(60):
        while not done.dialog:
            done = await handle(visitor, since="")
    assert done.dialog == "Sure?"
    answered = await handle(visitor, Gesture(kind="accept"))
    assert answered.deeds == (PersonAction(kind="answered", what="'Sure?' with OK"),)
    assert answered.dialog == ""
    await page_of(visitor).wait_for_function("document.title === 'true'")
