"""A dozen tasks of MiniWoB++ in a real Chromium: segments solve them all, a fixed plan those that stay as they are."""

import pytest

from tests.benchmarks.scripts import measure

STAY = ("click-checkboxes", "choose-list", "enter-date", "read-table", "use-slider", "social-media-some")
CHANGE = (
    "click-collapsible-2",
    "click-tab-2-hard",
    "login-user-popup",
    "search-engine",
    "email-inbox-forward",
    "terminal",
)
SEED = "2"


@pytest.mark.slow
def test_segments_solve_what_changes_in_the_middle_too():
    words = ["--seeds", "1", "--first-seed", SEED, "--tasks", *STAY, *CHANGE]
    told = measure("miniwob", *words)
    solved = {row["task"]: (row["fixed"]["share"], row["segments"]["share"]) for row in told["rows"]}
    assert solved == dict.fromkeys(STAY, (1, 1)) | dict.fromkeys(CHANGE, (0, 1))
