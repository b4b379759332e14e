"""The screen as text for a model: a line for each zone and for each row of a table, as of the first plan on this screen, then the
changes since.

This way a replan on the same screen begins with the same text as the plan before, and a provider that caches prompts has
most of it already. The name of a table's columns, and of a group, row or dialog around several zones, is written once. What is covered
is counted and not listed. On a long page the same goes for what is out of sight, except what has to do with the task and the next
lines and rows. What is still too long is cut by relevance, and the prompt says how much is missing.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from midcourse.domain.argument import Pairs, Scalar
from midcourse.domain.observation import HELD_FOR, Observation, Surface, Zone
from midcourse.llm.prompt.quoting import LONGEST, format_value, quote, quote_block, quote_cut, quote_name
from midcourse.llm.prompt.template import Prompt, estimate_tokens, load_template

_RANKED_BY = 2_000
"""Characters of a label that count for its relevance."""
_WORD = re.compile(r"\w+")
_DIGIT = re.compile(r"\d")
_BARE = re.compile(r"(?![A-Za-z_]+\d\S*\s)[A-Za-z0-9$(+-][\w .,:;/@%()'$+-]{0,78}[\w.)%$]|[\w$-]", re.ASCII)
"""A text of a cell that needs no quotes. It neither ends the cell nor reads as the id and role of a zone."""
_ADDRESS = re.compile(r"[\w.:/@#?=&%+~,;!$*-]{1,200}", re.ASCII)
"""An address that needs no quotes."""

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
"""Number of lines from which on what is out of sight is counted instead of listed."""
NEAR = 40
"""Lines after something visible that are listed as well."""
NEAR_ROWS = 20
"""How many of them may be rows of a table."""
MOST_AWAY = 80
"""Lines further away that are listed because they have to do with the task."""
MATES = 6
"""Lines before and after such a one that are listed with it: what stands in the same card. A row of a table is complete."""
RARE = 0.03
"""Share of lines that may have a word of the task if it is to mark a line as relevant: a word of every row marks none."""
FEW_COVERED = 5
"""Covered zones that are listed one by one."""
MUCH_COVERED = 1 / 3
"""Share of the zones in view from which on covered ones are counted although there is no dialog: a drawer, but not a narrow bar."""
MOST_IN_CELL = 6
"""Zones of one cell of a table that is written in rows. A page that is laid out as a table has more."""
MOST_REPEATED = 12
"""Zones whose names a text before them may repeat."""
MOST_MARKED = 10
"""Zones that a class of the page may mark alike: if it marks more, it means something else."""

LONGEST_WHOLE = 2_400
"""Characters of all texts of a screen that are longer than others may be, up to which they are shown whole: a letter, an article."""
LONGEST_ADDRESS = 60
LONGEST_QUERY = 20
"""Characters of an address, and of one with a query, up to which it is listed."""
_ORIGIN = re.compile(r"https?://[^/?#]+")
LONGEST_VALUE = 800
"""Characters of what is in a field: who adds to a text has to see how it ends."""
LONGEST_NOTICE = 2_000
"""Characters of what an application says about an error or asks in a dialog."""
TELLING = frozenset(["alert", "alertdialog", "dialog", "status"])
NOTICES = frozenset(["alert", "alertdialog", "dialog", "download", "request", "tab"])
"""Roles that are listed wherever they are."""
PLAIN = frozenset(["cell", "heading", "img", "text"])
"""Roles that need no id in a row of a table: the text says it all."""


@dataclass(frozen=True, kw_only=True)
class ScreenText:
    """The screen in two parts: what stays the same from plan to plan, and the changes."""

    first: str
    since: str


@dataclass(frozen=True, kw_only=True)
class _Line:
    """A zone, or a row of a table."""

    text: str
    zones: tuple[Zone, ...]
    container: str = ""
    """The name of the row, group or dialog around it."""
    table: str = ""
    """The table of the row."""
    is_header: bool = False

    @property
    def key(self) -> str:
        return self.zones[0].id

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset[str]().union(*(_extract_words(_join_texts(zone)) for zone in self.zones))

    @property
    def is_seen(self) -> bool:
        return any(zone.get("seen") is not False for zone in self.zones)


@dataclass(frozen=True, kw_only=True)
class _Listing:
    """An observation as text: a line for the surface, the lines that are listed, the header of each table, and counts of the rest."""

    surface: str
    lines: tuple[_Line, ...]
    headers: Mapping[str, _Line]
    counted: tuple[str, ...]


def render_screen(
    now: Observation,
    earlier: Sequence[Observation],
    about: str,
    room: int,
    since: int,
    *,
    in_sight: bool = False,
    marked: bool = False,
) -> ScreenText:
    """Render the screen as text in two parts: as it was first seen, and the changes since.

    `about` is what the task is about, in words; `room` and `since` are the tokens that the two parts may take.
    `in_sight` is for roles that can scroll: what is covered or far out of sight is counted, unless it has to do with the task.
    `marked` says that a picture with the ids of zones comes with it, so that zones without a name are listed.
    """
    base = find_first_seen(now, earlier)
    first, latest = (_list_lines(seen, about, in_sight=in_sight, marked=marked) for seen in (base, now))
    lines = _select_fitting(first, first.lines, about, room)
    before = {line.key: (line.text, line.container) for line in first.lines}
    changes = [line for line in latest.lines if before.get(line.key) != (line.text, line.container)]
    listed = _select_fitting(latest, changes, about, since)
    text = quote_block("SCREEN", (first.surface, *_render_lines(lines, first.headers), *first.counted))
    if len(lines) < len(first.lines):
        text += (
            f"\nThese are {len(lines)} of {len(first.lines)} zones; the others seem to have less to do with the task."
        )
    gone = [*_name_gone(lines, {zone.id for zone in now.zones})]
    changed = [latest.surface] if latest.surface != first.surface else []
    changed += [*_render_lines(listed, latest.headers), *(line for line in latest.counted if line not in first.counted)]
    changed += [f"gone: {' '.join(gone)}"] if gone else []
    return ScreenText(first=text, since=_describe_changes(now, base, changed, len(changes) - len(listed)))


def _name_gone(lines: Iterable[_Line], current: set[str]) -> Iterator[str]:
    """The ids of listed zones that are no longer there; of a row of which nothing is left, its text if it shows no id."""
    for line in lines:
        gone = [zone for zone in line.zones if zone.id not in current]
        shown = [zone for zone in gone if not line.table or _needs_id(zone)]
        yield from (quote_name(zone.id) for zone in shown)
        if not shown and len(gone) == len(line.zones):
            yield f"the row {quote(line.text, 60)}"


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


def _list_lines(seen: Observation, about: str, *, in_sight: bool, marked: bool) -> _Listing:
    page = next((zone for zone in seen.zones if zone.role == "page" and zone.label in ("", seen.surface.title)), None)
    zones = [zone for zone in seen.zones if zone is not page]
    hidden, why = _find_covered(zones) if in_sight else (set[str](), "")
    nameless = list[Zone]() if marked else [zone for zone in zones if zone.id not in hidden and _is_nameless(zone)]
    repeated = _find_repeated_requests(zones)
    noise = _find_noise(zones) | {zone.id for zone in nameless} | repeated.keys()
    zones = [zone for zone in zones if zone.id not in hidden and zone.id not in noise]
    everything = [*_build_lines(zones, seen.surface)]
    lines = _select_in_sight(everything, about) if in_sight and len(everything) > LONG_PAGE else everything
    counted = [f"{len(hidden)} zones are {why}"] if hidden else []
    counted += [f"{len(nameless)} zones without a name are not listed"] if nameless else []
    for kept in dict.fromkeys(repeated.values()):
        others = [quote_name(zone) for zone, like in repeated.items() if like == kept]
        counted.append(f"{len(others)} more like {quote_name(kept)}: {' '.join(others)}")
    return _Listing(
        surface=_format_surface(seen, page),
        lines=tuple(lines),
        headers={line.table: line for line in everything if line.is_header},
        counted=(*counted, *_describe_out_of_sight(everything, {line.key for line in lines})),
    )


def _find_covered(zones: Sequence[Zone]) -> tuple[set[str], str]:
    """Ids of covered zones that are counted, and what covers them."""
    covered = {zone.id for zone in zones if zone.get("covered") is True}
    if len(covered) <= FEW_COVERED:
        return set(), ""
    if any(zone.role in ("dialog", "alertdialog") and zone.id not in covered for zone in zones):
        return covered, "behind the dialog"
    in_view = [zone for zone in zones if zone.get("seen") is not False]
    free = any(zone.role not in PLAIN | NOTICES and zone.id not in covered for zone in in_view)
    much = len(covered) >= MUCH_COVERED * len(in_view)
    return (covered, "covered by what is listed") if free and much else (set(), "")


def _find_repeated_requests(zones: Sequence[Zone]) -> dict[str, str]:
    """Ids of the page's own requests that share a line, each with the id of the latest with the same path and names of values."""
    kinds: dict[object, list[str]] = defaultdict(list)
    for zone in zones:
        if zone.role == "request" and not zone.get(HELD_FOR):
            kinds[zone.label.partition("?")[0], tuple(name for name, _ in zone.state)].append(zone.id)
    return {earlier: ids[-1] for ids in kinds.values() for earlier in ids[:-1]}


