"""Forms with one peculiarity each: 307 and 308, a confirm() dialog, a frame, two buttons, GET with an effect, an upload, a trap."""

import hashlib
from html import escape

from benchmarks.first_contact_sites.layout import ask, choose, hide, lay_out, list_rows, wrap
from benchmarks.first_contact_sites.server import App, Handler, Reply, Visit, redirect


class MovedOrders(App):
    """Answers the POST with 307 or 308, so that the browser sends the same body again to the new address, which stores it."""

    def __init__(self, status: int) -> None:
        super().__init__()
        self._status = status
        self.routes = {"GET /": self.form, "POST /orders": self.move, "POST /v2/orders/": self.order}
        self.routes["GET /v2/orders/1"] = self.show

    def form(self, visit: Visit) -> Reply:
        fields = (
            hide(csrf=self.make_token(visit))
            + wrap("Article", "article")
            + wrap("Pieces", "pieces", "1", kind="number")
        )
        return Reply(
            body=lay_out("Spare parts", f"<form method=post action=/orders>{fields}<button>Order</button></form>")
        )

    def move(self, visit: Visit) -> Reply:
        self.other["moved"] += 1
        return redirect("/v2/orders/", self._status)

    def order(self, visit: Visit) -> Reply:
        if not self.take_token(visit, visit.form.get("csrf", "")):
            return Reply(status=403, body=lay_out("Expired", "<p>This form has expired.</p>"))
        self.effects.append(f"{visit.form['pieces']} x {visit.form['article']}")
        return redirect("/v2/orders/1", 303)

    def show(self, visit: Visit) -> Reply:
        return Reply(body=lay_out("Order 1", "<p>Your parts will be sent today.</p>"))


class ConfirmedDeletion(App):
    """Deletes a project after the browser's confirm() dialog; a prompt in the page asks for the name."""

    def __init__(self) -> None:
        super().__init__()
        self.routes = {"GET /": self.form, "POST /projects/alpha/delete": self.delete, "GET /projects": self.list}

    def form(self, visit: Visit) -> Reply:
        fields = hide(csrf=self.make_token(visit)) + ask("Type the project's name to confirm", "name")
        body = (
            "<form method=post action=/projects/alpha/delete onsubmit=\"return confirm('Delete the project alpha for good?')\">"
            f"{fields}<button class=danger>Delete project</button></form>"
        )
        return Reply(body=lay_out("Settings of alpha", body, links={"Projects": "/projects"}))

    def delete(self, visit: Visit) -> Reply:
        if not self.take_token(visit, visit.form.get("csrf", "")) or visit.form.get("name") != "alpha":
            return self.form(visit)
        self.effects.append("alpha deleted")
        return redirect("/projects?deleted=alpha", 303)

    def list(self, visit: Visit) -> Reply:
        body = "<p>Project alpha was deleted.</p>" if self.effects else "<ul><li>alpha</li></ul>"
        return Reply(body=lay_out("Projects", body + "<ul><li>beta</li></ul>"))


class FramedForm(App):
    """A contact form in a frame of the same origin. The confirmation is shown in the frame."""

    def __init__(self) -> None:
        super().__init__()
        self.routes = {"GET /": self.outer, "GET /embed/contact": self.inner, "POST /embed/contact": self.send}

    def outer(self, visit: Visit) -> Reply:
        body = "<p>Write to us:</p><iframe src=/embed/contact title='Contact form' width=600 height=400></iframe>"
        return Reply(body=lay_out("Contact", body))

    def inner(self, visit: Visit, note: str = "") -> Reply:
        fields = (
            hide(nonce=self.make_token(visit))
            + wrap("Your name", "name")
            + ("<label>Message <textarea name=message></textarea></label>")
        )
        form = (
            f"<p>{escape(note)}</p><form method=post action=/embed/contact>{fields}<button>Send message</button></form>"
        )
        return Reply(body=f"<!doctype html><title>Form</title><body>{form}")

    def send(self, visit: Visit) -> Reply:
        if not self.take_token(visit, visit.form.get("nonce", "")):
            return self.inner(visit, "Please send it again.")
        self.effects.append(f"{visit.form['name']}: {visit.form['message']}")
        return Reply(body="<!doctype html><title>Sent</title><body><p>Thank you, we will answer soon.</p>")


