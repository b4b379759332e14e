"""Builds the models that fill the roles of a run, and the reserves for their calls.

The adapters in `midcourse.llm` are imported only if a model is named, because they need the extra `llm`.
"""

import os
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from midcourse.agent.roles import ROLES, WITH_RULES, Role, RoleModels
from midcourse.config.extras import require_extras
from midcourse.config.model_settings import EFFORTS, OUTPUTS, ROLE_NAMES
from midcourse.config.settings import Settings
from midcourse.domain.budget import Cost, Limits
from midcourse.errors import TaskInvalid
from midcourse.policy.spelling import describe_unknown
from midcourse.policy.spending import MICRO
from midcourse.ports.abilities import offers
from midcourse.ports.memory import Embedder
from midcourse.ports.planner import Planner
from midcourse.ports.vault import Secrets
from midcourse.redact import redactor

if TYPE_CHECKING:
    from midcourse.llm.model_client import ModelClient

RULES = "rules"
"""Stands for a model in the setting `role_models`: the role is filled without a model."""
EXTRA = "pip install 'midcourse[llm]'"
SHORTEST_KEY = 8
"""The minimum length of a key that is masked. A provider's key has at least twenty characters."""


def build_model_planner(model: str, settings: Settings, base_url: str = "", secrets: Secrets = ()) -> Planner:
    """Build a planner that asks this model. `base_url` is its server, if it is not the one in the settings.

    Recordings leave out the `secrets`.
    """
    return build_roles(settings, model=model, base_url=base_url, secrets=secrets).planner


def build_roles(
    settings: Settings,
    *,
    planner: Planner | None = None,
    model: str = "",
    base_url: str = "",
    secrets: Secrets = (),
    run: str = "",
) -> RoleModels:
    """Build a model client for every role that has a model. A `planner` replaces the planning model.

    The other parameters are those of `build_model_planner`. Raises `TaskInvalid` if a role that is needed has no model.
    """
    names = _parse_role_models(model or settings.model, settings.role_models)
    if planner is None and not names["planner"]:
        raise TaskInvalid("no planner: pass planner=…, or a model such as model='openai:gpt-5' or MIDCOURSE_MODEL")
    if settings.detours and not names["detour_planner"]:
        raise TaskInvalid("detours: name the model that plans them, with model or role_models")
    if planner is not None and not any(names.values()):
        return RoleModels(planner=planner)
    if settings.record and settings.cassette:
        raise TaskInvalid("record and cassette: a run that is played from a cassette cannot be recorded")
    try:
        from midcourse.llm.cassette import Player, Recorder, build_models_with_cassette
        from midcourse.llm.model_client import ModelClient
        from midcourse.llm.roles.planner import ModelPlanner
        from midcourse.llm.tracing import Tracing
    except ImportError as error:
        raise TaskInvalid(f"to work with a model, {EXTRA}: {error}") from error
    efforts = _parse_by_role("model_effort", settings.model_effort, EFFORTS)
    outputs = _parse_by_role("model_output", settings.model_output, OUTPUTS)
    mask = redactor((*secrets, *_find_api_keys()))
    recorder = Recorder(settings.record, mask) if settings.record else None
    player = Player(settings.cassette, mask) if settings.cassette else None
    tracing = Tracing(run=run, content=settings.trace_content, mask=mask)

    def connect(role: Role) -> "ModelClient":
        where = base_url or settings.model_base_url
        effort = efforts.get(role.name, "")
        models = build_models_with_cassette(
            names[role.name], base_url=where, thinks=effort not in ("", "off"), recorder=recorder, player=player
        )
        # The caller ends a request after `plan_timeout_seconds` at the latest: the provider's client must not give up before.
        return ModelClient(
            models,
            answer_tokens=settings.answer_tokens,
            thinking_tokens=settings.thinking_tokens,
            effort=effort,
            output=outputs.get(role.name, ""),
            tracing=tracing,
            timeout=settings.plan_timeout_seconds,
        )

    if planner is None:
        if settings.images != "off":
            require_extras(f"images = '{settings.images}'", "vision")
        planner = ModelPlanner(connect(ROLES["planner"]), images=settings.images)
    others: dict[str, Any] = {}
    for port, role in ROLES.items():
        if port != "planner" and names[role.name] and role.wanted(settings):
            adapter = getattr(import_module(f"midcourse.llm.roles.{role.name}"), role.adapter)
            others[port] = adapter(connect(role))
    return replace(RoleModels(planner=planner), **others)


