"""Browser sessions of a host, at the smallest size."""

import pytest

from tests.benchmarks.scripts import measure


@pytest.mark.slow
def test_waiting_runs_hold_no_browser_once_parked_and_continue_signed_in() -> None:
    told = measure("density", "--parts", "waiting", "--waiting", "3", "--room", "2", "--answered", "1")["waiting"]
    assert told["most_open"] <= 2
    assert (told["chromiums_when_parked"], told["processes_when_parked"]) == (0, 0)
    assert told["asked_again"] == 0, "the new browser's form has another token"
    assert (told["lost"], told["twice"], told["signed_out"], told["unapproved"]) == (0, 0, 0, 0)
