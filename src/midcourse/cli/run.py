"""`midcourse run`: carry out a task."""

import asyncio
import re
from collections.abc import Sequence

from midcourse.app.agent import new_run_id
from midcourse.app.wiring import load_job
from midcourse.cli.find import LAST
from midcourse.cli.overrides import pairs
from midcourse.cli.session import Manner, begin
from midcourse.errors import TaskInvalid


def run(task: str, overrides: Sequence[str], *, run_id: str, json: bool, quiet: bool) -> int:
    if run_id and (run_id == LAST or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", run_id)):
        raise TaskInvalid(f"--run-id '{run_id}': letters, digits, dots and dashes only, and not '{LAST}'")
    job = load_job(task, pairs(overrides))
    return asyncio.run(begin(job, run_id or new_run_id(), Manner(json=json, quiet=quiet)))
