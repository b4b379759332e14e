"""The horizon of a plan: every repair, and plans that need none."""

from dataclasses import replace
from typing import Any

import pytest

from midcourse.domain.argument import Argument, Reference
from midcourse.domain.budget import Limits
from midcourse.domain.expectation import Expectation, Probe, TextContains, ZoneAppears
from midcourse.domain.observation import Observation, Surface, Zone
from midcourse.domain.plan import GLOBAL, REPLAN, Draft, Step, Target
from midcourse.domain.skill import Catalogue, Parameter, ProbeSpec, Skill
from midcourse.domain.task import Task
from midcourse.policy.arguments import find_argument_problem
from midcourse.policy.identity import call_digest
from midcourse.policy.plan.horizon import Resolved, Scope, build_planned_step, may_plan_beyond, resolve

SIGN = Expectation(checks=(TextContains(text="nothing sent"),))
CATALOGUE = Catalogue(
    skills=(
        Skill(name="click", effect="set_state"),
        Skill(name="open", effect="reversible", transition=True),
        Skill(name="press", effect="set_state", on_zone=False),
        Skill(name="send", effect="irreversible", probe=Probe(name="sent"), absent_when=SIGN),
        Skill(
            name="type",
            parameters=(
                Parameter(name="text"),
                Parameter(name="times", type="integer", required=False),
                Parameter(name="how", required=False, choices=("slow", "fast")),
            ),
        ),
    ),
    probes=(ProbeSpec(name="sent"),),
)
SEEN = Observation(
    id="o1",
    surface=Surface(title="Mail"),
    zones=(Zone(id="z1", role="button", label="One"), Zone(id="z2", role="button", label="Two")),
    fingerprint="f1",
)
TASK = Task(goal="", inputs=(("name", "Ada"), ("age", 36)), secrets=("pin",), files=("cv.pdf",))
REST = Draft(zone=REPLAN)


def click(zone: str = "z1", **more: Any) -> Draft:
    return Draft(zone=zone, skill="click", **more)


OPEN = Draft(zone="z1", skill="open")
SEND = Draft(zone="z2", skill="send")
GHOST = click("ghost")


def resolved(*drafts: Draft, final: bool | None = None, beyond: bool = False, **limits: Any) -> Resolved:
    view = Scope(task=replace(TASK, limits=Limits(**limits)), observation=SEEN, catalogue=CATALOGUE, beyond=beyond)
    return resolve(drafts, final, 3, view)


def outline(plan: Resolved) -> str:
    """`open R` for an opening step and a `__replan__`."""
    return " ".join("R" if step.zone == REPLAN else step.skill for step in plan.steps)


def test_a_plan_for_what_is_visible_passes_as_it_is() -> None:
    plan = resolved(click(), Draft(zone=GLOBAL, skill="press"))
    assert (outline(plan), plan.final, plan.repairs) == ("click press", True, ())
    assert [(step.version, step.index) for step in plan.steps] == [(3, 0), (3, 1)]


def test_a_plan_that_ends_in_replan_is_not_final() -> None:
    plan = resolved(click(), REST)
    assert (outline(plan), plan.final, plan.repairs) == ("click R", False, ())
    assert plan.steps[-1].index == 1


def test_what_follows_replan_is_dropped() -> None:
    plan = resolved(click(), REST, click("z2"), click("z9"))
    assert (outline(plan), plan.final) == ("click R", False)
    assert plan.repairs == ("2 steps after __replan__ dropped: that screen was not observed yet",)


def test_replan_is_inserted_after_a_transition_and_what_follows_is_dropped() -> None:
    plan = resolved(OPEN, click("z2"), final=True)
    assert (outline(plan), plan.final) == ("open R", False)
    assert len(plan.repairs) == 2
    assert "inserted after step 1" in plan.repairs[0]
    assert "1 step after it dropped" in plan.repairs[1]


