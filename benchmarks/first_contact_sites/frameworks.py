"""Five applications with the forms, tokens and redirects of Django, Rails, Laravel, Spring and ASP.NET Web Forms."""

import base64
import hashlib
import hmac
import secrets
from html import escape

from benchmarks.first_contact_sites.layout import ask, choose, hide, hide_all, lay_out, wrap
from benchmarks.first_contact_sites.server import App, Handler, Reply, Visit, redirect


class DjangoRooms(App):
    """Books rooms. The token is masked again on every page, and compared with a cookie; 302 after the POST."""

    cookie = "sessionid"

    def __init__(self) -> None:
        super().__init__()
        self._secret = secrets.token_bytes(16)
        self.routes = {"GET /": self.home, "GET /bookings/new/": self.form, "POST /bookings/new/": self.book}

    def find(self, visit: Visit) -> Handler | None:
        return self.show if visit.path.startswith("/bookings/") and visit.method == "GET" else None

    def _mask(self, cookie: str) -> str:
        nonce = secrets.token_hex(16)
        return nonce + hmac.new(self._secret, (nonce + cookie).encode(), hashlib.sha256).hexdigest()[:32]

    def _accepts(self, visit: Visit) -> bool:
        token, cookie = visit.form.get("csrfmiddlewaretoken", ""), visit.cookies.get("csrftoken", "")
        made = hmac.new(self._secret, (token[:32] + cookie).encode(), hashlib.sha256).hexdigest()[:32]
        return bool(cookie) and hmac.compare_digest(made, token[32:])

    def home(self, visit: Visit) -> Reply:
        return Reply(body=lay_out("City library", "<p>Rooms for reading groups.</p>", links=self._links()))

    def _links(self) -> dict[str, str]:
        return {"Home": "/", "Book a room": "/bookings/new/"}

    def form(self, visit: Visit) -> Reply:
        cookie = visit.cookies.get("csrftoken") or secrets.token_hex(16)
        fields = (
            hide(csrfmiddlewaretoken=self._mask(cookie))
            + ask("Name:", "name", more="maxlength=80 required")
            + choose("Room:", "room", ("---------", "Reading room", "Attic", "Cellar"))
            + ask("Date:", "day", kind="date", more="required")
            + ask("I need a projector", "projector", "on", kind="checkbox")
        )
        body = f"<form method=post novalidate>{fields}<button type=submit>Book room</button></form>"
        return Reply(body=lay_out("Book a room", body, links=self._links()), cookies={"csrftoken": cookie})

    def book(self, visit: Visit) -> Reply:
        if not self._accepts(visit):
            return Reply(
                status=403, body="<!doctype html><title>403 Forbidden</title><h1>CSRF verification failed.</h1>"
            )
        got = visit.form
        projector = " with projector" if got.get("projector") else ""
        self.effects.append(f"{got['room']} for {got['name']} on {got['day']}{projector}")
        return redirect(f"/bookings/{len(self.effects)}/")

    def show(self, visit: Visit) -> Reply:
        number = visit.path.strip("/").rpartition("/")[2]
        body = f"<p>Booking {escape(number)} is confirmed.</p><p>{escape(self.effects[int(number) - 1])}</p>"
        return Reply(body=lay_out("Your booking", body, links=self._links()))


