"""Orders in several pages: the answers in the session or in the pages themselves, with buttons that lead back."""

import base64
import hashlib
import hmac
import json
import secrets
from html import escape

from benchmarks.first_contact_sites.layout import ask, choose, hide, lay_out, wrap
from benchmarks.first_contact_sites.server import App, Reply, Visit, redirect


class CheckoutWizard(App):
    """A checkout in three pages. Each POST leads to the next page with 303; the last page places the order."""

    def __init__(self) -> None:
        super().__init__()
        self.routes = {
            "GET /": self.start,
            "GET /checkout/address": self.address,
            "POST /checkout/address": self.save,
        }
        self.routes |= {"GET /checkout/delivery": self.delivery, "POST /checkout/delivery": self.save}
        self.routes |= {"GET /checkout/review": self.review, "POST /checkout/review": self.place}
        self.routes["GET /checkout/thanks"] = self.thanks

    def start(self, visit: Visit) -> Reply:
        return redirect("/checkout/address")

    def _frame(self, visit: Visit, step: int, fields: str, button: str, back: str = "") -> Reply:
        crumbs = " &rsaquo; ".join(("1 Address", "2 Delivery", "3 Review"))
        leave = f"<a class=button role=button href='{back}'>Back</a> " if back else ""
        token = hide(form_token=self.make_token(visit))
        body = f"<p>{crumbs}</p><form method=post>{token}{fields}{leave}<button>{button}</button></form>"
        return Reply(body=lay_out(f"Checkout, step {step} of 3", body))

    def address(self, visit: Visit) -> Reply:
        cart = visit.session.get("cart", {})
        fields = wrap("Full name", "name", cart.get("name", "")) + wrap("City", "city", cart.get("city", ""))
        return self._frame(visit, 1, fields, "Continue to delivery")

    def delivery(self, visit: Visit) -> Reply:
        cart = visit.session.get("cart", {})
        options = ("Standard", "Express")
        radios = "".join(
            f"<label><input type=radio name=delivery value={one}{' checked' if cart.get('delivery') == one else ''}> {one}</label>"
            for one in options
        )
        fields = f"<fieldset><legend>Delivery method</legend>{radios}</fieldset>"
        return self._frame(visit, 2, fields, "Continue to review", "/checkout/address")

    def save(self, visit: Visit) -> Reply:
        if not self.take_token(visit, visit.form.pop("form_token", "")):
            return redirect(visit.path, 303)
        self.other[visit.path] += 1
        visit.session.setdefault("cart", {}).update(visit.form)
        return redirect("/checkout/delivery" if visit.path.endswith("address") else "/checkout/review", 303)

    def problem(self, cart: dict[str, str]) -> str:
        return ""

    def review(self, visit: Visit) -> Reply:
        cart = visit.session.get("cart", {})
        rows = "".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>" for k, v in cart.items())
        problem = self.problem(cart)
        shown = f"<p role=alert>{escape(problem)}</p>" if problem else ""
        button = "Update" if problem else "Place order"
        return self._frame(visit, 3, f"{shown}<dl>{rows}</dl>", button, "/checkout/delivery")

    def place(self, visit: Visit) -> Reply:
        cart = visit.session.get("cart", {})
        if not self.take_token(visit, visit.form.get("form_token", "")) or self.problem(cart):
            return redirect("/checkout/review", 303)
        self.effects.append(f"{cart['delivery']} to {cart['name']}, {cart['city']}")
        visit.session["cart"] = {}
        return redirect("/checkout/thanks", 303)

    def thanks(self, visit: Visit) -> Reply:
        return Reply(body=lay_out("Thank you", "<p>We have received your order.</p>"))


class ExpressOnlyInTown(CheckoutWizard):
    """The same checkout, whose last page says that a choice on the page before is not possible."""

    def problem(self, cart: dict[str, str]) -> str:
        express = cart.get("delivery") == "Express" and cart.get("city") != "Oslo"
        return "Express is not available for your city. Go back and choose Standard." if express else ""


class SignedWizard(App):
    """An insurance claim whose answers travel in a signed hidden field. The first submit button of each page leads back."""

    def __init__(self) -> None:
        super().__init__()
        self._secret = secrets.token_bytes(16)
        self.routes = {"GET /": self.start, "GET /claim": self.start, "POST /claim": self.turn}

    def _sign(self, answers: dict[str, str]) -> str:
        text = base64.urlsafe_b64encode(json.dumps(answers | {"nonce": secrets.token_hex(8)}).encode()).decode()
        return f"{text}.{hmac.new(self._secret, text.encode(), hashlib.sha256).hexdigest()}"

    def _open(self, signed: str) -> dict[str, str] | None:
        text, _, mac = signed.partition(".")
        if not hmac.compare_digest(hmac.new(self._secret, text.encode(), hashlib.sha256).hexdigest(), mac):
            return None
        answers: dict[str, str] = json.loads(base64.urlsafe_b64decode(text))
        answers.pop("nonce", None)
        return answers

    def start(self, visit: Visit) -> Reply:
        return self._page(1, {})

    def _page(self, step: int, answers: dict[str, str]) -> Reply:
        match step:
            case 1:
                inner = ask("Policy number", "policy", answers.get("policy", ""))
            case 2:
                inner = choose("Kind of damage", "kind", ("Water", "Fire", "Theft"), answers.get("kind", ""))
                inner += "<div class=field><label for=text>What happened?</label><textarea id=text name=text rows=3></textarea></div>"
            case _:
                rows = "".join(f"<li>{escape(k)}: {escape(v)}</li>" for k, v in answers.items())
                inner = f"<ul>{rows}</ul>"
        back = "<button name=_go value=back>Previous</button> " if step > 1 else ""
        ahead = (
            "<button name=_go value=send>Submit claim</button>"
            if step == 3
            else "<button name=_go value=next>Next</button>"
        )
        form = f"<form method=post action=/claim>{hide(step=str(step), state=self._sign(answers))}{back}{inner}{ahead}</form>"
        return Reply(body=lay_out(f"Report damage ({step}/3)", form))

    def turn(self, visit: Visit) -> Reply:
        answers, step = self._open(visit.form.get("state", "")), int(visit.form.get("step", "1"))
        if answers is None:
            return Reply(status=400, body="<!doctype html><title>Bad request</title>")
        answers |= {k: v for k, v in visit.form.items() if k in ("policy", "kind", "text")}
        match visit.form.get("_go"):
            case "back":
                return self._page(step - 1, answers)
            case "send" if step == 3:
                self.effects.append(f"{answers['policy']}: {answers['kind']}, {answers['text']}")
                return Reply(body=lay_out("Claim received", "<p>Your claim has the number S-1.</p>"))
            case _:
                self.other["pages"] += 1
                return self._page(min(step + 1, 3), answers)
