"""Recognises sign-ins: pages and forms that ask for a password, and what may be sent by them without approval.

A sign-in needs no approval if its form sends a secret to the origin that the secret is bound to, and nothing else of weight.
"""

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from midcourse.domain.argument import Scalar
from midcourse.worlds.base import Scene
from midcourse.worlds.browser.egress.address import AddressRefused, parse, read_origin, read_place
from midcourse.worlds.browser.egress.request import Request
from midcourse.worlds.browser.page.forms import Form, PageForms

USER_FIELDS = frozenset({"text", "email", "tel", "search"})
"""Types of fields that take a user name."""
_SIGN_IN = re.compile(r"(?i)(?:^|[/_.-])(?:log|sign)[_-]?(?:in|on)\b|/(?:auth|sso|oauth2?|saml|sessions?/new)\b")
_BUTTONS = ("submit", "button", "image")
_NOT_TYPED = (*_BUTTONS, "reset")


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

    def is_sign_in_only(self, request: Request, pages: Sequence[PageForms]) -> bool:
        """Whether the request comes from a form of the bound origin that sends only the secret, a user name, and hidden fields as served."""
        origin = read_origin(request.url)
        secrets = {secret for secret, bound in self._bound.values() if bound == _normalise_origin(origin)}
        if request.method != "POST" or request.method_override or request.redirected_from or not request.is_navigation:
            return False
        if not secrets or request.commit.abridged:
            return False
        forms = [
            form
            for page in pages
            if read_origin(page.url) == origin
            for form in page.forms
            if read_place(form.action) == read_place(request.url) and read_origin(form.action) == origin
        ]
        return any(_sends_only(form, request.commit.values, secrets) for form in forms)

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


def _sends_only(form: Form, values: Sequence[tuple[str, Scalar]], secrets: set[str]) -> bool:
    passwords = users = 0
    for name, value in values:
        fields = [field for field in form.fields if field.name == name]
        kinds = {field.type for field in fields}
        if kinds == {"password"}:
            passwords += 1
            if value not in secrets:
                return False
        elif kinds and kinds <= USER_FIELDS:
            users += 1
        elif not kinds or not all(_is_as_served(field.type, field.value, field.served, value) for field in fields):
            return False
    return passwords == 1 and users <= 1


def _is_as_served(kind: str, now: str, served: str | None, sent: Scalar) -> bool:
    if kind == "hidden":
        return served is not None and served == sent
    return kind in _BUTTONS and now == sent


def _normalise_origin(origin: str) -> str:
    try:
        return parse(origin).origin
    except AddressRefused:
        return origin.rstrip("/")
