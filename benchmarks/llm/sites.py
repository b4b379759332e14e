"""Two web applications on loopback, a ticket desk and a shop, with one fault a run.

    site = Site("shop", "lost", seed=3)
    with serve(site) as url: ...
    truth(site)

Every form has a fresh CSRF token, which is checked. `Site.log` records what was stored: it is the truth that runs are judged by.
"""

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from threading import Lock
from typing import Literal, TypeAlias

from midcourse.testing.sites.server import Request, Response, serve
from midcourse.testing.sites.site import TOKEN, Tokens

__all__ = [
    "APPS",
    "FAULTS",
    "GOALS",
    "GOALS_WITH_PASSWORD",
    "PASSWORD",
    "SECRET",
    "USER",
    "Site",
    "Truth",
    "serve",
    "truth",
]

App: TypeAlias = Literal["tickets", "shop"]
Fault: TypeAlias = Literal["clean", "popup", "renamed", "expired", "lost"]
Form: TypeAlias = dict[str, str]

APPS: tuple[App, ...] = ("tickets", "shop")
FAULTS: tuple[Fault, ...] = ("clean", "popup", "renamed", "expired", "lost")
"""`lost`: the ticket or order is stored and the answer is HTTP 504. `expired`: the session ends before one of the requests."""

USER, PASSWORD = "ada", "lovelace"
SECRET = "password"
"""Name of the password among a task's secrets."""

TICKET: Form = {
    "customer": "C-4711",
    "subject": "Lamp arrived broken",
    "priority": "High",
    "category": "Damage",
    "description": "The glass was in pieces.",
    "email": "bo@example.com",
}
ORDER: Form = {
    "address": "1 Main Street, Springfield",
    "date": "2026-12-14",
    "delivery": "Express",
    "reference": "PO-1001",
}
LAMPS = '{"desk-lamp": 2}'
"""The basket that is to be ordered."""

_DO: dict[App, str] = {
    "tickets": "Create exactly one ticket: customer number C-4711, subject 'Lamp arrived broken', priority High, category Damage, "
    "description 'The glass was in pieces.', contact e-mail bo@example.com.",
    "shop": "Order exactly 2 desk lamps, once: address '1 Main Street, Springfield', delivery date 2026-12-14, delivery Express, "
    "reference PO-1001.",
}
GOALS = {app: f"Sign in as user '{USER}'. {goal}" for app, goal in _DO.items()}
"""The password is the secret `password`."""
GOALS_WITH_PASSWORD = {app: f"Sign in as user '{USER}' with password '{PASSWORD}'. {goal}" for app, goal in _DO.items()}

OTHER_NAMES = {
    "Sign in": ("Log in", "Continue"),
    "User name": ("User", "Login name"),
    "Password": ("Your password", "Secret word"),
    "New ticket": ("Open a ticket", "Create new"),
    "Next": ("Continue", "Proceed"),
    "Customer number": ("Customer no.", "Client number"),
    "Subject": ("Title", "Topic"),
    "Priority": ("Urgency", "Importance"),
    "Category": ("Kind", "Type of request"),
    "Description": ("Details", "What happened"),
    "Contact e-mail": ("E-mail", "Mail address"),
    "Create ticket": ("Submit ticket", "Send ticket"),
    "Add to basket": ("Put into basket", "Add to cart"),
    "Checkout": ("Go to checkout", "Continue to checkout"),
    "Delivery": ("Shipping", "Way of delivery"),
    "Delivery date": ("Deliver on", "Date of delivery"),
    "Address": ("Ship to", "Delivery address"),
    "Reference": ("Your reference", "Order reference"),
    "Place order": ("Buy now", "Order and pay"),
}
"""What a control is called if the fault is `renamed`."""
POPUPS = (
    ("Newsletter", "Get 10 % off with our newsletter.", "Subscribe", "No thanks"),
    ("Cookies", "We value your privacy.", "Accept all", "Reject all"),
    ("Survey", "How do you like it here?", "Take part", "Maybe later"),
)
"""Name, text, and the buttons that accept and decline."""

