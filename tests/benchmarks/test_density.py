"""Browser sessions of a host, at the smallest size."""

import pytest

from tests.benchmarks.scripts import measure


@pytest.mark.slow
def test_waiting_runs_hold_no_browser_once_parked_and_continue_signed_in() -> None:
    waiting = measure("density", "--parts", "waiting", "--waiting", "3", "--room", "2", "--answered", "1")["waiting"]
    assert waiting["most_open"] <= 2
    assert (waiting["chromiums_when_parked"], waiting["processes_when_parked"]) == (0, 0)
    assert waiting["asked_again"] == 0, "the new browser's form has another token"
    assert (waiting["lost"], waiting["twice"], waiting["signed_out"], waiting["unapproved"]) == (0, 0, 0, 0)
