"""What a step that binds its consequence would really do, read from the world right now."""

import asyncio
from dataclasses import dataclass

from midcourse.codec import encodable
from midcourse.domain.agreement import Ruling
from midcourse.domain.approval import CommitSet, Consequence
from midcourse.domain.argument import Arguments, Pairs, Reference, Scalar
from midcourse.domain.observation import Observation
from midcourse.domain.plan import Step
from midcourse.domain.records.ledger import Alike, Likeness
from midcourse.domain.replace import replace
from midcourse.domain.skill import Skill
from midcourse.perform.likeness import effects_like
from midcourse.perform.ports import Allowance, Ports
from midcourse.policy.approval.rules import find_ruling, is_proven, weighs_experience
from midcourse.policy.identity import consequence_digest, identity_digest, shape_digest
from midcourse.policy.likeness import likeness_of
from midcourse.ports.world import Call

ANSWERS_EACH = 5
"""How many answers are looked at for each approval that is needed: a question may have several that decided nothing."""

UNSENT = 0
"""The command id of a call that is only asked about."""


@dataclass(frozen=True, kw_only=True)
class Foreseen:
    identity: str
    digest: str
    ruled: Ruling
    likeness: Likeness | None = None
    """Of an irreversible step."""
    alike: tuple[Alike, ...] = ()


async def consequence_of(ports: Ports, step: Step, skill: Skill, origin: str, time: Allowance) -> Foreseen | None:
    """Identity and consequence of this step, kept in the store. None: what it would send cannot be read."""
    commit = await _commit_set(ports, step, skill, time)
    if commit is None:
        return None
    consequence = Consequence(
        skill=step.skill,
        arguments=step.arguments,
        effect=step.effect,
        target=step.target,
        origin=origin,
        commit=commit,
    )
    digest = consequence_digest(ports.run_id, consequence)
    await ports.store.save_consequence(ports.run_id, digest, consequence)
    foreseen = Foreseen(
        identity=identity_digest(step.skill, step.target, commit),
        digest=digest,
        ruled=await _ruling(ports, consequence),
    )
    if step.effect != "irreversible":
        return foreseen
    likeness = likeness_of(step.skill, step.target, commit)
    alike = await effects_like(ports, likeness, foreseen.identity, _asked_about(ports, step), time)
    return replace(foreseen, likeness=likeness, alike=alike)


async def _ruling(ports: Ports, consequence: Consequence) -> Ruling:
    """What was agreed on about it: by rules, or else by what people decided about its like before."""
    agreement = ports.task.agreement
    said = find_ruling(agreement, consequence)
    if said or not weighs_experience(ports.task.limits, consequence):
        return said
    answered = await ports.store.answered(shape_digest(consequence), agreement.trust_after * ANSWERS_EACH)
    return "proven" if is_proven(agreement, answered) else "unproven"


async def _commit_set(ports: Ports, step: Step, skill: Skill, time: Allowance) -> CommitSet | None:
    if skill.commits == "call":
        return CommitSet(values=_named(ports, step.arguments))
    arguments = ports.fill_in(step.arguments)
    if isinstance(arguments, str):
        return None
    try:
        commit = await asyncio.wait_for(
            ports.world.commit_set(call_of(step, UNSENT, arguments)), time.left(ports.task.limits.look_timeout_seconds)
        )
    except Exception:
        return None
    commit = commit and encodable(commit)
    return commit and replace(
        commit,
        values=ports.mask(commit.values),
        address=ports.mask_text(commit.address),
        sources=tuple((ports.mask_text(name), source) for name, source in commit.sources),
    )


def _asked_about(ports: Ports, step: Step) -> Call | None:
    arguments = ports.fill_in(step.arguments)
    return None if isinstance(arguments, str) else call_of(step, UNSENT, arguments)


def call_of(
    step: Step, command: int, arguments: Pairs, *, seen: Observation | None = None, allowed: bool = False
) -> Call:
    """`arguments` are the step's, filled in; `seen` is what it relies on."""
    zone = seen.zone(step.zone) if seen else None
    return Call(
        command=command,
        skill=step.skill,
        zone=step.zone,
        target=step.target,
        arguments=arguments,
        secrets=tuple(
            (name, value.name)
            for name, value in step.arguments
            if isinstance(value, Reference) and value.source == "secret"
        ),
        bounds=zone.bounds if zone else None,
        allowed=allowed,
    )


def _named(ports: Ports, arguments: Arguments) -> Pairs:
    """Inputs by value, since they are what differs between two orders; secrets and files by name."""
    inputs = dict(ports.task.inputs)

    def value_of(value: Scalar | Reference) -> Scalar:
        if not isinstance(value, Reference):
            return value
        return inputs.get(value.name) if value.source == "input" else f"<{value.source} {value.name}>"

    return tuple((name, value_of(value)) for name, value in arguments)