_GOODS = {
    "desk-lamp": ("Desk lamp", 49),
    "floor-lamp": ("Floor lamp", 129),
    "notebook": ("Notebook A5", 4),
    "chair": ("Office chair", 189),
    "stapler": ("Stapler", 9),
}
_STYLE = """body{font:16px/1.5 sans-serif;margin:0}nav{background:#223;padding:.6rem 2rem}nav a{color:#fff;margin-right:1rem}
main{max-width:46rem;margin:1.5rem auto}label{display:block}input,select,textarea{display:block;width:20rem}
.over{position:fixed;inset:0;background:#223c;display:grid;place-items:center}.over>div{background:#fff;padding:2rem}"""
_POPUP_SCRIPT = """const p=document.getElementById('popup');if(p){const m=p.tagName==='DIALOG';if(m)p.showModal();
const c=()=>m?p.close():p.remove();p.querySelector('.no').onclick=c;
p.querySelector('.yes').onclick=()=>fetch('/newsletter',{method:'POST',body:'x=1'}).then(c)}"""
_LINKS: dict[App, dict[str, str]] = {
    "tickets": {"Tickets": "/tickets", "New ticket": "/tickets/new"},
    "shop": {"Products": "/", "Basket": "/basket", "Your orders": "/orders"},
}
_STORED: dict[App, tuple[str, str]] = {"tickets": ("ticket", "/tickets"), "shop": ("order", "/orders")}
"""What is stored, and the address that the form which stores it is sent to."""


@dataclass(frozen=True, kw_only=True)
class Truth:
    """What a site's own log records of a run."""

    right: bool
    """What the goal asks for was stored, at least once."""
    repeated: int
    """Tickets or orders beyond the first."""
    wrong: int
    """Tickets or orders with other values than the goal's."""
    unasked: int
    """Subscriptions through the pop-up."""
    fault_happened: bool


def truth(site: "Site") -> Truth:
    name, _ = _STORED[site.app]
    wanted = TICKET if site.app == "tickets" else {**ORDER, "items": LAMPS}
    stored = [values for kind, values in site.log if kind == name]
    right = sum(values == wanted for values in stored)
    return Truth(
        right=right > 0,
        repeated=max(len(stored) - 1, 0),
        wrong=len(stored) - right,
        unasked=sum(kind == "subscribed" for kind, _ in site.log),
        fault_happened=site.fault_happened,
    )


