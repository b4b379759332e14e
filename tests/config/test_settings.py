"""Every setting once, and the last word wins."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from docs.settings_tables import reference
from midcourse.config.fleet_settings import FleetSettings
from midcourse.config.recovery import PRESETS
from midcourse.config.settings import Settings, format_value
from midcourse.config.variables import Audience, aliases, audience_of, names_for
from midcourse.domain.budget import Limits
from midcourse.domain.failure import FailureRule
from midcourse.errors import TaskInvalid
from midcourse.history.replay import changed_limits

OWN = {
    "model",
    "model_base_url",
    "answer_tokens",
    "thinking_tokens",
    "model_effort",
    "model_output",
    "images",
    "role_models",
    "trace_content",
    "record",
    "cassette",
    "reuse",
    "home",
    "retention_days",
    "recovery",
    "detours",
    "approval_policy",
    "lessons",
    "agent",
    "lesson_similarity",
    "embedder",
    "embedder_base_url",
    "step_delay_seconds",
}
"""Settings of adapters; the director is not told of them."""


@pytest.fixture(autouse=True)
def unset_variables(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No variable of the user's environment, and no `.env` but the test's own."""
    monkeypatch.chdir(tmp_path)
    for name in Settings.model_fields:
        monkeypatch.delenv(f"MIDCOURSE_{name.upper()}", raising=False)
    for variable in aliases(Settings).values():
        monkeypatch.delenv(variable, raising=False)


def test_settings_and_limits_have_the_same_names_and_defaults():
    settings = Settings.load()
    assert set(Settings.model_fields) - OWN == {field.name for field in fields(Limits)}
    assert settings.limits() == Limits()
    for field in fields(Limits):
        assert getattr(settings, field.name) == field.default, field.name


@pytest.mark.slow
def test_every_setting_reaches_the_limits():
    words = {
        "approvals": "never",
        "final_looks": "last",
        "wrap_up_at": "0.5",
        "backoff_jitter": "0.5",
        "max_error_replans": "4",
        "human_after": "2",
        "failures": '[{"reason": "odd", "severity": "LOW"}]',
        "lesson_tries": "0.5",
        "reads_words": "on",
        "outline": "on",
        "monitor": "path",
    }
    for field in fields(Limits):
        value = words.get(field.name, "off" if field.default is True else "on" if field.default is False else "77")
        limits = Settings.load(overrides={field.name: value}).limits()
        assert getattr(limits, field.name) != field.default, field.name
        changed = [other.name for other in fields(Limits) if getattr(limits, other.name) != other.default]
        assert changed == [field.name]


def test_the_seeds_constants_are_the_defaults():
    limits = Settings.load().limits()
    assert (limits.max_calls, limits.max_replans, limits.max_step_retries) == (30, 5, 3)


def test_overrides_win_over_the_environment_and_that_over_the_task(monkeypatch: pytest.MonkeyPatch):
    task = {"max_calls": 11, "max_replans": 12, "max_segments": 13}
    monkeypatch.setenv("MIDCOURSE_MAX_CALLS", "21")
    monkeypatch.setenv("MIDCOURSE_MAX_REPLANS", "22")
    settings = Settings.load(task=task, overrides={"max_calls": "31"})
    assert (settings.max_calls, settings.max_replans, settings.max_segments) == (31, 22, 13)
    assert settings.max_plan_steps == Limits.max_plan_steps


def test_the_environment_wins_even_if_it_says_the_default(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MIDCOURSE_MAX_CALLS", "30")
    assert Settings.load(task={"max_calls": 5}).max_calls == 30
    assert Settings.load(overrides={"max_replans": "5"}).with_task({"max_replans": 1}).max_replans == 5


def test_dotenv_is_read_and_other_variables_in_it_are_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / ".env").write_text("MIDCOURSE_MAX_CALLS=7\nOPENAI_API_KEY=x\nMIDCOURSE_HYPOTHESIS=quick\n")
    assert Settings.load(task={"max_calls": 9}).max_calls == 7
    monkeypatch.setenv("MIDCOURSE_MAX_CALLS", "8")
    assert Settings.load().max_calls == 8


def test_a_settings_own_variable_wins_over_its_other_one_and_the_environment_over_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / ".env").write_text("AUTO_REPLANNING_MAX_ATTEMPTS=2\nMIDCOURSE_MAX_ERROR_REPLANS=3\n")
    assert Settings.load().max_error_replans == 3
    monkeypatch.setenv("auto_replanning_max_attempts", "4")
    assert Settings.load().max_error_replans == 4
    monkeypatch.setenv("MIDCOURSE_MAX_ERROR_REPLANS", "5")
    assert Settings.load().max_error_replans == 5


