"""`midcourse schedule` with the fleet that `midcourse up` starts."""

from pathlib import Path
from uuid import uuid4

import pytest

from tests.cli.conftest import Cli
from tests.cli.test_fleet import wait_until

pytestmark = pytest.mark.slow


def test_a_schedule_is_added_listed_and_removed(cli: Cli, fleet_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIDCOURSE_HOME", str(fleet_home))
    name = f"s-{uuid4().hex[:8]}"
    added = cli(
        "schedule", "add", "weekdays 9:00 Europe/Berlin", "order", "--name", name, "--overlap", "skip", "--json"
    )
    assert (added.code, added.json) == (0, {"schedule": name})

    def list_schedules() -> list[dict[str, str]]:
        return [one for one in cli("schedule", "list", "--json").json if one["name"] == name]

    wait_until(list_schedules)
    (one,) = list_schedules()
    assert one["says"] == "order: weekdays 09:00 Europe/Berlin; overlap skip"
    assert one["next"]
    assert cli("schedule", "add", "daily 9:00 UTC", "order", "--name", name).code == 2
    assert cli("schedule", "remove", name).code == 0
    wait_until(lambda: not list_schedules())
    assert cli("schedule", "remove", name).code == 2


@pytest.mark.parametrize(
    "words", [("daily 9:00 UTC", "order", "--overlap", "never"), ("9:00", "order"), ("daily 9:00 UTC", "nope")]
)
def test_misuse_is_refused_before_anything_is_asked(cli: Cli, words: tuple[str, ...]) -> None:
    assert cli("schedule", "add", *words).code == 2
