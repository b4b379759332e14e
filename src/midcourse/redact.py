"""Where does a secret hide in this text? Finds it as it is and as programs write it on, and puts its name there instead.

Known forms: as it is; percent-encoded once or twice, with `+` for blanks; Base64 of either alphabet, also within something
longer; hexadecimal; HTML entities; escapes of JSON and JavaScript. What a page does to it beyond that (reversed, a letter in
each field, encrypted) is not found.
"""

import base64
import html
import json
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from urllib.parse import quote, quote_plus

SHORTEST_ENCODED = 4
"""Of a shorter secret only the secret itself is looked for: its encodings are parts of ordinary words."""


class Redactor:
    """For these secrets, by name. The longest form is looked for first: one secret may be a part of another."""

    def __init__(self, secrets: Iterable[tuple[str, str]]) -> None:
        forms = {form: name for name, secret in secrets if secret for form in _forms(secret)}
        self._names = forms
        self._pattern = re.compile("|".join(re.escape(form) for form in sorted(forms, key=len, reverse=True)))

    def __call__(self, text: str) -> str:
        return self._pattern.sub(self._name, text) if self._names else text

    def _name(self, found: re.Match[str]) -> str:
        return f"<secret {self._names[found[0]]}>"


@lru_cache(maxsize=16)
def redactor(secrets: tuple[tuple[str, str], ...]) -> Redactor:
    """The same for the same secrets: to find all forms of many takes a while."""
    return Redactor(secrets)


def _forms(secret: str) -> Iterator[str]:
    yield secret
    if len(secret) < SHORTEST_ENCODED:
        return
    raw = secret.encode()
    for once in (quote(secret, safe=""), quote(secret), quote_plus(secret)):
        for twice in (once, quote(once, safe="")):
            yield twice
            yield re.sub("%[0-9A-F]{2}", lambda found: found[0].lower(), twice)
    for standard in _base64(raw):
        yield standard
        yield standard.replace("+", "-").replace("/", "_")
    yield raw.hex()
    yield raw.hex().upper()
    yield from (html.escape(secret), html.escape(secret).replace("&#x27;", "&#39;"))
    yield "".join(f"&#{ord(letter)};" for letter in secret)
    yield "".join(f"&#x{ord(letter):x};" for letter in secret)
    yield json.dumps(secret)[1:-1]
    yield json.dumps(secret, ensure_ascii=False)[1:-1]
    yield "".join(f"\\u{ord(letter):04x}" for letter in secret)


def _base64(raw: bytes) -> Iterator[str]:
    """Alone, and as it comes out at each of the three places in a group of three bytes: without the letters at either end
    that it shares with its neighbours.
    """
    yield base64.b64encode(raw).decode()
    yield base64.b64encode(raw).decode().rstrip("=")
    for before in range(3):
        whole = (before + len(raw)) // 3 * 4
        inner = base64.b64encode(bytes(before) + raw).decode()[-(-before * 8 // 6) : whole]
        if len(inner) >= 2 * SHORTEST_ENCODED:
            yield inner
