"""The screen as text for a model: one zone a line as of the first plan on this screen, then the changes since.

This way a replan on the same screen begins with the same text as the plan before, and a provider that caches prompts has
most of it already. What is behind a dialog is counted and not listed. On a long page the same goes for what is out of sight, except
what has to do with the task. What is still too long is cut by relevance, and the prompt says how much is missing.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from midcourse.domain.argument import Pairs, Scalar
from midcourse.domain.observation import Observation, Zone
from midcourse.llm.prompt.quoting import format_value, quote, quote_block, quote_name
from midcourse.llm.prompt.template import Prompt, estimate_tokens, load_template

_RANKED_BY = 2_000
"""Characters of a label that count for its relevance."""
_WORD = re.compile(r"\w+")
_DIGIT = re.compile(r"\d")

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
"""Share of zones that may differ from the screen as it was first seen; beyond that it is listed again in full."""

LONG_PAGE = 100
"""Number of zones from which on zones out of sight are counted instead of listed."""
NEAR = 40
"""Zones after the last visible one that are listed as well."""
MOST_AWAY = 80
"""Zones further away that are listed because they have to do with the task."""
MATES = 6
"""Zones before and after such a one that are listed with it: what stands in the same row or card."""
RARE = 0.03
"""Share of zones that may have a word of the task if it is to mark a zone as relevant: a word of every row marks none."""
FEW_COVERED = 5
"""Covered zones that are listed one by one."""

NOTICES = frozenset(["alert", "alertdialog", "dialog", "download", "request", "tab"])
"""Roles that are listed wherever they are."""


@dataclass(frozen=True, kw_only=True)
class ScreenText:
    """The screen in two parts: what stays the same from plan to plan, and the changes."""

    first: str
    since: str


@dataclass(frozen=True, kw_only=True)
class _Listing:
    """An observation as text: a line for the surface, one for each zone that is listed, and counts of the others."""

    surface: str
    zones: dict[str, str]
    counted: tuple[str, ...]


def render_screen(
    now: Observation, earlier: Sequence[Observation], about: str, room: int, since: int, *, in_sight: bool = False
) -> ScreenText:
    """Render the screen as text in two parts: as it was first seen, and the changes since.

    `about` is what the task is about, in words; `room` and `since` are the tokens that the two parts may take.
    `in_sight` is for roles that can scroll: what is covered or far out of sight is counted, unless it has to do with the task.
    """
    base = find_first_seen(now, earlier)
    first, latest = (
        _list_relevant(observation, about) if in_sight else _list_all(observation) for observation in (base, now)
    )
    lines = _select_fitting(first.zones, _rank_by_relevance(base.zones, about), room)
    changes = {zone: line for zone, line in latest.zones.items() if first.zones.get(zone) != line}
    listed = _select_fitting(changes, _rank_by_relevance(now.zones, about), since)
    current = {zone.id for zone in now.zones}
    gone = [quote_name(zone) for zone in lines if zone not in current]
    text = quote_block("SCREEN", (first.surface, *lines.values(), *first.counted))
    if len(lines) < len(first.zones):
        text += (
            f"\nThese are {len(lines)} of {len(first.zones)} zones; the others seem to have less to do with the task."
        )
    changed = [latest.surface] if latest.surface != first.surface else []
    changed += [*listed.values(), *(line for line in latest.counted if line not in first.counted)]
    changed += [f"gone: {' '.join(gone)}"] if gone else []
    return ScreenText(first=text, since=_describe_changes(now, base, changed, len(changes) - len(listed)))


def fill_with_screen(
    role: str, values: Mapping[str, str], seen: Observation, about: str, room: int, *, in_sight: bool = False
) -> Prompt:
    """Fill in the template with as much of the screen as fits, so that the prompt has at most `room` tokens."""
    bare = estimate_tokens(load_template(role).fill({**values, "screen": ""}).text)
    screen = render_screen(seen, (), about, room - bare, 0, in_sight=in_sight).first
    return load_template(role).fill({**values, "screen": screen})


def find_first_seen(now: Observation, earlier: Iterable[Observation]) -> Observation:
    """The earlier screen that this one is rendered against; itself, if there is none or too much has changed."""
    base: Observation | None = None
    for seen in (*earlier, now):
        if _place(seen) == _place(now) and (base is None or _has_changed_much(base, seen)):
            base = seen
    return base or now


def _place(seen: Observation) -> str:
    return seen.surface.address.partition("#")[0].partition("?")[0] or seen.surface.title


def _has_changed_much(base: Observation, seen: Observation) -> bool:
    before, after = ({zone.id: format_zone(zone) for zone in observation.zones} for observation in (base, seen))
    differ = sum(after.get(zone) != line for zone, line in before.items()) + len(after.keys() - before.keys())
    return differ > MOST_CHANGED * max(len(before), 1)


def _describe_changes(now: Observation, base: Observation, changed: Sequence[str], left_out: int) -> str:
    parts: list[str] = []
    if changed:
        parts.append(f"Changed on this screen since; the rest is the same:\n{quote_block('CHANGES', changed)}")
    elif now is not base:
        parts.append("Nothing on this screen has changed since.")
    if left_out:
        parts.append(f"{left_out} more zones have changed, which seem to have less to do with the task.")
    if now.stale:
        parts.append("The latest look failed: this is what was seen before, and no step can be carried out on it.")
    return "\n".join(parts)


# --- what is listed


def _list_all(seen: Observation) -> _Listing:
    page, zones = _split_page(seen)
    lines = {zone.id: format_zone(zone, seen.surface.origin) for zone in zones}
    return _Listing(surface=_format_surface(seen, page), zones=lines, counted=())


def _list_relevant(seen: Observation, about: str) -> _Listing:
    page, zones = _split_page(seen)
    covered = {zone.id for zone in zones if zone.get("covered") is True}
    has_dialog = any(zone.role in ("dialog", "alertdialog") and zone.id not in covered for zone in zones)
    hidden = covered if has_dialog and len(covered) > FEW_COVERED else set[str]()
    zones = [zone for zone in zones if zone.id not in hidden]
    listed = _select_in_sight(zones, about) if len(zones) > LONG_PAGE else {zone.id for zone in zones}
    counted = [f"{len(hidden)} zones are behind the dialog"] if hidden else []
    return _Listing(
        surface=_format_surface(seen, page),
        zones={zone.id: format_zone(zone, seen.surface.origin) for zone in zones if zone.id in listed},
        counted=(*counted, *_describe_out_of_sight(zones, listed)),
    )


def _split_page(seen: Observation) -> tuple[Zone | None, list[Zone]]:
    """Return the zone of the surface as a whole, if it only repeats its title, and all other zones."""
    page = next((zone for zone in seen.zones if zone.role == "page" and zone.label in ("", seen.surface.title)), None)
    return page, [zone for zone in seen.zones if zone is not page]


def _select_in_sight(zones: Sequence[Zone], about: str) -> set[str]:
    """Ids of what is visible, what comes right after it, and what is further away and has to do with the task."""
    visible = [n for n, zone in enumerate(zones) if zone.get("seen") is not False]
    near = range(visible[-1] + 1, visible[-1] + 1 + NEAR) if visible else range(NEAR)
    listed = {*visible, *near}
    away = [n for n in _rank_by_task_words(zones, about) if n not in listed]
    room = MOST_AWAY
    for n in away:
        mates = set(range(max(n - MATES, 0), min(n + MATES + 1, len(zones)))) - listed
        if len(mates) <= room:
            listed |= mates
            room -= len(mates)
    listed |= {n for n, zone in enumerate(zones) if zone.role in NOTICES or zone.get("invalid") is True}
    return {zones[n].id for n in listed if n < len(zones)}


def _rank_by_task_words(zones: Sequence[Zone], about: str) -> list[int]:
    """Positions of zones with words of the task that few zones have, the rarest first."""
    wanted = _extract_words(about)
    shared = [wanted & _extract_words(_join_texts(zone)) for zone in zones]
    common = Counter(word for words in shared for word in words)
    most = max(3, int(RARE * len(zones)))
    worth = {n: sum(1 / common[word] for word in words if common[word] <= most) for n, words in enumerate(shared)}
    return sorted((n for n in worth if worth[n]), key=lambda n: -worth[n])


def _describe_out_of_sight(zones: Sequence[Zone], listed: set[str]) -> Iterable[str]:
    """One line for what is not listed above what is visible, and one for what is not listed below."""
    visible = [n for n, zone in enumerate(zones) if zone.get("seen") is not False]
    first = visible[0] if visible else 0
    for where, part in (("above", zones[:first]), ("below", zones[first:])):
        left = [zone for zone in part if zone.id not in listed]
        if left:
            roles = Counter(quote_name(zone.role) for zone in left)
            kinds = ", ".join(f"{count} {role}" for role, count in roles.most_common(5))
            labels = Counter(zone.label for zone in left)
            telling = [zone.label for zone in left if labels[zone.label] == 1] or [zone.label for zone in left]
            ends = " to ".join(dict.fromkeys(quote(label, 40) for label in (telling[0], telling[-1])))
            yield f"{len(left)} zones {where} are not listed ({kinds}), from {ends}"


# --- what matters


def _rank_by_relevance(zones: tuple[Zone, ...], about: str) -> list[str]:
    """Ids by relevance. The order depends on the zones and the task only, so that prompts begin alike."""
    words = _extract_words(about)

    def rank(zone: Zone) -> tuple[int, int]:
        return -len(words & _extract_words(_join_texts(zone))), zone.role not in HANDLES

    return [zone.id for zone in sorted(zones, key=rank)]


def _join_texts(zone: Zone) -> str:
    return " ".join((zone.label, *(value for _, value in zone.state if isinstance(value, str))))


def _extract_words(text: str) -> frozenset[str]:
    """The words at the beginning of a text, since a label may have megabytes. Short words are left out, short numbers are not."""
    words = _WORD.findall(text[:_RANKED_BY].lower())
    return frozenset(word for word in words if len(word) > 2 or _DIGIT.search(word))


def _select_fitting(lines: dict[str, str], ranked: Sequence[str], room: int) -> dict[str, str]:
    """The most relevant lines that fit into `room` tokens, in their original order."""
    kept: set[str] = set()
    for zone in ranked:
        if zone not in lines:
            continue
        room -= estimate_tokens(lines[zone]) + 1
        if room < 0:
            break
        kept.add(zone)
    return {zone: line for zone, line in lines.items() if zone in kept}


# --- in words


def _format_surface(seen: Observation, page: Zone | None) -> str:
    address = f" at {quote(seen.surface.address)}" if seen.surface.address else ""
    usual = (("status", 200), ("tabs", 1))
    unusual = tuple(pair for pair in page.state if pair not in usual) if page else ()
    return f"surface {quote(seen.surface.title)}{address}{_format_states(unusual, '')}"


def format_zone(zone: Zone, origin: str = "") -> str:
    """Id, role, label and state. Where it is does not matter to a plan, and changes with every scroll.

    Addresses are relative to `origin`.
    """
    state = tuple(pair for pair in zone.state if pair != ("seen", False))
    return f"{quote_name(zone.id)} {quote_name(zone.role)} {quote(zone.label)}{_format_states(state, origin)}"


def _format_states(state: Pairs, origin: str) -> str:
    return "".join(
        f" {quote_name(name)}={_make_relative(value, origin) or format_value(value)}" for name, value in state
    )


def _make_relative(value: Scalar, origin: str) -> str:
    """Return an address of this origin without the origin, and nothing for any other value.

    A path with two slashes in front would be an address of another host.
    """
    if not origin or not isinstance(value, str) or not value.startswith(f"{origin}/"):
        return ""
    path = value[len(origin) :]
    return "" if path.startswith("//") else quote_name(path)
