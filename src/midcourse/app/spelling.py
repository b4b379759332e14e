"""What a misspelt name was probably meant to be."""

from collections.abc import Iterable
from difflib import get_close_matches


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """'no such setting: 'max_cals'; did you mean 'max_calls'?', or what there is if nothing comes near."""
    names = sorted(known)
    near = [f"'{each}'" for each in get_close_matches(name, names, n=3, cutoff=0.6)]
    if near:
        return f"no such {what}: '{name}'; did you mean {' or '.join(near)}?"
    return f"no such {what}: '{name}'; there is {', '.join(names) or 'none'}"
