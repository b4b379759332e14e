"""Generated values: which values of a request a form or script makes up for each visit, by their names and shapes."""

import re

from midcourse.domain.argument import Scalar

QUERY = "?"
"""Prefix of the names of query values, since a field may have the same name."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_NUMBERED = re.compile(r"^\d+: ")
"""The prefix of a value's name that tells to which of several requests it belongs."""

_VOLATILE = frozenset(
    [
        "nonce",
        "wpnonce",
        "authenticity",
        "eventvalidation",
        "turnstile",
        "timestamp",
        "cachebuster",
        "nocache",
        "phpsessid",
        "traceparent",
    ]
)
_VOLATILE_PARTS = ("csrf", "xsrf", "viewstate", "idempoten", "captcha", "antiforgery")
_VOLATILE_ENDINGS = ("viewstate", "eventvalidation", "formkey", "formbuildid", "timestamp")

_UUID = re.compile(r"[0-9a-f]{8}(-?)[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{12}", re.IGNORECASE)
_OPAQUE = re.compile(r"[A-Za-z0-9_+/=.~-]{12,}")
_HEX = re.compile(r"(?=.*\d)[0-9a-f]{24,}")
"""A name that is itself a token, as in Joomla."""
_DIGITS = re.compile(r"\d{15,}")
_FRACTION = re.compile(r"\d\.\d{10,}(e-\d+)?")
_RUNS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_VISIT_TOKENS = ("csrf", "xsrf", "antiforgery", "authenticitytoken", "requestverificationtoken", "idempoten")


def is_volatile_name(name: str) -> bool:
    """Whether a value of this name is generated for each form or request and says nothing about the order itself."""
    words: list[str] = [word.lower() for word in _WORD.findall(_NUMBERED.sub("", name).removeprefix(QUERY))]
    if not words:
        return False
    if any(word in _VOLATILE or any(part in word for part in _VOLATILE_PARTS) for word in words):
        return True
    return words[-1].endswith("token") or "".join(words).endswith(_VOLATILE_ENDINGS) or bool(_HEX.fullmatch(name))


def looks_random(value: Scalar) -> bool:
    """Whether the value looks generated: a UUID, a long hexadecimal or mixed text, a long number."""
    if isinstance(value, bool) or value is None:
        return False
    text = str(value).strip()
    if _UUID.fullmatch(text) or _DIGITS.fullmatch(text) or _FRACTION.fullmatch(text):
        return True
    if not _OPAQUE.fullmatch(text):
        return False
    return len(_RUNS.findall(text)) * 3 > len(text) and any(letter.isdigit() for letter in text)


def is_visit_token(name: str, value: Scalar) -> bool:
    """Whether this is an anti-forgery token or an idempotency key: made for one visit, it says nothing about what is requested."""
    found: list[str] = _WORD.findall(name)
    words = "".join(found).lower()
    named = any(part in words for part in _VISIT_TOKENS) or name.endswith("[_token]")
    return named and isinstance(value, str) and looks_random(value)