class RailsTickets(App):
    """Changes a ticket's assignee with `_method=patch`, a token for each form, a button that disables itself, and 303."""

    cookie = "_desk_session"

    def __init__(self) -> None:
        super().__init__()
        self.routes = {"GET /": self.form, "GET /tickets/12/edit": self.form, "POST /tickets/12": self.update}
        self.routes["GET /tickets/12"] = self.show

    def form(self, visit: Visit) -> Reply:
        head = f"<meta name=csrf-param content=authenticity_token><meta name=csrf-token content='{self.make_token(visit)}'>"
        fields = (
            "<input name=utf8 type=hidden value='&#x2713;'>"
            + hide(_method="patch", authenticity_token=self.make_token(visit))
            + choose("Assignee", "ticket[assignee]", ("Unassigned", "Grace", "Linus"))
            + wrap("Comment", "ticket[comment]")
            + "<input type=submit name=commit value='Update Ticket' data-disable-with='Saving...'>"
        )
        script = (
            "<script>document.querySelector('main form').addEventListener('submit',e=>{const b=e.target.querySelector("
            "'[data-disable-with]');setTimeout(()=>{b.value=b.dataset.disableWith;b.disabled=true},0)})</script>"
        )
        body = f"<form action=/tickets/12 accept-charset=UTF-8 method=post>{fields}</form>{script}"
        return Reply(body=lay_out("Editing ticket #12", body, head=head))

    def update(self, visit: Visit) -> Reply:
        got = visit.form
        if got.get("_method") != "patch" or not self.take_token(visit, got.get("authenticity_token", "")):
            return Reply(status=422, body="<!doctype html><title>The change you wanted was rejected (422)</title>")
        self.effects.append(f"{got['ticket[assignee]']}: {got['ticket[comment]']}")
        visit.session["flash"] = "Ticket was successfully updated."
        return redirect("/tickets/12", 303)

    def show(self, visit: Visit) -> Reply:
        rows = "".join(f"<li>{escape(one)}</li>" for one in self.effects)
        page = lay_out(
            "Ticket #12", f"<ul>{rows}</ul><a href=/tickets/12/edit>Edit</a>", flash=visit.session.pop("flash", "")
        )
        return Reply(body=page)


class LaravelOrders(App):
    """Orders cable. Validation errors come back as a 302 to the form, with the old input; a used token gives 419."""

    cookie = "laravel_session"

    def __init__(self) -> None:
        super().__init__()
        self.routes = {"GET /": self.form, "GET /orders/create": self.form, "POST /orders": self.store}
        self.routes["GET /orders"] = self.index

    def form(self, visit: Visit) -> Reply:
        old, errors = visit.session.pop("old", {}), visit.session.pop("errors", {})
        shown = "".join(f"<li>{escape(one)}</li>" for one in errors.values())
        fields = (
            hide(_token=self.make_token(visit))
            + wrap("Article", "article", old.get("article", ""))
            + wrap("Metres", "metres", old.get("metres", ""), more="inputmode=numeric")
        )
        alert = f"<div class='alert alert-danger'><ul>{shown}</ul></div>" if shown else ""
        body = (
            f"{alert}<form method=POST action=/orders>{fields}<button class='btn btn-primary'>Order now</button></form>"
        )
        xsrf = base64.b64encode(secrets.token_bytes(24)).decode().rstrip("=")
        return Reply(body=lay_out("New order", body, links=self._links()), cookies={"XSRF-TOKEN": xsrf})

    def _links(self) -> dict[str, str]:
        return {"New order": "/orders/create", "Orders": "/orders"}

    def store(self, visit: Visit) -> Reply:
        if not self.take_token(visit, visit.form.get("_token", "")):
            return Reply(status=419, body="<!doctype html><title>Page Expired</title><h1>419 | Page Expired</h1>")
        metres = visit.form.get("metres", "")
        if not metres.isdigit() or int(metres) > 100:
            visit.session["old"] = dict(visit.form)
            visit.session["errors"] = {"metres": "The metres field must not be greater than 100."}
            return redirect("/orders/create")
        self.effects.append(f"{metres} m of {visit.form['article']}")
        visit.session["status"] = "Order created!"
        return redirect("/orders")

    def index(self, visit: Visit) -> Reply:
        rows = "".join(f"<li>{escape(one)}</li>" for one in self.effects)
        return Reply(
            body=lay_out("Orders", f"<ul>{rows}</ul>", links=self._links(), flash=visit.session.pop("status", ""))
        )