def _is_nameless(zone: Zone) -> bool:
    """Whether nothing is known of it but that it can be clicked. A control without a name is listed, since its role says something."""
    states = {name for name, _ in zone.state} - {"seen", "covered", "within", "marked"}
    return zone.role in ("clickable", "menuitem") and not zone.label and not states


def _find_noise(zones: Sequence[Zone]) -> set[str]:
    """Ids of texts that say nothing: only the names of the zones that follow, such as `Today | Tomorrow`, or only punctuation."""
    noise: set[str] = set()
    for n, zone in enumerate(zones):
        if zone.role not in ("text", "cell") or any(name not in _WHERE for name, _ in zone.state):
            continue
        rest = zone.label
        for following in zones[n + 1 : n + 1 + MOST_REPEATED]:
            if following.label not in rest or following.role in PLAIN or following.cell != zone.cell:
                break
            rest = rest.replace(following.label, "", 1) if following.label else rest
        if (rest != zone.label or not zone.cell) and all(_is_punctuation(letter) for letter in rest):
            noise.add(zone.id)
    return noise


def _is_punctuation(letter: str) -> bool:
    return unicodedata.category(letter)[0] in "PZ" or letter in "|+"


_WHERE = frozenset(["seen", "covered", "within"])
"""States that say only where a zone is."""


