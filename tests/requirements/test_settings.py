"""Document 001, Configuration: the block works as it is printed."""

from pathlib import Path

import pytest

from midcourse import Settings
from midcourse.config.variables import IneffectiveSetting
from tests.cli.conftest import Cli

BLOCK = """\
# Enable/disable automatic replanning
ENABLE_AUTO_REPLANNING=true

# Maximum number of replanning attempts per task
AUTO_REPLANNING_MAX_ATTEMPTS=3

# Minimum interval between replanning attempts (seconds)
AUTO_REPLANNING_MIN_INTERVAL_SECONDS=5

# Timeout for each replanning attempt (seconds)
AUTO_REPLANNING_TIMEOUT_SECONDS=300

# Trigger replanning for CRITICAL severity errors
AUTO_REPLANNING_TRIGGER_CRITICAL=true

# Trigger replanning for HIGH severity errors
AUTO_REPLANNING_TRIGGER_HIGH=true

# Trigger replanning for MEDIUM severity errors (default: false)
AUTO_REPLANNING_TRIGGER_MEDIUM=false

# Require human intervention after N failed replanning attempts
AUTO_REPLANNING_REQUIRE_HUMAN_INTERVENTION_AFTER=5
"""
NO_EFFECT = "AUTO_REPLANNING_REQUIRE_HUMAN_INTERVENTION_AFTER has no effect: human_after = 5 can never be reached"


@pytest.mark.usefixtures("home")
def test_the_block_is_taken_and_what_cannot_take_effect_is_warned_of() -> None:
    Path(".env").write_text(BLOCK)
    with pytest.warns(IneffectiveSetting, match=NO_EFFECT):
        limits = Settings.load().limits()
    assert (limits.max_error_replans, limits.human_after, limits.replan_timeout_seconds) == (3, None, 300.0)


@pytest.mark.filterwarnings("always::midcourse.config.variables.IneffectiveSetting")
def test_a_run_with_the_block_starts_and_prints_the_warning(cli: Cli) -> None:
    Path(".env").write_text(BLOCK)
    result = cli("run", "notepad", "--json")
    assert result.code == 0, result.err
    assert NO_EFFECT in " ".join(result.err.split())


@pytest.mark.usefixtures("home")
def test_with_more_attempts_a_person_is_asked_after_five() -> None:
    Path(".env").write_text(BLOCK.replace("ATTEMPTS=3", "ATTEMPTS=6") + "MIDCOURSE_MAX_REPLANS=7\n")
    assert Settings.load().limits().human_after == 5
