"""A shop whose order form is new each time: tokens, nonces, timestamps, keys made by script, fields in another order.

It keeps its own log of orders. Asked for, it stores an order and says 'please try again' all the same.
"""

import random
import uuid
from typing import Literal, TypeAlias

from midcourse.domain.approval import CommitSet, Source
from midcourse.domain.argument import Scalar
from midcourse.ports.world import Call
from midcourse.worlds.base import BaseWorld, Scene, Zone, probe, skill

Fresh: TypeAlias = Literal["token", "nonce", "timestamp", "unnamed", "key"]
"""What makes each request new. `unnamed`: a hidden field of which only reading the form again tells; `key`: in a JSON body."""

ADDRESS = "POST https://shop.example/orders"


class TokenShop(BaseWorld):
    """Sells one thing at a time. `show` goes to the page of another one, `visit` comes by another campaign, `enter` says how many."""

    name = "token_shop"

    def __init__(
        self,
        fresh: Fresh = "token",
        *,
        seed: int = 0,
        says: Literal["try_again", "thanks"] = "try_again",
        probe_lies: bool = False,
        rereadable: bool = True,
    ) -> None:
        super().__init__()
        self._fresh: Fresh = fresh
        self._chance = random.Random(seed)
        self._says = says
        self._probe_lies = probe_lies
        self._rereadable = rereadable
        self._ticks = 1_763_280_000
        self.sku = "lamp"
        self.quantity = "1"
        self.campaign = "spring"
        self.message = ""
        self.orders: list[tuple[str, str, str]] = []
        """What was ordered: the thing, how many, and by which campaign."""
        self.rereads = 0
        self._given = self._made()

    async def open(self) -> str:
        await super().open()
        return "here"

    async def attach(self, handle: str) -> bool:
        return handle == "here"

    def look(self) -> Scene:
        title = "Thank you" if self.message == "Thank you" else "Checkout"
        return Scene(
            title,
            Zone(id="sku", role="heading", label=self.sku),
            Zone(id="quantity", role="textbox", label="Quantity", state=(("value", self.quantity),)),
            Zone(id="message", role="alert", label=self.message),
            Zone(id="order", role="button", label="Place order"),
        )

    @skill(transition=True)
    def show(self, sku: str) -> None:
        self.sku, self.message, self._given = sku, "", self._made()

    @skill(transition=True)
    def visit(self, campaign: str) -> None:
        self.campaign, self.message, self._given = campaign, "", self._made()

    @skill
    def enter(self, zone: Zone, text: str) -> None:
        self.quantity = text

    @skill(effect="irreversible", transition=True, commit_set="form")
    def order(self, zone: Zone) -> None:
        self.orders.append((self.sku, self.quantity, self.campaign))
        self.message = "Thank you" if self._says == "thanks" else "Something went wrong. Please try again."
        self._given = self._made()

    def form(self, zone: Zone) -> CommitSet:
        values: list[tuple[str, Scalar]] = [("sku", self.sku), ("quantity", self.quantity), *self._given]
        self._chance.shuffle(values)
        address = f"{ADDRESS}?campaign={self.campaign}"
        if self._fresh == "key":
            made: tuple[tuple[str, Source], ...] = tuple((name, "fresh") for name, _ in self._given)
            return CommitSet(address=address, values=tuple(values), sources=made)
        hidden: tuple[tuple[str, Source], ...] = tuple((name, "hidden") for name, _ in (("sku", ""), *self._given))
        return CommitSet(address=address, values=tuple(values), sources=(("quantity", "shown"), *hidden))

    async def reread(self, call: Call, names: tuple[str, ...]) -> tuple[str, ...] | None:
        self.rereads += 1
        again = dict(self._made())
        return tuple(n for n in names if again.get(n) != dict(self._given).get(n)) if self._rereadable else None

    @probe
    def exists(self, sku: str) -> bool:
        return not self._probe_lies and any(ordered == sku for ordered, *_ in self.orders)

    def _made(self) -> tuple[tuple[str, Scalar], ...]:
        self._ticks += self._chance.randint(1, 90)
        random_hex = f"{self._chance.getrandbits(64):016x}"
        match self._fresh:
            case "token":
                return (("authenticity_token", random_hex), ("csrf", random_hex[::-1]))
            case "nonce":
                return (("_wpnonce", random_hex[:10]),)
            case "timestamp":
                return (("timestamp", self._ticks),)
            case "unnamed":
                return (("k", random_hex[:6]), ("step", f"{self._ticks % 10_000}"))
            case "key":
                return (("meta.orderRef", str(uuid.UUID(int=self._chance.getrandbits(128)))),)
