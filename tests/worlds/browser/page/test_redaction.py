"""Secrets that a page shows are covered in screenshots, in every form and place."""

import json
from collections.abc import AsyncGenerator
from dataclasses import replace
from io import BytesIO

import pytest
import pytest_asyncio
from PIL import Image, ImageChops

from midcourse.redact import Redactor
from midcourse.worlds.browser import Browser
from midcourse.worlds.browser.page.screenshots import SecretLocator
from tests.pages import Pages
from tests.test_redact import ENCODINGS
from tests.worlds.browser.visitor import Visitor, ok, page_of, visiting

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

ONE, OTHER = "hunter2-& Co", "batman5-& Jo"
"""Of the same width in every encoding: covered, their screenshots are identical."""
STYLE = "<style>* { font: 14px monospace; margin: 0 } section { float: left; width: 390px; margin: 4px; overflow: hidden; height: 48px }</style>"

PLACES = {
    "text": "<p>You said {}</p>",
    "several elements": "<p>{0[0]}<b>{0[1]}</b>{0[2]}<i>{0[3]}</i>{rest}</p>",
    "a letter in each block": "<div>{0[0]}</div><div>{0[1]}</div><div>{0[2]}</div>{0[3]}<div>{rest}</div>",
    "two lines": "<p style='width: 8ch'>{}</p>",
    "capitals": "<p style='text-transform: uppercase'>{}</p>",
    "a style sheet": "<style>q::before {{ content: attr(title) }}</style><q title='{}'></q>",
    "a field": "<input size=40 value='{}'>",
    "a field's hint": "<input size=40 placeholder='{}'>",
    "a larger field": "<textarea cols=40>{}</textarea>",
    "a list": "<select><option>{}</select>",
    "a group in an open list": "<select size=3><optgroup label='{}'><option>x</optgroup></select>",
    "a button": "<input type=button value='{}'>",
    "editable text": "<div contenteditable>{}</div>",
    "what stands for a picture": "<img alt='{}' width=300 height=20 src='data:,'>",
    "a drawing": "<svg width=300 height=30><text y=20>{}</text></svg>",
    "turned text": "<p style='transform: rotate(9deg); width: 20ch'>{}</p>",
    "a shadow root": "<div></div><script>document.currentScript.previousSibling.attachShadow({{mode: 'closed'}})"
    ".innerHTML = '{}'</script>",
    "a frame": "<iframe srcdoc='<style>* {{ font: 14px monospace }}</style>{}'></iframe>",
    "a part that is scrolled": "<div style='height: 3em; overflow: scroll'><p style='height: 5em'>a<p>{}</div>"
    "<script>document.currentScript.previousSibling.scrollTop = 999</script>",
    "behind other letters": "<p>\U0001f600 \U0001f600 {}</p>",
}
"""`{}` is the secret."""
FORMS = {f"in {name}": f"<p>{{forms[{name}]}}</p>" for name in ENCODINGS}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def visitor(pages: Pages) -> AsyncGenerator[Visitor]:
    known = {pages.url: {"secrets": ["pin"]}, pages.url.replace("127.0.0.1", "localhost"): {}}
    async with visiting(pages, screenshots="all", width=800, height=840, origins=known) as hand:
        yield hand


async def take_screenshot(visitor: Visitor, page: str, secret: str, *, concealed: bool) -> str:
    """Show a page and return the digest of its screenshot, '' if there is none."""
    assert isinstance(visitor.world, Browser)
    visitor.world._secrets = visitor.world._screenshots._secrets = SecretLocator()
    if concealed:
        await visitor.world.conceal((("pin", secret),))
    await visitor.visit(page)
    return (await visitor.see()).screenshot


def page_showing(secret: str) -> str:
    forms = {name: encode(secret).replace("&", "&amp;") for name, encode in ENCODINGS.items()}
    quoted = secret.replace("&", "&amp;")
    parts = [part.format(quoted, rest=quoted[4:], forms=forms) for part in (PLACES | FORMS).values()]
    return STYLE + "".join(f"<section>{part}</section>" for part in parts)


