"""What a question adds to those before it: what the plan changed, and what was asked about in the same place before."""

from typing import TypeAlias

from midcourse.domain.approval import Consequence, Revision
from midcourse.domain.argument import Arguments
from midcourse.domain.command import AskPerson
from midcourse.domain.plan import PlanVersion, Step
from midcourse.perform.history import Past, past_of
from midcourse.perform.ports import Ports
from midcourse.policy.identity import consequence_digest, shape_digest
from midcourse.policy.plan.diff import diff

Deed: TypeAlias = tuple[str, str, str, Arguments]
"""Skill, role, label and arguments: what is the same on a page with another title."""

GOES_ON = ("initial", "adaptive", "detour")
"""Causes of plans that take no other's place."""


async def revision_of(ports: Ports, command: AskPerson) -> Revision | None:
    """What the plan that is asked about changed in the one before, if it took its place."""
    plan = await ports.store.plan(ports.run_id, command.steps[0].version) if command.steps else None
    if plan is None or plan.parent is None or plan.cause in GOES_ON:
        return None
    before = await ports.store.plan(ports.run_id, plan.parent)
    if before is None:
        return None
    found = diff(before, plan, await _carried_out(ports, before))
    return Revision(
        version=plan.version,
        before=before.version,
        why=plan.why,
        kept=len(found.kept),
        dropped=tuple(_words(step) for step in found.dropped),
        new=tuple(_words(step) for step in found.new),
        changed=tuple((_words(pair.before), _words(pair.after)) for pair in found.changed),
    )


async def shown_before(
    ports: Ports, command: AskPerson, consequences: tuple[Consequence, ...]
) -> tuple[Consequence | None, ...]:
    """For each of these, what a person was last asked about in its place, if that was something else.

    The same deed, which would now send something else; or the only one of its shape that is neither done nor planned any more.
    """
    if not command.steps:
        return ()
    earlier = [one for one in await ports.store.asked(ports.run_id) if one.question < command.id]
    past = await past_of(ports)
    plan = past.plans.get(command.steps[0].version)
    gone = _done(past) | ({_deed(step) for step in plan.steps} if plan else set[Deed]())
    found: list[Consequence | None] = []
    for consequence in consequences:
        digest, shape = consequence_digest(ports.run_id, consequence), shape_digest(consequence)
        alike = dict.fromkeys(one.consequence for one in earlier if one.shape == shape and one.consequence != digest)
        read = [await ports.store.consequence(ports.run_id, each) for each in alike]
        known = [each for each in read if each is not None]
        same = [each for each in known if _deed(each) == _deed(consequence)]
        left = [each for each in known if _deed(each) not in gone]
        found.append(same[-1] if same else left[0] if len(left) == 1 else None)
    return tuple(found)


def _deed(what: Consequence | Step) -> Deed:
    return what.skill, what.target.role, what.target.label, what.arguments


def _done(past: Past) -> set[Deed]:
    return {
        _deed(past.plans[entry.version].steps[entry.index])
        for entry in past.entries
        if entry.outcome is None or entry.outcome.status in ("ok", "unknown")
    }


async def _carried_out(ports: Ports, plan: PlanVersion) -> int:
    """How many of its steps, from the first on."""
    past = await past_of(ports)
    done = [e.index for e in past.entries if e.version == plan.version and e.outcome and e.outcome.status == "ok"]
    return max(done, default=-1) + 1


def _words(step: Step) -> str:
    return step.says or step.skill
