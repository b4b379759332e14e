"""Recognises sign-ins: pages and forms that ask for a password, and what may be sent by them without approval.

A sign-in needs no approval if its form, or a script of its page, sends a secret to the origin that the secret is bound to, and
nothing else of weight: hidden fields as served, and values that say how to sign in or where the browser is. A script's tokens
pass only while nothing but the user name and the secret has been entered in the browser: later they could hold what was entered.
"""

import re
from collections.abc import Sequence
from functools import cache
from urllib.parse import urljoin, urlsplit
from zoneinfo import available_timezones

from midcourse.domain.argument import Scalar
from midcourse.policy.generated import is_volatile_name, looks_random
from midcourse.worlds.base import Scene
from midcourse.worlds.browser.egress.address import AddressRefused, parse, read_origin, read_place
from midcourse.worlds.browser.egress.background import EFFECTS, Background, is_of_page
from midcourse.worlds.browser.egress.flow import Served
from midcourse.worlds.browser.egress.request import Request
from midcourse.worlds.browser.page.forms import Form, PageForms

USER_FIELDS = frozenset({"text", "email", "tel", "search"})
"""Types of fields that take a user name."""
_SIGN_IN = re.compile(r"(?i)(?:^|[/_.-])(?:log|sign)[_-]?(?:in|on)\b|/(?:auth|sso|oauth2?|saml|sessions?/new)\b")
_BUTTONS = ("submit", "button", "image")
_NOT_TYPED = (*_BUTTONS, "reset")
_MODES = frozenset({"cookie", "json", "session", "password", "local", "default", "true", "false", "on", "1", "0"})
_PLACE = re.compile(r"(?i)time.?zone|(?:^|[^a-z])tz(?:[^a-z]|$)|offset|screen|width|height")
"""Names of values that say where a browser is and how large its screen is."""
_CLIENT = re.compile(
    r"(?i)(?:^|[^a-z])(?:client|realm|tenant|domain|provider|locale|lang|language|platform)(?:[_-]?id)?$"
)
_MOST_VALUES = 12
_LONGEST_OWN = 256


class SignIns:
    """The secrets of one session that are bound to an origin, and the places that asked for a password."""

    def __init__(self) -> None:
        self.places: set[str] = set()
        self._bound: dict[str, tuple[str, str]] = {}

    def __bool__(self) -> bool:
        return bool(self._bound)

    def bind(self, name: str, secret: str, origin: str) -> None:
        self._bound[name] = (secret, _normalise_origin(origin))

    def allows_secret(self, name: str, origin: str) -> bool:
        """Whether this secret may be typed into fields of this origin."""
        return name in self._bound and self._bound[name][1] == _normalise_origin(origin)

    def is_sign_in_only(
        self, request: Request, pages: Sequence[PageForms], background: Background, served: Served
    ) -> bool:
        """Whether the request comes from a page of the bound origin and sends only the secret, a user name, and values of the page's own."""
        origin = read_origin(request.url)
        secrets = {secret for secret, bound in self._bound.values() if bound == _normalise_origin(origin)}
        if request.method != "POST" or request.method_override or request.redirected_from:
            return False
        if not secrets or request.commit.abridged:
            return False
        if not request.is_navigation:
            own = [page for page in pages if read_origin(page.url) == origin]
            return any(_is_script_sign_in(request, page, secrets, background) for page in own)
        forms = [
            form
            for page in pages
            if read_origin(page.url) == origin
            for form in page.forms
            if read_place(form.action) == read_place(request.url) and read_origin(form.action) == origin
        ]
        # A script may have filled in a field before it was first read, so "as served" does not say that nothing entered is in it.
        rest = [str(value) for _, value in request.commit.values if value not in secrets]
        typed = frozenset[str]().union(*(background.find_typed(page.url) for page in pages))
        if any(background.holds_entered(value) for value in rest if value not in typed):
            return False
        kind, path = request.fields.get("content-type", "").lower(), urlsplit(request.url).path
        if not kind.startswith("application/x-www-form-urlencoded") or EFFECTS.search(path):
            return False
        values = request.commit.values
        only = background.has_entered_only({*secrets, *typed.intersection(rest)})
        if any(urljoin(page.url, each) == request.url for page in pages for each in served.sign_ins):
            return any(_sends_only(form, values, secrets, typed, served, sizes=only) for form in forms)
        # A form that a script made is as good at an address for signing in, while the page can know nothing else.
        plain = is_sign_in_address(request.url) and not urlsplit(request.url).query
        return plain and only and any(_sends_only(form, values, secrets, typed, None, sizes=True) for form in forms)

    def note(self, scene: Scene) -> None:
        """Remember the place of a page that asks for a password."""
        if _is_sign_in(scene):
            self.places.add(read_place(scene.surface.address))

    def asks(self, before: Scene, after: Scene) -> bool:
        """Whether the page asks to sign in. One that did, and now shows something else at the same address, does so no longer."""
        place = read_place(after.surface.address)
        left = _is_sign_in(before) and read_place(before.surface.address) == place
        return _is_sign_in(after) or (place in self.places and not left)

    def has_led_to_sign_in(self, before: Scene, after: Scene) -> bool:
        """Whether a sign-in page came instead of the requested one, which means that the user's session has ended."""
        place = read_place(after.surface.address)
        return (_is_sign_in(after) or place in self.places) and place != read_place(before.surface.address)


