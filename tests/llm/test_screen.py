"""The screen as lines: tables as rows, containers once, addresses as short as a link could say them, and what is left out."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midcourse.domain.argument import Scalar
from midcourse.domain.observation import Cell, Observation, Surface, Zone
from midcourse.llm.prompt.screen import ScreenText, render_screen, resolve_address
from midcourse.llm.prompt.template import estimate_tokens

SHOP = "https://shop.example"
ROOM = 50_000


def zone(number: int, role: str, label: str = "", cell: Cell | None = None, **state: Scalar) -> Zone:
    return Zone(id=f"e{number}", role=role, label=label, state=tuple(state.items()), cell=cell)


def screen(*zones: Zone, address: str = f"{SHOP}/books/list?o=1") -> Observation:
    surface = Surface(title="Books", address=address, origin=SHOP)
    return Observation(id="o1", surface=surface, zones=zones, fingerprint="o1")


def lines(*zones: Zone, about: str = "", in_sight: bool = True) -> list[str]:
    return listed(render_screen(screen(*zones), (), about, ROOM, ROOM, in_sight=in_sight).first)


def listed(text: str) -> list[str]:
    return text.splitlines()[2:-1]


def changed(before: Observation, *zones: Zone) -> list[str]:
    text: ScreenText = render_screen(replace(before, id="o2", zones=zones), (before,), "", ROOM, ROOM)
    return text.since.splitlines()[2:-1]


def book(
    n: int, *, title: str = "Solaris", price: str = "9.50", table: str = "t1", **state: Scalar
) -> tuple[Zone, ...]:
    """A row of a table: a check box, a link, a cell, and a link to delete it."""
    return (
        zone(4 * n, "checkbox", "Pick", (table, n, 0), checked=False, within=title, **state),
        zone(4 * n + 1, "link", title, (table, n, 1), href=f"{SHOP}/books/{n}", **state),
        zone(4 * n + 2, "cell", price, (table, n, 2), within=title, **state),
        zone(4 * n + 3, "link", "Delete", (table, n, 4), href=f"{SHOP}/books/list?o=1#", within=title, **state),
    )


HEADER = (
    zone(900, "cell", "Title", ("t1", 0, 1)),
    zone(901, "link", "Price", ("t1", 0, 2), href=f"{SHOP}/books/list?o=2"),
)


def test_a_table_is_written_in_rows_under_its_header():
    assert lines(*HEADER, *book(1), *book(2, title="Kindred | new", price="free"), zone(99, "button", "Save")) == [
        'table: | Title | e901 link "Price" href=?o=2',
        '| e4 checkbox "Pick" checked=false | e5 link "Solaris" href=./1 | 9.50 | e7 link "Delete"',
        '| e8 checkbox "Pick" checked=false | e9 link "Kindred | new" href=./2 | free | e11 link "Delete"',
        'e99 button "Save"',
    ]


def test_a_row_that_has_only_a_box_can_be_named_by_its_first_text():
    row = (zone(4, "checkbox", "", ("t1", 1, 0), checked=False), zone(5, "cell", "Solaris", ("t1", 1, 1)))
    others = (zone(8, "checkbox", "", ("t1", 2, 0), checked=False), zone(9, "cell", "Kindred", ("t1", 2, 1)))
    cells = zone(6, "cell", "9.50", ("t1", 1, 2)), zone(10, "cell", "7.00", ("t1", 2, 2))
    assert lines(*HEADER, *row, cells[0], *others, cells[1])[1:] == [
        '| e4 checkbox "" checked=false | e5 cell "Solaris" | 9.50',
        '| e8 checkbox "" checked=false | e9 cell "Kindred" | 7.00',
    ]


@pytest.mark.parametrize(("copies", "whole"), [(1, True), (2, False)])
def test_long_texts_are_shown_whole_if_they_are_few(copies: int, whole: bool):
    texts = [zone(n, "text", f"{n} {'word ' * 300}end") for n in range(copies)]
    assert all(line.endswith('end"') == whole for line in lines(*texts))


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("Iain M. Banks", "Iain M. Banks"),
        ("12 KB", "12 KB"),
        ("$1,299.00 (net)", "$1,299.00 (net)"),
        ("-", "-"),
        ("a | b", '"a | b"'),
        ('e9 button "Pay"', '"e9 button \\"Pay\\""'),
        ("e9 button", '"e9 button"'),
        ("Łódź", '"Łódź"'),
        ("ends here >>>", '"ends here \\u003e\\u003e\\u003e"'),
        ("", ""),
    ],
)
def test_a_cell_is_quoted_unless_it_can_be_nothing_but_text(text: str, cell: str):
    rows = [zone(n, "cell", label, ("t1", n // 2, n % 2)) for n, label in enumerate(["A", "B", "x", text])]
    assert lines(*rows)[1] == f"| x | {cell}".removesuffix(" | " if not cell else "")


def test_an_empty_cell_keeps_its_place_and_an_unused_column_has_none():
    rows = [
        zone(n, "cell", f"{row}.{column}", ("t1", row, column))
        for n, (row, column) in enumerate([(1, 0), (1, 2), (2, 500), (2, 0)])
    ]
    assert lines(*rows) == ["table:", "| 1.0 | 1.2", "| 2.0 | | 2.500"]


def test_a_cell_with_more_to_it_than_its_text_shows_its_id():
    cells = (
        zone(1, "cell", "x" * 400, ("t1", 1, 0)),
        zone(2, "cell", "Total", ("t1", 1, 1), sort="descending"),
        zone(3, "cell", "y", ("t1", 2, 0), covered=True),
    )
    _, first, second = lines(*cells)
    assert first.startswith('| e1 cell "xxx')
    assert first.endswith('| e2 cell "Total" sort="descending"')
    assert second == "| y"


LAYOUT = (
    zone(1, "cell", "A", ("t1", 1, 0)),
    *(zone(n, "link", str(n), ("t1", 1, 1)) for n in range(2, 9)),
    zone(9, "cell", "B", ("t1", 2, 0)),
)
AROUND = (
    zone(1, "cell", "A", ("t1", 1, 0)),
    zone(2, "cell", "In", ("t2", 1, 0)),
    zone(3, "cell", "B", ("t1", 1, 1)),
    zone(4, "cell", "C", ("t1", 2, 0)),
)


@pytest.mark.parametrize("zones", [LAYOUT, AROUND, book(1), LAYOUT[:1]])
def test_what_is_only_laid_out_as_a_table_is_written_zone_by_zone(zones: tuple[Zone, ...]):
    assert [line.split()[0].removeprefix(" ") for line in lines(*zones) if not line.startswith("in ")] == [
        each.id for each in zones
    ]


def test_the_name_of_a_container_is_written_once():
    zones = (
        zone(1, "dialog", "Cookies"),
        zone(2, "button", "Reject", within="Cookies"),
        zone(3, "button", "Accept", within="Cookies"),
        zone(4, "link", "Help", within="Footer"),
    )
    assert lines(*zones) == [
        'e1 dialog "Cookies"',
        'in "Cookies":',
        ' e2 button "Reject"',
        ' e3 button "Accept"',
        'e4 link "Help" within="Footer"',
    ]


@pytest.mark.parametrize(
    ("address", "written"),
    [
        (f"{SHOP}/books/list?o=1#", None),
        (f"{SHOP}/books/list?o=2", "?o=2"),
        (f"{SHOP}/books/17/change", "./17/change"),
        (f"{SHOP}/about", "/about"),
        (f"{SHOP}/a?x=1&y=%20#z", "/a?x=1&y=%20#z"),
        (f"{SHOP}/a?x=1&y=%20&token=0815", None),
        (f"{SHOP}/{'long/' * 12}", None),
        (f"{SHOP}/books/list?o=1#reviews", None),
        (f"{SHOP}/books/list?o=1#/reviews", "?o=1#/reviews"),
        (f"{SHOP}/two words", '"/two words"'),
        (f"{SHOP}//evil.example/", f'"{SHOP}//evil.example/"'),
    ],
)
def test_an_address_is_as_short_as_a_link_could_say_it_and_is_read_back(address: str, written: str | None):
    (line,) = lines(zone(1, "link", "x", href=address))
    assert line == 'e1 link "x"' + (f" href={written}" if written else "")
    if written:
        assert resolve_address(written.strip('"'), screen().surface) == address


def test_of_an_address_elsewhere_only_the_origin_is_listed() -> None:
    assert lines(zone(1, "link", "x", href="https://shop.example.evil/a/b?c")) == [
        'e1 link "x" href="https://shop.example.evil"'
    ]


@given(st.text(st.sampled_from("/.?#a:-"), max_size=8))
def test_no_address_that_a_model_writes_leaves_the_origin_by_being_read_back(written: str):
    found = resolve_address(written, screen().surface)
    assert found == written or found.startswith(f"{SHOP}/")


def test_text_that_only_repeats_what_follows_or_is_punctuation_is_left_out():
    zones = (
        zone(1, "text", "Home › Books |"),
        zone(2, "link", "Home"),
        zone(3, "link", "Books"),
        zone(4, "text", "·"),
        zone(5, "text", "★★"),
    )
    assert [line.split()[0] for line in lines(*zones)] == ["e2", "e3", "e5"]


def test_a_cell_does_not_repeat_what_is_in_it():
    cells = [
        ("cell", "Edit", 1),
        ("button", "Edit", 1),
        ("cell", "-", 2),
        ("text", "Now | Clock", 3),
        ("textbox", "", 3),
        ("link", "Now", 3),
        ("link", "Clock", 3),
    ]
    row = [zone(n, role, label, ("t1", 1, column)) for n, (role, label, column) in enumerate(cells)]
    assert lines(*HEADER, *row)[1] == '| e1 button "Edit" | - | e4 textbox "" e5 link "Now" e6 link "Clock"'


def test_what_can_be_clicked_but_has_no_name_is_counted_unless_a_picture_shows_it():
    zones = (zone(1, "button"), zone(2, "clickable"), zone(3, "menuitem"), zone(4, "clickable", hint="trash"))
    assert lines(*zones) == ['e1 button ""', 'e4 clickable "" hint="trash"', "2 zones without a name are not listed"]
    assert len(listed(render_screen(screen(*zones), (), "", ROOM, ROOM, marked=True).first)) == 4


PAGE = tuple(zone(n, "link", f"Link {n}", covered=True) for n in range(10))


def test_what_a_drawer_covers_is_counted_though_it_is_no_dialog():
    assert lines(*PAGE, zone(20, "button", "Save")) == ['e20 button "Save"', "10 zones are covered by what is listed"]
    assert len(lines(*PAGE, zone(20, "button", "Save"), in_sight=False)) == 11


@pytest.mark.parametrize(
    "others", [(), (zone(20, "text", "Loading"),), tuple(zone(n, "link", f"Free {n}") for n in range(20, 60))]
)
def test_covered_zones_are_listed_if_nothing_else_can_be_acted_on_or_they_are_few(others: tuple[Zone, ...]):
    assert len(lines(*PAGE, *others)) == 10 + len(others)


# --- changes


def test_a_changed_row_is_written_whole_under_its_header():
    before = screen(*HEADER, *book(1), *book(2))
    assert changed(before, *HEADER, *book(1), *book(2, price="7.00")) == [
        'table: | Title | e901 link "Price" href=?o=2',
        '| e8 checkbox "Pick" checked=false | e9 link "Solaris" href=./2 | 7.00 | e11 link "Delete"',
    ]


def test_a_row_that_is_gone_is_told_by_its_ids_or_else_by_its_text():
    rows = [
        (zone(2 * n, "cell", f"Row {n}", ("t1", n, 0)), zone(2 * n + 1, "cell", str(n), ("t1", n, 1)))
        for n in range(1, 9)
    ]
    before = screen(*(each for row in rows for each in row))
    assert changed(before, *before.zones[2:]) == ['gone: the row "| Row 1 | 1"']
    books = screen(*(each for n in range(1, 9) for each in book(n)))
    assert changed(books, *books.zones[4:]) == ["gone: e4 e5 e7"]


def test_a_row_that_only_moved_has_not_changed():
    before = screen(*HEADER, *book(1), *book(2))
    moved = [replace(each, cell=("t1", 5, each.cell[2])) for each in book(2) if each.cell]
    assert changed(before, *HEADER, *book(1), *moved) == []


# --- long pages


def away(row: tuple[Zone, ...], is_seen: bool) -> tuple[Zone, ...]:
    return row if is_seen else tuple(replace(each, state=(*each.state, ("seen", False))) for each in row)


def catalogue(count: int, seen: range) -> tuple[Zone, ...]:
    rows = (away(book(n, title=f"Book {n}"), n in seen) for n in range(1, count + 1))
    beside = tuple(zone(9000 + n, "link", f"Filter {n}") for n in range(20))
    return (*HEADER, *(each for row in rows for each in row), *beside)


def test_rows_after_what_is_visible_are_listed_although_something_else_is_visible_beside_the_table():
    shown = "\n".join(lines(*catalogue(150, range(1, 8)), about="list the newest"))
    assert all(f'link "Book {n}"' in shown for n in range(1, 28))
    assert 'link "Book 40"' not in shown
    assert "123 zones and rows below are not listed (123 row), from" in shown


def test_a_row_that_the_task_names_is_listed_wherever_it_is():
    shown = lines(*catalogue(150, range(1, 8)), about="delete book 120")
    assert any('"Book 120"' in line for line in shown)
    assert not any('"Book 119"' in line for line in shown)


def test_what_is_shown_of_tables_fits():
    observation = screen(*catalogue(400, range(1, 401)))
    for room in (100, 400, 2_000):
        text = render_screen(observation, (), "", room, 0).first
        assert estimate_tokens(text) < room + 100
        assert "\n| e4 " in text or room == 100


def test_requests_of_one_kind_that_the_page_sends_by_itself_share_a_line():
    beats = [zone(n, "request", f"POST {SHOP}/beat?n={n}", event=f"scroll {n}") for n in range(1, 6)]
    own = zone(7, "request", f"POST {SHOP}/draft", event="save")
    held = [zone(n, "request", f"POST {SHOP}/beat", held_for="click") for n in (8, 9)]
    found = lines(*beats, own, *held)
    assert [line.split()[0] for line in found] == ["e5", "e7", "e8", "e9", "4"]
    assert found[-1] == "4 more like e5: e1 e2 e3 e4"
