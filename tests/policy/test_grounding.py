"""A zone whose id has changed is found again by role, label, container and address, if that is certain."""

import pytest

from midcourse.domain.observation import Observation, Surface, Zone
from midcourse.policy.grounding import find_again, find_named, list_like, read_name

INBOX = "https://mail.test/?task=mail#top"


def zone(number: int, label: str = "Open", role: str = "link", **state: str) -> Zone:
    return Zone(id=f"e{number}", role=role, label=label, state=state)


def seen(*zones: Zone, address: str = INBOX, title: str = "Inbox", origin: str = "https://mail.test") -> Observation:
    surface = Surface(title=title, address=address, origin=origin)
    return Observation(id="o1", surface=surface, zones=zones, fingerprint="f")


LINK = zone(1, href="/mail/7", within="Today")
BUTTON = zone(1, role="button", within="Invoice 4711")
THEN = seen(LINK, zone(2, "News", href="/mail/8"))


@pytest.mark.parametrize(
    ("now", "found"),
    [
        (seen(zone(8, "News"), zone(9, href="/mail/7", within="Today")), "e9"),
        (seen(zone(9, href="/mail/7", within="Today"), title="(4) Inbox"), "e9"),
        (seen(zone(9, href="/mail/7", within="Today"), address="https://mail.test/?task=mail&page=2"), "e9"),
        (seen(zone(9, href="/mail/7", within="Today"), address="https://mail.test/sent"), None),
        (seen(zone(9, href="/mail/7", within="Today"), origin="https://other.test"), None),
        (seen(zone(8, href="/mail/7", within="Today"), zone(9, href="/mail/7", within="Today")), None),
        (seen(zone(9, href="/mail/9", within="Today")), None),
        (seen(zone(9, href="/mail/7", within="Yesterday")), None),
        (seen(zone(9, "Open it", href="/mail/7", within="Today")), None),
        (seen(zone(9, role="button", href="/mail/7", within="Today")), None),
        (seen(Zone(id="e9", role="link", label="Open", state={**dict(LINK.state), "pictured": True})), None),
    ],
)
def test_it_is_the_only_one_with_the_same_role_label_container_and_address_on_the_same_page(
    now: Observation, found: str | None
) -> None:
    again = find_again(LINK, THEN, now)
    assert (again and again.id) == found


@pytest.mark.parametrize(
    ("address", "found"),
    [
        (INBOX, True),
        ("https://mail.test/?task=mail#list", True),
        ("https://mail.test/?task=mail#/mail/8", False),
        ("https://mail.test/?task=mail&id=8", False),
    ],
)
def test_what_leads_nowhere_is_only_found_at_the_very_address(address: str, found: bool) -> None:
    """'Delete' of one mail is not 'Delete' of the next one."""
    now = seen(zone(9, role="button", within="Invoice 4711"), address=address)
    assert (find_again(BUTTON, seen(BUTTON), now) is not None) == found


def test_of_two_alike_the_one_that_is_left_may_be_the_other() -> None:
    two = seen(BUTTON, zone(2, role="button", within="Invoice 4711"))
    assert find_again(BUTTON, two, seen(zone(9, role="button", within="Invoice 4711"))) is None


@pytest.mark.parametrize(("title", "found"), [("Report", True), ("Save as", False)])
def test_a_program_does_not_tell_its_windows_apart_so_the_title_does(title: str, found: bool) -> None:
    then = seen(BUTTON, address="soffice", title="Report")
    now = seen(zone(9, role="button", within="Invoice 4711"), address="soffice", title=title)
    assert (find_again(BUTTON, then, now) is not None) == found


def test_a_held_request_is_not_another_one_of_the_same_address() -> None:
    held = zone(1, "POST /orders", role="request")
    assert find_again(held, seen(held), seen(zone(9, "POST /orders", role="request"))) is None


def test_what_is_listed_again_is_named_by_its_ids() -> None:
    def listed(count: int) -> str:
        return list_like("link", "Open", [zone(0, "Open", "button"), *(zone(n) for n in range(1, count + 1))])

    assert [listed(n) for n in (0, 1, 2, 5, 7)] == [
        "",
        "e1",
        "e1 and e2",
        "e1, e2, e3, e4 and e5",
        "e1, e2, e3, e4, e5 and 2 more",
    ]


# --- zones of screens that were not seen yet


@pytest.mark.parametrize(
    ("on", "zone_name", "found"),
    [
        ("Inbox", "link:Open", "e1"),
        ("In*", "link:Open", "e1"),
        ("/?task=*", "link:Open", "e1"),
        (f"{INBOX[:19]}*", "link:Open", "e1"),
        ("inbox", "link:Open", "the screen is 'Inbox', not 'inbox'"),
        ("Inbox", "heading:Open", "'Inbox' lists no heading:Open"),
        ("Inbox", "link:Op*", "e1"),
        ("Inbox", "link:Op", "'Inbox' lists no link:Op"),
        ("Inbox", "link:*", "'Inbox' lists link:* 5 times, as e1, e2, e3, e5 and e6"),
        ("Inbox", "link:News", "'Inbox' lists link:News 2 times, as e2 and e3"),
        ("Inbox", "link:Edit", "e5"),
        ("Inbox", "button:Edit", "e5"),
        ("Inbox", "searchbox:Name *", "e7"),
        ("Inbox", "heading:Edit", "'Inbox' lists no heading:Edit"),
        ("Inbox", "textbox:Name *", "e7"),
        ("Inbox", "textbox:N*", "'Inbox' lists textbox:N* 2 times, as e7 and e8"),
        ("*", "link:Open", "the screen is still 'Inbox'"),
        ("Inbox", "request:POST /", "'Inbox' lists no request:POST /"),
    ],
)
def test_a_zone_is_found_by_its_name_on_the_screen_that_is_named(on: str, zone_name: str, found: str) -> None:
    edits = zone(5, "Edit", href="/7/edit"), zone(6, "Edit", href="/7/edit")
    fields = zone(7, "Name *", "textbox"), zone(8, "Name * of the ship", "textbox")
    now = seen(LINK, zone(2, "News"), zone(3, "News"), zone(4, "POST /", "request"), *edits, *fields)
    named = find_named(zone_name, on, now.surface, now, now)
    assert (named.id if isinstance(named, Zone) else named) == found


def test_whatever_comes_next_is_another_screen() -> None:
    now = seen(LINK, title="Mail 7")
    assert find_named("link:Open", "*", THEN.surface, THEN, now) == LINK


def test_a_menu_that_has_opened_is_what_came_next() -> None:
    now = seen(*THEN.zones, zone(9, "Forward", "menuitem"))
    found = find_named("menuitem:For*", "*", THEN.surface, THEN, now)
    assert isinstance(found, Zone)
    assert found.id == "e9"
    assert find_named("link:Open", "*", THEN.surface, THEN, now) == "the screen is still 'Inbox'"


def test_a_screen_of_another_origin_is_not_the_one_that_is_named() -> None:
    there = seen(LINK, origin="https://evil.test")
    named = find_named("link:Open", "Inbox", THEN.surface, THEN, there)
    assert named == "the screen is 'Inbox' at https://evil.test, where the step was not planned"


def test_a_name_has_a_role_and_a_label() -> None:
    assert [read_name(each) for each in ("button:Save: all", "Save", "button:", "__global__")] == [
        ("button", "Save: all"),
        None,
        None,
        None,
    ]
