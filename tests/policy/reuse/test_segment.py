"""Segments that another run may reuse: they contain no inputs of this run, and are the same for the same inputs."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midcourse.codec import encode
from midcourse.domain.argument import Argument, Pairs, Reference
from midcourse.domain.expectation import Expectation, Probe, SurfaceMatches, TextContains, ZoneAppears, ZoneHasState
from midcourse.domain.observation import Observation, Surface, Zone
from midcourse.domain.plan import GLOBAL, REPLAN, Draft, PlanVersion, Step, Target
from midcourse.domain.records.plan_cache import KeptSegment
from midcourse.domain.task import Task
from midcourse.policy.reuse.placeholders import Placeholders, Unclear, occurs
from midcourse.policy.reuse.segment import (
    ReuseKey,
    build_segment,
    find_passed_on,
    is_applicable,
    propose_steps,
    reuse_key,
)

ADA: Pairs = (("customer", "C-4711"), ("subject", "Lamp hums"), ("amount", 1250.5), ("express", True))
EVE: Pairs = (("customer", "C-0002"), ("subject", "Chair squeaks"), ("amount", 80.25), ("express", True))
ZONES = (
    Zone(id="e1", role="textbox", label="Customer"),
    Zone(id="e2", role="link", label="C-4711"),
    Zone(id="e3", role="link", label="C-0002"),
    Zone(id="e4", role="button", label="Save"),
    Zone(id="e5", role="button", label="Edit"),
    Zone(id="e6", role="button", label="Edit"),
)


def situation(inputs: Pairs, goal: str = "Report it for the Head Office", after: int = 0) -> ReuseKey:
    seen = Observation(id="o1", surface=Surface(title="New"), zones=ZONES, fingerprint="f")
    found = reuse_key(Task(goal=goal, inputs=inputs, files=("a.pdf",)), seen, after=after)
    assert isinstance(found, ReuseKey), found
    return found


def step(zone: str = "e1", skill: str = "type", **more: Any) -> Step:
    found = next((one for one in ZONES if one.id == zone), Zone(id="", role="", label=""))
    target = Target(surface="New", role=found.role, label=found.label)
    return replace(Step(version=1, index=0, zone=zone, skill=skill, target=target), **more)


def plan(*steps: Step, final: bool = True) -> PlanVersion:
    return PlanVersion(version=1, parent=None, cause="initial", why="", observation="o1", final=final, steps=steps)


def keep(*steps: Step, inputs: Pairs = ADA, final: bool = True, **more: Any) -> KeptSegment:
    found = build_segment(situation(inputs, **more), plan(*steps, final=final), ())
    assert isinstance(found, KeptSegment), found
    return found


def why_not(*steps: Step, inputs: Pairs = ADA, **more: Any) -> str:
    found = build_segment(situation(inputs, **more), plan(*steps), ())
    assert isinstance(found, Unclear), found
    return str(found)


def filled(segment: KeptSegment, inputs: Pairs) -> tuple[Draft, ...]:
    drafts = propose_steps(segment, situation(inputs))
    assert not isinstance(drafts, Unclear), drafts
    return drafts


CUSTOMER = Reference(source="input", name="customer")

# --- arguments


@pytest.mark.parametrize(
    ("value", "becomes"),
    [
        (CUSTOMER, CUSTOMER),
        (Reference(source="secret", name="password"), Reference(source="secret", name="password")),
        ("C-4711", CUSTOMER),
        (1250.5, Reference(source="input", name="amount")),
        ("Head Office", "Head Office"),
        ("a.pdf", "a.pdf"),
    ],
)
def test_an_argument_is_a_reference_or_a_constant(value: Argument, becomes: Argument):
    assert keep(step(arguments=(("text", value),))).steps[0].draft.arguments == (("text", becomes),)


@pytest.mark.parametrize("value", ["Enter", "C-4711!", "c-4711", "Head", 7, True, None, "", "Offic"])
def test_a_segment_with_another_argument_is_not_kept(value: Argument):
    goal = "Report it for the Head Office" if value != "Head" else "Report it"
    assert "nor in the words of the task" in why_not(step(arguments=(("text", value),)), goal=goal)


def test_a_value_of_two_inputs_is_ambiguous():
    twins = (("sender", "Ada L."), ("receiver", "Ada L."))
    assert "neither the value of exactly one input" in why_not(step(arguments=(("text", "Ada L."),)), inputs=twins)


def test_a_short_value_is_an_inputs_only_if_the_planner_says_so():
    size = (("size", "M"),)
    assert "neither the value of exactly one input" in why_not(step(arguments=(("text", "M"),)), inputs=size)
    said = Reference(source="input", name="size")
    assert keep(step(arguments=(("text", said),)), inputs=size).steps[0].draft.arguments == (("text", said),)


def test_a_value_in_the_goal_is_still_the_inputs():
    segment = keep(step(arguments=(("text", "C-4711"),)), goal="Report it for C-4711")
    assert segment.steps[0].draft.arguments == (("text", CUSTOMER),)
    assert segment.goal == "Report it for {customer}"


def test_the_name_of_an_input_is_no_word_of_the_task():
    assert "nor in the words of the task" in why_not(
        step(arguments=(("text", "customer"),)), goal="Report it for C-4711"
    )


# --- zones


def test_a_zone_is_found_anew_by_role_and_label():
    segment = keep(step("e4", "click"))
    moved = replace(situation(EVE).seen, zones=(Zone(id="e99", role="button", label="Save"),))
    drafts = propose_steps(segment, replace(situation(EVE), seen=moved))
    assert not isinstance(drafts, Unclear)
    assert [draft.zone for draft in drafts] == ["e99"]


def test_a_label_that_equals_an_input_follows_the_new_input():
    segment = keep(step("e2", "click"))
    assert segment.steps[0].label == "{customer}"
    assert filled(segment, EVE)[0].zone == "e3"


def test_a_step_on_one_of_several_equal_zones_is_not_kept():
    assert "more than once" in why_not(step("e5", "click"))


def test_a_zone_that_is_not_there_is_not_proposed():
    without = replace(situation(EVE).seen, zones=ZONES[:2])
    found = propose_steps(keep(step("e4", "click")), replace(situation(EVE), seen=without))
    assert isinstance(found, Unclear)
    assert "0 times" in str(found)


def test_a_step_without_a_zone_has_none():
    assert filled(keep(step(GLOBAL, "go")), EVE)[0].zone == GLOBAL


def test_a_segment_that_was_not_final_ends_in_replan():
    assert [draft.zone for draft in filled(keep(step("e4", "click"), final=False), EVE)] == ["e4", REPLAN]


# --- expectations


def test_expectations_and_probes_speak_of_the_new_inputs():
    expect = Expectation(
        checks=(
            SurfaceMatches(pattern="Ticket of C-4711*"),
            ZoneHasState(label="Customer", state="value", value="C-4711"),
            ZoneHasState(label="Amount", state="value", value=1250.5),
            TextContains(text="Thank you"),
        ),
        says="C-4711 is there",
    )
    probe = Probe(name="is_there", arguments=(("customer", "C-4711"), ("subject", CUSTOMER)))
    draft = filled(keep(step("e4", "click", expect=expect, absent_when=expect, probe=probe)), EVE)[0]
    assert draft.expect == draft.absent_when
    assert draft.expect == Expectation(
        checks=(
            SurfaceMatches(pattern="Ticket of C-0002*"),
            ZoneHasState(label="Customer", state="value", value="C-0002"),
            ZoneHasState(label="Amount", state="value", value=80.25),
            TextContains(text="Thank you"),
        ),
        says="C-0002 is there",
    )
    assert draft.probe == Probe(name="is_there", arguments=(("customer", "C-0002"), ("subject", CUSTOMER)))


@pytest.mark.parametrize("text", ["1,250.50 EUR", "lamp hums", "C 4711"])
def test_what_may_speak_of_an_input_is_not_kept(text: str):
    assert "may be meant" in why_not(step("e4", "click", expect=Expectation(checks=(TextContains(text=text),))))


def test_words_for_people_are_left_out_rather_than_wrong():
    assert filled(keep(step("e4", "click", says="Save C-4711")), EVE)[0].says == "Save C-0002"
    assert filled(keep(step("e4", "click", says="Save c-4711")), EVE)[0].says == ""


# --- which runs


def test_inputs_that_no_step_passes_on_decide_what_is_done():
    segment = build_segment(situation(ADA), plan(step("e4", "click")), ("express",))
    assert isinstance(segment, KeptSegment)
    assert is_applicable(segment, situation(EVE))
    assert not is_applicable(segment, situation((*EVE[:-1], ("express", False))))


def test_the_same_screen_later_in_the_task_is_another_situation():
    segment = keep(step("e4", "click"), after=1)
    assert is_applicable(segment, situation(EVE, after=1))
    assert not is_applicable(segment, situation(EVE))
    assert segment.id != keep(step("e4", "click")).id


def test_inputs_are_passed_on_in_arguments_and_by_what_is_acted_on():
    steps = (
        step(arguments=(("text", CUSTOMER),)),
        step(arguments=(("text", "Lamp hums"), ("on", True))),
        step("e2", "click"),
        step("e4", "click"),
    )
    assert find_passed_on(steps[:1], ADA) == ("customer",)
    assert find_passed_on(steps, ADA) == ("customer", "subject")
    assert find_passed_on(steps[2:], ADA) == ("customer",)
    assert find_passed_on(steps[3:], ADA) == ()


def test_done_is_kept_without_steps():
    segment = build_segment(situation(ADA), None, ())
    assert isinstance(segment, KeptSegment)
    assert (segment.steps, segment.final) == ((), True)


# --- for any inputs

LETTERS = "abcxyzÄ019 -.*?[]{}'"
WORDS = st.text(alphabet=LETTERS, min_size=1, max_size=8).map(lambda text: f"w{text}e")
NAMES = ("one", "two", "three")
INPUTS = st.lists(WORDS, min_size=3, max_size=3, unique=True).map(lambda values: tuple(zip(NAMES, values, strict=True)))


def escaped(text: str) -> str:
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in text)


@st.composite
def segments(draw: st.DrawFn) -> tuple[Pairs, PlanVersion, tuple[Zone, ...]]:
    """Inputs, a plan that speaks of them in every place where one can, and its screen."""
    inputs = draw(INPUTS)
    texts = st.one_of(WORDS, *(st.just(value) for _, value in inputs), st.sampled_from(["Save", "Head Office"]))
    around = st.tuples(WORDS, texts, WORDS).map(" ".join)
    anything = st.one_of(st.just("Head Office"), texts, st.integers(), st.booleans())
    zones: list[Zone] = []
    steps: list[Step] = []
    labels = draw(st.lists(st.one_of(texts, around), min_size=1, max_size=3, unique=True))
    for number, label in enumerate(labels):
        words = draw(around)
        zones.append(Zone(id=f"z{number}", role="button", label=label))
        references = st.sampled_from([Reference(source="input", name=name) for name in NAMES])
        value = draw(st.one_of(references, st.sampled_from([value for _, value in inputs]), anything))
        expect = Expectation(checks=(ZoneAppears(label=escaped(words)), ZoneHasState(state="value", value=draw(texts))))
        steps.append(
            Step(
                version=1,
                index=number,
                zone=f"z{number}",
                skill="type",
                arguments=(("text", value),),
                target=Target(surface="New", role="button", label=label),
                expect=expect,
                probe=Probe(name="there", arguments=(("what", words),)),
                says=words,
            )
        )
    return inputs, plan(*steps), tuple(zones)


def at(inputs: Pairs, zones: tuple[Zone, ...]) -> ReuseKey:
    seen = Observation(id="o1", surface=Surface(title="New"), zones=zones, fingerprint="f")
    found = reuse_key(Task(goal="Save it for the Head Office", inputs=inputs), seen)
    assert isinstance(found, ReuseKey), found
    return found


@pytest.mark.slow
@given(segments())
def test_for_the_same_inputs_it_is_the_same_segment(made: tuple[Pairs, PlanVersion, tuple[Zone, ...]]):
    inputs, before, zones = made
    segment = build_segment(at(inputs, zones), before, ())
    if isinstance(segment, Unclear):
        return
    drafts = propose_steps(segment, at(inputs, zones))
    assert not isinstance(drafts, Unclear), drafts
    for step, draft in zip(before.steps, drafts, strict=True):
        assert (draft.zone, draft.skill) == (step.zone, step.skill)
        assert (draft.expect, draft.probe) == (step.expect, step.probe)
        assert _values(draft, inputs) == _values(step, inputs)
        assert draft.says in (step.says, "")


def _values(step: Draft | Step, inputs: Pairs) -> list[object]:
    given = dict(inputs)
    return [given[value.name] if isinstance(value, Reference) else value for _, value in step.arguments]


@pytest.mark.slow
@given(segments())
def test_for_other_inputs_no_old_value_is_left(made: tuple[Pairs, PlanVersion, tuple[Zone, ...]]):
    inputs, before, zones = made
    segment = build_segment(at(inputs, zones), before, ())
    if isinstance(segment, Unclear):
        return
    new = tuple((name, f"NEW{number}") for number, name in enumerate(NAMES))
    there = tuple(replace(zone, label=_renewed(segment, zone, new)) for zone in zones)
    drafts = propose_steps(segment, at(new, there))
    if isinstance(drafts, Unclear):
        return  # two zones have come to be called the same
    for draft in drafts:
        sent = [str(value) for value in _values(draft, new)]
        assert not any(occurs(str(old), text) for _, old in inputs for text in (*sent, encode(draft)))


def _renewed(segment: KeptSegment, zone: Zone, new: Pairs) -> str:
    return Placeholders(new).fill(segment.steps[int(zone.id[1:])].label)