def test_an_empty_variable_is_ignored(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MIDCOURSE_MAX_CALLS", "")
    assert Settings.load().max_calls == 30


@pytest.mark.parametrize(
    ("word", "value"),
    [("on", True), ("off", False), ("yes", True), ("no", False), ("true", True), ("False", False), (" on ", True)],
)
def test_yes_and_no_may_be_written_in_several_words(word: str, value: bool):
    assert Settings.load(overrides={"structural_stop": word}).structural_stop is value


def test_the_value_none_removes_a_ceiling(monkeypatch: pytest.MonkeyPatch):
    task = {"max_tokens": 100, "max_cost_usd": 1.5, "deadline_seconds": 60}
    assert Settings.load(task=task).limits().max_cost_usd == 1.5
    off = dict.fromkeys(task, "none")
    monkeypatch.setenv("MIDCOURSE_DEADLINE_SECONDS", "None")
    limits = Settings.load(task=task, overrides={"max_tokens": "none", "max_cost_usd": "none"}).limits()
    assert (limits.max_tokens, limits.max_cost_usd, limits.deadline_seconds) == (None, None, None)
    assert Settings.load(task=off).max_tokens is None
    with pytest.raises(TaskInvalid, match="max_calls"):
        Settings.load(overrides={"max_calls": "none"})


def test_an_unknown_name_is_refused_with_what_is_near():
    with pytest.raises(TaskInvalid, match=r"no such setting: 'max_cals'; did you mean 'max_calls'"):
        Settings.load(overrides={"max_cals": "5"})
    with pytest.raises(TaskInvalid, match=r"did you mean 'approvals'"):
        Settings.load(task={"aprovals": "never"})
    with pytest.raises(TaskInvalid, match="no such setting: 'zzz'; midcourse settings --all lists them"):
        Settings.load(overrides={"zzz": "5"})


def test_an_invalid_value_is_refused_with_the_place_where_it_was_set(monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(TaskInvalid, match=r"^--set max_calls = 'many': has to be a valid integer"):
        Settings.load(overrides={"max_calls": "many"})
    with pytest.raises(TaskInvalid, match=r"^\[settings\] max_calls = 0: has to be greater than or equal to 1$"):
        Settings.load(task={"max_calls": 0})
    with pytest.raises(
        TaskInvalid, match=r"^--set approvals = 'sometimes': has to be 'always', 'never' or 'adaptive'$"
    ):
        Settings.load(overrides={"approvals": "sometimes"})
    monkeypatch.setenv("MIDCOURSE_WRAP_UP_AT", "2")
    with pytest.raises(TaskInvalid, match=r"^MIDCOURSE_WRAP_UP_AT = '2': has to be less than or equal to 1$"):
        Settings.load()


@pytest.mark.parametrize("value", ["nan", "inf", "-1"])
@pytest.mark.parametrize("name", ["max_wall_seconds", "plan_cost_usd", "step_delay_seconds", "max_cost_usd"])
def test_times_and_costs_are_finite(name: str, value: str):
    with pytest.raises(TaskInvalid, match=name):
        Settings.load(overrides={name: value})


def test_the_home_is_a_folder_of_the_working_directory_unless_it_is_set():
    assert Settings.load().home == Path(".midcourse")
    assert Settings.load(overrides={"home": "/var/lib/midcourse"}).home == Path("/var/lib/midcourse")


def test_the_reference_has_a_row_for_each_setting_and_says_what_it_changes():
    lines = reference().splitlines()
    assert len(lines) == 2 + len(Settings.model_fields)
    for name, line in zip(Settings.model_fields, lines[2:], strict=True):
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip("|"))]
        assert cells[0] == f"`{name}`"
        assert cells[2].startswith(f"`MIDCOURSE_{name.upper()}`")
        assert aliases(Settings).get(name, "") in cells[2]
        assert len(cells[3]) > 20
        assert cells[3].endswith((".", ".)"))
    assert "| `max_tokens` | `none` |" in reference()
    assert "| `structural_stop` | `true` |" in reference()


@pytest.mark.slow
def test_a_default_can_be_written_back():
    for line in reference().splitlines()[2:]:
        name, default = (cell.strip(" `") for cell in line.strip("|").split("|")[:2])
        if default == "not set":
            assert Settings.model_fields[name].default in ("", ())
            continue
        assert getattr(Settings.load(overrides={name: default}), name) == Settings.model_fields[name].default


