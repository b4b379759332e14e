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
from midcourse.policy.generated import QUERY, is_volatile_name, looks_random
from midcourse.policy.identity import digest_of, identity_digest

OVERFLOW = "…"
"""The name of the value that summarises those beyond the limit of a commit set."""

_ESCAPED = re.compile(r"%([0-9A-Fa-f]{2})")
_SESSION_PATH = re.compile(r";jsessionid=[^/?]*", re.IGNORECASE)


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
