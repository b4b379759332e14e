"""The consequence of a step that needs approval, read from the world immediately before it is decided.

For an irreversible step, this also finds earlier effects of the run that it resembles: it may be about to do the same again.
"""

from collections.abc import Container
from dataclasses import dataclass

from midcourse.codec import make_encodable
from midcourse.containment import Contained
from midcourse.domain.agreement import Ruling
from midcourse.domain.approval import CommitSet, Consequence
from midcourse.domain.argument import Arguments, Pairs, Reference, Scalar
from midcourse.domain.observation import Observation
from midcourse.domain.outcome import DISPUTED, REPEATABLE
from midcourse.domain.plan import Step
from midcourse.domain.records.ledger import Alike, LedgerEntry, Likeness
from midcourse.domain.replace import replace
from midcourse.domain.skill import Skill
from midcourse.perform.ports import Deadline, Ports
from midcourse.policy.approval.rules import find_ruling, is_proven, weighs_experience
from midcourse.policy.identity import consequence_digest, identity_digest, shape_digest
from midcourse.policy.likeness import differing_names, likeness_of
from midcourse.ports.abilities import offers
from midcourse.ports.world import Call, Rereads

ANSWERS_EACH = 5
"""The number of answers that are loaded per required approval: a question may have several that decided nothing."""

UNSENT = 0
"""The command id of a call that is not sent, only inspected."""

MOST_ALIKE = 20
"""The maximum number of effects that are reported, the latest last."""


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """What a step would do if it were sent now, as digests, with the ruling on it."""

    identity: str
    digest: str
    ruled: Ruling
    likeness: Likeness | None = None
    """Set only for an irreversible step."""
    alike: tuple[Alike, ...] = ()
    covers: str = ""


async def read_consequence(
    ports: Ports, step: Step, skill: Skill, seen: Observation, time: Deadline
) -> Forecast | None:
    """Read and save the consequence of a step. None: what it would send cannot be read."""
    commit = await _read_commit_set(ports, step, skill, seen, time)
    if commit is None:
        return None
    if step.on and step.effect != "irreversible":
        # What a page passes on as it is typed, on a screen that no planner has seen: an answer for the whole run is not about it.
        # Pages of a flow are read by stricter rules, which do not depend on what the planner knew.
        commit = replace(commit, covers="")
    consequence = Consequence(
        skill=step.skill,
        arguments=step.arguments,
        effect=step.effect,
        target=step.target,
        origin=seen.surface.origin,
        commit=commit,
    )
    # Saved before anything is decided about it: the question, the approval and the ledger name it by its digest.
    digest = consequence_digest(ports.run_id, consequence)
    await ports.store.save_consequence(ports.run_id, digest, consequence)
    forecast = Forecast(
        identity=identity_digest(step.skill, step.target, commit),
        digest=digest,
        ruled="ask" if skill.asks else await _decide_ruling(ports, consequence),
        covers=commit.covers,
    )
    if step.effect != "irreversible":
        return forecast
    likeness = likeness_of(step.skill, step.target, commit)
    arguments = ports.fill_in(step.arguments)
    call = None if isinstance(arguments, str) else build_call(step, UNSENT, arguments)
    alike = await _find_similar_effects(ports, likeness, forecast.identity, call, time)
    return replace(forecast, likeness=likeness, alike=alike)


async def _decide_ruling(ports: Ports, consequence: Consequence) -> Ruling:
    """The ruling on a consequence: by rules, or else by earlier decisions about consequences of the same shape."""
    agreement = ports.task.agreement
    ruling = find_ruling(agreement, consequence)
    if ruling != "ask" and consequence.commit.address and consequence.effect in ("read", "set_state"):
        # A page that passes on what is typed sends it: a rule that frees harmless steps does not free that.
        ruling = find_ruling(agreement, replace(consequence, effect="irreversible"))
    if ruling or not weighs_experience(ports.task.limits, consequence):
        return ruling
    answered = await ports.store.answered_consequences(shape_digest(consequence), agreement.trust_after * ANSWERS_EACH)
    return "proven" if is_proven(agreement, answered) else "unproven"


