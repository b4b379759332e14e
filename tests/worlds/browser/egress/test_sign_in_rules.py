"""Which requests only sign in: each condition alone makes a request one that is asked about."""

import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import pytest

from midcourse.domain.argument import Scalar
from midcourse.domain.observation import Zone
from midcourse.domain.plan import Target
from midcourse.ports.world import Call
from midcourse.worlds.base import Scene
from midcourse.worlds.browser.egress.background import Background
from midcourse.worlds.browser.egress.flow import Served
from midcourse.worlds.browser.egress.request import Request
from midcourse.worlds.browser.egress.sign_in import SignIns, is_sign_in_form
from midcourse.worlds.browser.page.forms import Field, Form, PageForms

SITE, OTHER = "https://shop.example", "https://other.example"
HERE = f"{SITE}/login"
SECRET, TOKEN = "lovelace-1843", "8d1f0c2ab9"

LONG = TOKEN * 3000
FORM = {"content-type": "application/x-www-form-urlencoded"}
SHOWN = str(
    dict(Request(method="POST", url=HERE, fields=FORM, body=urlencode({"csrf": LONG}).encode()).commit.values)["csrf"]
)


def enter(background: Background, text: str, url: str, *, secret: bool = False) -> None:
    arguments: tuple[tuple[str, Scalar], ...] = (("text", text),)
    target = Target(surface="", role="", label="")
    secrets = (("text", "password"),) if secret else ()
    background.note_call(
        Call(command=1, skill="type", zone="z", target=target, arguments=arguments, secrets=secrets), url
    )


@dataclass(frozen=True, kw_only=True)
class Sent:
    """What all sign-ins have: who signs in, on which page, and what was entered before."""

    path: str = "/login"
    method: str = "POST"
    origin: str = SITE
    page: str = HERE
    secret: str = SECRET
    bound: str = SITE
    user: str = "ada"
    before: str = ""
    """A text that was typed on another page."""
    also: str = ""
    """Another text that was typed on this page, which is no secret."""
    head: dict[str, str] = field(default_factory=dict[str, str])
    redirected_from: str = ""

    def check(self, request: Request, page: PageForms, source: str = "") -> bool:
        background, sign_ins = Background(), SignIns()
        sign_ins.bind("password", SECRET, self.bound)
        if self.user:
            enter(background, self.user, self.page)
        enter(background, self.secret, self.page, secret=True)
        if self.also:
            enter(background, self.also, self.page)
        if self.before:
            enter(background, self.before, f"{SITE}/profile")
        return sign_ins.is_sign_in_only(request, [page], background, Served.read(source))


@dataclass(frozen=True, kw_only=True)
class ByForm(Sent):
    """A form that was sent, with the document that it was served in."""

    fields: tuple[tuple[str, str, str], ...] = (
        ("user", "text", "ada"),
        ("password", "password", SECRET),
        ("csrf", "hidden", TOKEN),
    )
    served: dict[str, str] = field(default_factory=dict[str, str])
    """Other values that the document had, by name."""
    loaded: dict[str, str | None] = field(default_factory=dict[str, str | None])
    """Other values that the fields had when the page was loaded, by name."""
    now: dict[str, str] = field(default_factory=dict[str, str])
    """Other values that the fields have now, by name."""
    unserved: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    """Names that are served in the document, but are not in the form."""
    meta: tuple[tuple[str, str], ...] = ()
    """Names and contents of the `meta` elements of the document."""
    built: bool = False
    """Whether a script built the form, so that the document does not have it."""
    form: str = ""
    in_parts: bool = False

    def passes(self) -> bool:
        kind = {"content-type": "application/x-www-form-urlencoded", "sec-fetch-mode": "navigate", "origin": SITE}
        pairs = [(name, value) for name, _, value in self.fields]
        body = urlencode(pairs).encode()
        if self.in_parts:
            kind["content-type"] = "multipart/form-data; boundary=cut"
            parts = (
                f'--cut\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n' for name, value in pairs
            )
            body = "".join((*parts, "--cut--\r\n")).encode()
        request = Request(
            method=self.method,
            url=f"{self.origin}{self.path}",
            fields={**kind, **self.head},
            body=body,
            redirected_from=self.redirected_from,
        )
        fields = tuple(
            Field(
                name=name,
                hidden=kind == "hidden",
                value=self.now.get(name, value),
                served=self.loaded.get(name, value if kind == "hidden" else None),
                type=kind,
            )
            for name, kind, value in self.fields
            if name not in self.outside
        )
        inputs = "".join(
            f"<input type={kind} name='{name}' value='{self.served.get(name, value if kind in ('hidden', 'submit') else '')}'>"
            for name, kind, value in self.fields
            if name not in self.unserved
        )
        head = "".join(f"<meta name='{name}' content='{content}'>" for name, content in self.meta)
        source = "" if self.built else f"{head}<form method=post action='{self.origin}{self.path}'>{inputs}</form>"
        form = Form(action=self.form or request.url, fields=fields)
        return self.check(request, PageForms(url=self.page, forms=(form,), shown=frozenset()), source)


