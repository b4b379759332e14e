"""Digests of tasks and screens: independent of the inputs, and different for anything else."""

from dataclasses import replace
from typing import Any

import pytest

from midcourse.domain.argument import Pairs, Reference
from midcourse.domain.expectation import Expectation, Probe, TextContains
from midcourse.domain.observation import Observation, Surface, Zone
from midcourse.domain.task import Task
from midcourse.policy.reuse.placeholders import Placeholders, Unclear
from midcourse.policy.reuse.segment import surface_digest, task_digest

ADA: Pairs = (("customer", "C-4711"), ("subject", "Lamp hums"))
EVE: Pairs = (("customer", "C-0002"), ("subject", "Chair squeaks"))


def task(inputs: Pairs, **more: Any) -> Task:
    given = dict(inputs)
    done_when = Expectation(checks=(TextContains(text=f"Ticket of {given['customer']}"),))
    return replace(
        Task(goal=f"Report '{given['subject']}' for {given['customer']}", inputs=inputs, done_when=done_when), **more
    )


def digest(one: Task) -> str:
    return task_digest(one, Placeholders(one.inputs))


def screen(given: Pairs, *more: Zone, **surface: str) -> Observation:
    values = dict(given)
    zones = (
        Zone(id="e1", role="heading", label=f"Ticket of {values['customer']}"),
        Zone(id="e2", role="textbox", label="Subject", state=(("value", values["subject"]),)),
        *more,
    )
    where = Surface(title=f"{values['subject']} - Tickets", **surface)
    return Observation(id="o1", surface=where, zones=zones, fingerprint="whatever")


# --- tasks


def test_other_values_are_the_same_task():
    assert digest(task(ADA)) == digest(task(EVE))


@pytest.mark.parametrize(
    "other",
    [
        {"goal": "Close the ticket"},
        {"world": "browser"},
        {"inputs": (*ADA, ("priority", "High"))},
        {"done_when": Probe(name="is_there", arguments=(("customer", Reference(source="input", name="customer")),))},
        {"done_when": None},
        {"secrets": ("password",)},
        {"files": ("a.pdf",)},
    ],
)
def test_any_other_difference_changes_the_digest(other: dict[str, Any]):
    assert digest(task(ADA)) != digest(replace(task(ADA), **other))


def test_neither_key_nor_limits_are_part_of_it():
    assert digest(task(ADA)) == digest(task(ADA, key="4711"))


def test_a_goal_with_two_equal_inputs_has_no_digest():
    with pytest.raises(Unclear):
        digest(task((("customer", "Lamp"), ("subject", "Lamp"))))


# --- screens


def test_values_that_the_run_passed_on_do_not_change_the_digest():
    assert surface_digest(screen(ADA), ADA) == surface_digest(screen(EVE), EVE)


def test_other_values_change_the_digest():
    assert surface_digest(screen(ADA), ()) == surface_digest(screen(ADA), ())
    assert surface_digest(screen(ADA), ()) != surface_digest(screen(EVE), ())


def test_a_list_of_options_stays_as_it_is_until_one_was_chosen():
    options = Zone(id="e3", role="combobox", label="Priority", state=(("options", "Low | High"),))
    low, high = (*ADA, ("priority", "Low")), (*ADA, ("priority", "High"))
    assert surface_digest(screen(ADA, options), ADA) == surface_digest(screen(ADA, options), ADA)
    assert surface_digest(screen(ADA, options), low) != surface_digest(screen(ADA, options), high)


@pytest.mark.parametrize(
    "more",
    [
        Zone(id="e9", role="alert", label="Please correct the marked fields."),
        Zone(id="e9", role="checkbox", label="Urgent", state=(("checked", True),)),
        Zone(id="e9", role="cell", label="C-1207"),
    ],
)
def test_any_other_zone_changes_the_digest_of_a_screen(more: Zone):
    assert surface_digest(screen(ADA, more), ADA) != surface_digest(screen(ADA), ADA)


def test_lasting_states_change_the_digest_and_passing_ones_do_not():
    def box(**state: bool) -> Zone:
        return Zone(id="e3", role="checkbox", label="Urgent", state=tuple(state.items()))

    plain = surface_digest(screen(ADA, box(checked=False)), ADA)
    assert surface_digest(screen(ADA, box(checked=True)), ADA) != plain
    assert surface_digest(screen(ADA, box(checked=False, focused=True, seen=False)), ADA) == plain


def test_ids_order_positions_and_clocks_do_not_change_the_digest():
    first = Zone(id="e7", role="text", label="Last seen 10:32, 3 minutes ago", bounds=(0, 0, 1, 1))
    second = Zone(id="e8", role="button", label="Save")
    later = replace(first, id="f7", label="Last seen 18:05, 2 hours ago", bounds=(9, 9, 1, 1))
    here, there = screen(ADA, first, second), screen(ADA, replace(second, id="x"), later)
    assert surface_digest(here, ADA) == surface_digest(there, ADA)


def test_an_address_is_read_as_it_is_meant():
    here = screen(ADA, address="https://a.example/?q=Lamp+hums&c=C%2D4711")
    there = screen(EVE, address="https://a.example/?q=Chair%20squeaks&c=C-0002")
    assert surface_digest(here, ADA) == surface_digest(there, EVE)
    elsewhere = screen(ADA, address="https://b.example/?q=Lamp+hums&c=C%2D4711")
    assert surface_digest(here, ADA) != surface_digest(elsewhere, ADA)