def _build_lines(zones: Sequence[Zone], surface: Surface) -> Iterator[_Line]:
    """A line for each zone, and one for each row of a table, in the order of the screen."""
    tables = _find_tables(zones)
    long = [len(zone.label) for zone in zones if zone.role in PLAIN and len(zone.label) > LONGEST]
    longest = LONGEST_WHOLE if sum(long) <= LONGEST_WHOLE else LONGEST
    marked = Counter(zone.get("marked") for zone in zones)

    def drop(zone: Zone) -> frozenset[str]:
        often = marked[zone.get("marked")] > MOST_MARKED
        return frozenset(["seen", "within", "marked"] if often else ["seen", "within"])

    def row_of(zone: Zone) -> object:
        return zone.cell[:2] if zone.cell and zone.cell[0] in tables else zone.id

    for _, run in groupby(zones, row_of):
        together = tuple(run)
        place = together[0].cell
        if place and place[0] in tables:
            text = _format_row(together, tables[place[0]], surface, drop)
            yield _Line(text=text, zones=together, table=place[0], is_header=place[1] == 0)
            continue
        for zone in together:
            within = zone.get("within")
            container = within if isinstance(within, str) else ""
            yield _Line(text=format_zone(zone, surface, drop(zone), longest), zones=(zone,), container=container)


def _find_tables(zones: Sequence[Zone]) -> dict[str, list[int]]:
    """The tables that are written in rows, with their columns that are not empty: not the layout of a page, nor a table around another."""
    rows: dict[str, set[int]] = defaultdict(set)
    columns: dict[str, set[int]] = defaultdict(set)
    unfit: set[str] = set()
    for (table, row), run in groupby(zones, _place_row):
        if not table:
            continue
        cells = Counter(zone.cell[2] for zone in run if zone.cell)
        if row in rows[table] or max(cells.values()) > MOST_IN_CELL:
            unfit.add(table)
        rows[table].add(row)
        columns[table] |= cells.keys()
    fit = (table for table in rows if table not in unfit and len(rows[table]) > 1 and len(columns[table]) > 1)
    return {table: sorted(columns[table]) for table in fit}


def _place_row(zone: Zone) -> tuple[str, int]:
    """Table and row; an empty name if it stands in none."""
    return zone.cell[:2] if zone.cell else ("", 0)


def _select_in_sight(lines: Sequence[_Line], about: str) -> list[_Line]:
    """What is visible, what comes right after it, and what is further away and has to do with the task."""
    visible = {n for n, line in enumerate(lines) if line.is_seen}
    listed = visible | set(_find_next(lines, visible))
    room = MOST_AWAY
    for n in _rank_by_task_words(lines, about):
        around = 0 if lines[n].table else MATES
        mates = set(range(max(n - around, 0), min(n + around + 1, len(lines)))) - listed
        if n not in listed and len(mates) <= room:
            listed |= mates
            room -= len(mates)
    listed |= {
        n
        for n, line in enumerate(lines)
        if any(zone.role in NOTICES or zone.get("invalid") is True for zone in line.zones)
    }
    return [lines[n] for n in sorted(listed)]


