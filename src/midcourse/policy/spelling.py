"""Suggestions for misspelt names."""

from collections.abc import Iterable
from difflib import get_close_matches


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """'no such setting: 'max_cals'; did you mean 'max_calls'?', or what there is if nothing comes near."""
    names = sorted(known)
    if near := nearest(name, names):
        return f"no such {what}: '{name}'; did you mean {near}?"
    return f"no such {what}: '{name}'; there is {', '.join(names) or 'none'}"


def nearest(name: str, known: Iterable[str]) -> str:
    """Up to three names that come near, in words, or nothing."""
    return " or ".join(f"'{each}'" for each in get_close_matches(name, sorted(known), n=3, cutoff=0.6))