class TwoButtons(App):
    """Saves a draft or sends the invoice, by the button's `formaction`. The draft's button is the first one."""

    def __init__(self) -> None:
        super().__init__()
        self.routes = {"GET /": self.form, "POST /invoices/draft": self.draft, "POST /invoices/send": self.send}
        self.routes["GET /invoices/sent"] = self.sent

    def form(self, visit: Visit) -> Reply:
        fields = hide(csrf=self.make_token(visit)) + ask("Customer", "customer") + ask("Total", "total")
        body = (
            f"<form method=post action=/invoices/draft>{fields}<button name=do value=draft>Save draft</button> "
            "<button name=do value=send formaction=/invoices/send>Send invoice</button></form>"
        )
        return Reply(body=lay_out("New invoice", body))

    def draft(self, visit: Visit) -> Reply:
        self.effects.append(f"draft for {visit.form['customer']}")
        return redirect("/", 303)

    def send(self, visit: Visit) -> Reply:
        if not self.take_token(visit, visit.form.get("csrf", "")) or visit.form.get("do") != "send":
            return redirect("/", 303)
        self.effects.append(f"invoice to {visit.form['customer']}: {visit.form['total']}")
        return redirect("/invoices/sent", 303)

    def sent(self, visit: Visit) -> Reply:
        return Reply(body=lay_out("Invoices", "<p>The invoice was sent to the customer.</p>"))


class GetSubscription(App):
    """Subscribes with a GET form, as old mailing lists do. Every request is stored, also a reload."""

    def __init__(self) -> None:
        super().__init__()
        self.routes = {"GET /": self.form, "GET /subscribe": self.subscribe}

    def form(self, visit: Visit) -> Reply:
        fields = wrap("E-mail address", "email", kind="email") + choose("List", "list", ("announce", "devel"))
        return Reply(
            body=lay_out("Mailing lists", f"<form action=/subscribe>{fields}<button>Subscribe me</button></form>")
        )

    def subscribe(self, visit: Visit) -> Reply:
        if not visit.query.get("email"):
            return redirect("/")
        self.effects.append(f"{visit.query['email']} to {visit.query['list']}")
        return Reply(body=lay_out("Subscribed", "<p>You are now on the list.</p>"))


class UploadedReceipts(App):
    """Claims expenses with a file, as multipart/form-data. The log has the file's digest."""

    def __init__(self) -> None:
        super().__init__()
        self.routes = {"GET /": self.form, "POST /expenses": self.claim, "GET /expenses": self.list}

    def form(self, visit: Visit) -> Reply:
        fields = (
            hide(csrf=self.make_token(visit), MAX_FILE_SIZE="30000")
            + ask("Amount", "amount")
            + ask("Receipt", "receipt", kind="file", more="accept='.txt,.pdf'")
        )
        body = f"<form method=post action=/expenses enctype=multipart/form-data>{fields}<button>Submit claim</button></form>"
        return Reply(body=lay_out("Expenses", body, links={"New": "/", "My claims": "/expenses"}))

    def claim(self, visit: Visit) -> Reply:
        if not self.take_token(visit, visit.form.get("csrf", "")) or "receipt" not in visit.files:
            return redirect("/", 303)
        name, content = visit.files["receipt"]
        self.effects.append(f"{visit.form['amount']} {name} {hashlib.sha256(content).hexdigest()[:8]}")
        return redirect("/expenses?new=1", 303)

    def list(self, visit: Visit) -> Reply:
        note = "Your claim was submitted." if visit.query.get("new") else ""
        return Reply(body=lay_out("My claims", list_rows(self.effects, "You have no claims."), flash=note))