# --- the names of the system that recovery comes from

SEED = {
    "ENABLE_AUTO_REPLANNING": ("auto_replan", "true", True),
    "AUTO_REPLANNING_MAX_ATTEMPTS": ("max_error_replans", "3", 3),
    "AUTO_REPLANNING_MIN_INTERVAL_SECONDS": ("replan_interval_seconds", "5", 5.0),
    "AUTO_REPLANNING_TIMEOUT_SECONDS": ("replan_timeout_seconds", "300", 300.0),
    "AUTO_REPLANNING_TRIGGER_CRITICAL": ("replan_on_critical", "true", True),
    "AUTO_REPLANNING_TRIGGER_HIGH": ("replan_on_high", "true", True),
    "AUTO_REPLANNING_TRIGGER_MEDIUM": ("replan_on_medium", "false", False),
    "AUTO_REPLANNING_REQUIRE_HUMAN_INTERVENTION_AFTER": ("human_after", "2", 2),
}
SEEDS_SETTINGS = {name for name, _, _ in SEED.values()}
OTHERS = {"false": "true", "true": "false", "3": "4", "5": "7.5", "300": "200", "2": "1"}


def test_the_seeds_names_are_known_and_all_but_one_default_is_the_seeds():
    assert aliases(Settings) == {name: variable for variable, (name, _, _) in SEED.items()}
    for name, _, default in SEED.values():
        if name != "human_after":
            assert getattr(Settings.load(), name) == default
    assert Settings.load().human_after is None


@pytest.mark.parametrize("where", ["environment", ".env"])
@pytest.mark.parametrize("variable", SEED)
def test_a_setting_can_be_given_by_the_seeds_name(variable: str, where: str, monkeypatch: pytest.MonkeyPatch):
    name, usual, _ = SEED[variable]
    if where == "environment":
        monkeypatch.setenv(variable, OTHERS[usual])
    else:
        Path(".env").write_text(f"{variable}={OTHERS[usual]}\n")
    settings = Settings.load()
    assert getattr(settings.limits(), name) == getattr(Settings.load(overrides={name: OTHERS[usual]}), name)
    monkeypatch.setenv(f"MIDCOURSE_{name.upper()}", usual)
    assert getattr(Settings.load(), name) == getattr(Settings.load(overrides={name: usual}), name), "ours comes first"
    assert getattr(Settings.load(overrides={name: OTHERS[usual]}), name) == getattr(settings, name)


