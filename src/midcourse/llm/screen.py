"""What is on the screen, as a model reads it: one zone a line, as it was when a plan was first made from it, and then what has
changed since.

Told like that, a replan on the same screen begins with the very words of the one before, and whoever caches prompts has
most of it already. What is too long is cut by relevance: what shares words with the task first, then what can be written in or
pressed, then the rest, and it says how much is missing.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from midcourse.domain.argument import Scalar
from midcourse.domain.observation import Observation, Zone
from midcourse.llm.fence import fenced, quoted
from midcourse.llm.tokens import tokens_at_most

_PLAIN = re.compile(r"[\w.:/@#-]{1,80}", re.ASCII)
_WORD = re.compile(r"\w{3,}")

HANDLES = frozenset(
    [
        "button",
        "checkbox",
        "combobox",
        "field",
        "input",
        "menuitem",
        "option",
        "radio",
        "searchbox",
        "select",
        "slider",
        "spinbutton",
        "switch",
        "tab",
        "textbox",
    ]
)
"""Roles that most steps are about."""

MOST_CHANGED = 1 / 3
"""Share of zones that may differ from the screen as it was first seen; beyond that it is told anew."""


@dataclass(frozen=True, kw_only=True)
class Shown:
    """The screen in two parts: what stays as it is from plan to plan, and what does not."""

    first: str
    since: str


def shown(now: Observation, earlier: Sequence[Observation], about: str, room: int, since: int) -> Shown:
    """`about` is what the task is about, in words; `room` and `since` are the tokens that the two parts may take."""
    base = first_seen(now, earlier)
    ranked = _by_relevance(base.zones, about)
    lines = _fitting({zone.id: zone_line(zone) for zone in base.zones}, ranked, room)
    changes = _changes(base, now)
    listed = _fitting(changes, _by_relevance(tuple(zone for zone in now.zones if zone.id in changes), about), since)
    here = {zone.id for zone in now.zones}
    gone = [named(zone) for zone in lines if zone not in here]
    return Shown(
        first=_told((_surface(base), *lines.values()), len(lines), len(base.zones)),
        since=_since(now, base, listed, len(changes), gone),
    )


def first_seen(now: Observation, earlier: Iterable[Observation]) -> Observation:
    """The screen that this one is told as a change of: itself, if no plan was made from it or it has changed too much."""
    base: Observation | None = None
    for seen in (*earlier, now):
        if _place(seen) == _place(now) and (base is None or _is_another(base, seen)):
            base = seen
    return base or now


def _place(seen: Observation) -> str:
    return seen.surface.address.partition("#")[0].partition("?")[0] or seen.surface.title


def _is_another(base: Observation, seen: Observation) -> bool:
    before, after = ({zone.id: zone_line(zone) for zone in one.zones} for one in (base, seen))
    differ = sum(after.get(zone) != line for zone, line in before.items()) + len(after.keys() - before.keys())
    return differ > MOST_CHANGED * max(len(before), 1)


def _changes(base: Observation, now: Observation) -> dict[str, str]:
    before = {zone.id: zone_line(zone) for zone in base.zones}
    return {zone.id: line for zone in now.zones if before.get(zone.id) != (line := zone_line(zone))}


def _told(lines: Sequence[str], some: int, all_of_them: int) -> str:
    fence = fenced("SCREEN", lines)
    if some == all_of_them:
        return fence
    return f"{fence}\nThese are {some} of {all_of_them} zones; the others seemed to have less to do with the task."


def _since(now: Observation, base: Observation, listed: dict[str, str], changed: int, gone: Sequence[str]) -> str:
    lines = list(listed.values())
    if _surface(now) != _surface(base):
        lines.insert(0, _surface(now))
    if gone:
        lines.append(f"gone: {' '.join(gone)}")
    left_out = (
        f"\n{changed - len(listed)} more changed, which seem to have less to do with the task."
        if changed > len(listed)
        else ""
    )
    stale = (
        "\nThe last look failed: this is what was seen before it, and nothing can be done on it." if now.stale else ""
    )
    if not lines:
        return f"The screen is as it was first seen.{stale}"
    return f"Since then this is new or different; what is not named is as it was:\n{fenced('CHANGES', lines)}{left_out}{stale}"


# --- what matters


def _by_relevance(zones: tuple[Zone, ...], about: str) -> list[str]:
    """Ids, what matters most first. The same for the same zones and the same task, whatever happened meanwhile."""
    words = _words(about)

    def rank(zone: Zone) -> tuple[int, int]:
        texts = (zone.label, *(value for _, value in zone.state if isinstance(value, str)))
        return -len(words & _words(" ".join(texts))), zone.role not in HANDLES

    return [zone.id for zone in sorted(zones, key=rank)]


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()))


def _fitting(lines: dict[str, str], ranked: Sequence[str], room: int) -> dict[str, str]:
    """As many of the most relevant as there is room for, in the order they came in."""
    kept: set[str] = set()
    for zone in ranked:
        room -= tokens_at_most(lines[zone]) + 1
        if room < 0:
            break
        kept.add(zone)
    return {zone: line for zone, line in lines.items() if zone in kept}


# --- in words


def _surface(seen: Observation) -> str:
    address = f" at {quoted(seen.surface.address)}" if seen.surface.address else ""
    return f"surface {quoted(seen.surface.title)}{address}"


def zone_line(zone: Zone) -> str:
    """Id, role, label and state. Where it is does not matter to a plan, and changes with every scroll."""
    state = "".join(f" {named(name)}={value_text(value)}" for name, value in zone.state)
    return f"{named(zone.id)} {named(zone.role)} {quoted(zone.label)}{state}"


def named(text: str) -> str:
    """A name without quotes if nobody can mistake it for anything else."""
    return text if _PLAIN.fullmatch(text) else quoted(text)


def value_text(value: Scalar) -> str:
    return quoted(value) if isinstance(value, str) else str(value).lower()