@pytest.mark.parametrize("final", [None, False])
def test_replan_is_inserted_after_a_last_step_that_may_change_the_screen(final: bool | None) -> None:
    plan = resolved(click(), OPEN, final=final)
    assert (outline(plan), plan.final, len(plan.repairs)) == ("click open R", False, 1)


def test_a_transition_followed_by_replan_needs_no_repair() -> None:
    plan = resolved(OPEN, REST)
    assert (outline(plan), plan.final, plan.repairs) == ("open R", False, ())


def test_the_last_step_of_a_final_plan_may_change_the_screen() -> None:
    plan = resolved(click(), OPEN, final=True)
    assert (outline(plan), plan.final, plan.repairs) == ("click open", True, ())


def test_a_plan_that_says_it_is_not_the_last_gets_a_replan() -> None:
    plan = resolved(click(), final=False)
    assert (outline(plan), plan.final, len(plan.repairs)) == ("click R", False, 1)


def test_the_planners_word_on_a_transition_counts_more_than_the_skills() -> None:
    assert outline(resolved(replace(OPEN, transition=False), click("z2"))) == "open click"
    assert outline(resolved(click(transition=True), click("z2"))) == "click R"


def test_nothing_or_only_replan_is_no_plan() -> None:
    assert resolved().steps == ()
    assert resolved(REST).steps == ()
    assert resolved(final=False).steps == ()


def test_a_long_plan_is_cut_and_replan_put_in_place_of_the_rest() -> None:
    plan = resolved(click(), click("z2"), click(), max_plan_steps=2)
    assert (outline(plan), plan.final) == ("click click R", False)
    assert plan.repairs == ("cut after 2 steps, __replan__ inserted",)
    assert outline(resolved(click(), click("z2"), max_plan_steps=2)) == "click click"
    assert outline(resolved(click(), click("z2"), REST, max_plan_steps=2)) == "click click R"


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (click("ghost"), "zone 'ghost' is not visible"),
        (click(GLOBAL), "zone '__global__' is not visible"),
        (Draft(zone="z1", skill="press"), "does not act on a zone"),
        (Draft(zone="z1", skill="fly"), "no such skill"),
        (Draft(zone="z1"), "(no skill) dropped"),
        (Draft(zone="z1", skill="type"), "missing argument: 'text'"),
        (click(probe=Probe(name="felt")), "no such probe: 'felt'"),
    ],
)
def test_a_step_that_cannot_be_done_from_here_is_dropped_with_the_reason(bad: Draft, why: str) -> None:
    plan = resolved(click("z2"), bad, click())
    assert "click" in outline(plan)
    assert all(step.zone in ("z1", "z2", REPLAN) and step.skill in ("click", "") for step in plan.steps)
    assert "step 2" in plan.repairs[0]
    assert why in plan.repairs[0]


@pytest.mark.parametrize("final", [None, True, False])
def test_a_plan_that_lost_a_step_is_not_the_last(final: bool | None) -> None:
    """Else the run would say 'done' although what the planner wanted was never tried."""
    plan = resolved(click(), GHOST, final=final)
    assert (outline(plan), plan.final) == ("click R", False)
    assert plan.repairs[0].startswith("step 2 (click) dropped")
    plan = resolved(GHOST, click(), final=final)
    assert (outline(plan), plan.final) == ("click R", False)


@pytest.mark.parametrize("sends", [OPEN, replace(OPEN, transition=False)], ids=["transition", "said to be none"])
def test_no_transition_is_kept_behind_a_step_that_was_dropped(sends: Draft) -> None:
    """A form is sent by a click as well, and the planner's word for the click was about a plan with all its steps."""
    unfilled = Draft(zone="z1", skill="type", arguments={"value": "3"})
    plan = resolved(click(), unfilled, click("z2"), sends, final=True)
    assert (outline(plan), plan.final) == ("click click R", False)
    assert plan.repairs[1] == "cut before step 4 (open): a step that it may rely on was dropped"
    alone = resolved(unfilled, sends)
    assert (alone.steps, len(alone.repairs)) == ((), 2)