async def places_that_differ(visitor: Visitor, *, concealed: bool) -> list[str]:
    """The places at which the screenshots of two secrets differ."""
    pictures: list[Image.Image] = []
    for secret in (ONE, OTHER):
        digest = await take_screenshot(visitor, page_showing(secret), secret, concealed=concealed)
        assert isinstance(visitor.world, Browser)
        picture = await visitor.world.read_screenshot(digest)
        assert picture, "there is one"
        pictures.append(Image.open(BytesIO(picture)).convert("RGB"))
    boxes = await page_of(visitor).evaluate(
        "() => JSON.stringify([...document.querySelectorAll('section')].map(one => one.getBoundingClientRect()))"
    )
    difference = ImageChops.difference(*pictures)
    corners = [(box["left"], box["top"], box["right"], box["bottom"]) for box in json.loads(boxes)]
    return [name for name, box in zip(PLACES | FORMS, corners, strict=True) if difference.crop(box).getbbox()]


async def test_secret_is_covered_in_every_place_and_form(visitor: Visitor) -> None:
    assert await places_that_differ(visitor, concealed=True) == []


async def test_secret_is_visible_in_every_place_if_not_concealed(visitor: Visitor) -> None:
    assert await places_that_differ(visitor, concealed=False) == [*PLACES, *FORMS]


@pytest.mark.parametrize(
    "page",
    [
        pytest.param("<p style='height: 5000px'>a<p>{}<script>scrollTo(0, 9999)</script>", id="scrolled"),
        pytest.param("<dialog>{}</dialog><script>document.querySelector('dialog').showModal()</script>", id="dialog"),
        pytest.param("<img width=90 height=90 src='/code?of={}' style='background: green'>", id="address"),
    ],
)
async def test_page_full_of_the_secret_is_covered(visitor: Visitor, page: str) -> None:
    one, other = (STYLE + page.format(secret) for secret in (ONE, OTHER))
    covered = await take_screenshot(visitor, one, ONE, concealed=True)
    assert covered == await take_screenshot(visitor, other, OTHER, concealed=True)
    assert covered != await take_screenshot(visitor, one, ONE, concealed=False)


async def test_a_frame_of_another_site_is_covered(visitor: Visitor) -> None:
    """It runs in another process."""
    pages, digests = visitor.pages, list[str]()
    for secret in (ONE, OTHER):
        pages.show("/inside", f"{STYLE}<p>{secret}</p>")
        framed = f"<iframe src='{pages.url.replace('127.0.0.1', 'localhost')}/inside'></iframe>"
        digests.append(await take_screenshot(visitor, framed, secret, concealed=True))
    assert digests[0] == digests[1] != await take_screenshot(visitor, framed, ONE, concealed=False)


async def test_typed_secret_is_covered_without_a_call_of_conceal(visitor: Visitor) -> None:
    page = f"{STYLE}<input aria-label=PIN oninput='document.querySelector(`p`).textContent = this.value'><p></p>"
    pictures: list[str] = []
    for secret in ("2580", "1470"):
        await take_screenshot(visitor, page, "", concealed=False)
        call = visitor.call("type", await visitor.zone("PIN"), text=secret)
        ok(await visitor.world.act(replace(call, secrets=(("text", "pin"),))))
        pictures.append((await visitor.see()).screenshot)
    assert pictures[0] == pictures[1]


async def test_text_cut_in_a_message_is_marked_so_that_secrets_are_recognised(visitor: Visitor) -> None:
    """Otherwise a part of it could not be recognised as the secret."""
    secret = "correct-horse-battery"
    await visitor.visit(f"<button>Go</button><div style='position: fixed; inset: 0'>{'x' * 40}{secret}</div>")
    outcome = await visitor.on("Go", "click")
    assert outcome.reason == "covered"
    assert "correct" not in Redactor([("pin", secret)])(outcome.detail)


async def test_covers_are_removed_from_the_page(visitor: Visitor) -> None:
    assert await take_screenshot(visitor, f"<p>{ONE}</p>", ONE, concealed=True)
    assert await page_of(visitor).locator("midcourse-cover").count() == 0


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(
            "setInterval(() => document.querySelector('p').style.marginLeft = Math.random() * 99 + 'px', 1)", id="moves"
        ),
        pytest.param(
            "new MutationObserver(() => document.querySelector('midcourse-cover')?.remove())"
            ".observe(document.documentElement, {childList: true})",
            id="takes covers away",
        ),
    ],
)
async def test_page_that_cannot_be_covered_has_no_screenshot(visitor: Visitor, script: str) -> None:
    page = f"<p>{ONE}</p><script>{script}</script>"
    assert await take_screenshot(visitor, page, ONE, concealed=False)
    assert not await take_screenshot(visitor, page, ONE, concealed=True)
