"""A batch: one task, many rows of inputs, and one run for each row. It survives kill -9, as its runs do.

`<home>/batches/<id>/` holds the job, the rows as they were, and the results so far. Nothing else is needed: the run of a row is
named after batch and row, so the store of that run tells whether the row is waiting, was interrupted or has ended.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from midcourse.agent.wiring import Job, load_saved_job, save_job, with_current_settings, with_inputs
from midcourse.batch.rows import read_rows
from midcourse.config.settings import Settings
from midcourse.domain.argument import Pairs
from midcourse.errors import RunUnknown, TaskInvalid
from midcourse.files import atomic_write, private_folder
from midcourse.home.folder import JOB_FILE, run_folder
from midcourse.home.folder import batch_ids as batch_ids

ROWS_FILE = "rows.csv"
RESULTS_FILE = "results.csv"
OPTIONS_FILE = "batch.json"
CONCURRENCY = 4


@dataclass(frozen=True, kw_only=True)
class BatchRow:
    number: int
    """The number of the row, counted from 1 as in the results."""
    run: str
    inputs: Pairs
    of: Job
    """The job that all rows share."""

    @cached_property
    def job(self) -> Job:
        """The job with this row's inputs. Built on first use, because most rows may have ended."""
        job = with_inputs(self.of, self.inputs)
        # A ceiling on each row is there so that a person need not watch them.
        return replace(job, settings=job.settings.with_overrides({"ask_for_more": False}))

    @property
    def label(self) -> str:
        """A text that distinguishes this row from the others."""
        return self.job.task.key or ", ".join(str(value) for _, value in self.inputs)

    @property
    def folder(self) -> Path:
        return run_folder(self.of.settings, self.run)


@dataclass(frozen=True, kw_only=True)
class Batch:
    id: str
    job: Job
    rows: tuple[BatchRow, ...]
    copy: Path | None = None
    """A second file for the results, outside the batch's folder."""
    concurrency: int = CONCURRENCY
    """The number of rows that run at the same time."""

    @property
    def folder(self) -> Path:
        return batch_folder(self.job.settings, self.id)

    @property
    def results(self) -> Path:
        """The file with the results."""
        return self.copy or self.folder / RESULTS_FILE


def batch_folder(settings: Settings, batch_id: str) -> Path:
    return settings.home / "batches" / batch_id


def new_batch(
    job: Job,
    rows: str,
    batch_id: str,
    *,
    file: str = ROWS_FILE,
    copy: Path | None = None,
    concurrency: int | None = None,
) -> Batch:
    """Create the batch of this name, or load it if it was stored with the same task, settings and rows.

    `rows` is the text of a CSV file, which error messages call `file`; `copy` is a second file for the results.
    """
    folder = batch_folder(job.settings, batch_id)
    begun = (folder / JOB_FILE).is_file()
    if begun:
        _check_same(load_saved_job(folder), job, _read(folder / ROWS_FILE), rows, batch_id)
    batch = _build(job, rows, batch_id, file)
    batch = _with_saved_options(batch, folder) if begun else batch
    batch = replace(batch, copy=copy.absolute() if copy else batch.copy, concurrency=concurrency or batch.concurrency)
    _save(batch, rows)
    return batch


def saved_batch(settings: Settings, batch_id: str) -> Batch:
    """Load a batch as it was started, to resume it. Raises `RunUnknown`."""
    folder = batch_folder(settings, batch_id)
    if not (folder / JOB_FILE).is_file():
        raise RunUnknown(f"no batch '{batch_id}' in '{settings.home}'")
    job = with_current_settings(load_saved_job(folder), settings)
    return _with_saved_options(_build(job, _read(folder / ROWS_FILE), batch_id, ROWS_FILE), folder)


def _build(job: Job, rows: str, batch_id: str, file: str) -> Batch:
    inputs = read_rows(rows, job.file.task.inputs, file)
    digits = len(str(len(inputs)))
    return Batch(
        id=batch_id,
        job=job,
        rows=tuple(
            BatchRow(number=number, run=f"{batch_id}-{number:0{digits}}", inputs=each, of=job)
            for number, each in enumerate(inputs, start=1)
        ),
    )


def _check_same(kept: Job, job: Job, kept_rows: str, rows: str, batch_id: str) -> None:
    same: Mapping[str, bool] = {
        "task": kept.source == job.source,
        "settings": dict(kept.overrides) == dict(job.overrides),
        "rows": kept_rows == rows,
    }
    for what, equal in same.items():
        if not equal:
            raise TaskInvalid(
                f"batch '{batch_id}' was begun with other {what}; "
                f"midcourse resume {batch_id} goes on with it, another --batch starts a new one"
            )


def _save(batch: Batch, rows: str) -> None:
    """Store the batch. The job is written last: a folder without one is not a batch."""
    private_folder(batch.folder)
    atomic_write(batch.folder / ROWS_FILE, rows)
    options = {"copy": str(batch.copy or ""), "concurrency": batch.concurrency}
    atomic_write(batch.folder / OPTIONS_FILE, json.dumps(options))
    save_job(batch.job, batch.folder)


def _with_saved_options(batch: Batch, folder: Path) -> Batch:
    options = json.loads(_read(folder / OPTIONS_FILE))
    return replace(batch, copy=Path(options["copy"]) if options["copy"] else None, concurrency=options["concurrency"])


def _read(path: Path) -> str:
    return path.read_bytes().decode("utf-8")
