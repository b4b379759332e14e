"""A shop: products, a basket, a checkout. The confirmation page empties the basket, not the order."""

import re
from dataclasses import dataclass
from html import escape
from typing import ClassVar

from midcourse.testing.sites.drift import CALM, Drift
from midcourse.testing.sites.site import Effect, Site
from midcourse.testing.sites.view import NOTHING, Given, View, Words

DELIVERIES = ("Standard", "Express", "Pick up")
LINKS = {"Products": "/", "Basket": "/basket", "Your orders": "/orders"}
ISO_DATE = re.compile(r"(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})")
DOTTED_DATE = re.compile(r"(?P<day>\d{2})\.(?P<month>\d{2})\.(?P<year>\d{4})")


@dataclass(frozen=True, kw_only=True)
class Product:
    sku: str
    name: str
    cents: int


PRODUCTS = {
    product.sku: product
    for product in (
        Product(sku="desk-lamp", name="Desk lamp", cents=4900),
        Product(sku="floor-lamp", name="Floor lamp", cents=12900),
        Product(sku="notebook", name="Notebook A5", cents=450),
        Product(sku="chair", name="Office chair", cents=18900),
        Product(sku="stapler", name="Stapler", cents=990),
    )
}


class Shop(Site):
    """A web shop: products, a basket and a checkout. The confirmation page empties the basket, not the order itself."""

    words: ClassVar[Words] = {
        "Add to basket": ("Put into basket", "Add to cart"),
        "Basket": ("Your basket", "Cart"),
        "Checkout": ("Go to checkout", "Continue to checkout"),
        "Delivery": ("Shipping", "Way of delivery"),
        "Delivery date": ("Deliver on", "Date of delivery"),
        "Place order": ("Buy now", "Order and pay"),
        "Reference": ("Your reference", "Order reference"),
        "Update basket": ("Update", "Change quantities"),
        "Your orders": ("Orders", "Order history"),
    }
    once = ("order", "subscribed")
    forgets = ("delivery",)

    def __init__(self, *, seed: int = 0, drift: Drift = CALM, tokens: bool = True, volatile: bool = False) -> None:
        super().__init__(seed=seed, drift=drift, tokens=tokens, volatile=volatile)
        self._basket: dict[str, int] = {}

    def form_of(self, path: str) -> str:
        match path.split("/")[1:]:
            case ["orders"]:
                return "/checkout"
            case ["basket", "quantities"]:
                return "/basket"
            case _:
                return path

    def problems(self, path: str, form: Given) -> Given:
        if path != "/orders":
            return NOTHING
        found = {name: "Please fill this in." for name in ("address", "reference") if not form.get(name, "").strip()}
        pattern, example = (DOTTED_DATE, "31.12.2026") if self.strict else (ISO_DATE, "2026-12-31")
        if not pattern.fullmatch(form.get("date", "")):
            found["date"] = f"Write the date like {example}."
        if not self._basket:
            found["basket"] = "Your basket is empty."
        return found

    def find_effect(self, path: str, form: Given) -> Effect | None:
        if path != "/orders":
            return None
        items = ", ".join(f"{quantity} x {sku}" for sku, quantity in sorted(self._basket.items()))
        texts = {name: form.get(name, "") for name in ("address", "delivery", "reference")}
        return Effect(
            name="order",
            values={
                **texts,
                "items": items,
                "date": _iso(form.get("date", "")),
                "newsletter": form.get("newsletter", "off"),
            },
        )

    def carry_out(self, path: str, form: Given) -> str:
        match path.split("/")[1:]:
            case ["orders"]:
                return f"/orders/{len(self._orders())}"
            case ["basket", "quantities"]:
                wanted = {sku: _number(form.get(sku, "")) for sku in self._basket}
                self._basket = {sku: quantity for sku, quantity in wanted.items() if quantity}
            case ["basket", sku] if sku in PRODUCTS:
                self._basket[sku] = self._basket.get(sku, 0) + _number(form.get("quantity", ""))
            case _:
                pass
        return "/basket"

    def page(self, path: str, view: View, given: Given, errors: Given) -> str | None:
        match path.split("/")[1:]:
            case [""]:
                rows = [
                    [view.link(product.name, f"/basket/{product.sku}"), _price(product.cents)]
                    for product in PRODUCTS.values()
                ]
                return view.page("Products", view.table(["Product", "Price"], rows), links=LINKS)
            case ["basket"]:
                return self._basket_page(view)
            case ["basket", sku] if sku in PRODUCTS:
                fields = [view.field("quantity", "Quantity", {"quantity": "1", **given})]
                form = view.form(path, fields, "Add to basket")
                return view.page(PRODUCTS[sku].name, view.text(_price(PRODUCTS[sku].cents)), form, links=LINKS)
            case ["checkout"]:
                return self._checkout_page(view, given, errors)
            case ["orders"]:
                rows = [
                    [str(n), escape(order["reference"]), order["items"]]
                    for n, order in enumerate(self._orders(), start=1)
                ]
                return view.page("Your orders", view.table(["Number", "Reference", "Items"], rows), links=LINKS)
            case ["orders", number] if number.isdigit() and 0 < int(number) <= len(self._orders()):
                self._basket.clear()
                reference = self._orders()[int(number) - 1]["reference"]
                sentence = f"Order {number}, your reference {reference}."
                return view.page("Thank you for your order", view.text(sentence), links=LINKS)
            case _:
                return None

    def _basket_page(self, view: View) -> str:
        if not self._basket:
            return view.page("Basket", view.text("Your basket is empty."), links=LINKS)
        fields = [
            view.field(sku, f"Quantity of {PRODUCTS[sku].name}", {sku: str(quantity)})
            for sku, quantity in self._basket.items()
        ]
        form = view.form("/basket/quantities", fields, "Update basket")
        return view.page("Basket", form, view.link("Checkout", "/checkout"), links=LINKS)

    def _checkout_page(self, view: View, given: Given, errors: Given) -> str:
        lines = ", ".join(f"{quantity} x {PRODUCTS[sku].name}" for sku, quantity in self._basket.items())
        total = sum(PRODUCTS[sku].cents * quantity for sku, quantity in self._basket.items())
        fields = [
            view.field("address", "Address", given, errors),
            view.field("date", "Delivery date", given, errors),
            view.select("delivery", "Delivery", DELIVERIES, given),
            view.field("reference", "Reference", given, errors),
            view.checkbox("newsletter", "Send me offers", checked=True),
        ]
        wrong = errors.get("basket") or ("Please correct the marked fields." if errors else "")
        summary = view.text(f"{lines}: {_price(total)}" if lines else "Your basket is empty.")
        return view.page(
            "Checkout", view.alert(wrong), summary, view.form("/orders", fields, "Place order"), links=LINKS
        )

    def _orders(self) -> list[Given]:
        return [dict(effect.values) for effect in self.effects if effect.name == "order"]


def _price(cents: int) -> str:
    return f"{cents / 100:.2f} EUR"


def _number(text: str) -> int:
    return min(int(text), 99) if text.isdigit() else 0


def _iso(date: str) -> str:
    """The date as it is kept, in whichever way it was written."""
    found = DOTTED_DATE.fullmatch(date)
    return f"{found['year']}-{found['month']}-{found['day']}" if found else date
