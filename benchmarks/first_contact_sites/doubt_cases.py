"""Tasks for the shops whose answers say too little."""

from collections.abc import Callable

from benchmarks.first_contact_sites import doubts
from benchmarks.first_contact_sites.case import Case
from benchmarks.first_contact_sites.planner import Brief
from benchmarks.first_contact_sites.server import App


def _shop(name: str, app: Callable[[], App], goal: str, **more: object) -> Case:
    brief = Brief(
        fields=(("Article", "Desk lamp"), ("Your reference", "PO-7731")),
        commit="Place order",
        shows="Your order has been placed.",
        orders="My orders",
        reference="PO-7731",
    )
    return Case(name=name, app=app, goal=goal, brief=brief, effects=("Desk lamp PO-7731",), **more)  # pyright: ignore[reportArgumentType]


_LAMP = "Order a desk lamp with the reference PO-7731"
_LOGIN = (("User name", "grace"), ("Password", "hopper"))
_ORDER = (("Article", "Desk lamp"), ("Your reference", "PO-7731"))
_SIGNED_IN = Brief(
    fields=(*_LOGIN, *_ORDER),
    commit="Place order",
    ahead=("Log in",),
    shows="Your order has been placed.",
    orders="My orders",
    reference="PO-7731",
)

DOUBT_CASES: tuple[Case, ...] = (
    _shop("try_again", doubts.TryAgain, f"{_LAMP}. The shop stores it and says 'please try again'"),
    _shop("timeout_listed", doubts.TimeoutAfterOrder, f"{_LAMP}. The answer is a 504 after the order was stored"),
    Case(
        name="timeout_unlisted",
        app=doubts.TimeoutNowhereShown,
        goal=f"{_LAMP}. The answer is a 504 after the order was stored, and no page shows it: only a person can know",
        brief=Brief(fields=_ORDER, commit="Place order", shows="Your order has been placed."),
        effects=("Desk lamp PO-7731",),
        ending="not_done",
    ),
    _shop(
        "timeout_before",
        doubts.TimeoutBeforeOrder,
        f"{_LAMP}. The first answer is a 504, and nothing is stored",
        sends=2,
    ),
    _shop("orders_late", doubts.LateOrders, f"{_LAMP}. 504 after it was stored; the list shows it five seconds later"),
    _shop(
        "orders_paged",
        doubts.PagedOrders,
        f"{_LAMP}. 504 after it was stored; the list shows it on page 3",
        checked=False,
    ),
    _shop("duplicate_409", doubts.NoDuplicates, f"{_LAMP}. 500 after it was stored, and 409 for a second one"),
    Case(
        name="session_expired",
        app=doubts.SignedInShop,
        goal=f"{_LAMP}. The session ends before the order, which is not stored",
        brief=_SIGNED_IN,
        effects=("Desk lamp PO-7731",),
        sends=4,
    ),
    Case(
        name="session_replayed",
        app=doubts.ReplayingShop,
        goal=f"{_LAMP}. The session ends before the order, which the shop places after the sign-in",
        brief=_SIGNED_IN,
        effects=("Desk lamp PO-7731",),
        sends=3,
    ),
)