async def _read_commit_set(
    ports: Ports, step: Step, skill: Skill, seen: Observation, time: Deadline
) -> CommitSet | None:
    if skill.commits == "call":
        return CommitSet(values=_format_arguments(ports, step.arguments))
    arguments = ports.fill_in(step.arguments)
    if isinstance(arguments, str):
        return None
    try:
        call = build_call(step, UNSENT, arguments, seen=seen, named=ports.task.named_files)
        async with Contained(time.left(ports.task.limits.look_timeout_seconds)):
            commit = await ports.world.commit_set(call)
    except Exception:
        # What cannot be read cannot be shown to anyone, and is not sent.
        return None
    commit = commit and make_encodable(commit)
    return commit and replace(
        commit,
        values=ports.mask(commit.values),
        address=ports.mask_text(commit.address),
        sources=tuple((ports.mask_text(name), source) for name, source in commit.sources),
        covers=ports.mask_text(commit.covers),
        words=tuple(
            replace(
                said,
                name=ports.mask_text(said.name),
                value=ports.mask_text(said.value),
                label=ports.mask_text(said.label),
                shows=ports.mask_text(said.shows),
            )
            for said in commit.words
        ),
    )


def build_call(
    step: Step,
    command: int,
    arguments: Pairs,
    *,
    seen: Observation | None = None,
    allowed: bool = False,
    named: Container[str] = (),
) -> Call:
    """The call of a step. `arguments` are the step's, filled in; `seen` is the observation that it relies on.

    `named` are the texts that may be paths because a person has given them.
    """
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
        named_files=tuple(name for name, value in arguments if isinstance(value, str) and value in named),
        bounds=zone.bounds if zone else None,
        pictured=zone is not None and zone.pictured,
        allowed=allowed,
    )


def _format_arguments(ports: Ports, arguments: Arguments) -> Pairs:
    """Arguments as they are shown: inputs by value, since they tell two orders apart; secrets and files by name."""
    inputs = dict(ports.task.inputs)

    def value_of(value: Scalar | Reference) -> Scalar:
        if not isinstance(value, Reference):
            return value
        return inputs.get(value.name) if value.source == "input" else f"<{value.source} {value.name}>"

    return tuple((name, value_of(value)) for name, value in arguments)


async def _find_similar_effects(
    ports: Ports, likeness: Likeness, identity: str, call: Call | None, time: Deadline
) -> tuple[Alike, ...]:
    """Find similar effects that were sent and are not known to be absent.

    One with the same identity is not among them, but prevents the step, unless it may be repeated after a question.
    """
    entries = (await ports.refresh_history()).entries
    lied = any(entry.outcome is not None and entry.outcome.reason == DISPUTED for entry in entries)
    found = [
        (entry, names)
        for entry in entries
        if entry.likeness is not None and _may_exist(entry, lied)
        if entry.identity != identity or (entry.outcome is not None and entry.outcome.reason in REPEATABLE)
        if (names := differing_names(entry.likeness, likeness)) is not None
    ]
    unsure = {name for _, names in found for name in names}
    changed = await _reread_changed_names(ports, call, tuple(sorted(unsure)), time) if unsure else frozenset[str]()
    alike = [entry for entry, names in found if changed is None or changed.issuperset(names)]
    return tuple(
        Alike(
            command=entry.command,
            identity=entry.identity,
            version=entry.version,
            index=entry.index,
            at=entry.dispatched_at,
            certain=entry.outcome is not None and entry.outcome.status == "ok",
        )
        for entry in alike[-MOST_ALIKE:]
        if entry.dispatched_at is not None
    )


async def _reread_changed_names(
    ports: Ports, call: Call | None, names: tuple[str, ...], time: Deadline
) -> frozenset[str] | None:
    """Which of these values the form changes by itself. None: unknown, so any of them may."""
    if call is None or not offers(ports.world, Rereads):
        return None
    try:
        seconds = time.left(ports.task.limits.look_timeout_seconds)
        async with Contained(seconds):
            changed = await ports.world.reread(call, names)
    except Exception:
        # A needless question about a repetition is better than a repetition.
        return None
    return None if changed is None else frozenset(changed)


def _may_exist(entry: LedgerEntry, lied: bool) -> bool:
    """Whether it may have happened. `lied`: the world said of an act that it was not sent, and was wrong."""
    if entry.dispatched_at is None:
        return False
    outcome = entry.outcome
    # After one false claim the others may be false, too.
    if lied and outcome is not None and outcome.claimed:
        return True
    return outcome is None or outcome.status != "no_effect" or not outcome.evidence
