"""Order two desk lamps."""

from benchmarks.web_apps.clerk import DONE, Clerk, Either, Final, Screen, Value, fill_field, form, press
from benchmarks.web_apps.site import SiteApplication
from midcourse.domain.expectation import Expectation, SurfaceMatches, ZoneAppears
from midcourse.domain.task import Task
from midcourse.ports.planner import PlanDraft
from midcourse.testing.sites import Effect, Shop

PRODUCT, QUANTITY, REFERENCE = "Desk lamp", "2", "PO-7731"
FORM: dict[str, Value] = {
    "Address": "1 Main Street, Springfield",
    "Delivery date": Either("2026-09-14", "14.09.2026"),
    "Delivery": "Express",
    "Reference": REFERENCE,
    "Send me offers": False,
}
ORDER = "Place the order"
THANKS = Expectation(checks=(SurfaceMatches(pattern="Thank you for your order"),))


class ShopClerk(Clerk):
    words = Shop.words

    def work(self, screen: Screen) -> PlanDraft | None:
        ordered = screen.has_done(ORDER)
        match screen.title:
            case "Your orders":
                if screen.shows_text(REFERENCE, "cell"):
                    return DONE
                return None if ordered else press(screen, "link", "Products")
            case _ if ordered or screen.title == "Thank you for your order":
                return press(screen, "link", "Your orders")
            case "Products":
                return press(screen, "link", PRODUCT)
            case title if title == PRODUCT:
                return form(screen, {"Quantity": QUANTITY}, "Add to basket")
            case "Basket" | "Checkout" if screen.shows_text("Your basket is empty."):
                return press(screen, "link", "Products")
            case "Basket":
                return self._basket(screen)
            case "Checkout":
                final = Final(says=ORDER, expect=THANKS, probe=screen.make_probe(REFERENCE, "/orders"))
                return form(screen, FORM, "Place order", final=final)
            case _:
                return press(screen, "link", "Products")

    def _basket(self, screen: Screen) -> PlanDraft | None:
        field = f"Quantity of {PRODUCT}"
        if fill_field(screen, field, QUANTITY):
            return form(screen, {field: QUANTITY}, "Update basket")
        return press(screen, "link", "Checkout")


SHOP = SiteApplication(
    name="shop",
    site=Shop,
    clerk=ShopClerk,
    task=Task(
        goal=f"Order {QUANTITY} desk lamps to 1 Main Street, Springfield, express, for 14 September 2026, reference {REFERENCE}",
        inputs=tuple((name, str(value.usual if isinstance(value, Either) else value)) for name, value in FORM.items()),
        done_when=Expectation(
            checks=(SurfaceMatches(pattern="Your orders"), ZoneAppears(role="cell", label=REFERENCE))
        ),
        secrets=("password",),
    ),
    wanted=(
        Effect(
            name="order",
            values={
                "address": "1 Main Street, Springfield",
                "date": "2026-09-14",
                "delivery": "Express",
                "reference": REFERENCE,
                "items": "2 x desk-lamp",
                "newsletter": "off",
            },
        ),
    ),
    safe=("POST /basket/*",),
    rejects=("POST /orders",),
)
