"""Killed with -9 while an e-mail is being sent, and resumed: the mail server has it once. 20 kills are in `just nightly`."""

import pytest

from tests.benchmarks.scripts import measure

pytestmark = pytest.mark.slow


def test_one_mail_whether_the_desktop_survives_or_not() -> None:
    result = measure("kill_mail", "--runs", "1", "--first-seed", "300")
    survived, died = result["survives"], result["dies"]
    assert (survived["killed"], survived["received"], survived["lost"]) == (1, 1, 0)
    assert survived["ended"] == {"goal_reached": 1}
    assert (died["killed"], died["received"], died["lost"]) == (1, 1, 0), (
        "it is asked about, or found, and not sent again"
    )
