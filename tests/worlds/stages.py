"""Every simulated world with the steps up to the one act that has an effect."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

from midcourse.domain.argument import Pairs
from midcourse.worlds.simulated import Arm, Desktop, Erp, Quest, Shop, Web
from tests.worlds.support import Hand, ok
from tests.worlds.test_desktop import open_notepad, write
from tests.worlds.test_erp import open_form, write_invoice
from tests.worlds.test_quest import reach_the_end
from tests.worlds.test_shop import fill_in
from tests.worlds.test_web import choose_period, log_in

Simulated: TypeAlias = type[Arm] | type[Desktop] | type[Erp] | type[Quest] | type[Shop] | type[Web]


@dataclass(frozen=True, kw_only=True)
class Stage:
    kind: Simulated
    prepare: Callable[[Hand], Awaitable[None]]
    skill: str
    target: tuple[str, str] | None
    arguments: Pairs = ()
    effect: str
    probe: tuple[str, Pairs]
    before: str
    after: str
    at: int = 1
    """Which use of the skill has the effect."""
    stored_at: int = 1
    """Which of the acts that would store something it is."""


async def do_nothing(_hand: Hand) -> None:
    pass


async def go_to_save_as(hand: Hand) -> None:
    await open_notepad(hand)
    await write(hand, "text")
    ok(await hand.do("press", key="Ctrl+S"))
    ok(await hand.do("click", await hand.zone("Documents", "folder")))
    ok(await hand.on("File name", "click"))
    ok(await hand.do("press", key="Ctrl+A"))
    ok(await hand.do("type_text", text="notes.txt"))


async def choose_report_period(hand: Hand) -> None:
    await log_in(hand)
    await choose_period(hand)


async def fill_in_invoice(hand: Hand) -> None:
    await open_form(hand)
    await write_invoice(hand)


STAGES = {
    "arm": Stage(
        kind=Arm,
        prepare=do_nothing,
        skill="pick",
        target=None,
        arguments=(("object", "red_cube"),),
        effect="picked",
        probe=("holding", (("object", "red_cube"),)),
        before="Robot cell",
        after="Robot cell",
    ),
    "desktop": Stage(
        kind=Desktop,
        prepare=go_to_save_as,
        skill="click",
        target=("Save", "button"),
        effect="file_saved",
        probe=("file_saved", (("name", "notes.txt"),)),
        before="Save As",
        after="notes.txt - Notepad",
        at=4,
    ),
    "erp": Stage(
        kind=Erp,
        prepare=fill_in_invoice,
        skill="submit",
        target=("Submit", "button"),
        effect="invoice",
        probe=("invoice_booked", (("number", "INV-1001"),)),
        before="New invoice",
        after="Invoice booked",
    ),
    "quest": Stage(
        kind=Quest,
        prepare=reach_the_end,
        skill="turn_in",
        target=("Turn in", "button"),
        effect="quest_completed",
        probe=("quest_completed", ()),
        before="Quest complete",
        after="Old mill",
    ),
    "shop": Stage(
        kind=Shop,
        prepare=fill_in,
        skill="place_order",
        target=("Place order", "button"),
        effect="order",
        probe=("order_placed", (("reference", "R-1"),)),
        before="Checkout",
        after="Thank you for your order",
    ),
    "web": Stage(
        kind=Web,
        prepare=choose_report_period,
        skill="generate",
        target=("Generate", "button"),
        effect="report",
        probe=("report_ready", (("period", "2026-Q1"),)),
        before="Dashboard",
        after="Report 2026-Q1",
    ),
}