def _find_next(lines: Sequence[_Line], visible: set[int]) -> Iterator[int]:
    """The lines after each visible part, up to `NEAR` in all. What is beside a list, and so after it in the page, does not end it."""
    room, rows = NEAR, NEAR_ROWS
    following = False
    for n, line in enumerate(lines):
        if n in visible:
            following = True
        elif (following or not visible) and room and (rows or not line.table):
            room -= 1
            rows -= bool(line.table)
            yield n
        else:
            following = False


def _rank_by_task_words(lines: Sequence[_Line], about: str) -> list[int]:
    """Positions of lines with words of the task that few lines have, the rarest first."""
    wanted = _extract_words(about)
    shared = [wanted & line.words for line in lines]
    common = Counter(word for words in shared for word in words)
    most = max(3, int(RARE * len(lines)))
    worth = {n: sum(1 / common[word] for word in words if common[word] <= most) for n, words in enumerate(shared)}
    return sorted((n for n in worth if worth[n]), key=lambda n: -worth[n])


def _describe_out_of_sight(lines: Sequence[_Line], listed: set[str]) -> Iterable[str]:
    """One line for what is not listed above what is visible, and one for what is not listed below."""
    visible = [n for n, line in enumerate(lines) if line.is_seen]
    first = visible[0] if visible else 0
    for where, part in (("above", lines[:first]), ("below", lines[first:])):
        left = [line for line in part if line.key not in listed]
        if left:
            kinds = Counter("row" if line.table else quote_name(line.zones[0].role) for line in left)
            said = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common(5))
            names = [next((zone.label for zone in line.zones if zone.role != "checkbox"), "") for line in left]
            often = Counter(names)
            telling = [name for name in names if often[name] == 1] or names
            ends = " to ".join(dict.fromkeys(quote(name, 40) for name in (telling[0], telling[-1])))
            what = "zones and rows" if kinds["row"] else "zones"
            yield f"{len(left)} {what} {where} are not listed ({said}), from {ends}"


# --- what matters


def _join_texts(zone: Zone) -> str:
    return " ".join((zone.label, *(value for _, value in zone.state if isinstance(value, str))))


def _extract_words(text: str) -> frozenset[str]:
    """The words at the beginning of a text, since a label may have megabytes. Short words are left out, short numbers are not."""
    words = _WORD.findall(text[:_RANKED_BY].lower())
    return frozenset(word for word in words if len(word) > 2 or _DIGIT.search(word))


def _select_fitting(listing: _Listing, lines: Sequence[_Line], about: str, room: int) -> list[_Line]:
    """The most relevant lines that fit into `room` tokens, with the names of their tables and containers, in their original order.

    The order depends on the zones and the task only, so that prompts begin alike.
    """
    words = _extract_words(about)

    def rank(line: _Line) -> tuple[int, bool]:
        return -len(words & line.words), not any(zone.role in HANDLES for zone in line.zones)

    kept: set[str] = set()
    headed: set[str] = set()
    for line in sorted(lines, key=rank):
        room -= estimate_tokens(line.text) + 2
        if line.container:
            room -= estimate_tokens(quote(line.container)) + 3
        if line.table and line.table not in headed:
            headed.add(line.table)
            header = listing.headers.get(line.table)
            room -= estimate_tokens(header.text) + 2 if header and header is not line else 2
        if room < 0:
            break
        kept.add(line.key)
    return [line for line in lines if line.key in kept]


# --- in words


def _render_lines(lines: Sequence[_Line], headers: Mapping[str, _Line]) -> Iterator[str]:
    """The lines, with the header of a table above its rows, and the name of a container above the zones in it."""
    for (table, container), run in groupby(lines, lambda line: (line.table, line.container)):
        together = [*run]
        if table:
            header = headers.get(table)
            yield header.text if header else "table:"
            yield from (line.text for line in together if not line.is_header)
        elif container and len(together) > 1:
            yield f"in {quote(container)}:"
            yield from (f" {line.text}" for line in together)
        else:
            within = f" within={quote(container)}" if container else ""
            yield from (f"{line.text}{within}" for line in together)


def _format_surface(seen: Observation, page: Zone | None) -> str:
    address = f" at {quote(seen.surface.address)}" if seen.surface.address else ""
    usual = (("status", 200), ("tabs", 1))
    unusual = tuple(pair for pair in page.state if pair not in usual) if page else ()
    return f"surface {quote(seen.surface.title)}{address}{_format_states(unusual, None)}"


