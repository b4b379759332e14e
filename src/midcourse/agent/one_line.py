"""Makes a task from one sentence: a goal, the page where it begins, and a model."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

from midcourse.agent.wiring import Job, parse_job
from midcourse.config.defaults import DenyAll, EnvironmentVault, check_secrets
from midcourse.config.extras import require_extras
from midcourse.config.toml_text import toml_text
from midcourse.domain.approval import Decision, Question
from midcourse.domain.argument import Scalar
from midcourse.domain.budget import Approvals
from midcourse.errors import TaskInvalid
from midcourse.ports.approver import Approver

DRY = {"approvals": "always", "approval_policy": "none"}
"""Settings of a dry run: everything irreversible needs approval, so that it can be dropped."""
SAVED = """\
# Without this, 'done' is what the planner claims, unless a probe found the effect. Which page shows that it is done?
# [done_when]
# surface_matches = "Thank you*"
"""
LONGEST_NAME = 24


@dataclass(frozen=True, kw_only=True)
class OneLineTask:
    """A goal and its options, as the user gives them in one line."""

    goal: str
    at: str
    """The page where it begins."""
    model: str = ""
    """The model that plans; if empty, the model in the settings."""
    inputs: Mapping[str, Scalar] = field(default_factory=dict[str, Scalar])
    secrets: tuple[str, ...] = ()
    """Names of secrets, each with `@` and the origin where it may be typed; by default that is the origin of `at`."""
    origins: str | Mapping[str, object] | None = None
    """A policy file, or the contents of one."""
    max_cost: float | None = None
    """The maximum cost in US dollars."""
    approvals: Approvals | None = None
    headed: bool = False
    sends: bool = False
    """Whether it is done only if something was sent."""


def job_for(one_line: OneLineTask, overrides: Mapping[str, str] | None = None) -> Job:
    """Build the job for a task that was given in one line. Raises `TaskInvalid` if it cannot be run, for example because a secret is missing."""
    require_extras("`do`", "browser", "llm")
    from midcourse.worlds.browser.egress.policy import policy_values

    secrets = _bind_secrets(one_line)
    elsewhere = {
        origin: {"allowed": True} for origin in secrets.values() if origin != _origin(one_line.at, "the start URL")
    }
    policy = {**elsewhere, **policy_values(one_line.origins)}
    settings = {"max_cost_usd": one_line.max_cost, "approvals": one_line.approvals}
    source = toml_text(
        {
            "goal": _escape(one_line.goal, one_line.inputs),
            "sends": one_line.sends or None,
            "secrets": [f"{name}@{origin}" for name, origin in secrets.items()] or None,
            "inputs": one_line.inputs,
            "world": {
                "name": "browser",
                "options": {
                    "start": _escape(one_line.at),
                    "headed": one_line.headed or None,
                    "origins": _escape_all(policy),
                },
            },
            "planner": {"model": one_line.model or None},
            "settings": settings,
        }
    )
    given = {name: str(value) for name, value in settings.items() if value is not None}
    job = replace(
        parse_job(f"{source}\n{SAVED}", _derive_name(one_line.goal), {**given, **(overrides or {})}), unfiled=True
    )
    if not (job.file.planner.model or job.settings.model):
        raise TaskInvalid("no model is named to plan: name one, such as openai:gpt-5, with --model or MIDCOURSE_MODEL")
    check_secrets(job.task.secrets, EnvironmentVault())
    return job


def tape_settings(*, record: str | Path | None = None, cassette: str | Path | None = None) -> dict[str, str]:
    """Settings to record a run or to play a recording. Paths are absolute, because a run may be resumed in another folder."""
    files = {"record": record, "cassette": cassette}
    return {name: str(Path(file).absolute()) for name, file in files.items() if file}


class DryRun:
    """An approver that lets nothing irreversible happen: the first such request is kept in `dropped`, and the run ends.

    Any other question goes to `otherwise`; without one it stays unanswered.
    """

    def __init__(self, otherwise: Approver | None = None) -> None:
        self.otherwise: Approver = otherwise or DenyAll()
        self.dropped: Question | None = None

    async def ask(self, question: Question) -> Decision | None:
        irreversible = any(consequence.effect == "irreversible" for consequence in question.consequences)
        if not irreversible or question.about not in ("approve", "repeat"):
            return await self.otherwise.ask(question)
        self.dropped = question
        return Decision(verdict="rejected", by="the dry run")


def _bind_secrets(one_line: OneLineTask) -> dict[str, str]:
    """The origin of each secret, by name."""
    start = _origin(one_line.at, "the start URL")
    found: dict[str, str] = {}
    for secret in one_line.secrets:
        name, at, where = secret.partition("@")
        if not re.fullmatch(r"[A-Za-z]\w*", name) or (at and not where):
            example = "password, or password@https://shop.example"
            raise TaskInvalid(f"secret '{secret}': write its name, and after an @ the origin it belongs to: {example}")
        found[name] = _origin(where, f"secret '{secret}'") if at else start
    return found


def _origin(address: str, what: str) -> str:
    from midcourse.worlds.browser.egress.address import AddressRefused, parse

    try:
        return parse(address).origin
    except AddressRefused as refused:
        raise TaskInvalid(f"{what}: {refused}") from None


def _escape(text: str, inputs: Iterable[str] = ()) -> str:
    """The text for a task file: every dollar sign is doubled, except in references to these inputs."""
    kept = "".join(rf"(?!input\.{re.escape(name)}\b)" for name in inputs)
    return re.sub(rf"\${kept}", "$$", text)


def _escape_all(value: object) -> object:
    """Escape every text in a value."""
    match value:
        case str():
            return _escape(value)
        case Mapping():
            return {name: _escape_all(inner) for name, inner in cast(Mapping[str, object], value).items()}
        case list() | tuple():
            return [_escape_all(inner) for inner in cast(Sequence[object], value)]
        case _:
            return value


def _derive_name(goal: str) -> str:
    """A file name for a goal: 'Order one desk lamp' becomes order-one-desk-lamp."""
    words = re.sub(r"[^a-z0-9]+", "-", goal.lower()).strip("-")
    short = words if len(words) <= LONGEST_NAME else words[:LONGEST_NAME].rpartition("-")[0] or words[:LONGEST_NAME]
    return short or "task"
