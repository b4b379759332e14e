"""Zones of the world and of a picture are merged into one screen, without duplicates and with the ids of the world."""

from hypothesis import given
from hypothesis import strategies as st

from midcourse.domain.observation import Bounds, Observation, Surface, Zone
from midcourse.policy.merging import merge_zones

PAGE = Zone(id="page", role="page", label="Shop")
SIGN_IN = Zone(id="e1", role="button", label="Sign in", bounds=(10, 10, 80, 20))


def seen(*zones: Zone) -> Observation:
    return Observation(id="o1", surface=Surface(title="Shop"), zones=zones, fingerprint="w")


def found(label: str, bounds: Bounds, role: str = "button", name: str = "") -> Zone:
    return Zone(id=name or f"{role}-{label.lower()}", role=role, label=label, bounds=bounds)


def test_what_the_world_reports_is_not_added_again():
    screen = seen(PAGE, SIGN_IN)
    assert merge_zones(screen, [found("Sign in", (8, 8, 84, 24))]) is screen
    assert merge_zones(screen, [found("sign  in", (10, 25, 40, 20), "link")]) is screen, "same words, other box"
    assert merge_zones(screen, [found("Signin", (12, 11, 76, 18))]) is screen, "misread, same box"


def test_what_only_the_picture_shows_is_added_and_marked():
    merged = merge_zones(seen(PAGE, SIGN_IN), [found("Order", (100, 100, 60, 20))])
    assert [zone.id for zone in merged.zones] == ["page", "e1", "button-order"]
    assert [zone.pictured for zone in merged.zones] == [False, False, True]
    assert merged.fingerprint != "w"


def test_a_canvas_does_not_hide_what_is_drawn_in_its_middle():
    canvas = Zone(id="e2", role="img", label="", bounds=(0, 0, 400, 200))
    merged = merge_zones(seen(canvas), [found("Order", (170, 90, 60, 20))])
    assert [(zone.id, zone.label) for zone in merged.zones] == [("e2", ""), ("button-order", "Order")]


def test_a_control_without_a_label_gets_the_one_in_the_picture():
    icon = Zone(id="e3", role="button", label="", bounds=(0, 0, 20, 20))
    merged = merge_zones(seen(icon), [found("Cart", (1, 1, 18, 18))])
    assert [(zone.id, zone.label, zone.pictured) for zone in merged.zones] == [("e3", "Cart", False)]
    assert merged.fingerprint != "w"


def test_what_is_covered_does_not_hide_what_covers_it():
    behind = Zone(id="e4", role="button", label="Old", bounds=(0, 0, 50, 20), state=(("covered", True),))
    merged = merge_zones(seen(behind), [found("New", (0, 0, 50, 20))])
    assert [zone.id for zone in merged.zones] == ["e4", "button-new"]


def test_ids_of_the_world_are_not_taken():
    merged = merge_zones(seen(PAGE), [found("", (5, 5, 9, 9), name="page"), found("", (50, 5, 9, 9), name="page")])
    assert [zone.id for zone in merged.zones] == ["page", "page-p", "page-p3"]


boxes = st.tuples(st.integers(0, 300), st.integers(0, 300), st.integers(1, 200), st.integers(1, 200))
labels = st.sampled_from(["", "Order", "Sign in", "12"])


@given(st.lists(st.tuples(labels, boxes), max_size=6), st.lists(st.tuples(labels, boxes), max_size=6))
def test_every_world_zone_stays_and_ids_are_distinct(
    world: list[tuple[str, Bounds]], pictured: list[tuple[str, Bounds]]
):
    screen = seen(*(Zone(id=f"e{n}", role="button", label=label, bounds=box) for n, (label, box) in enumerate(world)))
    zones = [found(label, box, name=f"e{n}") for n, (label, box) in enumerate(pictured)]
    merged = merge_zones(screen, zones)
    ids = [zone.id for zone in merged.zones]
    assert len(set(ids)) == len(ids)
    assert [zone.id for zone in merged.zones if not zone.pictured] == [zone.id for zone in screen.zones]
    again = merge_zones(screen, zones)
    assert again == merged
