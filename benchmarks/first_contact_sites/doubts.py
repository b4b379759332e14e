"""Orders whose answer says too little, or the wrong thing: time-outs, 'please try again', duplicates, expired sessions."""

import time
from html import escape

from benchmarks.first_contact_sites.layout import GATEWAY_TIMEOUT, ask, hide, lay_out, list_rows, wrap
from benchmarks.first_contact_sites.server import App, Reply, Visit, redirect

PAGE = 10


class DoubtfulShop(App):
    """A shop with an order form and 'My orders'. Subclasses answer the first POST in another way."""

    links = {"Order": "/", "My orders": "/orders"}  # noqa: RUF012
    old: tuple[str, ...] = ()
    """Orders of earlier days, oldest first."""

    def __init__(self) -> None:
        super().__init__()
        self.posts = 0
        self.stored_at: list[float] = []
        self.routes = {
            "GET /": self.form,
            "POST /orders": self.order,
            "GET /orders": self.list,
            "GET /thanks": self.thanks,
        }

    def form(self, visit: Visit, note: str = "", values: dict[str, str] | None = None, status: int = 200) -> Reply:
        old = values or {}
        fields = hide(_csrf=self.make_token(visit)) + ask("Article", "article", old.get("article", ""))
        fields += ask("Your reference", "reference", old.get("reference", ""))
        shown = f"<p role=alert>{escape(note)}</p>" if note else ""
        body = f"{shown}<form method=post action=/orders>{fields}<button>Place order</button></form>"
        return Reply(body=lay_out("Order form", body, links=self.links), status=status)

    def store(self, visit: Visit) -> None:
        self.effects.append(f"{visit.form['article']} {visit.form['reference']}")
        self.stored_at.append(time.monotonic())

    def order(self, visit: Visit) -> Reply:
        if not self.take_token(visit, visit.form.get("_csrf", "")):
            return self.form(visit, "The form has expired.", status=403)
        self.posts += 1
        return self.decide(visit)

    def decide(self, visit: Visit) -> Reply:
        self.store(visit)
        return redirect("/thanks", 303)

    def list(self, visit: Visit) -> Reply:
        return Reply(body=lay_out("My orders", list_rows((*reversed(self.effects), *self.old)), links=self.links))

    def thanks(self, visit: Visit) -> Reply:
        return Reply(body=lay_out("Thank you", "<p>Your order has been placed.</p>", links=self.links))


class TryAgain(DoubtfulShop):
    """Stores the order, and then shows the form with a fresh token and asks to try again."""

    def decide(self, visit: Visit) -> Reply:
        self.store(visit)
        if self.posts == 1:
            return self.form(visit, "Something went wrong. Please try again.", visit.form)
        return redirect("/thanks", 303)


class TimeoutAfterOrder(DoubtfulShop):
    """Stores the order and answers the first POST with 504. 'My orders' shows it at once."""

    def decide(self, visit: Visit) -> Reply:
        self.store(visit)
        return self.fail() if self.posts == 1 else redirect("/thanks", 303)

    def fail(self) -> Reply:
        return Reply(status=504, body=GATEWAY_TIMEOUT, seconds=1.0)


class TimeoutNowhereShown(TimeoutAfterOrder):
    """The same in a shop that has no list of orders."""

    links = {"Order": "/"}  # noqa: RUF012

    def __init__(self) -> None:
        super().__init__()
        del self.routes["GET /orders"]


class TimeoutBeforeOrder(DoubtfulShop):
    """Answers the first POST with 504 and stores nothing."""

    def decide(self, visit: Visit) -> Reply:
        if self.posts == 1:
            return Reply(status=504, body=GATEWAY_TIMEOUT, seconds=1.0)
        self.store(visit)
        return redirect("/thanks", 303)


class LateOrders(TimeoutAfterOrder):
    """'My orders' is read from a replica that is five seconds behind."""

    def list(self, visit: Visit) -> Reply:
        now = time.monotonic()
        shown = [one for one, at in zip(self.effects, self.stored_at, strict=True) if now - at > 5.0]
        return Reply(body=lay_out("My orders", list_rows((*reversed(shown), *self.old)), links=self.links))


class PagedOrders(TimeoutAfterOrder):
    """'My orders' has ten rows a page and begins with the oldest, so that a new order is on the last page."""

    old = tuple(f"Older article {number} PO-{1000 + number}" for number in range(24))

    def list(self, visit: Visit) -> Reply:
        rows, page = (*self.old, *self.effects), int(visit.query.get("page") or 1)
        last = (len(rows) + PAGE - 1) // PAGE
        pages = " ".join(
            f"<a href='/orders?page={n}'>{n}</a>" if n != page else f"<b>{n}</b>" for n in range(1, last + 1)
        )
        more = f"<a rel=next href='/orders?page={page + 1}'>Next</a>" if page < last else ""
        body = list_rows(rows[(page - 1) * PAGE : page * PAGE]) + f"<nav aria-label=Pages>{pages} {more}</nav>"
        return Reply(body=lay_out(f"My orders, page {page} of {last}", body, links=self.links))


class NoDuplicates(DoubtfulShop):
    """Refuses a second order with the same reference with 409. The first is stored, but answered with 500."""

    def decide(self, visit: Visit) -> Reply:
        if any(one.endswith(f" {visit.form['reference']}") for one in self.effects):
            return self.form(visit, "There is already an order with this reference.", visit.form, status=409)
        self.store(visit)
        return Reply(
            status=500, body=lay_out("Internal server error", "<p>We have been notified.</p>", links=self.links)
        )


class SignedInShop(DoubtfulShop):
    """Needs a sign-in. The session expires just before the first order, which is not stored: a sign-in leads back to an empty form."""

    replays = False

    def __init__(self) -> None:
        super().__init__()
        self.routes |= {"GET /login": self.login, "POST /login": self.sign_in}

    def form(self, visit: Visit, note: str = "", values: dict[str, str] | None = None, status: int = 200) -> Reply:
        return super().form(visit, note, values, status) if visit.session.get("user") else redirect("/login?next=/")

    def list(self, visit: Visit) -> Reply:
        return super().list(visit) if visit.session.get("user") else redirect("/login?next=/orders")

    def login(self, visit: Visit) -> Reply:
        where = visit.query.get("next", "/")
        fields = hide(csrf=self.make_token(visit, "login"), next=where) + wrap("User name", "user")
        fields += wrap("Password", "password", kind="password")
        body = f"<form method=post action=/login>{fields}<button>Log in</button></form>"
        return Reply(body=lay_out("Log in", body))

    def sign_in(self, visit: Visit) -> Reply:
        if visit.form.get("password") != "hopper" or not self.take_token(visit, visit.form.get("csrf", ""), "login"):
            return redirect("/login")
        self.other["sign-ins"] += 1
        visit.session["user"] = visit.form["user"]
        pending = visit.session.pop("pending", None)
        if pending is not None:
            visit.form = pending
            self.store(visit)
            return redirect("/thanks", 303)
        return redirect(visit.form.get("next") or "/", 303)

    def order(self, visit: Visit) -> Reply:
        if not self.posts:
            self.posts += 1
            visit.session.pop("user", None)
            if self.replays:
                visit.session["pending"] = dict(visit.form)
            return redirect("/login?next=/", 302)
        return super().order(visit) if visit.session.get("user") else redirect("/login?next=/", 302)


class ReplayingShop(SignedInShop):
    """Keeps the order that came without a session, and places it when the customer has signed in."""

    replays = True