def test_nothing_irreversible_is_kept_behind_a_step_that_was_dropped() -> None:
    """Planned was: fill in the amount, then send. Without the first, the second is another deed."""
    plan = resolved(click(), Draft(zone="z1", skill="type"), click("z2"), SEND, click(), final=True)
    assert (outline(plan), plan.final) == ("click click R", False)
    assert "cut before step 4 (send)" in plan.repairs[1]
    assert resolved(GHOST, SEND).steps == ()


def test_a_plan_may_go_beyond_what_is_visible_if_asked_to() -> None:
    plan = resolved(OPEN, GHOST, SEND, beyond=True)
    assert (outline(plan), plan.final, plan.repairs) == ("open click send", True, ())
    assert outline(resolved(OPEN, REST, GHOST, beyond=True)) == "open R"
    assert resolved(Draft(zone="z1", skill="fly"), beyond=True).steps == ()


def test_so_many_plans_keep_to_what_is_visible() -> None:
    assert not may_plan_beyond(Limits(), 99)
    assert may_plan_beyond(Limits(visible_plans=0), 0)
    assert [may_plan_beyond(Limits(visible_plans=2), made) for made in range(4)] == [False, False, True, True]


ON = "Rename *"
TYPE = Draft(zone="textbox:New name", skill="type", arguments={"text": "a"}, on=ON)
SAVE = Draft(zone="button:Save", skill="open", on=ON)
CLICK_ON = click("button:Save", on=ON)


@pytest.mark.parametrize(
    ("drafts", "kept", "repaired"),
    [
        ((OPEN, TYPE, CLICK_ON), "open type click", ""),
        ((OPEN, TYPE, CLICK_ON, REST), "open type click __replan__", ""),
        ((CLICK_ON, TYPE), "click type", ""),
        ((OPEN, TYPE, click("z2")), "open type __replan__", "1 step after those for the next screen dropped"),
        ((OPEN, click("z2"), TYPE), "open __replan__", "2 steps after it dropped"),
        ((OPEN, replace(CLICK_ON, transition=True), TYPE), "open click type", ""),
        ((OPEN, click("button:Save", on="*", transition=True), TYPE), "open click type", ""),
        ((OPEN, replace(CLICK_ON, transition=True), click("link:Next", on="*")), "open click click", ""),
        ((OPEN, SAVE), "open __replan__", "open cannot be planned for a screen that was not observed yet"),
        ((OPEN, replace(SEND, zone="button:Save", on=ON)), "open __replan__", "send cannot be planned for a screen"),
        ((OPEN, click("Save", on=ON)), "open __replan__", "a zone is named as role:label, and not 'Save'"),
        ((GHOST, OPEN, TYPE), "", "cut before step 2"),
        ((click("z1", on="Mail"), click("z2")), "click click", ""),
    ],
)
def test_steps_for_screens_that_were_not_seen_are_held_if_they_send_nothing(
    drafts: tuple[Draft, ...], kept: str, repaired: str
) -> None:
    plan = resolved(*drafts, final=None if REST in drafts else True)
    assert " ".join(step.skill or step.zone for step in plan.steps) == kept
    assert (repaired in "; ".join(plan.repairs)) if repaired else not plan.repairs
    assert all(bool(step.on) == (":" in step.zone) for step in plan.steps)


def test_a_held_step_is_known_by_what_it_names() -> None:
    held = resolved(OPEN, TYPE, final=True).steps[1]
    assert held.target == Target(surface=ON, role="textbox", label="New name")
    assert (held.on, build_planned_step(held).on) == (ON, ON)


def test_an_expectation_that_holds_is_dropped_unless_a_dialog_may_hide_what_is_to_go() -> None:
    step = click(expect=Expectation(checks=(ZoneAppears(label="Two"),)))
    for zones, kept in ((SEEN.zones, False), ((*SEEN.zones, Zone(id="d", role="dialog", label="Sure?")), True)):
        scope = Scope(task=TASK, observation=replace(SEEN, zones=zones), catalogue=CATALOGUE)
        plan = resolve((step,), True, 1, scope)
        assert bool(plan.steps[0].expect) == kept
        assert bool(plan.repairs) != kept


