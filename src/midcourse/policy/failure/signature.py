"""Signatures of failures: messages without the parts that differ between occurrences.

    Permission denied: '/srv/a/report-17.csv'   ->   permission denied: <name>

Times, addresses, quoted names, paths, hexadecimal, ids and numbers with any unit are replaced, but not a number that is the
message, as in `HTTP 404` or `errno 13`.
"""

import re
from collections.abc import Iterator
from hashlib import blake2b
from math import sqrt

from midcourse.domain.records.lesson import Embedding

LONGEST = 300
"""The maximum number of characters of a signature. The parts that distinguish failures come early."""

TRIGRAM_BUCKETS = 512
"""Length of a trigram embedding. On `benchmarks/memory.py` 1,024 is not better, and every lesson stores one."""

_EXTENSIONS = (
    "bash|c|cc|cfg|conf|cpp|crt|csv|db|gz|h|html?|ini|jar|jpe?g|js|json|key|log|md|mjs|o|pdf|pem|png|py|rs|sh|so|sql"
    "|sqlite3?|tar|tgz|toml|ts|txt|whl|xlsx?|xml|ya?ml|zip"
)

_DATE = r"\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{4}"
_CLOCK = r"\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?"
_CODES = ("http ", "http/1\\.1 ", "http/2 ", "status ", "errno ", "code ", "code: ", "error ", "error: ")
_NO_CODE = "".join(f"(?<!{word})" for word in _CODES)
_POWER = r"(?:e[+-]?\d+)"
_SPACED = (
    r"%|[kmgt]i?b|bytes?|[mnµ]?s|secs?|seconds?|minutes?|hours?|[cmkµn]?m|px|m?v|k?w|[kmg]?hz|°[cf]?|rad|deg|rpm|fps"
)
_WRITTEN_ON = r"(?!(?:st|nd|rd|th|d|fa|xx)\b)[a-zµμωΩ°%′″²³]{1,5}"
_UNIT = rf"(?:(?:\s(?:{_SPACED})|{_WRITTEN_ON}|%)(?:/[a-zµ]{{1,4}}[²³]?)?)?"
_ZONE = r"(?:\s?(?:Z|UTC|GMT|[+-]\d\d:?\d\d))?"

RULES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), placeholder)
    for pattern, placeholder in (
        (r"\x1b\[[0-9;]*[A-Za-z]", ""),
        (r"[\x00-\x08\x0e-\x1b]", " "),
        (r"[a-z][a-z0-9+.-]{1,15}://[^\s'\"<>)\]]*[^\s'\"<>)\].,;:]", "<url>"),
        (r"\[(?:[0-9a-f]*:){2,}[0-9a-f]*\](?::\d+)?", "<host>"),
        (r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b", "<host>"),
        (rf"\b(?:{_DATE})(?:[T ]{_CLOCK}{_ZONE})?\b", "<time>"),
        (rf"\b{_CLOCK}{_ZONE}(?![\w:])", "<time>"),
        (r"(?<!\w)'[^'\n]*'(?!\w)|\"[^\"\n]*\"|`[^`\n]*[`']|“[^”\n]*”|‘[^’\n]*’|«[^»\n]*»", "<name>"),
        (r"(?<![\w<])[a-z]:\\[^\s:;,]+", "<path>"),
        (r"(?<![\w</])(?:~|\.{1,2})?(?:/[\w.@%+=~-]+)+/?", "<path>"),
        (rf"(?<![\w/])(?:[\w.@+-]+/)+[\w@+-]*\.(?:{_EXTENSIONS})\b", "<path>"),
        (rf"(?<![\w./])[\w@+-]+(?:\.\w+)*\.(?:{_EXTENSIONS})\b(?!\.\w)", "<path>"),
        (r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "<id>"),
        (rf"(?<![\w.])[+-]?\d+\.\d+{_POWER}?{_UNIT}(?![\w.-])", "<n>"),
        (rf"(?<![\w.-])[+-]?\d+e[+-]\d+{_UNIT}(?![\w-])", "<n>"),
        (rf"(?<![\w.-])\d{{4,}}(?:{_SPACED})(?![\w-])", "<n>"),
        (r"\b0x[0-9a-f]+\b|\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,}\b", "<hex>"),
        (r"\b(?:localhost|[a-z0-9-]+(?:\.[a-z0-9-]+)+):\d+\b", "<host>"),
        (r"\b(?=[\w-]*\d)(?=[\w-]*[a-z])[a-z0-9]+(?:[_-][a-z0-9]+)+\b", "<id>"),
        (r"\b(?=[a-z]*\d)(?=\d*[a-z])[a-z0-9]{8,}\b", "<id>"),
        (rf"{_NO_CODE}(?<!\w)(?<!\w\.)[+-]?\d+(?:[.,]\d+)*{_UNIT}(?!\w)", "<n>"),
    )
)
"""Patterns in order of precedence: a time in a path is part of the path, and a number in a URL part of the URL."""


def normalise(message: str) -> str:
    """The message without the parts that differ between occurrences."""
    text = message
    for pattern, placeholder in RULES:
        text = pattern.sub(placeholder, text)
    return " ".join(text.casefold().split())[:LONGEST]


def signature_of(reason: str, detail: str) -> str:
    """The signature of a failure: its reason and its normalised message."""
    words = normalise(detail)
    return f"{reason}: {words}" if words else reason


def lesson_key(place: str, skill: str, role: str, label: str, signature: str) -> str:
    """The key that lessons are counted by: the same failure of the same skill on the same kind of target in the same place.

    Narrower than the signature, because a run may be stopped for it: that one form rejects a value says nothing about
    another.
    """
    what = "\x1f".join((place, skill, role, normalise(label), signature))
    return blake2b(what.encode(), digest_size=8).hexdigest()


def trigram_embedding(message: str) -> Embedding:
    """The set of trigrams in a message's words, hashed to a unit vector: text similarity as a cosine.

    Trigrams instead of whole words, because programs vary the form of a word more than its stem (`permission`, `permitted`).
    """
    counts = [0.0] * TRIGRAM_BUCKETS
    for trigram in set(_trigrams(normalise(message))):
        bucket = int.from_bytes(blake2b(trigram.encode(), digest_size=8).digest()) % TRIGRAM_BUCKETS
        counts[bucket] += 1
    length = sqrt(sum(count * count for count in counts)) or 1.0
    return Embedding(model="trigrams", values=tuple(count / length for count in counts))


def _trigrams(text: str) -> Iterator[str]:
    for word in re.findall(r"[^\W_]+", text):
        padded = f"^{word}$"
        yield from (padded[at : at + 3] for at in range(len(word)))
