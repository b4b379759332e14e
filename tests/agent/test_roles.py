"""Every row of the registry of model roles leads to an adapter, a prompt and an answer type."""

from dataclasses import fields
from importlib import import_module
from pathlib import Path

import pytest

from midcourse.agent.agent import Agent
from midcourse.agent.models import Priced, build_roles
from midcourse.agent.roles import ROLES, RoleModels
from midcourse.config.model_settings import ROLE_NAMES
from midcourse.config.settings import Settings
from midcourse.llm.prompt.template import load_template
from midcourse.llm.roles.planner import ModelPlanner
from midcourse.perform import Ports
from midcourse.ports.abilities import offers
from midcourse.ports.planner import PlanDraft
from midcourse.testing import Scripted

EVERYTHING = {"model": "openai:gpt-5", "detours": True, "vision": True, "outline": "on", "monitor": "path"}


@pytest.mark.parametrize("port", ROLES)
def test_row_has_an_adapter_a_prompt_and_an_answer_type(port: str) -> None:
    role = ROLES[port]
    module = import_module(f"midcourse.llm.roles.{role.name}")
    assert module.ROLE == role.name == load_template(role.name).role
    assert offers(getattr(module, role.adapter), Priced)
    assert hasattr(module, role.answer)


@pytest.mark.parametrize("port", ROLES)
def test_row_is_a_field_of_agents_and_of_ports(port: str) -> None:
    assert port in {field.name for field in fields(Agent)}
    assert port in {field.name for field in fields(Ports)}


def test_all_roles_are_built_where_all_are_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    by_name = "monitor=openai:gpt-5, reflector=openai:gpt-5"
    roles = build_roles(Settings.load(overrides={**EVERYTHING, "role_models": by_name}))
    assert {port: type(getattr(roles, port)).__name__ for port in ROLES} == {p: r.adapter for p, r in ROLES.items()}


@pytest.mark.parametrize(
    ("key", "shown"), [("any", "any company, not any"), ("sk-4711-0815", "any company, not <secret OPENAI_API_KEY>")]
)
def test_a_placeholder_for_a_key_is_not_masked_in_recordings(
    key: str, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    roles = build_roles(Settings.load(overrides={"model": "openai:gpt-5", "record": str(tmp_path / "cassette")}))
    assert isinstance(roles.planner, ModelPlanner)
    assert roles.planner.client.tracing.mask(f"any company, not {key}") == shown


def test_the_setting_names_the_roles_of_the_registry() -> None:
    assert tuple(role.name for role in ROLES.values()) == ROLE_NAMES


def test_without_a_model_every_default_answers() -> None:
    ports = RoleModels(planner=Scripted(PlanDraft(verdict="done"))).as_ports()
    assert {port for port, answers in ports.items() if answers is None} == {
        port for port, role in ROLES.items() if role.default is None and port != "planner"
    }


@pytest.mark.parametrize("name", ROLE_NAMES)
def test_documentation_and_settings_name_every_role(name: str) -> None:
    table = [line for line in Path("docs/models.md").read_text().splitlines() if line.startswith("|")]
    assert any(name in line.split("|")[1] for line in table)
    assert f"`{name}`" in (Settings.model_fields["role_models"].description or "")
