"""The ERP, worked by hand."""

from pathlib import Path

import pytest

from midcourse.domain.argument import Scalar
from midcourse.worlds.simulated import Erp, Fault, read_effects
from tests.worlds.support import Hand, ok

INVOICE: dict[str, Scalar] = {
    "Supplier": "Harbour Supplies",
    "Invoice number": "INV-1001",
    "Amount": 1250.5,
    "Date": "2026-03-31",
    "Cost centre": "4100",
}


async def open_form(hand: Hand, password: str = "lovelace") -> None:
    """From the desktop to an empty invoice."""
    if await hand.title() == "Desktop":
        ok(await hand.on("ERP", "double_click"))
    ok(await hand.on("User", "fill", text="ada"))
    ok(await hand.on("Password", "fill", text=password))
    ok(await hand.on("Log in", "click"))
    ok(await hand.on("Invoices", "click"))
    ok(await hand.on("New invoice", "click"))


async def write_invoice(hand: Hand, **instead: Scalar) -> None:
    """To the point where one press books it. Fields go by the first word of their label."""
    for label, value in INVOICE.items():
        value = instead.get(label.split()[0].lower(), value)
        if isinstance(value, float):
            ok(await hand.on(label, "fill_amount", amount=value))
        else:
            ok(await hand.on(label, "fill", text=value))


async def test_an_invoice_is_booked_confirmed_listed_and_logged(tmp_path: Path) -> None:
    log = tmp_path / "effects.jsonl"
    hand = Hand(Erp(effects=str(log)))
    await open_form(hand)
    await write_invoice(hand)
    assert await hand.world.probe("invoice_booked", (("number", "INV-1001"),)) == "absent"
    ok(await hand.on("Submit", "submit"))

    assert await hand.title() == "Invoice booked"
    assert await hand.world.probe("invoice_booked", (("number", "INV-1001"),)) == "present"
    (invoice,) = read_effects(log)
    assert invoice.effect == "invoice"
    assert {**invoice.values, "document": ""} == {
        "document": "",
        "supplier": "Harbour Supplies",
        "number": "INV-1001",
        "amount": 1250.5,
        "date": "2026-03-31",
        "cost_centre": "4100",
    }
    read = await hand.on("Invoice INV-1001", "read_document")
    assert read.data == (("document", invoice.get("document")),)
    ok(await hand.on("Invoices", "click"))
    assert (await hand.zone("Invoice INV-1001")).get("amount") == 1250.5


async def test_the_same_invoice_twice_is_booked_twice() -> None:
    world = Erp()
    hand = Hand(world)
    await open_form(hand)
    for _ in range(2):
        await write_invoice(hand)
        ok(await hand.on("Submit", "submit"))
        ok(await hand.on("New invoice", "click"))
    first, second = world.happened("invoice")
    assert first.get("number") == second.get("number")
    assert first.get("document") != second.get("document")


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("supplier", "  ", "a supplier is missing"),
        ("invoice", "1001", "the invoice number must be like INV-1001"),
        ("amount", 0.0, "the amount must be more than 0, with two decimals at most"),
        ("amount", -5.0, "the amount must be more than 0, with two decimals at most"),
        ("amount", 1.005, "the amount must be more than 0, with two decimals at most"),
        ("amount", "1.250,50", "the amount must be more than 0, with two decimals at most"),
        ("date", "31.03.2026", "the date must be like 2026-03-31"),
        ("date", "2026-02-30", "the date must be like 2026-03-31"),
        ("cost", "41", "the cost centre must have four digits"),
    ],
)
async def test_malformed_value_is_reported_at_its_field_and_nothing_is_booked(
    field: str, value: Scalar, says: str
) -> None:
    world = Erp()
    hand = Hand(world)
    await open_form(hand)
    await write_invoice(hand, **{field: value})
    ok(await hand.on("Submit", "submit"))
    assert await hand.title() == "New invoice"
    assert (await hand.zone(f"Not booked: {says}")).role == "alert"
    wrong = [zone.label for zone in (await hand.see()).zones if zone.get("error")]
    assert [label.split()[0].lower() for label in wrong] == [field]
    assert world.happened() == ()

    await write_invoice(hand)
    assert not any(zone.role == "alert" or zone.get("error") for zone in (await hand.see()).zones)
    ok(await hand.on("Submit", "submit"))
    assert len(world.happened("invoice")) == 1


