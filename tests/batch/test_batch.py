"""A batch: a run for each row, each row once, whatever is in the way."""

import asyncio
import csv
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from midcourse.agent.wiring import Job, load_job, load_saved_job
from midcourse.batch.batch import Batch, BatchRow, batch_ids, new_batch, saved_batch
from midcourse.batch.results import RowEnd
from midcourse.batch.runner import Summary, Watcher, run_batch
from midcourse.domain.approval import Decision, Question
from midcourse.drive import Progress
from midcourse.errors import RunBusy, RunUnknown, TaskInvalid
from midcourse.store.sqlite import SqliteStore
from midcourse.testing import Approves
from midcourse.worlds.simulated.effects import read_effects

TASK = """
goal = "Order one $input.item as $input.reference"
{key}

[inputs]
item = "Desk lamp"
reference = "PO-0"
seed = 0

[output]
order_number = "string"

[done_when]
probe = "order_placed"
arguments = { reference = "$input.reference" }

[world]
name = "shop"
options = { seed = "$input.seed" }
{faults}

[settings]
approvals = "never"
retry_delay_seconds = 0

[planner]
name = "playbook"

[[planner.rules]]
on = "Catalogue"
steps = [
    { zone = "product:$input.item", skill = "set_quantity", arguments = { quantity = 1 } },
    { zone = "__global__", skill = "go", arguments = { page = "checkout" } },
]

[[planner.rules]]
on = "Checkout"
steps = [
    { zone = "textbox:Address", skill = "fill", arguments = { text = "1 Harbour Street" } },
    { zone = "textbox:Reference", skill = "fill", arguments = { text = "$input.reference" } },
    { zone = "button:Place order", skill = "place_order", once = true, says = "Place the order", expect = { surface_matches = "Thank you*" } },
]

[[planner.rules]]
on = "Thank you*"
final = true
steps = [{ zone = "order:*", skill = "read_order" }]

[[planner.rules]]
on = "504*"
impossible = "the shop is down"
"""
KEY = 'key = "order $input.reference"'
ERROR = '[[world.faults]]\nkind = "error_not_stored"\nskill = "place_order"'


def make_csv(*references: str) -> str:
    return "reference\n" + "".join(f"{reference}\n" for reference in references)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def make_job(tmp_path: Path, home: Path) -> Callable[..., Job]:
    def make(*, key: str = "", faults: str = "", **overrides: str) -> Job:
        path = tmp_path / "order.toml"
        path.write_text(TASK.replace("{key}", key).replace("{faults}", faults))
        return load_job(str(path), {"home": str(home), **overrides})

    return make


async def run_stored_batch(batch: Batch, **more) -> Summary:
    with SqliteStore(batch.job.settings.home / "midcourse.db") as store:
        return await run_batch(batch, store, **more)


def count_orders(home: Path) -> Counter[str]:
    """By reference, in the logs of all the shops."""
    logs = (home / "runs").glob("*/effects.jsonl")
    return Counter(str(one.get("reference")) for log in logs for one in read_effects(log))


def read_results(batch: Batch) -> list[dict[str, str]]:
    with batch.results.open(newline="") as file:
        return list(csv.DictReader(file))


class Recorder(Watcher):
    """Keeps the messages that it receives."""

    def __init__(self) -> None:
        self.began_rows: list[tuple[int, bool]] = []
        self.ended_rows: list[int] = []
        self.under_way = self.most_at_once = 0

    def began(self, row: BatchRow, *, resumed: bool) -> None:
        self.began_rows.append((row.number, resumed))
        self.under_way += 1
        self.most_at_once = max(self.most_at_once, self.under_way)

    async def on_progress(self, row: BatchRow, progress: Progress) -> None:
        assert progress.run.id == row.run
        await asyncio.sleep(0)

    def ended(self, row: BatchRow, end: RowEnd) -> None:
        self.ended_rows.append(row.number)
        self.under_way -= 1


async def test_every_row_is_a_run_with_its_own_inputs(make_job: Callable[..., Job], home: Path):
    text = "reference,item,seed\nPO-1,Desk lamp,4\nPO-2,Stapler,5\n"
    batch = new_batch(make_job(), text, "week-7")
    assert [row.run for row in batch.rows] == ["week-7-1", "week-7-2"]
    assert [row.label for row in batch.rows] == ["PO-1, Desk lamp, 4", "PO-2, Stapler, 5"]
    assert [row.job.task.goal for row in batch.rows] == ["Order one Desk lamp as PO-1", "Order one Stapler as PO-2"]
    assert [row.job.file.world.options["seed"] for row in batch.rows] == [4, 5]

    summary = await run_stored_batch(batch)
    assert (summary.rows, summary.succeeded, summary.verified, summary.failed, summary.left) == (2, 2, 2, 0, 0)
    assert count_orders(home) == {"PO-1": 1, "PO-2": 1}
    (stapler,) = read_effects(home / "runs" / "week-7-2" / "effects.jsonl")
    assert stapler.get("items") == {"Stapler": 1}
    assert dict(load_saved_job(home / "runs" / "week-7-2").inputs) == {
        "reference": "PO-2",
        "item": "Stapler",
        "seed": 5,
    }
    assert (home / "runs" / "week-7-2" / "journal.jsonl").is_file()


