"""Fingerprints: equal for the same page despite clocks, animations and adverts; different for another page."""

import asyncio

import pytest

from midcourse.domain.observation import Observation
from tests.worlds.browser.visitor import Visitor, ok, page_of

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]


async def until_other_words(visitor: Visitor, before: Observation) -> Observation:
    """Looks until something on the page reads differently."""
    async with asyncio.timeout(600):
        while True:
            now = await visitor.see()
            if [zone.label for zone in now.zones] != [zone.label for zone in before.zones]:
                return now


TICKING = """<p id=x>{first}</p><button>Go</button><script>
let n = 0; setInterval(() => {{ n += 1; x.textContent = {then} }}, 60)</script>"""


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("10:15:00", "`10:15:${String(n % 60).padStart(2, '0')}`"),
        ("Saved 1 second ago", "`Saved ${n} seconds ago`"),
        ("Today is 2026-01-01", "`Today is 2026-01-${String(10 + n % 20)}`"),
        ("Mar 3, 2026", "`Apr ${1 + n % 28}, 2026`"),
    ],
)
async def test_times_and_dates_do_not_count(visitor: Visitor, first: str, then: str):
    await visitor.visit(TICKING.format(first=first, then=then))
    before = await visitor.see()
    assert (await until_other_words(visitor, before)).fingerprint == before.fingerprint


async def test_text_that_keeps_changing_by_itself_does_not_count(visitor: Visitor):
    await visitor.visit(TICKING.format(first="0 visitors", then="`${n} visitors`"))
    before = await visitor.see()
    before = await until_other_words(visitor, before)
    before = await until_other_words(visitor, before)
    before = await until_other_words(visitor, before)
    assert (await until_other_words(visitor, before)).fingerprint == before.fingerprint


async def test_adverts_do_not_count(visitor: Visitor):
    await visitor.visit(
        """<p>Story</p><div class=advert id=x><a href=/buy>Buy</a></div><script>
        let n = 0; setInterval(() => { n += 1; x.innerHTML = `<a href=/buy${n}>Buy ${n}</a><b>now</b>` }, 60)</script>"""
    )
    before = await visitor.see()
    assert (await until_other_words(visitor, before)).fingerprint == before.fingerprint


async def test_positions_focus_and_scrolling_do_not_count(visitor: Visitor):
    await visitor.visit("<input aria-label=Name><p>Text</p><div style='height: 3000px'></div><p>End</p>")
    before = await visitor.fingerprint()
    ok(await visitor.on("Name", "click"))
    ok(await visitor.do("scroll", (await visitor.see()).zones[0]))
    assert await visitor.fingerprint() == before


async def test_scrolling_under_a_bar_does_not_count_and_a_veil_over_the_page_does(visitor: Visitor):
    buttons = "".join(f"<button style='display: block; height: 40px'>{i}</button>" for i in range(90))
    await visitor.visit(
        f"{buttons}<div id=bar style='position: fixed; left: 0; bottom: 0; width: 100%; height: 90px'>Cookies</div>"
    )
    before = await visitor.fingerprint()
    ok(await visitor.do("scroll", (await visitor.see()).zones[0], amount=0.3))
    assert await visitor.fingerprint() == before
    await page_of(visitor).evaluate("bar.style.height = '100%'")
    assert await visitor.fingerprint() != before


@pytest.mark.parametrize("act", ["text", "value", "checked", "option", "gone"])
async def test_changes_by_an_act_change_the_fingerprint(visitor: Visitor, act: str):
    await visitor.visit(
        """<p id=x>One</p><button onclick="x.textContent='Two'">Text</button><input aria-label=Value>
        <label><input type=checkbox> Checked</label><select aria-label=Option><option>a<option>b</select>
        <button onclick="this.remove()">DocumentGone</button>"""
    )
    before = await visitor.fingerprint()
    acts = {
        "text": visitor.on("Text", "click"),
        "value": visitor.on("Value", "type", text="x"),
        "checked": visitor.on("Checked", "check"),
        "option": visitor.on("Option", "select", option="b"),
        "gone": visitor.on("DocumentGone", "click"),
    }
    ok(await acts.pop(act))
    for other in acts.values():
        other.close()
    assert await visitor.fingerprint() != before


async def test_slow_answer_that_comes_after_the_act_counts(visitor: Visitor):
    """Text that changes once by itself is news; only what keeps changing is noise."""
    await visitor.visit("<p id=x>Waiting</p><button>Go</button>")
    ok(await visitor.on("Go", "click"))
    before = await visitor.fingerprint()
    await page_of(visitor).evaluate("x.textContent = 'Done'")
    assert await visitor.fingerprint() != before