def _format_row(
    zones: tuple[Zone, ...], columns: list[int], surface: Surface, drop: Callable[[Zone], frozenset[str]]
) -> str:
    """The cells of a row from left to right, or of the header."""
    cells = dict.fromkeys(columns, "")
    # A row that has only a box to select it is opened by a click on its text.
    marked = [zone for zone in zones if _needs_id(zone)]
    opens = marked and all(zone.role in ("checkbox", "radio") for zone in marked) and zones[0].cell and zones[0].cell[1]
    handle = next((zone for zone in zones if zone.label and not _needs_id(zone)), None) if opens else None
    for zone in zones:
        assert zone.cell is not None
        whole = zone is handle or _needs_id(zone)
        text = format_zone(zone, surface, drop(zone)) if whole else _format_cell(zone.label)
        cells[zone.cell[2]] += f" {text}" if text else ""
    row = " |".join(cells.values())
    while row.endswith(" |"):
        row = row.removesuffix(" |")
    return f"table:{row}" if zones[0].cell and zones[0].cell[1] == 0 else f"|{row}"


def _needs_id(zone: Zone) -> bool:
    """Whether a zone in a row is more than its text, or its text is cut."""
    return zone.role not in PLAIN or len(zone.label) > LONGEST or any(name not in _WHERE for name, _ in zone.state)


def _format_cell(text: str) -> str:
    return text if not text or _BARE.fullmatch(text) else quote(text)


def format_zone(
    zone: Zone, surface: Surface | None = None, drop: frozenset[str] = frozenset(["seen"]), longest: int = LONGEST
) -> str:
    """Id, role, label and state, without the states of these names. Where it is does not matter to a plan, and changes with every scroll.

    Addresses are relative to the surface. `longest` is for plain texts.
    """
    state = tuple(pair for pair in zone.state if pair[0] not in drop)
    label = quote_cut(
        zone.label, LONGEST_NOTICE if zone.role in TELLING else longest if zone.role in PLAIN else LONGEST
    )
    return f"{quote_name(zone.id)} {quote_name(zone.role)} {label}{_format_states(state, surface)}"


def _format_states(state: Pairs, surface: Surface | None) -> str:
    return "".join(f" {quote_name(name)}={value}" for name, value in _format_values(state, surface))


def _format_values(state: Pairs, surface: Surface | None) -> Iterator[tuple[str, str]]:
    """States with their values as text. Addresses are a fifth of a screen: one that says little is left out, as what is clicked has it."""
    for name, value in state:
        if surface is None or not isinstance(value, str) or not surface.origin:
            yield name, _format_state(name, value)
        elif name != "href":
            yield name, _make_relative(value, surface) or _format_state(name, value)
        elif not _leads_nowhere(value, surface):
            there = _ORIGIN.match(value)
            away = there[0] if there and there[0] != surface.origin else value
            written = _make_relative(value, surface) or quote(away, LONGEST)
            if len(written) <= (LONGEST_QUERY if "?" in written else LONGEST_ADDRESS):
                yield name, written


def _format_state(name: str, value: Scalar) -> str:
    longest = {"error": LONGEST_NOTICE, "value": LONGEST_VALUE}.get(name, LONGEST)
    return quote_cut(value, longest) if isinstance(value, str) else format_value(value)


def _leads_nowhere(address: str, surface: Surface) -> bool:
    """Whether this is a place on the present page, unlike `#/orders`, which is a page of its own."""
    page, hash_, place = address.partition("#")
    return bool(hash_) and page == surface.address.partition("#")[0] and not place.startswith(("/", "!"))


def _make_relative(value: str, surface: Surface) -> str:
    """Return an address of this origin as short as a link could say it on this page, and nothing for any other value.

    `resolve_address` reads it back. A path with two slashes in front would be an address of another host.
    """
    origin, here = surface.origin, surface.address.partition("#")[0].partition("?")[0]
    folder = here[: here.rfind("/") + 1]
    if not value.startswith(f"{origin}/") or value.startswith(f"{origin}//"):
        return ""
    path = value[len(origin) :]
    if here and value.startswith(f"{here}?"):
        path = value[len(here) :]
    elif len(folder) > len(origin) + 1 and value.startswith(folder):
        path = f"./{value[len(folder) :]}"
    return path if _ADDRESS.fullmatch(path) else quote(path)


def resolve_address(written: str, surface: Surface) -> str:
    """Return an address that is written as on the screen, whole."""
    origin, here = surface.origin, surface.address.partition("#")[0].partition("?")[0]
    if not origin.startswith(("http://", "https://")) or written.startswith("//"):
        return written
    if written.startswith("/"):
        return f"{origin}{written}"
    if written.startswith("?"):
        return f"{here}{written}"
    return f"{here[: here.rfind('/') + 1]}{written.removeprefix('./')}" if written.startswith("./") else written
