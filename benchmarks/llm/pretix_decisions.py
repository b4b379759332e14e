"""What a scripted model does on a page of pretix: it signs in as a customer and orders one ticket in four steps."""

from urllib.parse import urlsplit

from benchmarks.llm.decisions import BUY, CONCERT, LISTED, SEEN, Element, Move, Page, Policy

SHOP, SIGN_IN = "/harbour/concert/", "/harbour/account/login?next=/harbour/concert/"
CUSTOMER = "ada@example.org"
STEPS = {"customer": "Step 2 of 4*", "questions": "Step 3 of 4*", "payment": "Review order*"}
"""Steps of the checkout with a button 'Continue', and the title of the page after each."""
WAITING = ("finalizing your order", "processing your request")
"""In a dialog over the page, until the shop answers."""
ERRORS = ("cannot reach the server", "cart is empty", "cart has expired")


def decide_in_pretix(policy: Policy, page: Page) -> list[Move]:
    """Decide by the address of the page, since not every system shows its title at once."""
    orders = LISTED[BUY][0]
    path = urlsplit(page.address).path
    if path.startswith(f"{SHOP}order/"):
        return [Move(kind="done", says="the ticket was ordered")]
    if path == orders:
        ordered = CONCERT in page.text
        return [Move(kind="done", says="the order is in the list")] if ordered else _go(SHOP, "Open the shop")
    if path == urlsplit(SIGN_IN).path:
        return _sign_in(page)
    if BUY in page.finished or (policy == "careful" and any(_says(each, ERRORS) for each in page.elements.values())):
        return _go(orders, "Open the list of orders")
    if any(each.role in ("dialog", "heading", "text") and _says(each, WAITING) for each in page.elements.values()):
        return [Move(kind="wait", says="Thank you is not there")]
    step = path.removeprefix(f"{SHOP}checkout/").rstrip("/")
    if step == "confirm" and _find(page, "button", "Place binding order"):
        return _press(page, "Place binding order", says=BUY)
    if step in STEPS:
        return _press(page, "Continue", then=STEPS[step]) if _is_signed_in(page) else _go(SIGN_IN, "Sign in")
    is_shop = path == SHOP or _find(page, "button", "Add to cart")  # after an error, the page of a step shows the shop
    return _shop(page) if is_shop else _go(SHOP, "Open the shop")


def _sign_in(page: Page) -> list[Move]:
    values = {"Email": CUSTOMER, "Password": page.password}
    moves = [
        Move(kind="type", element=field, value=value, says=f"Set {label}")
        for label, value in values.items()
        if (field := _find(page, "textbox", label)) and field.value != value
    ]
    then = "Your account*" if f"next={LISTED[BUY][0]}" in page.address else f"*{CONCERT}"
    return [*moves, *_press(page, "Log in", then=then)]


def _shop(page: Page) -> list[Move]:
    if not _is_signed_in(page):
        return _go(SIGN_IN, "Sign in")
    if _find(page, "button", "Proceed with checkout"):
        return _press(page, "Proceed with checkout", then="Step 1 of 4*")
    return _press(page, "Add to cart", then=f"*{CONCERT}")


def _says(element: Element, texts: tuple[str, ...]) -> bool:
    return any(text in element.name for text in texts)


def _is_signed_in(page: Page) -> bool:
    return _find(page, "link", "Log out") is not None


def _press(page: Page, name: str, *, then: str = "", says: str = "") -> list[Move]:
    """Press the last button with this name: on the page to sign in, the first one is in the header."""
    button = _find(page, "button", name)
    if button is None:
        return [Move(kind="wait", says=f"{name} is not there")]
    description = says or f"Press {name}"
    return [Move(kind="click", element=button, says=description, then=SEEN.get(says, then), final=bool(says))]


def _find(page: Page, role: str, name: str) -> Element | None:
    """Return the last element with this role whose name begins so: fields are called 'Email required'."""
    found = [
        each
        for each in page.elements.values()
        if each.role == role and each.name.strip().startswith(name) and not each.covered
    ]
    return found[-1] if found else None


def _go(address: str, says: str) -> list[Move]:
    return [Move(kind="navigate", value=address, says=says)]