async def test_results_are_a_table(make_job: Callable[..., Job], home: Path, tmp_path: Path):
    batch = new_batch(make_job(), make_csv("PO-1", "PO-2"), "b", copy=tmp_path / "out.csv")
    await run_stored_batch(batch)
    assert batch.results == tmp_path / "out.csv"
    assert (home / "batches" / "b" / "results.csv").read_bytes() == batch.results.read_bytes()
    first, second = read_results(batch)
    assert list(first) == [
        *("row", "run", "success", "verified", "final_reason", "final_detail"),
        *("steps", "executions", "planner_calls", "wall_seconds", "sending", "order_number"),
    ]
    assert (second["row"], second["run"], second["success"], second["verified"]) == ("2", "b-2", "true", "true")
    assert (second["final_reason"], second["steps"], second["planner_calls"]) == ("goal_reached", "6", "3")
    assert second["order_number"].startswith("A-")


async def test_failed_row_does_not_stop_the_others(make_job: Callable[..., Job], home: Path):
    batch = new_batch(make_job(), "reference,item\nPO-1,Desk lamp\nPO-2,Unicorn\nPO-3,Desk lamp\n", "b")
    summary = await run_stored_batch(batch)
    assert (summary.succeeded, summary.failed) == (2, 1)
    assert sum(summary.by_reason.values()) == 1
    assert count_orders(home) == {"PO-1": 1, "PO-3": 1}
    assert [row["success"] for row in read_results(batch)] == ["true", "false", "true"]


@pytest.mark.slow
async def test_only_so_many_rows_are_under_way_at_once(make_job: Callable[..., Job]):
    batch = new_batch(make_job(), make_csv(*(f"PO-{n}" for n in range(9))), "b", concurrency=3)
    seen = Recorder()
    await run_stored_batch(batch, watcher=seen)
    assert seen.most_at_once == 3
    assert sorted(seen.ended_rows) == list(range(1, 10))


async def test_rows_that_ended_are_not_run_again(make_job: Callable[..., Job], home: Path):
    batch = new_batch(make_job(), make_csv("PO-1", "PO-2", "PO-3"), "b", concurrency=1)
    stop = asyncio.Event()
    seen = Recorder()
    seen.ended = lambda row, end: stop.set()
    summary = await run_stored_batch(batch, watcher=seen, winding_down=stop)
    assert (summary.succeeded, summary.left) == (1, 2)
    assert [row["row"] for row in read_results(batch)] == ["1"]

    seen = Recorder()
    again = saved_batch(make_job().settings, "b")
    assert again == batch
    summary = await run_stored_batch(again, watcher=seen)
    assert (summary.succeeded, summary.left) == (3, 0)
    assert seen.began_rows == [(2, False), (3, False)]
    assert (await run_stored_batch(again)).succeeded == 3
    assert count_orders(home) == {"PO-1": 1, "PO-2": 1, "PO-3": 1}


@pytest.mark.slow
@pytest.mark.parametrize("turns", [2, 5, 9, 14])
async def test_rows_that_were_interrupted_go_on(make_job: Callable[..., Job], home: Path, turns: int):
    batch = new_batch(make_job(), make_csv("PO-1", "PO-2", "PO-3"), "b", concurrency=2)
    interrupted = asyncio.Event()

    class Counts(Recorder):
        turns = 0

        async def on_progress(self, row: BatchRow, progress: Progress) -> None:
            self.turns += 1
            if self.turns == turns:
                interrupted.set()

    work = asyncio.create_task(run_stored_batch(batch, watcher=Counts()))
    await interrupted.wait()
    work.cancel()
    await asyncio.gather(work, return_exceptions=True)

    seen = Recorder()
    summary = await run_stored_batch(batch, watcher=seen)
    assert summary.succeeded == 3
    assert any(resumed for _, resumed in seen.began_rows)
    assert count_orders(home) == {"PO-1": 1, "PO-2": 1, "PO-3": 1}


async def test_rows_with_the_same_key_order_once(make_job: Callable[..., Job], home: Path):
    batch = new_batch(make_job(key=KEY), make_csv("PO-1", "PO-1", "PO-2", "PO-1"), "b")
    summary = await run_stored_batch(batch)
    assert summary.succeeded == 4
    assert [row["run"] for row in read_results(batch)] == ["b-1", "b-1", "b-3", "b-1"]
    assert count_orders(home) == {"PO-1": 1, "PO-2": 1}


async def test_what_an_earlier_batch_did_is_not_done_again(make_job: Callable[..., Job], home: Path):
    await run_stored_batch(new_batch(make_job(key=KEY), make_csv("PO-1", "PO-2"), "monday"))
    tuesday = new_batch(make_job(key=KEY), make_csv("PO-2", "PO-3"), "tuesday")
    assert (await run_stored_batch(tuesday)).succeeded == 2
    assert [row["run"] for row in read_results(tuesday)] == ["monday-2", "tuesday-2"]
    assert count_orders(home) == {"PO-1": 1, "PO-2": 1, "PO-3": 1}