async def test_all_errors_of_a_form_are_reported_at_once() -> None:
    hand = Hand(Erp())
    await open_form(hand)
    ok(await hand.on("Submit", "submit"))
    alert = next(zone for zone in (await hand.see()).zones if zone.role == "alert")
    assert alert.label.count(";") == 4


async def test_an_amount_may_be_written_as_text() -> None:
    world = Erp()
    hand = Hand(world)
    await open_form(hand)
    await write_invoice(hand, amount="99.90")
    ok(await hand.on("Submit", "submit"))
    assert world.happened("invoice")[0].get("amount") == 99.9


async def test_the_commit_set_is_the_whole_form_and_reading_it_books_nothing() -> None:
    world = Erp()
    hand = Hand(world)
    await open_form(hand)
    await write_invoice(hand)
    commit = await world.commit_set(hand.call("submit", await hand.zone("Submit")))
    assert commit is not None
    assert dict(commit.values) == {
        "supplier": "Harbour Supplies",
        "number": "INV-1001",
        "amount": 1250.5,
        "date": "2026-03-31",
        "cost_centre": "4100",
        "ledger": "payables",
    }
    assert commit.address == "erp://invoices/new"
    assert world.happened() == ()
    assert await world.commit_set(hand.call("submit", await hand.zone("Cancel"))) is None


async def test_wrong_credentials_are_reported() -> None:
    hand = Hand(Erp(username="ada", password="hopper"))
    ok(await hand.on("ERP", "double_click"))
    ok(await hand.on("User", "fill", text="ada"))
    ok(await hand.on("Password", "fill", text="lovelace"))
    ok(await hand.on("Log in", "click"))
    assert (await hand.zone("Unknown user or wrong password.")).role == "alert"
    assert (await hand.zone("Password")).get("filled") is False
    await open_form(hand, password="hopper")
    assert await hand.title() == "New invoice"


@pytest.mark.parametrize(("kind", "falls_back_to"), [("expired", "ERP login"), ("dismissed", "Invoices")])
async def test_a_form_that_is_lost_is_empty_the_next_time(kind: str, falls_back_to: str) -> None:
    faults = [{"kind": kind, "skill": "submit"}]
    hand = Hand(Erp(faults=faults))
    await open_form(hand)
    await write_invoice(hand)
    assert (await hand.on("Submit", "submit")).reason == "target_not_visible"
    assert await hand.title() == falls_back_to
    if kind == "expired":
        await open_form(hand)
    else:
        ok(await hand.on("New invoice", "click"))
    assert (await hand.zone("Supplier")).get("value") == ""


async def test_the_list_shows_the_last_invoices_and_the_buttons_lead_where_they_say() -> None:
    hand = Hand(Erp())
    await open_form(hand)
    for number in range(25):
        await write_invoice(hand, invoice=f"INV-{2000 + number}")
        ok(await hand.on("Submit", "submit"))
        ok(await hand.on("New invoice", "click"))
    ok(await hand.on("Cancel", "click"))
    listed = [zone.label for zone in (await hand.see()).zones if zone.role == "invoice"]
    assert (len(listed), listed[-1]) == (20, "Invoice INV-2024")
    ok(await hand.on("Main menu", "click"))
    assert await hand.title() == "ERP"


async def test_skills_on_the_wrong_zone_say_so() -> None:
    hand = Hand(Erp(faults=[Fault(kind="popup", skill="wait")]))
    assert (await hand.on("Recycle Bin", "double_click")).reason == "wrong_target"
    await open_form(hand)
    for skill, arguments in (
        ("submit", {}),
        ("read_document", {}),
        ("fill", {"text": "x"}),
        ("fill_amount", {"amount": 1.0}),
    ):
        assert (await hand.on("Cancel", skill, **arguments)).reason == "wrong_target"
    assert (await hand.on("Submit", "click")).reason == "wrong_skill"