def with_field(name: str, kind: str, value: str, **more: object) -> ByForm:
    return ByForm(fields=(*ByForm().fields, (name, kind, value)), **more)  # pyrefly: ignore


def without(*names: str, **more: object) -> ByForm:
    return ByForm(fields=tuple(each for each in ByForm().fields if each[0] not in names), **more)  # pyrefly: ignore


META = (("csrf-param", "csrf"), ("csrf-token", TOKEN))
REFRESHED: dict[str, Any] = {"served": {"csrf": "0"}, "loaded": {"csrf": "0"}}
"""The field had another token than it has now."""
FORMS = {
    "a token": ByForm(),
    "no token": without("csrf"),
    "no user": without("user"),
    "a user name that was there": ByForm(
        fields=(("user", "text", "grace"), *ByForm().fields[1:]), served={"user": "grace"}, loaded={"user": "grace"}
    ),
    "a named button": with_field("act", "submit", "go"),
    "a time zone": with_field(
        "time_zone", "hidden", "Europe/Berlin", loaded={"time_zone": ""}, served={"time_zone": ""}
    ),
    "a size of the screen": with_field("screen_width", "hidden", "1280", loaded={"screen_width": ""}),
    "what was typed elsewhere, but is not sent": ByForm(before="4000 1234 5678"),
    "a form of a script": ByForm(built=True),
    "the token of the document": ByForm(meta=META, **REFRESHED),
    "the first of two tokens of the document": ByForm(meta=(*META, ("csrf-token", "6d61")), **REFRESHED),
}
MORE_FORMS = {
    "another method": ByForm(method="PUT"),
    "another method in a header": ByForm(head={"x-http-method-override": "DELETE"}),
    "a redirect": ByForm(
        redirected_from=f"GET {SITE}/x", fields=(*ByForm().fields, ("redirected from", "hidden", f"GET {SITE}/x"))
    ),
    "another origin": ByForm(origin=OTHER),
    "a secret of another origin": ByForm(bound=OTHER),
    "a page of another origin": ByForm(page=f"{OTHER}/login"),
    "a form for another address": ByForm(form=f"{SITE}/other"),
    "a form for another origin": ByForm(form=f"{OTHER}/login"),
    "what was typed elsewhere": with_field("kept", "hidden", "4000 1234 5678", before="4000 1234 5678"),
    "another encoding": ByForm(in_parts=True),
    "an address with an effect": ByForm(path="/do/order"),
    "an address that is served for something else": ByForm(path="/comments", built=True),
    "a query of a script": ByForm(path="/login?at=6d61696e", built=True),
    "a form of a script, after something was typed elsewhere": ByForm(built=True, before="4000 1234 5678"),
    "a size, after something was typed elsewhere": with_field(
        "screen_width", "hidden", "1280", loaded={"screen_width": ""}, served={"screen_width": ""}, before="4000 1234"
    ),
    "a size that is visible": with_field("width", "text", "1280"),
    "a size that is none": with_field("width", "hidden", "1280x17", loaded={"width": ""}, served={"width": ""}),
    "a name that was not served": with_field("x", "hidden", "1", unserved=("x",)),
    "another password": without("password", secret="guess").__class__(
        fields=(("user", "text", "ada"), ("password", "password", "guess")), secret="guess"
    ),
    "a user name of a script": ByForm(
        fields=(("user", "text", "ada|6d61"), *ByForm().fields[1:]), loaded={"user": "ada"}
    ),
    "a user name that was there, but was not served": ByForm(
        fields=(("user", "text", "grace"), *ByForm().fields[1:]), loaded={"user": "grace"}
    ),
    "a user name of a script, in a form of a script": ByForm(
        fields=(("user", "text", "grace"), *ByForm().fields[1:]), loaded={"user": "ada"}, user="", built=True
    ),
    "a form for another scheme": ByForm(form="http://shop.example/login"),
    "another name for the user name": ByForm(unserved=("user",)),
    "a size in a ticked box": with_field("width", "checkbox", "1280"),
    "a password that is no secret": ByForm(
        fields=(("user", "text", "ada"), ("password", "password", "guess")), also="guess"
    ),
    "a value that is shown by its digest": ByForm(
        fields=(*ByForm().fields[:2], ("csrf", "hidden", LONG)), served={"csrf": SHOWN}, loaded={"csrf": SHOWN}
    ),
    "a hidden value that was not served": ByForm(served={"csrf": "0"}),
    "a hidden value that changed": ByForm(loaded={"csrf": "0"}),
    "a hidden value that came later": ByForm(loaded={"csrf": None}),
    "another token than that of the document": ByForm(meta=(META[0], ("csrf-token", "6d61")), **REFRESHED),
    "the second of two tokens of the document": ByForm(meta=(META[0], ("csrf-token", "6d61"), META[1]), **REFRESHED),
    "a token of the document for another field": ByForm(meta=(("csrf-param", "x"), META[1]), **REFRESHED),
    "a token of the document for no field": ByForm(meta=META[1:], **REFRESHED),
    "a token of the document in a visible field": ByForm(
        fields=(*ByForm().fields[:2], ("csrf", "checkbox", TOKEN)), meta=META, **REFRESHED
    ),
    "a token of the document in a form of a script": ByForm(meta=META, built=True, **REFRESHED),
    "a token of the document that is what was typed elsewhere": ByForm(
        fields=(*ByForm().fields[:2], ("csrf", "hidden", "4000 1234 5678")),
        meta=(META[0], ("csrf-token", "4000 1234 5678")),
        before="4000 1234 5678",
        **REFRESHED,
    ),
    "a button that was changed": with_field("act", "submit", "go", now={"act": "stop"}),
    "a ticked box": with_field("remember", "checkbox", "on", served={"remember": "on"}),
    "a field that is not in the form": with_field("x", "hidden", "1", outside=("x",)),
    "no password": without("password"),
    "two passwords": with_field("repeat", "password", SECRET),
    "two user names": with_field("name", "text", "ada"),
}