async def test_doubtful_row_is_refused_until_a_person_has_decided(make_job: Callable[..., Job], home: Path):
    """The shop answers 504, nothing shows whether it took the order, and there is no one to ask."""
    await run_stored_batch(new_batch(make_job(key=KEY, faults=ERROR), make_csv("PO-1"), "monday"))
    batch = new_batch(make_job(key=KEY), make_csv("PO-1", "PO-2"), "tuesday")
    summary = await run_stored_batch(batch)
    assert (summary.succeeded, summary.by_reason) == (1, {"key_taken": 1})
    assert "run monday-1 has the key 'order PO-1'" in read_results(batch)[0]["final_detail"]
    assert count_orders(home) == {"PO-2": 1}

    assert (await run_stored_batch(batch, again=True)).succeeded == 2
    assert count_orders(home) == {"PO-1": 1, "PO-2": 1}


async def test_approver_knows_the_row(make_job: Callable[..., Job], home: Path):
    class Clerk:
        def __init__(self, row: BatchRow) -> None:
            self.row = row

        async def ask(self, question: Question) -> Decision:
            assert question.run == self.row.run
            return Decision(verdict="approved" if self.row.number == 2 else "rejected")

    batch = new_batch(make_job(approvals="always"), make_csv("PO-1", "PO-2"), "b")
    summary = await run_stored_batch(batch, approver_for=Clerk)
    assert summary.by_reason == {"rejected": 1}
    assert count_orders(home) == {"PO-2": 1}


async def test_a_row_at_its_ceiling_ends_without_a_question(make_job: Callable[..., Job], home: Path):
    asked = Approves(more=True)
    job = make_job(approvals="always", max_cost_usd="0.1", plan_cost_usd="0.2")
    summary = await run_stored_batch(new_batch(job, make_csv("PO-1"), "b"), approver_for=lambda row: asked)
    assert summary.by_reason == {"budget_exhausted": 1}
    assert asked.questions == []


async def test_without_an_approver_nothing_is_approved(make_job: Callable[..., Job], home: Path):
    summary = await run_stored_batch(new_batch(make_job(approvals="always"), make_csv("PO-1", "PO-2"), "b"))
    assert summary.by_reason == {"rejected": 2}
    assert count_orders(home) == {}


async def test_an_error_in_one_row_is_that_rows_error(make_job: Callable[..., Job], home: Path):
    """A kind of fault that does not exist: the shop of that row cannot be made."""
    fault = '[[world.faults]]\nkind = "$input.reference"\nskill = "place_order"'
    batch = new_batch(make_job(faults=fault), make_csv("stored_but_error", "nonsense"), "b")
    summary = await run_stored_batch(batch)
    assert summary.by_reason["skill_invalid"] == 1
    assert "nonsense" in read_results(batch)[1]["final_detail"]


async def test_a_world_that_cannot_be_made_is_found_out_before_anything_runs(make_job: Callable[..., Job], home: Path):
    one = make_job()
    broken = replace(one, source=one.source.replace('name = "shop"', 'name = "shp"'))
    with pytest.raises(TaskInvalid, match="did you mean 'shop'"):
        await run_stored_batch(new_batch(broken, make_csv("PO-1"), "b"))
    assert count_orders(home) == {}


async def test_a_batch_that_another_process_carries_out_is_busy(make_job: Callable[..., Job]):
    batch = new_batch(make_job(), make_csv("PO-1"), "b")
    with (
        SqliteStore(batch.job.settings.home / "midcourse.db") as other,
        other.claim("batch b"),
        pytest.raises(RunBusy, match="carries out batch b"),
    ):
        await run_stored_batch(batch)


def test_the_same_command_again_means_the_same_batch(make_job: Callable[..., Job], tmp_path: Path):
    first = new_batch(make_job(), make_csv("PO-1"), "b", copy=tmp_path / "out.csv", concurrency=7)
    assert new_batch(make_job(), make_csv("PO-1"), "b") == first
    assert new_batch(make_job(), make_csv("PO-1"), "b", concurrency=2).concurrency == 2
    assert saved_batch(make_job().settings, "b").concurrency == 2


@pytest.mark.parametrize("other", ["task", "settings", "rows"])
def test_another_batch_of_the_same_name_is_refused(make_job: Callable[..., Job], other: str):
    new_batch(make_job(), make_csv("PO-1"), "b")
    changed = make_job(key=KEY) if other == "task" else make_job(max_calls="9") if other == "settings" else make_job()
    with pytest.raises(TaskInvalid, match=f"batch 'b' was begun with other {other}; midcourse resume b"):
        new_batch(changed, make_csv("PO-2" if other == "rows" else "PO-1"), "b")


def test_batches_are_listed_in_the_order_they_were_begun(make_job: Callable[..., Job]):
    assert batch_ids(make_job().settings) == []
    for name in ("b", "c", "a"):
        new_batch(make_job(), make_csv("PO-1"), name)
    assert batch_ids(make_job().settings) == ["b", "c", "a"]
    with pytest.raises(RunUnknown):
        saved_batch(make_job().settings, "d")
