"""Builds the models of all roles. It is imported only if a model is named, because it needs the extra `llm`."""

import os
from collections.abc import Mapping
from importlib import import_module

from midcourse.agent.models.roles import ROLES, Role, RoleModels
from midcourse.config.extras import require_extras
from midcourse.config.settings import Settings
from midcourse.errors import TaskInvalid
from midcourse.llm.cassette import Player, Recorder, build_models_with_cassette
from midcourse.llm.model_client import ModelClient
from midcourse.llm.roles.planner import ModelPlanner
from midcourse.llm.tracing import Tracing
from midcourse.ports.planner import Planner
from midcourse.ports.vault import Secrets
from midcourse.redact import redactor

SHORTEST_KEY = 8
"""The minimum length of a key that is masked. A provider's key has at least twenty characters."""


def build_model_roles(
    settings: Settings,
    names: Mapping[str, str],
    *,
    planner: Planner | None,
    base_url: str,
    secrets: Secrets,
    run: str,
) -> RoleModels:
    """Build the roles. `names` has the model of each role, which may be empty. A `planner` replaces the planning model."""
    if settings.record and settings.cassette:
        raise TaskInvalid("record and cassette: a run that is played from a cassette cannot be recorded")
    mask = redactor((*secrets, *_api_keys()))
    recorder = Recorder(settings.record, mask) if settings.record else None
    player = Player(settings.cassette, mask) if settings.cassette else None
    where = base_url or settings.model_base_url
    tracing = Tracing(run=run, content=settings.trace_content, mask=mask)

    def client(role: Role) -> ModelClient:
        models = build_models_with_cassette(names[role.name], base_url=where, recorder=recorder, player=player)
        return ModelClient(models, answer_tokens=settings.answer_tokens, tracing=tracing)

    if planner is None:
        if settings.images != "off":
            require_extras(f"images = '{settings.images}'", "vision")
        planner = ModelPlanner(client(ROLES["planner"]), images=settings.images)
    others = {port: role for port, role in ROLES.items() if port != "planner"}
    wanted = {port: role for port, role in others.items() if names[role.name] and role.wanted(settings)}
    return RoleModels(planner=planner, **{port: _adapter(role)(client(role)) for port, role in wanted.items()})


def _adapter(role: Role) -> type:
    return getattr(import_module(f"midcourse.llm.roles.{role.name}"), role.adapter)


def _api_keys() -> Secrets:
    """Keys in the environment, which are masked because a provider's error may quote the key that it rejected.

    Local servers accept any text as a key. A short one such as `any` is not a secret, and would be masked inside ordinary words.
    """
    keys = ((name, value) for name, value in sorted(os.environ.items()) if name.endswith("_API_KEY"))
    return tuple((name, value) for name, value in keys if len(value) >= SHORTEST_KEY)
