"""A run's state as stores write it down: read only by a version that understands it."""

import json

from midcourse.codec import decode
from midcourse.domain.phase import Ended
from midcourse.domain.run import FORMAT, Run
from midcourse.errors import FormatUnknown, RunUnknown


def read_run(run_id: str, state: str) -> Run:
    check_format(run_id, state)
    return decode(Run, state)


def check_format(run_id: str, state: str) -> None:
    found = json.loads(state).get("format")
    if found != FORMAT:
        raise FormatUnknown(f"run {run_id!r} has format {found}, this version reads {FORMAT}")


def final_reason_of(run: Run) -> str:
    return run.phase.reason if isinstance(run.phase, Ended) else ""


def unknown(run_id: str) -> RunUnknown:
    return RunUnknown(f"no run {run_id!r} in this store")