class SpringTransfers(App):
    """Transfers money. Nested field names, `_csrf`, and a marker for each checkbox, as Spring MVC renders them."""

    cookie = "JSESSIONID"

    def __init__(self) -> None:
        super().__init__()
        self.routes = {"GET /": self.form, "GET /transfers/new": self.form, "POST /transfers": self.transfer}
        self.routes["GET /transfers/done"] = self.done

    def form(self, visit: Visit) -> Reply:
        token = visit.session.setdefault("csrf", secrets.token_hex(16))
        fields = (
            ask("Recipient", "transfer.lines[0].recipient")
            + ask("Amount (EUR)", "transfer.lines[0].amount", "0.00", more="step=0.01")
            + ask("Reference", "transfer.lines[0].reference")
            + "<label><input type=checkbox name='transfer.urgent' value=true> Urgent</label>"
            + hide_all({"_transfer.urgent": "on", "_csrf": token})
        )
        body = f"<form id=transfer action=/transfers method=post>{fields}<button>Transfer</button><button type=reset>Clear</button></form>"
        return Reply(body=lay_out("New transfer", body))

    def transfer(self, visit: Visit) -> Reply:
        got = visit.form
        if got.get("_csrf") != visit.session.get("csrf"):
            return Reply(status=403, body="<!doctype html><title>Forbidden</title><h1>Whitelabel Error Page</h1>")
        line = "transfer.lines[0]."
        urgent = " (urgent)" if got.get("transfer.urgent") else ""
        self.effects.append(f"{got[line + 'amount']} to {got[line + 'recipient']}: {got[line + 'reference']}{urgent}")
        return redirect("/transfers/done?success")

    def done(self, visit: Visit) -> Reply:
        body = "<p>Your transfer was accepted.</p>" if self.effects else "<p>There is no transfer.</p>"
        return Reply(body=lay_out("Transfers", body))


class AspNetQuote(App):
    """One form around the whole page, with a view state: a postback calculates the price, a second one orders."""

    cookie = "ASP.NET_SessionId"

    def __init__(self) -> None:
        super().__init__()
        self.routes = {"GET /": self.page, "GET /Quote.aspx": self.page, "POST /Quote.aspx": self.post}

    def page(self, visit: Visit, *, boards: str = "", price: str = "", done: bool = False) -> Reply:
        states: set[str] = visit.session.setdefault("states", set())
        state = base64.b64encode(f"{boards}|{price}|".encode() + secrets.token_bytes(48)).decode()
        states.add(state)
        hidden = hide_all(
            {
                "__EVENTTARGET": "",
                "__EVENTARGUMENT": "",
                "__VIEWSTATE": state,
                "__VIEWSTATEGENERATOR": "CA0B0334",
                "__EVENTVALIDATION": base64.b64encode(secrets.token_bytes(48)).decode(),
            }
        )
        script = (
            "<script>function __doPostBack(t,a){const f=document.getElementById('aspnetForm');"
            "f.__EVENTTARGET.value=t;f.__EVENTARGUMENT.value=a;f.submit()}</script>"
        )
        if done:
            inner = "<span id=ctl00_Main_lblDone>Your boards are on their way.</span>"
        else:
            inner = ask("Number of boards", "ctl00$Main$txtBoards", boards) + (
                "<a id=ctl00_Main_lnkPrice href=\"javascript:__doPostBack('ctl00$Main$lnkPrice','')\">Calculate price</a>"
            )
            if price:
                inner += f"<p>Price: {price} EUR</p><input type=submit name='ctl00$Main$btnOrder' value='Order boards'>"
        body = f"<form method=post action=/Quote.aspx id=aspnetForm>{hidden}{script}{inner}</form>"
        return Reply(body=lay_out("Boards cut to size", body))

    def post(self, visit: Visit) -> Reply:
        states: set[str] = visit.session.setdefault("states", set())
        if visit.form.get("__VIEWSTATE") not in states:
            return Reply(status=500, body="<!doctype html><title>Validation of viewstate MAC failed.</title>")
        boards = visit.form.get("ctl00$Main$txtBoards", "")
        if visit.form.get("ctl00$Main$btnOrder"):
            self.effects.append(f"{boards} boards")
            return self.page(visit, done=True)
        self.other["price"] += 1
        return self.page(visit, boards=boards, price=f"{int(boards or 0) * 12}.00")
