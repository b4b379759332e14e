"""Seed 003's decision tree, every branch, in the order of its questions. The policy's own tests have the borders."""

import pytest

from midcourse.domain.detour import Detour, Option, Tried
from midcourse.policy.detour.choice import choose_next
from tests.harness import a_step


def tried(number: int, progress: float, call: str = "", *, options: int = 0, explored: int = 0) -> Tried:
    return Tried(
        label=f"8.{number}",
        version=3,
        call=call or f"call {number}",
        before="menu" if call else f"state {number}",
        seen="o",
        closeness_before=5.0,
        closeness_after=5.0 + progress,
        options=tuple(Option(name=f"option {n}") for n in range(options)),
        explored=explored,
    )


BRANCHES = {
    "stuck in a loop": ([tried(n, 3.0, "the same") for n in (1, 2, 3)], "cancel", "looping"),
    "consistent regression": ([tried(n, -1.0, options=2) for n in (1, 2, 3)], "cancel", "regressing"),
    "good progress": ([tried(1, 0.6, options=2)], "retain", "good progress"),
    "some progress": ([tried(1, 0.5, options=2)], "retain", "some progress"),
    "unexplored options": ([tried(1, -1.5, options=2, explored=1)], "explore", "option 1"),
    "dead end": ([tried(1, 3.0), tried(2, 0.0, options=2, explored=2)], "revert", "dead end"),
}


@pytest.mark.parametrize("branch", BRANCHES)
def test_every_branch_of_the_decision_tree_is_chosen(branch: str) -> None:
    tries, choice, why = BRANCHES[branch]
    verdict = choose_next(Detour(step=a_step("far", index=7), number=8, began_under="f", tries=tuple(tries)), most=10)
    assert verdict.choice == choice
    assert why in (verdict.cancel or verdict.why)
