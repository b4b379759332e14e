"""The stand-ins for a model: what they know, what they see, and how they go wrong."""

import asyncio
from collections import Counter
from dataclasses import replace

import pytest

from midcourse.codec import decode, encode
from midcourse.domain.budget import Cost
from midcourse.domain.expectation import Expectation, TextContains, ZoneAppears
from midcourse.domain.observation import Observation, Zone
from midcourse.domain.outcome import CompletedStep
from midcourse.domain.plan import GLOBAL, REPLAN, Draft
from midcourse.domain.task import Task
from midcourse.errors import TaskInvalid
from midcourse.planners import Once, Playbook, Rule, SamePlan, ZonePattern
from midcourse.ports.planner import PlanDraft, Planner, PlanningContext
from midcourse.testing import Erring, Garbage, Scripted
from midcourse.testing.conformance.planner import CATALOGUE, PlannerConformance, check_answer, seen
from midcourse.testing.faulty_planners import ABSENT_ZONE

SEARCH = Zone(id="z1", role="field", label="Search")
ORDER = Zone(id="z2", role="button", label="Place order")
CART = Zone(id="z3", role="button", label="Cart (2)")
SHOP = seen("Catalogue: books", SEARCH, ORDER, CART)

TYPE = Draft(zone="field:Search", skill="type_text", arguments=(("text", "PO-1001"),), says="Type the reference")
PRESS = Draft(zone="Place order", skill="place_order", says="Place the order")
CONFIRM = Draft(zone="button:Confirm", skill="press", says="Confirm it")


def context(observation: Observation = SHOP, *completed: str) -> PlanningContext:
    steps = tuple(CompletedStep(version=1, index=0, skill="press", target="", says=says) for says in completed)
    return PlanningContext(task=Task(goal="order"), observation=observation, catalogue=CATALOGUE, completed=steps)


def ask(planner: Planner, about: PlanningContext | None = None) -> PlanDraft:
    return asyncio.run(planner.plan(about or context()))


class TestPlaybook:
    def test_zones_are_found_by_role_and_label_and_named_by_id(self):
        answer = ask(Playbook([Rule(on="Catalogue*", steps=(TYPE, PRESS), final=True)]))
        assert answer.verdict == "steps"
        assert answer.steps == (replace(TYPE, zone="z1"), replace(PRESS, zone="z2"))
        assert answer.final is True
        assert answer.cost == Cost(calls=1)

    def test_zones_may_be_named_with_wildcards(self):
        answer = ask(Playbook([Rule(steps=(replace(PRESS, zone="button:Cart*"), replace(PRESS, zone="*order")))]))
        assert [step.zone for step in answer.steps] == ["z3", "z2"]

    def test_global_and_replan_steps_are_planned_as_written(self):
        key = Draft(zone=GLOBAL, skill="press_key", arguments=(("key", "Enter"),))
        replan = Draft(zone=REPLAN, says="the page opens")
        assert ask(Playbook([Rule(steps=(key, replan))])).steps == (key, replan)

    def test_what_is_not_visible_and_all_after_it_waits_for_another_look(self):
        answer = ask(Playbook([Rule(steps=(TYPE, CONFIRM, PRESS), final=True)]))
        assert [step.zone for step in answer.steps] == ["z1", REPLAN]
        assert answer.final is False

    def test_nothing_after_a_replan_is_planned(self):
        answer = ask(Playbook([Rule(steps=(TYPE, Draft(zone=REPLAN), PRESS))]))
        assert [step.zone for step in answer.steps] == ["z1", REPLAN]

    def test_a_rule_whose_first_step_is_not_visible_is_passed_over(self):
        answer = ask(Playbook([Rule(steps=(CONFIRM, TYPE)), Rule(steps=(PRESS,))]))
        assert [step.zone for step in answer.steps] == ["z2"]

    def test_a_rule_for_another_screen_is_passed_over(self):
        answer = ask(Playbook([Rule(on="Cart*", steps=(TYPE,)), Rule(on="catalogue*", steps=(TYPE,))]))
        assert answer.verdict == "gave_up"
        assert answer.steps == ()
        assert "'Catalogue: books'" in answer.detail

    def test_the_first_rule_that_fits_answers(self):
        rules = [Rule(on="Cat*", steps=(PRESS,)), Rule(on="Catalogue*", steps=(TYPE,))]
        assert [step.skill for step in ask(Playbook(rules)).steps] == ["place_order"]
        assert [step.skill for step in ask(Playbook(rules[::-1])).steps] == ["type_text"]

    def test_a_condition_has_to_hold(self):
        error = Rule(when=Expectation(checks=(TextContains(text="504"),)), steps=(PRESS,))
        ready = Rule(when=Expectation(checks=(ZoneAppears(role="button", label="Cart*"),)), steps=(TYPE,))
        playbook = Playbook([error, ready])
        assert [step.zone for step in ask(playbook).steps] == ["z1"]
        failed = seen("Catalogue", SEARCH, ORDER, CART, Zone(id="z9", role="text", label="Error 504"))
        assert [step.zone for step in ask(playbook, context(failed)).steps] == ["z2"]

    def test_what_is_done_once_is_left_out_when_it_is_completed(self):
        once = Once(zone="field:Search", skill="type_text", says="Type the reference")
        playbook = Playbook([Rule(steps=(once, PRESS))])
        assert [step.says for step in ask(playbook).steps] == ["Type the reference", "Place the order"]
        again = ask(playbook, context(SHOP, "Type the reference", "Place the order"))
        assert [step.says for step in again.steps] == ["Place the order"]

    def test_a_rule_with_nothing_left_to_do_gives_way(self):
        once = Once(zone="field:Search", skill="type_text", says="Type the reference")
        playbook = Playbook([Rule(steps=(once, Draft(zone=REPLAN))), Rule(done=True)])
        assert ask(playbook).verdict == "steps"
        assert ask(playbook, context(SHOP, "Type the reference")).verdict == "done"

    def test_a_plan_holds_plain_drafts(self):
        answer = ask(Playbook([Rule(steps=(Once(zone="Search", skill="press", says="Go"),))]))
        assert type(answer.steps[0]) is Draft
        assert decode(PlanDraft, encode(answer)) == answer

    def test_a_rule_may_say_done_or_impossible(self):
        assert ask(Playbook([Rule(done=True)])).verdict == "done"
        answer = ask(Playbook([Rule(impossible="sold out")]))
        assert (answer.verdict, answer.detail, answer.steps) == ("impossible", "sold out", ())

    def test_when_rules_fit_and_nothing_can_be_done_it_says_so(self):
        answer = ask(Playbook([Rule(steps=(CONFIRM,))]))
        assert answer.verdict == "gave_up"
        assert answer.detail == "no rule has anything left that can be done on 'Catalogue: books'"

    def test_a_rule_without_exactly_one_answer_is_refused(self):
        one_thing = "one of: steps, done, impossible"
        with pytest.raises(TaskInvalid, match=one_thing):
            Rule(on="Here")
        with pytest.raises(TaskInvalid, match=one_thing):
            Rule(done=True, impossible="no")
        with pytest.raises(TaskInvalid, match=one_thing):
            Rule(steps=(TYPE,), done=True)
        with pytest.raises(TaskInvalid, match="words only"):
            Rule(when=Expectation(says="it looks good"), done=True)
        with pytest.raises(TaskInvalid, match="needs `says`"):
            Once(zone="x", skill="press")


