"""Signatures of failures: messages without what differs from one time to the next.

    Permission denied: '/srv/a/report-17.csv'   ->   permission denied: <name>

Out go times, addresses, quoted names, paths, hexadecimal, ids and numbers, but not a number that is the message: of `HTTP 404`
or `errno 13` it stays.
"""

import re
from collections.abc import Iterator
from hashlib import blake2b
from math import sqrt

from midcourse.domain.records.lesson import Embedding

LONGEST = 300
"""Characters of a signature. What tells failures apart comes early."""

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
_UNIT = r"\s?(?:%|[kmgt]i?b|bytes?|[mnµ]?s|secs?|seconds?|minutes?|hours?)?"
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
        (r"\b0x[0-9a-f]+\b|\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,}\b", "<hex>"),
        (r"\b(?:localhost|[a-z0-9-]+(?:\.[a-z0-9-]+)+):\d+\b", "<host>"),
        (r"\b(?=[\w-]*\d)(?=[\w-]*[a-z])[a-z0-9]+(?:[_-][a-z0-9]+)+\b", "<id>"),
        (r"\b(?=[a-z]*\d)(?=\d*[a-z])[a-z0-9]{8,}\b", "<id>"),
        (rf"{_NO_CODE}(?<!\w)(?<!\w\.)[+-]?\d+(?:[.,]\d+)*{_UNIT}(?!\w)", "<n>"),
    )
)
"""In this order: a time in a path is a path, and a number in a URL none."""


def normalise(message: str) -> str:
    """The words of a message: what stays the same when the same happens to something else."""
    text = message
    for pattern, placeholder in RULES:
        text = pattern.sub(placeholder, text)
    return " ".join(text.casefold().split())[:LONGEST]


def signature_of(reason: str, detail: str) -> str:
    """Of a failed step: its reason, and what was said about it."""
    words = normalise(detail)
    return f"{reason}: {words}" if words else reason


def lesson_key(place: str, skill: str, role: str, label: str, signature: str) -> str:
    """By which a lesson is counted: the same failure of the same skill on the same kind of thing in the same place.

    Narrower than the signature, because a run may be stopped for it: that a form rejects something says nothing about
    the next form.
    """
    what = "\x1f".join((place, skill, role, normalise(label), signature))
    return blake2b(what.encode(), digest_size=8).hexdigest()


def trigram_embedding(message: str) -> Embedding:
    """The set of three-letter sequences in a message's words, hashed to a unit vector: full-text similarity as a cosine.

    An embedding, so that stores compare it like a provider's. Trigrams instead of whole words, because programs vary the
    form of a word more than its stem (`permission`, `permitted`).
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
