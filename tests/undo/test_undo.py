"""Undo: the inverses of what a run did, newest first, once, asked about and verified; the rest is listed with the reason."""

import asyncio
from pathlib import Path

import pytest

from midcourse.agent.undo import NOT_TRIED
from midcourse.domain.phases import Asking
from midcourse.errors import Pending, RunUnknown, TaskInvalid
from midcourse.testing import Approves, Posts, Rejects
from tests.undo.files import TEN, agent, create, log, state


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    create(tmp_path)
    return tmp_path


def test_the_state_after_is_the_state_before(folder: Path) -> None:
    before = state(folder)
    done = agent(folder, *TEN).run_sync("Tidy up")
    assert (done.success, state(folder) != before) == (True, True)
    sent = len(log(folder))
    report = agent(folder).undo_sync(done.run)
    assert state(folder) == before
    assert [(act.number, act.says, act.reason) for act in report.left] == [(5, "send", "'send' names no undo")]
    assert [act.number for act in report.acts] == list(range(10, 0, -1))
    assert log(folder)[sent:] == [
        "restore g",
        "set_mode g 420",
        "rename g f",
        "remove f",
        "rename d e",
        "restore d",
        "remove a",
        "rename c b",
        "rename b a",
    ]


def test_every_inverse_is_asked_about_and_none_is_sent_without_a_yes(folder: Path) -> None:
    done = agent(folder, *TEN[:2]).run_sync("Tidy up")
    changed, sent, no, yes = state(folder), log(folder), Rejects(), Approves()
    report = agent(folder, approver=no).undo_sync(done.run)
    assert (state(folder), log(folder), len(no.questions)) == (changed, sent, 1)
    assert [act.state for act in report.acts] == ["left", "left"]
    assert report.acts[0].reason.startswith("it was not approved")
    assert report.acts[1].reason == NOT_TRIED
    assert agent(folder, approver=yes).undo_sync(done.run).complete
    asked = [dict(consequence.arguments) for question in yes.questions for consequence in question.consequences]
    assert asked == [{"source": "c", "destination": "b"}, {"source": "b", "destination": "a"}]


def test_nothing_is_undone_twice(folder: Path) -> None:
    done = agent(folder, *TEN[:2]).run_sync("Tidy up")
    first = agent(folder).undo_sync(done.run, 2)
    sent = log(folder)
    assert (first.complete, state(folder).keys()) == (True, {"files/b", "files/d", "files/e"})
    assert agent(folder).undo_sync(done.run, 2) == first
    assert log(folder) == sent
    whole = agent(folder).undo_sync(done.run)
    assert [act.state for act in whole.acts] == ["undone", "undone"]
    assert whole.acts[0] == first.acts[0]
    assert log(folder) == [*sent, "rename b a"]


def test_an_undo_can_be_undone(folder: Path) -> None:
    done = agent(folder, TEN[3]).run_sync("Tidy up")
    changed = state(folder)
    (undone,) = agent(folder).undo_sync(done.run).acts
    assert agent(folder).undo_sync(undone.run).complete
    assert state(folder) == changed


def test_a_dry_run_says_what_would_be_done_and_does_nothing(folder: Path) -> None:
    done = agent(folder, *TEN[3:5]).run_sync("Tidy up")
    sent = log(folder)
    report = agent(folder).undo_sync(done.run, dry_run=True)
    assert [(act.number, act.state, act.inverse) for act in report.acts] == [
        (2, "left", ""),
        (1, "planned", "restore(path=d)"),
    ]
    assert (log(folder), report.complete) == (sent, False)


def test_effect_that_no_longer_exists_is_not_undone(folder: Path) -> None:
    done = agent(folder, TEN[3]).run_sync("Tidy up")
    (folder / "trash" / "d").rename(folder / "files" / "d")
    sent = log(folder)
    (act,) = agent(folder).undo_sync(done.run).acts
    assert (act.state, log(folder)) == ("gone", sent)


def test_an_inverse_that_fails_stops_the_undo(folder: Path) -> None:
    done = agent(folder, TEN[0], TEN[3]).run_sync("Tidy up")
    (folder / "files" / "d").mkdir()  # which a file cannot replace
    report = agent(folder).undo_sync(done.run)
    assert [act.state for act in report.acts] == ["left", "left"]
    assert report.acts[1].reason == NOT_TRIED


def test_a_run_that_has_not_ended_is_not_undone(folder: Path) -> None:
    with pytest.raises(RunUnknown):
        agent(folder).undo_sync("nothing")
    done = agent(folder, TEN[0]).run_sync("Tidy up")
    with pytest.raises(TaskInvalid, match="has no act 2 to undo; it has 1"):
        agent(folder).undo_sync(done.run, 2)
    with pytest.raises(Pending):
        wait_for_approval(folder)
    with pytest.raises(TaskInvalid, match="has not ended"):
        agent(folder).undo_sync("waits")


def wait_for_approval(folder: Path) -> None:
    """Leave a run called 'waits' in the middle."""

    async def leave() -> None:
        run = agent(folder, TEN[2], approver=Posts()).start("Tidy up", run_id="waits")
        async for turn in run:
            if isinstance(turn.run.phase, Asking):
                await run.stop()
                raise Pending("left", "waits")

    asyncio.run(leave())