def _parse_role_models(model: str, by_role: str) -> dict[str, str]:
    """Parse `verifier=openai:gpt-5-mini, reader=openai:gpt-5`; `model` answers for the other roles."""
    models = {role.name: "" if role.by_rules else model for role in ROLES.values()}
    for pair in filter(None, (part.strip() for part in by_role.split(","))):
        role, equals, name = (part.strip() for part in pair.partition("="))
        if not equals or not name:
            raise TaskInvalid(f"role_models: '{pair}' is written role=provider:name")
        if role not in models:
            raise TaskInvalid(f"role_models: {describe_unknown('role', role, ROLE_NAMES)}")
        models[role] = "" if name == RULES and role in WITH_RULES else name
    return models


def _parse_by_role(setting: str, text: str, choices: tuple[str, ...]) -> dict[str, str]:
    """Parse `low, reflector=high` into a value for each role. Raises `TaskInvalid`."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    found: dict[str, str] = {}
    for part in sorted(parts, key=lambda part: "=" in part):  # the value for all roles first
        role, _, value = (each.strip() for each in part.rpartition("="))
        if value not in choices:
            raise TaskInvalid(f"{setting}: {describe_unknown('value', value, choices)}")
        if role and role not in ROLE_NAMES:
            raise TaskInvalid(f"{setting}: {describe_unknown('role', role, ROLE_NAMES)}")
        found.update({role: value} if role else dict.fromkeys(ROLE_NAMES, value))
    return found


def _find_api_keys() -> Secrets:
    """Keys in the environment, which are masked because a provider's error may quote the key that it rejected.

    Local servers accept any text as a key. A short one such as `any` is not a secret, and would be masked inside ordinary words.
    """
    keys = ((name, value) for name, value in sorted(os.environ.items()) if name.endswith("_API_KEY"))
    return tuple((name, value) for name, value in keys if len(value) >= SHORTEST_KEY)


def build_embedder(settings: Settings) -> Embedder | None:
    """Build the embedder that the settings name; None means that failures are compared by their text.

    Raises `TaskInvalid` for an unknown name, or if the packages it needs are not installed.
    """
    name = settings.embedder
    if not name:
        return None
    if name.startswith("folder:"):
        raise TaskInvalid(
            f"embedder '{name}': models in a folder are not supported. Leave `embedder` empty to compare failures by their "
            "text, or name a provider's model such as openai:text-embedding-3-small (`embedder_base_url` for a local server)"
        )
    try:
        from midcourse.llm.embeddings import ModelEmbedder
    except ImportError as error:
        raise TaskInvalid(f"for embedder '{name}', pip install 'midcourse[llm]': {error}") from error
    return ModelEmbedder(name, settings.embedder_base_url)


# --- reserves


class Priced(Protocol):
    """A role that knows what a call can cost."""

    def worst(self, tokens: int) -> Cost:
        """The maximum cost of a call with this many tokens; 0: as many as the model accepts. Its money is 0 if the price is unknown."""
        ...


def add_call_reserves(limits: Limits, roles: RoleModels) -> Limits:
    """The limits with the reserve of the most expensive role, which counts for all.

    Raises `TaskInvalid` for a ceiling in money on a model without a known price, and for `vision` without a reader.
    """
    if limits.vision and roles.reader is None:
        raise TaskInvalid("vision: name the model that reads pictures, with model or role_models")
    reads = bool(roles.verifier or roles.extractor)
    limits = replace(limits, reads_words=reads if limits.reads_words is None else limits.reads_words and reads)
    answering = (getattr(roles, port) for port in ROLES)
    worst = [role.worst(limits.plan_tokens) for role in answering if offers(role, Priced)]
    if not worst:
        return limits
    dollars = limits.plan_cost_usd or max(cost.microusd for cost in worst) / MICRO
    if limits.max_cost_usd is not None and not dollars:
        raise TaskInvalid("max_cost_usd: the price of this model is unknown; set what a call may cost: plan_cost_usd")
    return replace(limits, plan_tokens=max(cost.tokens for cost in worst), plan_cost_usd=dollars)