def test_a_step_on_a_control_without_a_name_says_what_it_may_be() -> None:
    bin_icon = Zone(id="z1", role="button", label="", state=(("hint", "trash"),))
    scope = Scope(task=TASK, observation=replace(SEEN, zones=(bin_icon,)), catalogue=CATALOGUE)
    (step,) = resolve((click(),), True, 1, scope).steps
    assert step.says == "click (trash)"


def test_controls_of_one_name_in_different_groups_are_called_differently() -> None:
    """Steps of one call count as tried before; of what they would send nothing changes."""
    row = replace(SEEN.zones[0], id="z3", state=(("within", "Row 3"),))
    scope = Scope(task=TASK, observation=replace(SEEN, zones=(*SEEN.zones, row)), catalogue=CATALOGUE)
    alone, inside = resolve((click("z1", transition=False), click("z3")), True, 1, scope).steps
    assert alone.call == resolved(click()).steps[0].call == call_digest("click", alone.target, ())
    assert inside.call == call_digest("click", inside.target, (), within="Row 3") != alone.call
    assert alone.target == inside.target


def test_a_step_carries_what_its_skill_knows_unless_it_says_otherwise() -> None:
    own = Expectation(checks=(TextContains(text="mine"),))
    plain, explicit = resolved(SEND, replace(SEND, absent_when=own, probe=Probe(name="sent", settles_after=9.0))).steps
    assert plain.effect == "irreversible"
    assert (plain.probe, plain.absent_when) == (Probe(name="sent"), SIGN)
    assert (explicit.probe, explicit.absent_when) == (Probe(name="sent", settles_after=9.0), own)
    assert plain.target == Target(surface="Mail", role="button", label="Two")
    assert plain.says == "send Two"
    assert plain.call == call_digest("send", plain.target, ())


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("Ada", ""),
        (Reference(source="input", name="name"), ""),
        (Reference(source="secret", name="pin"), ""),
        (Reference(source="file", name="cv.pdf"), ""),
        (Reference(source="input", name="age"), "'text' must be string, not 36"),
        (Reference(source="input", name="nobody"), "no such input: 'nobody'"),
        (Reference(source="secret", name="name"), "no such secret: 'name'"),
        (Reference(source="file", name="/etc/passwd"), "no such file: '/etc/passwd'"),
        (7, "'text' must be string, not 7"),
        (None, "'text' is missing"),
    ],
)
def test_arguments_have_to_fit_and_references_to_exist(text: Argument, problem: str) -> None:
    parameters = CATALOGUE.skills[-1].parameters
    assert find_argument_problem((("text", text),), parameters, TASK) == problem


def test_arguments_are_known_given_once_and_among_the_choices() -> None:
    parameters = CATALOGUE.skills[-1].parameters
    text = ("text", "x")
    assert find_argument_problem((text, text), parameters, TASK) == "an argument is given twice"
    assert find_argument_problem((text, ("size", 1)), parameters, TASK) == (
        "no such argument: 'size'; there are how, text, times"
    )
    assert find_argument_problem((text, ("how", "later")), parameters, TASK) == "'how' must be one of slow, fast"
    assert find_argument_problem((text, ("how", "slow"), ("times", 2)), parameters, TASK) == ""
    assert find_argument_problem((text, ("times", None)), parameters, TASK) == ""
    assert "missing" in find_argument_problem((), parameters, TASK)


def test_the_short_form_says_where_and_what() -> None:
    step = Step(version=2, index=5, zone="z1", skill="send", target=Target(surface="", role="", label=""), call="c")
    short = build_planned_step(replace(step, effect="irreversible"))
    assert (short.version, short.index, short.place, short.call) == (2, 5, "zone", "c")
    assert (short.identity, short.consequence, short.effect) == ("", "", "irreversible")
    assert build_planned_step(replace(step, zone=REPLAN)).place == "replan"
    assert build_planned_step(replace(step, zone=GLOBAL)).place == "global"
