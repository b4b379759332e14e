"""Likeness of requests: finds a step that would repeat an effect, ignoring what forms change by themselves.

A token, a nonce or a timestamp makes every submission of a form a different request, so the strict identity never finds
a duplicate there. A value is ignored depending on its source, its name and its shape; values that only the form itself
can decide on are kept separately, by name (design/0013).
"""

import re
from collections import defaultdict
from collections.abc import Iterable

from midcourse.domain.approval import CommitSet, Source
from midcourse.domain.argument import Scalar
from midcourse.domain.plan import PlannedStep, Target
from midcourse.domain.records.ledger import Alike, Likeness
from midcourse.domain.run import Run
from midcourse.policy.identity import digest_of, identity_digest

QUERY = "?"
"""Prefix of the names of query values, since a field may have the same name."""
OVERFLOW = "…"
"""The name of the value that summarises those beyond the limit of a commit set."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_NUMBERED = re.compile(r"^\d+: ")
"""The prefix of a value's name that tells to which of several requests it belongs."""
_ESCAPED = re.compile(r"%([0-9A-Fa-f]{2})")
_SESSION_PATH = re.compile(r";jsessionid=[^/?]*", re.IGNORECASE)

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


def likeness_of(skill: str, target: Target, commit: CommitSet) -> Likeness:
    """The likeness of a request, which ignores values that its form changes by itself. Without an address, every value counts."""
    if not commit.address:
        return Likeness(digest=identity_digest(skill, target, commit))
    address, query = _split_queries(commit.address)
    sources = dict(commit.sources)
    kept: list[tuple[str, Scalar]] = []
    hidden: defaultdict[str, list[Scalar]] = defaultdict(list)
    for name, value in (*query, *commit.values):
        match _classify(name, value, sources.get(name)):
            case "counts":
                kept.append((name, value))
            case "hidden":
                hidden[name].append(value)
            case _:
                pass
    return Likeness(
        digest=digest_of("likeness", address, _sort_pairs(kept)),
        hidden=tuple(
            (name, digest_of("hidden", _sort_pairs((name, value) for value in hidden[name]))) for name in sorted(hidden)
        ),
    )


def differing_names(earlier: Likeness, later: Likeness) -> tuple[str, ...] | None:
    """Names of the hidden values in which two requests differ. None: they differ in more, so they are different effects."""
    if earlier.digest != later.digest:
        return None
    before, after = dict(earlier.hidden), dict(later.hidden)
    return tuple(name for name in sorted({*before, *after}) if before.get(name) != after.get(name))


def find_repeated(run: Run, step: PlannedStep) -> tuple[Alike, ...]:
    """Effects that happened, or may have, and that this step would probably repeat, oldest first."""
    return tuple(earlier for earlier in step.alike if earlier.identity in run.finished_irreversible)


# --- names and shapes


def is_volatile_name(name: str) -> bool:
    """Whether a value of this name is generated for each form or request and says nothing about the order itself."""
    words = [word.lower() for word in _WORD.findall(_NUMBERED.sub("", name).removeprefix(QUERY))]
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


def _classify(name: str, value: Scalar, source: Source | None) -> str:
    if source == "shown":
        return "counts"
    if source == "fresh" or is_volatile_name(name):
        return "ignored"
    if source == "hidden" or name == OVERFLOW or (name.startswith(QUERY) and looks_random(value)):
        return "hidden"
    return "counts"


def _split_queries(address: str) -> tuple[list[str], list[tuple[str, Scalar]]]:
    """Methods and addresses without their queries, and the values of the queries."""
    bare: list[str] = []
    values: list[tuple[str, Scalar]] = []
    for part in address.split(" and "):
        path, _, query = part.partition("?")
        bare.append(_SESSION_PATH.sub("", path))
        for pair in filter(None, query.split("&")):
            name, _, value = pair.partition("=")
            values.append((QUERY + _decode(name), _decode(value)))
    return bare, values


def _decode(text: str) -> str:
    """The text with percent-encoding decoded byte by byte. Text that is not ASCII is garbled, but always in the same way."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text.replace("+", " "))


def _sort_pairs(pairs: Iterable[tuple[str, Scalar]]) -> list[list[Scalar]]:
    """The pairs sorted, since the order of fields makes no difference; the number 1 and the text '1' are different values."""
    return [list(pair) for pair in sorted(pairs, key=lambda pair: (pair[0], type(pair[1]).__name__, str(pair[1])))]
