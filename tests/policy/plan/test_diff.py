"""The difference between two plans."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from midcourse.domain.plan import REPLAN, PlanVersion, Step, Target
from midcourse.policy.identity import call_digest
from midcourse.policy.plan.diff import compute_plan_diff


def plan(version: int, labels: str, *, replan: bool = False) -> PlanVersion:
    """One step for each letter, on the zone of that label."""
    steps = [_step(version, index, label) for index, label in enumerate(labels)]
    if replan:
        nowhere = Target(surface="Form", role="", label="")
        steps.append(Step(version=version, index=len(steps), zone=REPLAN, target=nowhere))
    return PlanVersion(
        version=version, parent=None, cause="error", why="", observation="o1", final=not replan, steps=tuple(steps)
    )


def _step(version: int, index: int, label: str) -> Step:
    target = Target(surface="Form", role="button", label=label)
    call = call_digest("click", target, ())
    return Step(version=version, index=index, zone=label, skill="click", target=target, call=call)


def typed(*words: str) -> PlanVersion:
    """One step for each, all of them into the same field."""
    target = Target(surface="Form", role="field", label="Name")
    steps = tuple(
        Step(
            version=1,
            index=index,
            zone="name",
            skill="fill",
            arguments=(("text", word),),
            target=target,
            call=call_digest("fill", target, (("text", word),)),
        )
        for index, word in enumerate(words)
    )
    return PlanVersion(version=1, parent=None, cause="error", why="", observation="", final=True, steps=steps)


def labels(steps: tuple[Step, ...]) -> str:
    return "".join(step.target.label for step in steps)


def test_steps_are_kept_dropped_or_new() -> None:
    found = compute_plan_diff(plan(1, "abcd"), plan(2, "cxd"))
    assert (labels(found.kept), labels(found.dropped), labels(found.new)) == ("cd", "ab", "x")
    assert [step.version for step in found.kept] == [2, 2]


def test_what_was_carried_out_was_not_dropped() -> None:
    found = compute_plan_diff(plan(1, "abcd"), plan(2, "dx"), carried_out=2)
    assert (labels(found.done), labels(found.dropped)) == ("ab", "c")


def test_replan_is_not_compared_as_a_step() -> None:
    found = compute_plan_diff(plan(1, "a", replan=True), plan(2, "b", replan=True))
    assert (labels(found.dropped), labels(found.new)) == ("a", "b")


def test_a_step_that_comes_twice_is_kept_as_often_as_it_is_in_both() -> None:
    found = compute_plan_diff(plan(1, "aab"), plan(2, "aaa"))
    assert (labels(found.kept), labels(found.dropped), labels(found.new)) == ("aa", "b", "a")


def test_another_argument_is_another_step() -> None:
    first, second = typed("Ann"), typed("Bob")
    found = compute_plan_diff(first, second)
    assert (found.kept, found.dropped, found.new) == ((), (), ())
    assert [(dict(one.before.arguments), dict(one.after.arguments)) for one in found.changed] == [
        ({"text": "Ann"}, {"text": "Bob"})
    ]


def test_what_was_carried_out_was_not_changed() -> None:
    first, second = typed("Ann"), typed("Bob")
    found = compute_plan_diff(first, second, carried_out=1)
    assert (len(found.done), found.changed, len(found.new)) == (1, (), 1)


def test_steps_on_the_same_thing_are_paired_in_their_order() -> None:
    found = compute_plan_diff(typed("Ann", "Bob", "Cid"), typed("Dot", "Bob", "Eve", "Flo"))
    assert [(texts(one.before), texts(one.after)) for one in found.changed] == [("Ann", "Dot"), ("Cid", "Eve")]
    assert ([texts(step) for step in found.kept], [texts(step) for step in found.new]) == (["Bob"], ["Flo"])


def texts(step: Step) -> object:
    return dict(step.arguments)["text"]


@given(st.text("abc", max_size=8), st.text("abc", max_size=8), st.integers(0, 8))
def test_every_step_is_in_its_place_once(before: str, after: str, carried_out: int) -> None:
    found = compute_plan_diff(plan(1, before), plan(2, after), carried_out)
    assert Counter(labels(found.kept) + labels(found.done) + labels(found.dropped)) == Counter(before)
    assert Counter(labels(found.kept) + labels(found.new)) == Counter(after)
    assert not set(labels(found.new)) & set(labels(found.done) + labels(found.dropped))
