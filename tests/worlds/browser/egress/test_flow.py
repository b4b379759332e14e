"""Which forms only lead on to the next page of a flow: each condition alone makes a form one that is asked about."""

from dataclasses import dataclass, field, replace
from urllib.parse import urlencode

import pytest

from midcourse.domain.approval import FieldWords
from midcourse.domain.argument import Scalar
from midcourse.domain.plan import Target
from midcourse.ports.world import Call
from midcourse.worlds.browser.egress.background import Background
from midcourse.worlds.browser.egress.flow import Served, describe_flow
from midcourse.worlds.browser.egress.request import REDIRECTED, Request
from midcourse.worlds.browser.page.forms import Field, Form, PageForms

SITE = "https://shop.example"
HERE = f"{SITE}/checkout/start"


@dataclass(frozen=True, kw_only=True)
class Sent:
    """A form as it was clicked, and the document that it was served in."""

    path: str = "/checkout/address"
    served_path: str = ""
    label: str = "Continue ›"
    text: str = "Street Country Continue ›"
    language: str = "en"
    fields: tuple[tuple[str, str, str], ...] = (
        ("street", "text", "Main Street"),
        ("country", "select-one", "DE"),
        ("csrf", "hidden", "8d1f0c2ab9"),
    )
    unserved: tuple[str, ...] = ()
    """Names that the document did not have."""
    served_as: dict[str, str] = field(default_factory=dict[str, str])
    """Other values that the document had, by name."""
    chosen: tuple[tuple[str, str], ...] = ()
    """Names and values that the form did not have when it was loaded."""
    outside: tuple[str, ...] = ()
    """Names that are served in the document, but are not in the form."""
    unsent: tuple[tuple[str, str, str], ...] = ()
    """Names, types and values of fields of the form that are not sent."""
    typed: tuple[str, ...] = ("Main Street",)
    typed_at: str = ""
    skill: str = "click"
    role: str = "button"
    method: str = "POST"
    url: str = HERE
    page_url: str = ""
    """The address of the document with the form, if it is not the page that was clicked in."""
    form_path: str = ""
    forms: int = 1
    pictured: bool = False
    head: dict[str, str] = field(default_factory=dict[str, str])
    redirected_from: str = ""

    def describe(self) -> str:
        background = Background()
        for text in self.typed:
            arguments: tuple[tuple[str, Scalar], ...] = (("text", text),)
            typing = Call(
                command=1, skill="type", zone="z", target=Target(surface="", role="", label=""), arguments=arguments
            )
            background.note_call(typing, self.typed_at or self.url)
        request = Request(
            method=self.method,
            url=f"{SITE}{self.path}",
            fields={
                "origin": SITE,
                "sec-fetch-mode": "navigate",
                "content-type": "application/x-www-form-urlencoded",
                **self.head,
            },
            body=urlencode([(name, value) for name, _, value in self.fields]).encode(),
            redirected_from=self.redirected_from,
        )
        inputs = "".join(
            f"<input type={kind} name='{name}' value='{self.served_as.get(name, value)}'>"
            for name, kind, value in self.fields
            if name not in self.unserved
        )
        source = f"<form method=post action='{self.served_path or self.path}'>{inputs}</form>"
        form = Form(
            action=f"{SITE}{self.form_path or self.path}",
            fields=tuple(
                Field(name=name, hidden=kind == "hidden", value=value, served=value, type=kind)
                for name, kind, value in (*self.fields, *self.unsent)
                if name not in self.outside
            ),
            text=self.text,
        )
        page = PageForms(
            url=self.page_url or self.url,
            forms=(form,) * self.forms,
            shown=frozenset(),
            language=self.language,
            words=tuple(
                FieldWords(name=name, value=value, how="entered" if (name, value) in self.chosen else "shown")
                for name, _, value in self.fields
            ),
        )
        target = Target(surface="", role=self.role, label=self.label)
        click = Call(command=2, skill=self.skill, zone="z", target=target, pictured=self.pictured)
        return describe_flow(click, request, [page], background, self.url, Served.read(source))


def with_field(name: str, kind: str, value: str, *, typed: tuple[str, ...] = Sent.typed) -> Sent:
    return Sent(fields=(*Sent().fields, (name, kind, value)), typed=typed)


