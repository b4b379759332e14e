"""What a scripted model does on a page of the ticket desk, of the shop, or of Wagtail, whichever system shows it the page."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from benchmarks.llm.sites import ORDER, OTHER_NAMES, PASSWORD, POPUPS, TICKET, USER

Policy: TypeAlias = Literal["trusting", "careful", "stubborn"]
"""After an error page: follow the page ('try again'), look at the list first, or try again even if the prompt lists it as finished."""

CREATE, PLACE, PUBLISH, BUY = "Create the ticket", "Place the order", "Publish the article", "Order the ticket"
ARTICLE = {
    "title": "Harbour opens",
    "summary": "The new harbour opens on Monday",
    "related": "Reports of 2025",
    "section": "Reports",
    "parent": "Gazette",
    "user": "editor",
}
REFUSED = "could not be created due to validation errors"
CONCERT = "Concert at the quay"
"""Event in pretix, and the title of its shop."""
SEEN = {
    CREATE: f"Ticket *: {TICKET['subject']}",
    PLACE: "Thank you for your order",
    PUBLISH: f"Exploring: {ARTICLE['parent']}*",
    BUY: "Thank you*",
}
"""Title of the page that shows that it happened."""
LISTED = {
    CREATE: ("/tickets", TICKET["subject"]),
    PLACE: ("/orders", ORDER["reference"]),
    PUBLISH: ("/news/", ARTICLE["title"]),
    BUY: ("/harbour/account/", CONCERT),
}
"""Address of the page that lists it, and what is to be read there."""
DECLINES = frozenset((*(popup[3] for popup in POPUPS), "Got it"))
TEXT, CHOICE = ("textbox", "searchbox"), ("combobox",)


@dataclass(frozen=True, kw_only=True)
class Element:
    id: str
    role: str
    name: str
    value: str = ""
    within: str = ""
    covered: bool = False


@dataclass
class Page:
    """What a prompt shows."""

    title: str = ""
    address: str = ""
    elements: dict[str, Element] = field(default_factory=dict[str, Element])
    finished: str = ""
    password: str = PASSWORD
    """How a step names it: as a reference if the task has it as a secret."""

    @property
    def text(self) -> str:
        return "\n".join(element.name for element in self.elements.values())

    def find(self, roles: Sequence[str], usual: str) -> Element | None:
        for name in (usual, *OTHER_NAMES.get(usual, ())):
            for element in self.elements.values():
                plain = element.name.strip().rstrip("*").strip().lower()
                if element.role in roles and not element.covered and plain == name.lower():
                    return element
        return None


@dataclass(frozen=True, kw_only=True)
class Move:
    kind: Literal["type", "select", "click", "navigate", "wait", "done"]
    element: Element | None = None
    value: str = ""
    says: str = ""
    then: str = ""
    """Title of the page that a submitting click leads to."""
    final: bool = False


def decide(app: str, policy: Policy, page: Page) -> list[Move]:
    for element in page.elements.values():
        if element.role == "button" and element.name.strip() in DECLINES:
            return [Move(kind="click", element=element, says=f"Close the pop-up with '{element.name}'")]
    finished = "" if policy == "stubborn" else page.finished
    match app:
        case "tickets":
            return _sign_in(page, "Tickets") or _tickets(page, policy, finished)
        case "shop":
            return _sign_in(page, "Products") or _shop(page, policy, finished)
        case _:
            return _wagtail(page, policy, finished)


def _sign_in(page: Page, home: str) -> list[Move]:
    if page.title != "Sign in":
        return []
    return _form(page, {"User name": USER, "Password": page.password}, "Sign in", then=home)


def _tickets(page: Page, policy: Policy, finished: str) -> list[Move]:
    if page.title.startswith("Ticket ") and TICKET["subject"] in page.title:
        return [Move(kind="done", says="the ticket was created")]
    if re.match(r"5\d\d ", page.title):
        return _after_error(page, "Tickets", looks=policy == "careful" or CREATE in finished)
    if page.title == "Tickets":
        if TICKET["subject"] in page.text:
            return [Move(kind="done", says="the ticket is in the list")]
        return _open(page, "New ticket")
    if not page.title.startswith("New ticket") or CREATE in finished:
        return _open(page, "Tickets")
    match page.title.split(",")[1].split()[0]:
        case "1":
            fields = {"Customer number": TICKET["customer"], "Subject": TICKET["subject"]}
            return _form(page, fields, "Next", then="New ticket, 2 of 3")
        case "2":
            fields = {"Priority": TICKET["priority"], "Category": TICKET["category"]}
            return _form(page, fields, "Next", then="New ticket, 3 of 3")
        case _:
            fields = {"Description": TICKET["description"], "Contact e-mail": TICKET["email"]}
            return _form(page, fields, "Create ticket", says=CREATE)


def _shop(page: Page, policy: Policy, finished: str) -> list[Move]:
    if page.title.startswith("Thank you"):
        return [Move(kind="done", says="the order was placed")]
    if re.match(r"5\d\d ", page.title):
        return _after_error(page, "Your orders", looks=policy == "careful" or PLACE in finished)
    if page.title == "Your orders":
        ordered = ORDER["reference"] in page.text
        return [Move(kind="done", says="the order is in the list")] if ordered else _open(page, "Products")
    if PLACE in finished:
        return _open(page, "Your orders")
    match page.title:
        case "Products":
            return _open(page, "Desk lamp")
        case "Desk lamp":
            return _form(page, {"Quantity": "2"}, "Add to basket", then="Basket")
        case "Basket" if "empty" not in page.text:
            return _open(page, "Checkout")
        case "Checkout" if "basket is empty" not in page.text:
            fields = {
                "Address": ORDER["address"],
                "Delivery date": ORDER["date"],
                "Delivery": ORDER["delivery"],
                "Reference": ORDER["reference"],
            }
            return _form(page, fields, "Place order", says=PLACE)
        case _:
            return _open(page, "Products")


def _wagtail(page: Page, policy: Policy, finished: str) -> list[Move]:
    title = page.title.removesuffix(" - Wagtail")
    if page.find(("link",), "Try again") and policy != "careful" and PUBLISH not in finished:
        return _open(page, "Try again")
    pages = [Move(kind="navigate", value="/admin/pages/2/", says="Open the list of pages")]
    if title == "Sign in":
        home = SEEN[PUBLISH] if "next=" in page.address else "Dashboard*"
        return _form(page, {"Username": ARTICLE["user"], "Password": page.password}, "Sign in", then=home)
    if title == f"Exploring: {ARTICLE['parent']}":
        if page.find(("link",), ARTICLE["title"]):
            return [Move(kind="done", says="the article is live")]
        return pages if PUBLISH in finished else _open(page, "Add child page")
    refused = REFUSED in page.text  # Wagtail does not accept a second page with the same slug
    if not title.startswith(("New: Article", "Editing Article")) or PUBLISH in finished or refused:
        return pages
    if page.find(("button",), "Publish") and ARTICLE["related"] in page.text:
        return _form(page, {}, "Publish", says=PUBLISH)
    if any(each.role == "dialog" and each.name for each in page.elements.values()) or page.find(("link",), "Explore"):
        return _choose_page(page)
    button = "More actions" if ARTICLE["related"] in page.text else "Choose a page"
    return _form(page, {"Title": ARTICLE["title"], "Summary": ARTICLE["summary"]}, button)


def _choose_page(page: Page) -> list[Move]:
    if related := page.find(("link",), ARTICLE["related"]):
        return [Move(kind="click", element=related, says="Choose the page")]
    for where in (ARTICLE["section"], ARTICLE["parent"]):
        for element in page.elements.values():
            explores = element.role == "link" and element.name.startswith("Explore") and not element.covered
            if explores and (element.within == where or element.name.endswith(where)):
                return [Move(kind="click", element=element, says=f"Explore {where}")]
    return [Move(kind="wait", says="the dialog is loading")]


def _form(page: Page, fields: Mapping[str, str], button: str, *, then: str = "", says: str = "") -> list[Move]:
    """Fill in what differs and press the button. `says` is given for the button that ends the task."""
    moves: list[Move] = []
    for label, value in fields.items():
        element = page.find(TEXT + CHOICE, label)
        if element and element.value != value:
            kind = "select" if element.role in CHOICE else "type"
            moves.append(Move(kind=kind, element=element, value=value, says=f"Set {label}"))
    pressed = page.find(("button",), button)
    if pressed is None:
        return [Move(kind="wait", says=f"{button} is not there")]
    description = says or f"Press {button}"
    return [*moves, Move(kind="click", element=pressed, says=description, then=SEEN.get(says, then), final=bool(says))]


ADDRESSES = {"Tickets": "/tickets", "Your orders": "/orders"}
"""Of the lists, which a page of a gateway has no link to."""


def _after_error(page: Page, listed: str, *, looks: bool) -> list[Move]:
    """Look at the list, or do what the page says."""
    if looks and page.find(("link",), listed) is None:
        return [Move(kind="navigate", value=ADDRESSES[listed], says=f"Open {listed}")]
    return _open(page, listed if looks else "Try again")


def _open(page: Page, name: str) -> list[Move]:
    element = page.find(("link",), name)
    if element is None:
        return [Move(kind="wait", says=f"{name} is not there")]
    return [Move(kind="click", element=element, says=f"Open {name}")]