class Honeypot(App):
    """Always says thanks, but drops a message whose invisible field is filled."""

    def __init__(self) -> None:
        super().__init__()
        self.routes = {"GET /": self.form, "POST /guestbook": self.sign, "GET /guestbook": self.list}

    def form(self, visit: Visit) -> Reply:
        trap = "<div style='position:absolute;left:-9999px' aria-hidden=true><label>Name <input name=name tabindex=-1></label></div>"
        fields = hide(csrf=self.make_token(visit)) + trap + wrap("Name", "n4me") + wrap("Your words", "words")
        body = f"<form method=post action=/guestbook>{fields}<button>Sign the guest book</button></form>"
        return Reply(body=lay_out("Guest book", body))

    def sign(self, visit: Visit) -> Reply:
        if self.take_token(visit, visit.form.get("csrf", "")) and not visit.form.get("name"):
            self.effects.append(f"{visit.form['n4me']}: {visit.form['words']}")
        else:
            self.other["dropped"] += 1
        return redirect("/guestbook?thanks", 303)

    def list(self, visit: Visit) -> Reply:
        return Reply(body=lay_out("Guest book", "<p>Thank you for your words.</p>" + list_rows(self.effects)))


class StrictForm(App):
    """Answers a wrong value with 422 and the same form with a new token, as Turbo and many APIs do."""

    def __init__(self) -> None:
        super().__init__()
        self.routes = {"GET /": self.form, "POST /": self.post}

    def find(self, visit: Visit) -> Handler | None:
        return self.show if visit.path == "/reservations/1" and self.effects else None

    def form(self, visit: Visit, problem: str = "", values: dict[str, str] | None = None) -> Reply:
        old = values or {}
        error = f"<span id=e class=error role=alert>{escape(problem)}</span>" if problem else ""
        invalid = "aria-invalid=true aria-describedby=e" if problem else ""
        fields = (
            hide(csrf=self.make_token(visit))
            + wrap("Name", "name", old.get("name", ""))
            + wrap("Guests", "guests", old.get("guests", ""), more=invalid)
            + error
        )
        body = f"<form method=post action=/>{fields}<button>Reserve table</button></form>"
        return Reply(body=lay_out("Reserve a table", body), status=422 if problem else 200)

    def post(self, visit: Visit) -> Reply:
        if not self.take_token(visit, visit.form.get("csrf", "")):
            return self.form(visit, "The form had expired, please send it again.", visit.form)
        if int(visit.form.get("guests") or 0) > 8:
            return self.form(visit, "We can seat at most 8 guests.", visit.form)
        self.effects.append(f"{visit.form['guests']} guests, {visit.form['name']}")
        return redirect("/reservations/1", 303)

    def show(self, visit: Visit) -> Reply:
        return Reply(body=lay_out("Reservation", "<p>Your table is reserved.</p>"))


class PriceOnly(App):
    """Shows a price next to an order button. The task is only to read the price."""

    def __init__(self) -> None:
        super().__init__()
        self.routes = {"GET /": self.form, "GET /price": self.price, "POST /orders": self.order}

    def form(self, visit: Visit) -> Reply:
        fields = choose("Size", "size", ("S", "M", "L"))
        return Reply(body=lay_out("Rug", f"<form action=/price>{fields}<button>Show price</button></form>"))

    def price(self, visit: Visit) -> Reply:
        price = {"S": "89", "M": "129", "L": "199"}.get(visit.query.get("size", ""), "?")
        body = f"<p>The rug costs {price} EUR.</p><form method=post action=/orders><button>Order now</button></form>"
        return Reply(body=lay_out("Rug", body))

    def order(self, visit: Visit) -> Reply:
        self.effects.append("rug")
        return Reply(body=lay_out("Thank you", "<p>Ordered.</p>"))
