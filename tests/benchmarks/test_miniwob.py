"""A few tasks of MiniWoB++ in a real Chromium: segments solve them all, a fixed plan those that stay as they are."""

import pytest

from tests.benchmarks.scripts import measure

STAY = ("choose-list", "enter-date", "use-slider")
CHANGE = ("click-tab-2-hard", "login-user-popup", "email-inbox-forward", "terminal")
SEED = "2"


@pytest.mark.slow
def test_segments_solve_what_changes_in_the_middle_too():
    words = ["--seeds", "1", "--first-seed", SEED, "--tasks", *STAY, *CHANGE]
    result = measure("miniwob", *words)
    solved = {row["task"]: (row["fixed"]["share"], row["segments"]["share"]) for row in result["rows"]}
    assert solved == dict.fromkeys(STAY, (1, 1)) | dict.fromkeys(CHANGE, (0, 1))