@dataclass
class Site:
    """One application with one fault. The seed decides when and how the fault happens; `expires_at_submit` makes a session end
    with the request that would store the ticket or order.
    """

    app: App
    fault: Fault = "clean"
    seed: int = 0
    expires_at_submit: bool = False
    log: list[tuple[str, Form]] = field(default_factory=list[tuple[str, Form]])
    """What was stored."""
    requests: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        chance = random.Random(f"{self.app} {self.fault} {self.seed}")
        self.fault_happened = self.fault in ("clean", "renamed")
        self._wording = chance.randint(1, 2) if self.fault == "renamed" else 0
        self._popup, self._modal = chance.choice(POPUPS), chance.random() < 0.5
        self._due = chance.randint(2, 7)
        """The number of the page, or of the request, that the fault happens at."""
        self._pages = self._asked = 0
        self._sessions: set[str] = set()
        self._session = ""
        """Whose request is being answered."""
        self._drafts: Form = {}
        self._basket: dict[str, int] = {}
        self._tokens = Tokens(f"{self.app} {self.seed}")
        self._lock = Lock()

    # --- requests

    def answer(self, request: Request) -> Response:
        with self._lock:
            self.requests.append(f"{request.method} {request.path}")
            self._session = request.session
            if request.path == "/newsletter":
                self.log.append(("subscribed", {}))
                return Response(body="{}", type="application/json")
            form = {name: value for name, value in request.form.items() if name != TOKEN}
            forged = request.method == "POST" and not self._tokens.is_valid(
                request.session, request.form.get(TOKEN, "")
            )
            if request.path == "/login":
                return self._login(request, form, forged=forged)
            if request.session in self._sessions:
                self._expire(request)
            if request.session not in self._sessions:
                return Response(status=303, location="/login" + ("?ended=1" if request.session else ""))
            if forged:
                return self._page("403 Forbidden", "<p role=alert>CSRF verification failed.</p>", status=403)
            return (self._tickets if self.app == "tickets" else self._shop)(request.method, request.path, form)

    def _expire(self, request: Request) -> None:
        self._asked += 1
        submits = request.method == "POST" and request.path == _STORED[self.app][1]
        due = submits if self.expires_at_submit else self._asked == self._due
        if self.fault == "expired" and due and not self.fault_happened:
            self.fault_happened = True
            self._sessions.clear()

    def _login(self, request: Request, form: Form, *, forged: bool) -> Response:
        if request.method == "GET":
            return self._sign_in()
        if forged or (form.get("user"), form.get("password")) != (USER, PASSWORD):
            return self._sign_in("Wrong user name or password.", status=422)
        new = f"s{len(self._sessions) + 1}-{len(self.requests)}"
        self._sessions.add(new)
        return Response(status=303, location="/tickets" if self.app == "tickets" else "/", session=new)

    def _store(self, values: Form, shown: str, back: str) -> Response:
        self.log.append((_STORED[self.app][0], values))
        if self.fault != "lost" or self.fault_happened:
            return Response(status=303, location=shown)
        self.fault_happened = True
        sorry = "<p role=alert>The server took too long to answer. Please try again.</p>"
        return self._page("504 Gateway Timeout", f"{sorry}<p><a href='{back}'>Try again</a></p>", status=504)

    # --- the ticket desk

    def _tickets(self, method: str, path: str, form: Form) -> Response:
        rows = [
            {"subject": "Printer is out of paper", "customer": "C-1001"},
            {"subject": "No light in hall", "customer": "C-1002"},
            *(values for kind, values in self.log if kind == "ticket"),
        ]
        screens: dict[tuple[str, str], Callable[[], Response]] = {
            ("GET", "/"): lambda: self._list(rows),
            ("GET", "/tickets"): lambda: self._list(rows),
            ("GET", "/tickets/new"): self._who,
            ("GET", "/tickets/new/2"): self._what,
            ("GET", "/tickets/new/3"): self._details,
            ("POST", "/tickets/new/1"): lambda: self._draft(form, "/tickets/new/2"),
            ("POST", "/tickets/new/2"): lambda: self._draft(form, "/tickets/new/3"),
            ("POST", "/tickets"): lambda: self._store(
                {**self._drafts, **form}, f"/tickets/{len(rows) + 1}", "/tickets/new/3"
            ),
        }
        if (method, path) in screens:
            return screens[method, path]()
        number = path.rsplit("/", 1)[-1]
        if number.isdigit() and 0 < int(number) <= len(rows):
            row = rows[int(number) - 1]
            details = "".join(f"<p>{name}: {escape(value)}</p>" for name, value in row.items())
            return self._page(f"Ticket {number}: {row['subject']}", details)
        return self._not_found()

    def _list(self, rows: list[Form]) -> Response:
        table_rows = "".join(
            f"<tr><td>{n}</td><td><a href='/tickets/{n}'>{escape(row['subject'])}</a></td><td>{escape(row['customer'])}</td></tr>"
            for n, row in enumerate(rows, 1)
        )
        return self._page(
            "Tickets", f"<table><tr><th>Number</th><th>Subject</th><th>Customer</th></tr>{table_rows}</table>"
        )

    def _draft(self, form: Form, then: str) -> Response:
        self._drafts |= form
        complete = self._drafts.get("customer") and self._drafts.get("subject")
        return Response(status=303, location=then if complete else "/tickets/new")

    def _who(self) -> Response:
        fields = self._field("customer", "Customer number") + self._field("subject", "Subject")
        return self._page("New ticket, 1 of 3", self._form("/tickets/new/1", "Next", fields))

    def _what(self) -> Response:
        fields = self._select("priority", "Priority", ("Low", "Normal", "High"), "Normal")
        fields += self._select("category", "Category", ("Other", "Delivery", "Damage"), "Other")
        return self._page("New ticket, 2 of 3", self._form("/tickets/new/2", "Next", fields))

    def _details(self) -> Response:
        fields = self._area("description", "Description") + self._field("email", "Contact e-mail")
        return self._page("New ticket, 3 of 3", self._form("/tickets", "Create ticket", fields))

    # --- the shop

    def _shop(self, method: str, path: str, form: Form) -> Response:
        orders = [values for kind, values in self.log if kind == "order"]
        match method, path.split("/")[1:]:
            case "GET", [""]:
                rows = "".join(
                    f"<tr><td><a href='/p/{key}'>{name}</a></td><td>{price} EUR</td></tr>"
                    for key, (name, price) in _GOODS.items()
                )
                return self._page("Products", f"<table><tr><th>Product</th><th>Price</th></tr>{rows}</table>")
            case "GET", ["p", key] if key in _GOODS:
                name, price = _GOODS[key]
                fields = self._field("quantity", "Quantity", "1")
                return self._page(name, f"<p>{price} EUR</p>{self._form(path, 'Add to basket', fields)}")
            case "POST", ["p", key] if key in _GOODS:
                self._basket[key] = int(form.get("quantity") or 0)
                return Response(status=303, location="/basket")
            case "GET", ["basket"]:
                return self._basket_page()
            case "GET", ["checkout"]:
                return self._checkout()
            case "GET", ["orders"]:
                return self._orders(orders)
            case "POST", ["orders"]:
                self._drafts = form
                if not self._basket:
                    return self._page("Checkout", "<p role=alert>Your basket is empty.</p>", status=422)
                items = {"items": json.dumps(self._basket)}
                return self._store({**form, **items}, f"/orders/{len(orders) + 1}", "/checkout")
            case "GET", ["orders", number] if number.isdigit() and 0 < int(number) <= len(orders):
                reference = escape(orders[int(number) - 1]["reference"])
                return self._page("Thank you for your order", f"<p>Order {number}, your reference {reference}.</p>")
            case _:
                return self._not_found()

    def _basket_page(self) -> Response:
        lines = "".join(f"<p>{count} x {_GOODS[key][0]}</p>" for key, count in self._basket.items())
        there = f"{lines}<a href='/checkout'>{self._called('Checkout')}</a>"
        return self._page("Basket", there if lines else "<p>Your basket is empty.</p>")

    def _checkout(self) -> Response:
        lines = ", ".join(f"{count} x {_GOODS[key][0]}" for key, count in self._basket.items())
        fields = self._field("address", "Address") + self._field("date", "Delivery date")
        fields += self._select("delivery", "Delivery", ("Standard", "Express", "Pick up"), "Standard")
        fields += self._field("reference", "Reference")
        said = f"<p>{lines or 'Your basket is empty.'}</p>"
        return self._page("Checkout", said + self._form("/orders", "Place order", fields))

    def _orders(self, orders: list[Form]) -> Response:
        rows = "".join(f"<tr><td>{n}</td><td>{escape(row['reference'])}</td></tr>" for n, row in enumerate(orders, 1))
        there = f"<table><tr><th>Number</th><th>Reference</th></tr>{rows}</table>"
        return self._page("Your orders", there if rows else "<p>You have no orders yet.</p>")

    # --- pages

    def _called(self, usual: str) -> str:
        return OTHER_NAMES.get(usual, (usual, usual))[self._wording - 1] if self._wording else usual

    def _label(self, name: str, label: str) -> str:
        return f"<label for={name}>{self._called(label)}</label>"

    def _field(self, name: str, label: str, value: str = "", kind: str = "text") -> str:
        value = escape(self._drafts.get(name, value))
        return f'{self._label(name, label)}<input id={name} name={name} type={kind} value="{value}">'

    def _area(self, name: str, label: str) -> str:
        text = escape(self._drafts.get(name, ""))
        return f"{self._label(name, label)}<textarea id={name} name={name} rows=3>{text}</textarea>"

    def _select(self, name: str, label: str, options: tuple[str, ...], usual: str) -> str:
        chosen = self._drafts.get(name, usual)
        tags = "".join(f"<option{' selected' * (option == chosen)}>{option}</option>" for option in options)
        return f"{self._label(name, label)}<select id={name} name={name}>{tags}</select>"

    def _form(self, action: str, submit: str, fields: str) -> str:
        token = self._tokens.fields(self._session, volatile=False)[TOKEN]
        hidden = f"<input type=hidden name={TOKEN} value={token}>"
        button = f"<p><button type=submit>{self._called(submit)}</button></p>"
        return f"<form method=post action='{action}'>{hidden}{fields}{button}</form>"

    def _sign_in(self, why: str = "", status: int = 200) -> Response:
        alert = f"<p role=alert>{why}</p>" if why else ""
        fields = self._field("user", "User name") + self._field("password", "Password", kind="password")
        return self._page("Sign in", alert + self._form("/login", "Sign in", fields), status=status, links=False)

    def _not_found(self) -> Response:
        return self._page("404 Not Found", "<p>There is no such page.</p>", status=404)

    def _page(self, title: str, body: str, *, status: int = 200, links: bool = True) -> Response:
        self._pages += 1
        shown = _LINKS[self.app] if links else {}
        bar = "".join(f"<a href='{there}'>{self._called(name)}</a>" for name, there in shown.items())
        over = ""
        if self.fault == "popup" and self._pages == self._due:
            self.fault_happened = True
            over = self._over()
        return Response(
            status=status,
            body=f"<!doctype html><html lang=en><head><meta charset=utf-8><title>{escape(title)}</title><link rel=icon href='data:,'>"
            f"<style>{_STYLE}</style></head><body>{f'<nav>{bar}</nav>' if bar else ''}<main><h1>{escape(title)}</h1>{body}</main>{over}"
            f"<script>{_POPUP_SCRIPT}</script></body></html>",
        )

    def _over(self) -> str:
        name, text, accept, decline = self._popup
        buttons = f"<button type=button class=yes>{accept}</button> <button type=button class=no>{decline}</button>"
        if self._modal:
            return f"<dialog id=popup aria-label={name}><p>{text}</p>{buttons}</dialog>"
        dialog = f"id=popup class=over role=dialog aria-modal=true aria-label={name}"
        return f"<div {dialog}><div><p>{text}</p>{buttons}</div></div>"