@pytest.mark.parametrize("name", FORMS)
def test_form_that_only_signs_in_is_not_asked_about(name: str) -> None:
    assert FORMS[name].passes()


@pytest.mark.parametrize("name", MORE_FORMS)
def test_form_that_sends_more_than_a_sign_in_is_asked_about(name: str) -> None:
    assert not MORE_FORMS[name].passes()


@dataclass(frozen=True, kw_only=True)
class ByScript(Sent):
    """A request by a script of a page that shows a user name and a password."""

    path: str = "/auth/login"
    values: dict[str, Scalar] = field(default_factory=lambda: {"email": "ada", "password": SECRET, "mode": "json"})
    shown: tuple[tuple[str, str], ...] = (("email", "ada"), ("password", SECRET))

    def passes(self) -> bool:
        own = {
            "origin": SITE,
            "sec-fetch-mode": "cors",
            "sec-fetch-site": "same-origin",
            "content-type": "application/json",
        }
        request = Request(
            method=self.method,
            url=f"{self.origin}{self.path}",
            fields={**own, **self.head},
            body=json.dumps(self.values).encode(),
            redirected_from=self.redirected_from,
        )
        return self.check(request, PageForms(url=self.page, forms=(), shown=frozenset(), typed=self.shown))


def with_value(name: str, value: Scalar, **more: object) -> ByScript:
    return ByScript(values={**ByScript().values, name: value}, **more)  # pyrefly: ignore


