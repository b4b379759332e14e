"""Forms that were frozen before the first run, and two of them in a browser."""

from pathlib import Path

import pytest

from benchmarks.first_contact import FROZEN, format_summary, list_digests, run_case, summarize
from benchmarks.first_contact_sites.cases import CASES


def test_the_sites_tasks_and_planner_are_those_that_were_frozen() -> None:
    assert list_digests() == FROZEN.read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("form", ["django", "optimistic_refused"])
async def test_the_site_has_the_expected_log_and_the_run_ends_as_it_has_to(form: str, tmp_path: Path) -> None:
    (case,) = (case for case in CASES if case.name == form)
    row = await run_case(case, tmp_path)
    assert (row.actual, row.finished, row.arrived) == (case.effects, case.ending == "done", 1)
    assert "1 of 1 forms right, 0 effects repeated, 0 false 'done'" in format_summary(summarize([row]), [row])