def test_forms_below_one_folder_are_of_one_kind() -> None:
    first, second = Sent().describe(), Sent(path="/checkout/shipping/", label="Next", text="Next").describe()
    assert first == second
    assert first.startswith(f"the forms that follow it, sent to addresses below {SITE}/checkout/ ")
    assert Sent(path="/member/address").describe() not in ("", first)


@pytest.mark.parametrize(
    ("language", "label"), [("de", "Weiter"), ("fr", "Suivant"), ("es", "Siguiente"), ("", "Next")]
)
def test_button_leads_on_in_the_language_of_its_page(language: str, label: str) -> None:
    assert Sent(language=language, label=label, text=label).describe()
    assert not Sent(language="pl", label=label, text=label).describe()


def with_choice(name: str, value: str, *, chosen: bool = True, path: str = Sent.path) -> Sent:
    fields = ((name, "radio", value), ("csrf", "hidden", "8d1f0c2ab9"))
    return Sent(path=path, fields=fields, typed=(), chosen=((name, value),) if chosen else ())


LEADS_ON = {
    "a choice": with_choice("customer_mode", "guest"),
    "a choice beside a sign-in that stayed empty": replace(
        with_choice("customer_mode", "guest"), unsent=(("login-password", "password", ""),)
    ),
    "a way to pay": with_choice("payment", "banktransfer"),
    "a way to pay that is called a transfer": with_choice("payment_method", "bank_transfer"),
    "the only way to pay": with_choice("payment", "banktransfer", chosen=False),
    "an address that asks how to pay": with_choice("payment", "banktransfer", path="/checkout/payment"),
    "prices": Sent(text="Your order: 2 tickets, $5 each, total 10 € including fees. Continue"),
    "what the shop says of its checkout": Sent(
        text="Invoice information (optional). After completing your purchase, we will ask you to transfer the money to our bank "
        "account. Log in and connect your order to your account. The secret link we will send you via email once the order is "
        "complete. How would you pay? We accept cards. You can still go ahead with this purchase. Continue"
    ),
}


@pytest.mark.parametrize("name", LEADS_ON)
def test_page_of_a_checkout_leads_on(name: str) -> None:
    assert LEADS_ON[name].describe()