def is_sign_in_form(form: Form) -> bool:
    shown = [field.type for field in form.fields if not field.hidden and field.type not in (*_NOT_TYPED, "checkbox")]
    return len(shown) == 2 and "password" in shown and not USER_FIELDS.isdisjoint(shown)


def is_sign_in_address(address: str) -> bool:
    return _SIGN_IN.search(urlsplit(address).path) is not None


def _is_sign_in(scene: Scene) -> bool:
    asked = any(zone.get("type") == "password" for zone in scene.zones)
    return asked or is_sign_in_address(scene.surface.address)


def _is_script_sign_in(request: Request, page: PageForms, secrets: set[str], background: Background) -> bool:
    """Whether a script sends what is in the user name and the password of a sign-in page, and nothing else that was entered."""
    if not is_of_page(request) or urlsplit(request.url).query:
        return False
    if not (is_sign_in_address(request.url) or is_sign_in_address(page.url)):
        return False
    users = {value for kind, value in page.typed if kind in USER_FIELDS and value}
    passwords = {value for kind, value in page.typed if kind == "password"} & secrets
    values = [
        (name, value)
        for name, value in request.commit.values
        if value not in ("", None) and not isinstance(value, bool)
    ]
    named = [str(value) for _, value in values if value in users]
    if len(named) != 1 or sum(value in passwords for _, value in values) != 1 or len(values) > _MOST_VALUES:
        return False
    rest = [(name, value) for name, value in values if value not in passwords and value not in users]
    if background.has_entered_only({*passwords, *named}):
        return all(_is_usual(name, value) or _is_of_script(name, value) for name, value in rest)
    return background.has_usual_fields(request) and all(_is_usual(name, value) for name, value in rest)


def _is_of_script(name: str, value: Scalar) -> bool:
    """Whether a value is a token, or names the application that signs in."""
    text = str(value)
    return len(text) <= _LONGEST_OWN and (is_volatile_name(name) or looks_random(text) or bool(_CLIENT.search(name)))


def _is_usual(name: str, value: Scalar) -> bool:
    """Whether a value is one of a few that say how to sign in, or where the browser is."""
    text = str(value)
    if _PLACE.search(name):
        return text in _time_zones() or re.fullmatch(r"-?\d{1,4}", text) is not None
    return text in _MODES


@cache
def _time_zones() -> frozenset[str]:
    return frozenset(available_timezones())


def _sends_only(
    form: Form,
    values: Sequence[tuple[str, Scalar]],
    secrets: set[str],
    typed: frozenset[str],
    served: Served | None,
    *,
    sizes: bool,
) -> bool:
    """Whether a form sends only what signs in. `served`: names and values must also be in the document as its server sent it."""
    passwords = users = 0
    for name, value in values:
        if served and name not in served.names:
            return False
        fields = [field for field in form.fields if field.name == name]
        kinds = {field.type for field in fields}
        if kinds == {"password"}:
            passwords += 1
            if value not in secrets:
                return False
        elif kinds and kinds <= USER_FIELDS:
            users += 1
            if value not in typed and not all(field.original == value for field in fields):
                return False
            if served and value not in typed and (name, str(value)) not in served.values:
                return False
        elif (
            kinds == {"hidden"} and _PLACE.search(name) and (sizes or value in _time_zones()) and _is_usual(name, value)
        ):
            continue
        elif served and kinds == {"hidden"} and (name, value) == served.token:
            # The scripts of Rails put it into every form when the page is ready. A page has no other choice than one of two tokens.
            continue
        elif (
            (served and (name, str(value)) not in served.values)
            or not kinds
            or not all(_is_as_served(field.type, field.value, field.served, value) for field in fields)
        ):
            return False
    return passwords == 1 and users <= 1


def _is_as_served(kind: str, now: str, served: str | None, sent: Scalar) -> bool:
    if kind == "hidden":
        return served == sent
    return kind in _BUTTONS and now == sent


def _normalise_origin(origin: str) -> str:
    try:
        return parse(origin).origin
    except AddressRefused:
        return origin.rstrip("/")
