"""Suggestions for misspelt names."""

from collections.abc import Iterable
from difflib import get_close_matches


def describe_unknown(what: str, name: str, known: Iterable[str]) -> str:
    """A message such as `no such setting: 'max_cals'; did you mean 'max_calls'?`, or with all names if none is similar."""
    names = sorted(known)
    if near := suggest_nearest(name, names):
        return f"no such {what}: '{name}'; did you mean {near}?"
    return f"no such {what}: '{name}'; there {'are' if len(names) > 1 else 'is'} {', '.join(names) or 'none'}"


def suggest_nearest(name: str, known: Iterable[str]) -> str:
    """Up to three similar names, joined by 'or', or an empty string."""
    return " or ".join(f"'{each}'" for each in get_close_matches(name, sorted(known), n=3, cutoff=0.6))