MORE = {
    "a button that orders": Sent(label="Place order"),
    "a button that does more": Sent(label="Continue and pay"),
    "a button of another language": Sent(label="Weiter"),
    "a text too long to read": Sent(text=""),
    "words that bind": Sent(text="By this you agree. Continue"),
    "words that bind in another language": Sent(text="Kostenpflichtig Continue"),
    "going on that binds": Sent(text="By continuing, the order is yours. Continue"),
    "going on that orders": Sent(text="Continue, and you hereby order it."),
    "going on that pays": Sent(text="Your card will be charged. Continue"),
    "going on that places the order": Sent(text="Place your order. Continue"),
    "words that order now": Sent(text="Buy now Continue"),
    "words that delete": Sent(text="This deletes your account. Continue"),
    "terms": Sent(text="The terms of the shop. Continue"),
    "an effect in the address": Sent(path="/checkout/confirm"),
    "an effect in the address that is no word of binding": Sent(path="/checkout/activate"),
    "a word that binds in the address": Sent(path="/checkout/payer"),
    "words that bind in the address": Sent(path="/checkout/now"),
    "the root": Sent(path="/address"),
    "a query": Sent(path="/checkout/address?x=1"),
    "another method": Sent(method="PUT"),
    "another method in a header": Sent(head={"x-http-method-override": "DELETE"}),
    "a script": Sent(head={"sec-fetch-mode": "cors"}),
    "another origin": Sent(head={"origin": "https://other.example"}),
    "a page of another origin": Sent(url="https://other.example/", served_path=f"{SITE}/checkout/address"),
    "a form of another document": Sent(page_url=f"{SITE}/frame"),
    "a form for another address": Sent(form_path="/checkout/other"),
    "two forms for the address": Sent(forms=2),
    "a redirect": Sent(
        fields=(*Sent().fields, (REDIRECTED, "hidden", f"GET {SITE}/checkout/x")),
        redirected_from=f"GET {SITE}/checkout/x",
    ),
    "keys": Sent(skill="press"),
    "a link": Sent(role="link"),
    "a place in a picture": Sent(pictured=True),
    "nothing that was typed or chosen": Sent(fields=Sent().fields[1:]),
    "nothing but another choice that was there": with_choice("size", "L", chosen=False),
    "a way to pay that pays": with_choice("payment", "pay_now"),
    "a transfer that is no way to pay": with_choice("action", "transfer"),
    "a hidden way to pay": with_field("payment", "hidden", "bank_transfer"),
    "a field that stayed empty": Sent(fields=(("street", "text", ""), *Sent().fields[1:])),
    "a field that is not in the form": Sent(outside=("street",)),
    "a text that was not typed": with_field("city", "text", "Rome"),
    "a text that nobody typed": Sent(typed=()),
    "a text that was typed on another page": Sent(typed_at=f"{SITE}/profile"),
    "a ticked box": with_field("news", "checkbox", "on"),
    "a password": with_field("word", "password", ""),
    "a file": with_field("scan", "file", ""),
    "a password that is not sent, and was typed": Sent(unsent=(("word", "password", "Main Street"),)),
    "a file that is not sent": Sent(unsent=(("scan", "file", ""),)),
    "a card number": with_field("number", "text", "4111 1111 1111 1111", typed=("Main Street", "4111 1111 1111 1111")),
    "a field for a card": with_field("cardno", "text", "1234", typed=("Main Street", "1234")),
    "a name that binds": with_field("place_order", "hidden", "1"),
    "a hidden value that binds": with_field("action", "hidden", "confirm"),
    "a hidden value with an effect": with_field("action", "hidden", "publish"),
    "a hidden value that agrees": with_field("action", "hidden", "agree"),
    "hidden words that bind": with_field("action", "hidden", "checkout_now"),
    "hidden words that bind, with a dash": with_field("action", "hidden", "checkout-now"),
    "a choice that binds": with_field("mode", "radio", "pay-now"),
    "an address that was not served": Sent(served_path="/checkout/other"),
    "a name that was not served": Sent(unserved=("street",)),
    "a hidden name that was not served": Sent(unserved=("csrf",)),
    "another value than was served": Sent(served_as={"csrf": "0"}),
    "another choice than was served": Sent(served_as={"country": "FR"}),
    "too many values": Sent(fields=(*Sent().fields, *((f"f{i}", "hidden", "1") for i in range(40)))),
}


@pytest.mark.parametrize("name", MORE)
def test_form_that_could_be_more_is_asked_about(name: str) -> None:
    assert MORE[name].describe() == ""


def test_text_that_is_shown_by_its_digest_is_asked_about_even_if_the_digest_was_typed() -> None:
    fields = (*Sent().fields[1:], ("street", "text", "Main Street " * 2000))
    form = {"content-type": "application/x-www-form-urlencoded"}
    body = urlencode([(name, value) for name, _, value in fields]).encode()
    request = Request(method="POST", url=f"{SITE}/checkout/address", fields=form, body=body)
    shown = str(dict(request.commit.values)["street"])
    assert not Sent(fields=fields, typed=(shown,)).describe()


@pytest.mark.parametrize(
    "number", ["0000 0000 0000", "4111 1111 1111 1112"], ids=["too short", "without its check digit"]
)
def test_number_of_no_card_is_a_text_like_any_other(number: str) -> None:
    assert with_field("phone", "text", number, typed=("Main Street", number)).describe()


def test_what_was_served_is_what_a_browser_takes_it_for() -> None:
    served = Served.read(
        "<form action='/first '><input id=left name=kept name=late value=1 value=2><select name=country><option value=DE></select>"
        "<select name=size><option value=L></select></form>"
    )
    assert served.actions == {"/first"}
    assert served.names == {"kept", "country", "size"}
    assert served.values >= {("kept", "1"), ("country", "DE"), ("size", "L")}
    assert not served.values & {("late", "1"), ("kept", "2"), ("country", "L")}
    assert Served.read("<input id=left>").names == {""}
