"""Forms that were frozen before the first run."""

from benchmarks.first_contact import FROZEN, list_digests


def test_the_sites_tasks_and_planner_are_those_that_were_frozen() -> None:
    assert list_digests() == FROZEN.read_text(encoding="utf-8")
