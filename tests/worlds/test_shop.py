"""The shop, worked by hand."""

from pathlib import Path

from midcourse.domain.approval import CommitSet
from midcourse.domain.observation import Zone
from midcourse.worlds.simulated import Shop, read_effects
from tests.worlds.support import FakeClock, Hand, ok


async def fill_in(hand: Hand, reference: str = "R-1", quantity: int = 2) -> None:
    """To the point where one press places the order."""
    ok(await hand.do("go", page="catalogue"))
    ok(await hand.on("Desk lamp", "set_quantity", quantity=quantity))
    ok(await hand.do("go", page="checkout"))
    ok(await hand.on("Address", "fill", text="1 Main Street"))
    ok(await hand.on("Reference", "fill", text=reference))


async def test_an_order_is_placed_confirmed_listed_and_logged(tmp_path: Path) -> None:
    log = tmp_path / "effects.jsonl"
    hand = Hand(Shop(effects=str(log), clock=FakeClock()))
    await fill_in(hand)
    assert await hand.world.probe("order_placed", (("reference", "R-1"),)) == "absent"
    ok(await hand.on("Place order", "place_order"))

    assert await hand.title() == "Thank you for your order"
    assert await hand.world.probe("order_placed", (("reference", "R-1"),)) == "present"
    (order,) = read_effects(log)
    assert order.effect == "order"
    assert {**order.values, "number": ""} == {
        "number": "",
        "reference": "R-1",
        "items": {"Desk lamp": 2},
        "total": 98.0,
    }
    number = order.get("number")
    read = await hand.on(f"Order {number}", "read_order")
    assert read.data == (("order_number", number), ("reference", "R-1"))
    ok(await hand.do("go", page="orders"))
    assert (await hand.zone(f"Order {number}")).get("total") == 98.0


async def test_the_commit_set_is_the_whole_form_and_reading_it_sends_nothing(tmp_path: Path) -> None:
    log = tmp_path / "effects.jsonl"
    hand = Hand(Shop(effects=str(log)))
    await fill_in(hand)
    before = await hand.see()
    call = hand.call("place_order", await hand.zone("Place order"))
    assert await hand.world.commit_set(call) == CommitSet(
        values=(
            ("item desk-lamp", 2),
            ("address", "1 Main Street"),
            ("reference", "R-1"),
            ("currency", "EUR"),
            ("total", 98.0),
        ),
        address="https://shop.example/orders",
    )
    assert (await hand.see()).fingerprint == before.fingerprint
    assert read_effects(log) == ()
    ok(await hand.do("go", page="basket"))
    assert await hand.world.commit_set(call) is None


async def test_the_shop_takes_the_same_order_twice(tmp_path: Path) -> None:
    log = tmp_path / "effects.jsonl"
    hand = Hand(Shop(effects=str(log)))
    for _ in range(2):
        await fill_in(hand)
        ok(await hand.on("Place order", "place_order"))
    first, second = read_effects(log)
    assert first.get("reference") == second.get("reference")
    assert first.get("number") != second.get("number")


async def test_numbers_depend_on_the_seed_only() -> None:
    numbers: list[str] = []
    for seed in (1, 1, 2):
        world = Shop(seed=seed)
        hand = Hand(world)
        await fill_in(hand)
        ok(await hand.on("Place order", "place_order"))
        numbers.append(world.happened("order")[0].get("number"))
    assert numbers[0] == numbers[1] != numbers[2]


async def test_an_incomplete_form_is_turned_down_on_the_page() -> None:
    world = Shop()
    hand = Hand(world)
    ok(await hand.do("go", page="checkout"))
    for alert in ("Your basket is empty.", "Please enter a delivery address.", "Please enter a reference."):
        ok(await hand.on("Place order", "place_order"))
        assert (await hand.zone(alert)).role == "alert"
        if "basket" in alert:
            ok(await hand.do("go", page="catalogue"))
            ok(await hand.on("Stapler", "set_quantity", quantity=1))
            ok(await hand.do("go", page="checkout"))
        elif "address" in alert:
            ok(await hand.on("Address", "fill", text="here"))
    assert world.happened() == ()


async def test_quantities_are_set_and_not_added() -> None:
    hand = Hand(Shop())
    for _ in range(2):
        ok(await hand.on("Stapler", "set_quantity", quantity=3))
    ok(await hand.do("click", await hand.zone("Basket", "link")))
    assert (await hand.zone("Stapler")).get("quantity") == 3
    assert (await hand.zone("Total")).get("total") == 29.7
    ok(await hand.on("Stapler", "set_quantity", quantity=0))
    assert "Stapler" not in [zone.label for zone in (await hand.see()).zones]


async def test_skills_on_the_wrong_zone_say_so() -> None:
    hand = Hand(Shop())
    await fill_in(hand)
    total = await hand.zone("Total")
    for skill, arguments in (
        ("fill", {"text": "x"}),
        ("set_quantity", {"quantity": 1}),
        ("place_order", {}),
        ("read_order", {}),
    ):
        assert (await hand.do(skill, total, **arguments)).reason == "wrong_target"
    assert (await hand.on("Place order", "click")).reason == "wrong_skill"
    assert (await hand.on("Desk lamp", "set_quantity", quantity=-1)).reason == "bad_arguments"
    assert (await hand.do("go", page="moon")).reason == "bad_arguments"
    assert (await hand.do("fill", Zone(id="gone", role="textbox", label=""), text="")).reason == "target_not_visible"


async def test_every_page_has_the_origin_and_address_of_the_shop() -> None:
    hand = Hand(Shop())
    for page in ("catalogue", "basket", "checkout", "orders"):
        ok(await hand.do("go", page=page))
        surface = (await hand.see()).surface
        assert (surface.origin, surface.address) == ("https://shop.example", f"https://shop.example/{page}")


async def test_a_torn_line_in_the_log_never_happened(tmp_path: Path) -> None:
    log = tmp_path / "effects.jsonl"
    hand = Hand(Shop(effects=str(log)))
    await fill_in(hand)
    ok(await hand.on("Place order", "place_order"))
    with log.open("a") as file:
        file.write('{"effect": "order", "at": 1')
    assert len(read_effects(log)) == 1
    again = Hand(Shop(effects=str(log)))
    await fill_in(again, reference="R-2")
    ok(await again.on("Place order", "place_order"))
    assert [order.get("reference") for order in read_effects(log)] == ["R-1", "R-2"]
