"""A misspelt environment variable is ignored, and a warning says which setting was probably meant."""

import re
import warnings
from pathlib import Path

import pytest

from midcourse.config.fleet_settings import FleetSettings
from midcourse.config.settings import Settings
from midcourse.config.variables import MisspeltVariable, aliases, find_misspelt

MISSPELT = "MIDCOURSE_MAX_CALS"
"""Used in tests as well."""
ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def empty_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where there is no `.env`."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("variable", "meant"),
    [
        ("MIDCOURSE_MAX_CALS", "MIDCOURSE_MAX_CALLS"),
        ("midcourse_max_cals", "MIDCOURSE_MAX_CALLS"),
        ("MIDCOURSE_APROVALS", "MIDCOURSE_APPROVALS"),
        ("MIDCOURSE_ACT_TIMEOUT", "MIDCOURSE_ACT_TIMEOUT_SECONDS"),
        ("MIDCOURSE_MODELS", "MIDCOURSE_MODEL"),
        ("MIDCOURSE_DATABASE", "MIDCOURSE_DATABASE_URL"),
        ("MIDCOURSE_TENNANT", "MIDCOURSE_TENANT"),
        ("AUTO_REPLANNING_MAX_ATTEMPS", "AUTO_REPLANNING_MAX_ATTEMPTS"),
    ],
)
def test_the_nearest_setting_is_suggested(variable: str, meant: str):
    assert list(find_misspelt([variable, "PATH", "MAX_CALS"], Settings, FleetSettings)) == [(variable, meant)]


def test_variables_of_settings_and_secrets_are_not_misspelt():
    names = [f"MIDCOURSE_{name.upper()}" for kind in (Settings, FleetSettings) for name in kind.model_fields]
    secrets = ["MIDCOURSE_SECRET_MAX_CALS", "MIDCOURSE_SECRET_APPROVAL"]
    assert (
        list(
            find_misspelt(
                [*names, *map(str.lower, names), *aliases(Settings).values(), *secrets], Settings, FleetSettings
            )
        )
        == []
    )


@pytest.mark.slow
def test_variables_that_programs_and_tests_of_this_project_read_are_not_misspelt():
    files = [path for folder in ("src", "tests", "benchmarks") for path in (ROOT / folder).rglob("*.py")]
    texts = [path.read_text(encoding="utf-8") for path in files if path != Path(__file__)]
    texts += [(ROOT / name).read_text(encoding="utf-8") for name in ("justfile", ".ci/run")]
    names = {name for text in texts for name in re.findall(r"\b_?MIDCOURSE_[A-Z_]*[A-Z]\b", text)}
    assert {"MIDCOURSE_HOME", "MIDCOURSE_HYPOTHESIS", "_MIDCOURSE_COMPLETE", "MIDCOURSE_DRIFT_LESSONS"} <= names
    assert list(find_misspelt(names - {MISSPELT, "MIDCOURSE_HOMES"}, Settings, FleetSettings)) == []


@pytest.mark.parametrize("where", ["environment", ".env"])
def test_settings_warn_and_the_setting_stays_as_it_was(where: str, monkeypatch: pytest.MonkeyPatch):
    if where == "environment":
        monkeypatch.setenv(MISSPELT, "3")
    else:
        Path(".env").write_text("MIDCOURSE_MAX_CALS=3\nMIDCOURSE_HYPOTHESIS=quick\nOPENAI_API_KEY=${nothing}\n")
    with pytest.warns(MisspeltVariable) as warned:
        assert Settings.load().max_calls == 30
    assert [str(one.message) for one in warned] == [
        "MIDCOURSE_MAX_CALS is not a setting and is ignored; did you mean MIDCOURSE_MAX_CALLS?"
    ]


def test_each_misspelt_variable_is_warned_about_once_per_process(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(MISSPELT, "3")
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("default")
        Settings.load()
        Settings.load(overrides={"max_calls": "5"})
    assert len(warned) == 1
