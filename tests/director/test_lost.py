"""Commands whose driver died: each is answered or issued again."""

from dataclasses import replace
from typing import get_args

import pytest

from midcourse.director.decide import decide
from midcourse.director.lost import answer_for_lost
from midcourse.domain.commands import Command
from midcourse.domain.phases import BackingOff, Verifying
from midcourse.domain.run import Issued, Run
from tests.director.test_decide import everywhere
from tests.harness import Drill, a_step

REPEATED = {"wait", "ask_person", "record", "finish"}


def under_way() -> dict[str, tuple[Run, Issued]]:
    """One command of every kind, and the run that awaits it."""
    return {issued.command.kind: (drill.run, issued) for drill in everywhere().values() for issued in drill.run.pending}


def test_every_kind_of_command_is_tested() -> None:
    assert set(under_way()) == {kind.kind for kind in get_args(get_args(Command)[0])}


@pytest.mark.parametrize("kind", [kind.kind for kind in get_args(get_args(Command)[0])])
def test_a_lost_command_is_answered_or_issued_again(kind: str) -> None:
    run, issued = under_way()[kind]
    answer = answer_for_lost(issued.command, issued.reserved)
    if kind in REPEATED:
        assert answer is None
        return
    assert answer is not None
    after, _ = decide(run, replace(answer, at=run.now + 1.0))
    assert after.budget.spent == run.budget.spent.plus(issued.reserved), "at worst it was paid for"
    assert after.counts.late == run.counts.late


def test_a_lost_act_may_have_happened() -> None:
    drill = Drill(approvals="never").to_acting(a_step("order", "irreversible"))
    answer = answer_for_lost(drill.run.pending[0].command, drill.run.pending[0].reserved)
    assert answer is not None
    drill.tell(answer)
    assert isinstance(drill.phase, Verifying)
    assert drill.run.finished_irreversible == ("i-order",)


def test_a_lost_plan_is_charged_and_does_not_count_as_a_replan() -> None:
    drill = Drill().to_planning()
    answer = answer_for_lost(drill.run.pending[0].command, drill.run.pending[0].reserved)
    assert answer is not None
    drill.tell(answer)
    assert isinstance(drill.phase, BackingOff)
    assert drill.run.counts.replans == 0
    assert drill.run.budget.spent.calls == 1


def test_a_lost_check_is_made_again() -> None:
    drill = Drill(approvals="never").to_acting(a_step("order", "irreversible")).acts("unknown")
    answer = answer_for_lost(drill.run.pending[0].command, drill.run.pending[0].reserved)
    assert answer is not None
    assert isinstance(drill.tell(answer).phase, Verifying)