SCRIPTS = {
    "a mode": ByScript(),
    "what is empty, and a choice": ByScript(values={"email": "ada", "password": SECRET, "otp": "", "keep": True}),
    "an address that names no sign-in, from a page that does": ByScript(path="/api/users"),
    "a token": with_value("csrf_token", "x7"),
    "a random text": with_value("state", "f3a9c2d47be81056"),
    "the client": with_value("client_id", "web"),
    "a time zone": with_value("timezone", "Europe/Berlin"),
    "an offset": with_value("offset", "-60"),
}
MORE_SCRIPTS = {
    "another site": ByScript(head={"sec-fetch-site": "cross-site"}),
    "a query": ByScript(path="/auth/login?at=6d61"),
    "no sign-in by the addresses": ByScript(path="/api/users", page=f"{SITE}/profile"),
    "a page of another origin": ByScript(page=f"{OTHER}/login"),
    "a user name from another kind of field": ByScript(shown=(("date", "ada"), ("password", SECRET))),
    "a secret in a visible field": ByScript(shown=(("email", "ada"), ("date", SECRET))),
    "another password": ByScript(
        values={"email": "ada", "password": "guess"}, shown=(("email", "ada"), ("password", "guess")), secret="guess"
    ),
    "no user name": ByScript(values={"password": SECRET}),
    "the user name twice": with_value("name", "ada"),
    "the password twice": with_value("repeat", SECRET),
    "too many values": ByScript(values={**ByScript().values, **{f"mode{i}": "json" for i in range(12)}}),
    "a text": with_value("note", "blue and green"),
    "a token that is too long": with_value("csrf_token", "f3a9c2d4" * 40),
    "a place that is none": with_value("timezone", "Elsewhere"),
    "a token, after something was typed elsewhere": with_value("csrf_token", "x7", before="4000 1234 5678"),
    "an unusual header, after something was typed elsewhere": ByScript(
        head={"x-kept": "6d61"}, before="4000 1234 5678"
    ),
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_script_that_only_signs_in_is_not_asked_about(name: str) -> None:
    assert SCRIPTS[name].passes()


@pytest.mark.parametrize("name", MORE_SCRIPTS)
def test_script_that_sends_more_than_a_sign_in_is_asked_about(name: str) -> None:
    assert not MORE_SCRIPTS[name].passes()


def test_usual_values_pass_after_something_was_typed_elsewhere() -> None:
    assert ByScript(before="4000 1234 5678").passes()


def test_secret_belongs_to_its_origin() -> None:
    sign_ins = SignIns()
    sign_ins.bind("password", SECRET, SITE)
    assert sign_ins.allows_secret("password", f"{SITE}/")
    assert not sign_ins.allows_secret("password", OTHER)
    assert not sign_ins.allows_secret("other", SITE)


def scene(address: str, *types: str) -> Scene:
    zones = tuple(Zone(id=f"e{i}", role="textbox", label="", state=(("type", kind),)) for i, kind in enumerate(types))
    return Scene("", *zones, address=address)


def test_page_that_asked_for_a_password_asks_until_it_shows_something_else() -> None:
    sign_ins, door, home = SignIns(), scene(f"{SITE}/door", "password"), scene(f"{SITE}/home")
    assert sign_ins.asks(home, door)
    assert not sign_ins.asks(home, scene(f"{SITE}/door"))
    sign_ins.note(door)
    assert sign_ins.asks(home, scene(f"{SITE}/door"))
    assert sign_ins.asks(scene(f"{SITE}/door"), scene(f"{SITE}/door"))
    assert not sign_ins.asks(door, scene(f"{SITE}/door"))
    sign_ins.note(scene(f"{SITE}/hall"))
    assert not sign_ins.asks(home, scene(f"{SITE}/hall"))


def test_sign_in_that_came_instead_of_another_page_ended_the_session() -> None:
    sign_ins, door, home = SignIns(), scene(f"{SITE}/door", "password"), scene(f"{SITE}/home")
    assert sign_ins.has_led_to_sign_in(home, door)
    assert not sign_ins.has_led_to_sign_in(door, door)
    sign_ins.note(door)
    assert sign_ins.has_led_to_sign_in(home, scene(f"{SITE}/door"))
    assert not sign_ins.has_led_to_sign_in(door, home)


@pytest.mark.parametrize(
    ("types", "signs_in"),
    [
        (("text", "password"), True),
        (("email", "password", "checkbox", "submit"), True),
        (("text", "text"), False),
        (("password", "password"), False),
        (("text", "password", "text"), False),
        (("date", "password"), False),
    ],
)
def test_form_for_signing_in_has_a_user_name_and_a_password(types: tuple[str, ...], *, signs_in: bool) -> None:
    fields = tuple(Field(name=str(i), hidden=False, value="", served=None, type=kind) for i, kind in enumerate(types))
    hidden = Field(name="csrf", hidden=True, value="", served="", type="hidden")
    assert is_sign_in_form(Form(action=HERE, fields=(*fields, hidden))) == signs_in