def test_an_invalid_value_is_refused_with_both_names_of_its_setting(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AUTO_REPLANNING_MAX_ATTEMPTS", "many")
    with pytest.raises(TaskInvalid, match="MIDCOURSE_MAX_ERROR_REPLANS or AUTO_REPLANNING_MAX_ATTEMPTS = 'many'"):
        Settings.load()


def test_what_can_never_take_effect_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MIDCOURSE_HUMAN_AFTER", "5")
    with pytest.raises(TaskInvalid, match="human_after = 5 can never be reached: max_error_replans = 3 comes first"):
        Settings.load().limits()
    assert Settings.load(overrides={"max_error_replans": "6", "max_replans": "7"}).limits().human_after == 5


# --- the preset of recovery


def list_changes(preset: str) -> dict[str, object]:
    limits = Settings.load(overrides={"recovery": preset}).limits()
    return {field.name: value for field in fields(Limits) if (value := getattr(limits, field.name)) != field.default}


def test_each_preset_stands_for_values_of_the_same_settings():
    assert {preset: list_changes(preset) for preset in PRESETS} == {
        "default": {},
        "strict": {"human_after": 1, "max_error_replans": 2},
        "off": {"auto_replan": False},
    }
    recovery = {*SEEDS_SETTINGS, "retry_delay_seconds", "max_retry_delay_seconds", "backoff_jitter"}
    assert [set(values) for values in PRESETS.values()] == [recovery] * 3


@pytest.mark.parametrize("by", ["--set", "environment", "alias", ".env", "task", "Python"])
@pytest.mark.parametrize("preset_by", ["--set", "environment", "task"])
def test_a_setting_given_anywhere_overrides_a_preset_given_anywhere(
    preset_by: str, by: str, monkeypatch: pytest.MonkeyPatch
):
    task: dict[str, object] = {}
    overrides: dict[str, object] = {}
    match preset_by:
        case "--set":
            overrides["recovery"] = "strict"
        case "environment":
            monkeypatch.setenv("MIDCOURSE_RECOVERY", "strict")
        case _:
            task["recovery"] = "strict"
    match by:
        case "--set":
            overrides["human_after"] = "2"
        case "environment":
            monkeypatch.setenv("MIDCOURSE_HUMAN_AFTER", "2")
        case "alias":
            monkeypatch.setenv("AUTO_REPLANNING_REQUIRE_HUMAN_INTERVENTION_AFTER", "2")
        case ".env":
            Path(".env").write_text("MIDCOURSE_HUMAN_AFTER=2\n")
        case "task":
            task["human_after"] = 2
        case _:
            overrides["human_after"] = 2
    limits = Settings.load(task=task, overrides=overrides).limits()
    assert (limits.human_after, limits.max_error_replans) == (2, 2)


def test_a_later_preset_replaces_an_earlier_one(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MIDCOURSE_RECOVERY", "off")
    assert Settings.load().auto_replan is False
    again = Settings.load().with_overrides({"recovery": "strict"}).limits()
    assert (again.auto_replan, again.human_after) == (True, 1)
    back = Settings(recovery="strict").with_overrides({"recovery": "default"})
    assert back.limits() == Limits()


def test_a_default_that_is_written_out_overrides_the_preset():
    assert Settings.load(overrides={"recovery": "off", "auto_replan": "on"}).limits().auto_replan is True
    assert Settings.load(overrides={"recovery": "strict", "human_after": "none"}).limits().human_after is None


def test_a_setting_that_the_preset_makes_ineffective_is_refused_with_the_preset():
    settings = Settings.load(overrides={"recovery": "off", "replan_on_high": "on"})
    with pytest.raises(
        TaskInvalid, match=r"replan_on_high can never take effect: auto_replan is off \(recovery = off\)"
    ):
        settings.limits()


def test_a_replay_under_a_preset_replaces_the_recorded_recovery_and_nothing_else():
    recorded = Limits(max_calls=9, max_error_replans=7, human_after=4, max_replans=8)
    assert changed_limits(recorded, {"recovery": "off"}) == Limits(max_calls=9, max_replans=8, auto_replan=False)
    changed = changed_limits(recorded, {"recovery": "strict", "max_error_replans": "5"})
    assert changed == Limits(max_calls=9, max_replans=8, max_error_replans=5, human_after=1)


def test_an_unknown_preset_is_refused():
    with pytest.raises(TaskInvalid, match="--set recovery = 'lenient': has to be 'default', 'strict' or 'off'"):
        Settings.load(overrides={"recovery": "lenient"})


# --- who sets what


def test_every_setting_has_one_audience_and_few_are_for_everyday():
    for kind in (Settings, FleetSettings):
        for name, field in kind.model_fields.items():
            assert sum(isinstance(mark, Audience) for mark in field.metadata) <= 1, name
            assert field.description
    everyday = [*names_for(Settings, Audience.EVERYDAY), *names_for(FleetSettings, Audience.EVERYDAY)]
    assert len(everyday) <= 30
    assert {"model", "approvals", "max_calls", "max_cost_usd", "outline", "monitor", "vision", "recovery"} <= {
        *everyday
    }
    assert audience_of(Settings.model_fields["wrap_up_at"]) is Audience.ADVANCED


def test_settings_of_benchmarks_are_marked():
    marked = names_for(Settings, Audience.BENCHMARKS)
    assert marked == ["visible_plans", "count_extensions", "replan_admission", "structural_stop"]
    assert [line.split("`")[1] for line in reference(Settings, Audience.BENCHMARKS).splitlines()[2:]] == marked


# --- rules about failures


def test_rules_about_failures_are_read_from_json(monkeypatch: pytest.MonkeyPatch):
    rule = FailureRule(reason="sap_*", message="lock held", severity="MEDIUM", nature="transient")
    text = '[{"reason": "sap_*", "message": "lock held", "severity": "MEDIUM", "nature": "transient"}]'
    monkeypatch.setenv("MIDCOURSE_FAILURES", text)
    assert Settings.load().limits().failures == (rule,)
    assert format_value(Settings.load().failures) == text
    assert Settings.load(overrides={"failures": "[]"}).failures == ()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("sap", "Expecting value"),
        ('[{"severity": "LOW"}]', "which 'reason' or 'message'"),
        ('[{"reason": "x"}]', "has to say something"),
        ('[{"reason": "x", "severty": "LOW"}]', "severty"),
        ('[{"reason": "x", "severity": "DIRE"}]', "CRITICAL"),
    ],
)
def test_a_rule_that_is_a_mistake_is_refused(text: str, problem: str):
    with pytest.raises(TaskInvalid, match=problem):
        Settings.load(overrides={"failures": text})