@pytest.mark.parametrize(
    ("text", "role", "label"),
    [
        ("button:Save", "button", "Save"),
        ("Save", "", "Save"),
        ("*:Save", "", "Save"),
        ("menu_item:Save as: PDF", "menu_item", "Save as: PDF"),
        ("Time: now", "", "Time: now"),
        ("time: now", "", "time: now"),
        ("Order:7", "", "Order:7"),
        ("button:", "", "button:"),
        (":http://x", "", "http://x"),
    ],
)
def test_a_zone_pattern_has_role_and_label(text: str, role: str, label: str):
    pattern = ZonePattern.parse(text)
    assert pattern == ZonePattern(role=role, label=label)
    assert ZonePattern.parse(str(pattern)) == pattern


def test_same_plan_plans_the_same_on_every_screen():
    planner = SamePlan([TYPE], final=True)
    assert ask(planner) == ask(planner, context(seen("Elsewhere"), "Type the reference"))
    assert ask(planner) == PlanDraft(steps=(TYPE,), final=True)


def test_a_script_is_followed_and_its_last_line_repeated():
    one, two = PlanDraft(steps=(TYPE,)), PlanDraft(verdict="done")
    planner = Scripted(one, two)
    contexts = [context(SHOP, str(n)) for n in range(3)]
    assert [ask(planner, each) for each in contexts] == [one, two, two]
    assert planner.contexts == contexts
    with pytest.raises(TaskInvalid):
        Scripted()


class TestErring:
    steps = (
        Draft(zone="z1", skill="type_text", arguments=(("text", "a"),), says="one"),
        Draft(zone="z2", skill="press", says="two"),
        Draft(zone=REPLAN),
    )

    @pytest.mark.slow
    def test_it_errs_at_the_rate_that_is_set(self):
        never, often, always = (Erring(SamePlan(self.steps), rate, seed=1) for rate in (0.0, 0.3, 1.0))
        for planner in (never, often, always):
            for _ in range(1000):
                ask(planner)
        assert never.mistakes == []
        assert 250 < len(often.mistakes) < 350
        assert len(always.mistakes) == 1000

    def test_each_mistake_is_what_it_is_called(self):
        planner = Erring(SamePlan(self.steps), 1.0, seed=2)
        completed = CompletedStep(version=1, index=0, skill="type_text", target="", says="one")
        with_completed = replace(context(), completed=(completed,))
        kinds = Counter[str]()
        for _ in range(400):
            answer = ask(planner, with_completed)
            mistake = planner.mistakes[-1]
            kinds[mistake] += 1
            zones = [step.zone for step in answer.steps]
            match mistake:
                case "dropped_last":
                    assert answer.steps == (self.steps[0], self.steps[2])
                case "absent_zone":
                    assert zones in ([ABSENT_ZONE, "z2", REPLAN], ["z1", ABSENT_ZONE, REPLAN])
                case "swapped":
                    assert zones == ["z2", "z1", REPLAN]
                case "repeated_completed":
                    assert answer.steps == (self.steps[0], *self.steps)
                case "wrong_type":
                    assert answer.steps[0].arguments == (("text", -1),)
        assert set(kinds) == {"dropped_last", "absent_zone", "swapped", "repeated_completed", "wrong_type"}
        assert min(kinds.values()) > 40

    def test_equal_seeds_make_equal_mistakes(self):
        def answers(seed: int) -> list[PlanDraft]:
            planner = Erring(SamePlan(self.steps), 0.5, seed)
            return [ask(planner) for _ in range(50)]

        assert answers(3) == answers(3)
        assert answers(3) != answers(4)

    def test_a_plan_without_steps_is_passed_on(self):
        planner = Erring(Playbook([Rule(done=True)]), 1.0, seed=1)
        assert ask(planner).verdict == "done"
        assert planner.mistakes == []


class TestGarbage:
    @pytest.mark.slow
    def test_garbage_of_every_kind_is_produced(self):
        planner = Garbage(seed=5)
        raised, others, drafts = 0, 0, list[PlanDraft]()
        for _ in range(400):
            try:
                answer: object = ask(planner)
            except Exception:
                raised += 1
                continue
            if isinstance(answer, PlanDraft) and isinstance(answer.steps, tuple):
                drafts.append(answer)
            else:
                others += 1
        assert raised > 20
        assert others > 20
        assert {len(draft.steps) for draft in drafts} >= {0, 1, 3, 10, 1000}
        zones = {step.zone for draft in drafts for step in draft.steps}
        assert zones >= {"", GLOBAL, REPLAN, "\x00", ABSENT_ZONE, "z1"}
        assert {draft.verdict for draft in drafts} > {"steps", "done", "STEPS"}
        assert any(draft.cost.calls < 0 for draft in drafts)

    @pytest.mark.slow
    def test_a_polite_one_always_returns_a_plan(self):
        planner = Garbage(seed=5, polite=True)
        assert all(isinstance(ask(planner), PlanDraft) for _ in range(100))

    @pytest.mark.slow
    def test_equal_seeds_give_equal_garbage(self):
        def answers(seed: int) -> list[str]:
            planner = Garbage(seed, polite=True)
            return [repr(ask(planner)) for _ in range(20)]

        assert answers(1) == answers(1)
        assert answers(1) != answers(2)

    @pytest.mark.slow
    def test_garbage_is_produced_for_an_empty_world_too(self):
        planner = Garbage(seed=1, polite=True)
        empty = replace(context(seen("")), catalogue=replace(CATALOGUE, skills=()))
        assert all(ask(planner, empty) for _ in range(100))


class TestPlaybookConforms(PlannerConformance):
    def make_planner(self) -> Planner:
        press = Draft(zone="button:Thing *", skill="press", says="Press it")
        return Playbook([Rule(on="Catalogue*", steps=(press,)), Rule(on="Other", done=True)])


class TestSamePlanConforms(PlannerConformance):
    def make_planner(self) -> Planner:
        return SamePlan([TYPE, PRESS])


class TestScriptedConforms(PlannerConformance):
    def make_planner(self) -> Planner:
        return Scripted(PlanDraft(steps=(TYPE,)), PlanDraft(verdict="gave_up"))


class TestErringConforms(PlannerConformance):
    def make_planner(self) -> Planner:
        return Erring(SamePlan([TYPE, PRESS]), 1.0, seed=1)


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        (None, "returns a PlanDraft"),
        (PlanDraft(), "say why not"),
        (PlanDraft(verdict="done", steps=(TYPE,)), "say why not"),
        (PlanDraft(verdict="gave_up", cost=Cost(calls=-1)), "gives money back"),
        (PlanDraft(verdict="finished"), "no such verdict"),  # pyrefly: ignore[bad-argument-type]
    ],
)
def test_the_suite_tells_a_bad_answer(answer: object, complaint: str):
    with pytest.raises(AssertionError, match=complaint):
        check_answer(answer)


def test_the_suite_tells_a_planner_that_raises():
    class Raises:
        async def plan(self, context: PlanningContext) -> PlanDraft:
            raise KeyError("choices")

    class Suite(PlannerConformance):
        def make_planner(self) -> Planner:
            return Raises()

    with pytest.raises(KeyError):
        Suite().test_an_ordinary_screen()
