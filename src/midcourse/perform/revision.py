"""The difference between a question and earlier ones: what the plan changed, and what was shown before in its place."""

from typing import TypeAlias

from midcourse.domain.approval import Consequence, Revision
from midcourse.domain.argument import Arguments
from midcourse.domain.commands import AskPerson
from midcourse.domain.plan import PlanVersion, Step
from midcourse.perform.history import HistoryCache, refresh_history
from midcourse.perform.ports import Ports
from midcourse.policy.identity import consequence_digest, shape_digest
from midcourse.policy.plan.diff import compute_plan_diff

ActKey: TypeAlias = tuple[str, str, str, Arguments]
"""The key of an act: skill, role, label and arguments. The page's title does not count."""

CONTINUING_CAUSES = ("initial", "adaptive", "detour")
"""Causes of plans that do not replace another plan."""


async def find_revision(ports: Ports, command: AskPerson) -> Revision | None:
    """What the plan in question changed in the plan that it replaced, if it replaced one."""
    plan = await ports.store.plan(ports.run_id, command.steps[0].version) if command.steps else None
    if plan is None or plan.parent is None or plan.cause in CONTINUING_CAUSES:
        return None
    before = await ports.store.plan(ports.run_id, plan.parent)
    if before is None:
        return None
    found = compute_plan_diff(before, plan, await _count_carried_out(ports, before))
    return Revision(
        version=plan.version,
        before=before.version,
        why=plan.why,
        kept=len(found.kept),
        dropped=tuple(_describe_step(step) for step in found.dropped),
        new=tuple(_describe_step(step) for step in found.new),
        changed=tuple((_describe_step(pair.before), _describe_step(pair.after)) for pair in found.changed),
    )


async def find_shown_before(
    ports: Ports, command: AskPerson, consequences: tuple[Consequence, ...]
) -> tuple[Consequence | None, ...]:
    """For each consequence, what a person was last asked about in its place, if that was different.

    That is the same act, which would now send something else, or the only one of its shape that is neither done nor planned.
    """
    if not command.steps:
        return ()
    earlier = [asked for asked in await ports.store.asked_consequences(ports.run_id) if asked.question < command.id]
    past = await refresh_history(ports)
    plan = past.plans.get(command.steps[0].version)
    gone = _find_done_acts(past) | ({_act_key(step) for step in plan.steps} if plan else set[ActKey]())
    found: list[Consequence | None] = []
    for consequence in consequences:
        digest, shape = consequence_digest(ports.run_id, consequence), shape_digest(consequence)
        alike = dict.fromkeys(
            asked.consequence for asked in earlier if asked.shape == shape and asked.consequence != digest
        )
        read = [await ports.store.consequence(ports.run_id, each) for each in alike]
        known = [each for each in read if each is not None]
        same = [each for each in known if _act_key(each) == _act_key(consequence)]
        left = [each for each in known if _act_key(each) not in gone]
        found.append(same[-1] if same else left[0] if len(left) == 1 else None)
    return tuple(found)


def _act_key(what: Consequence | Step) -> ActKey:
    return what.skill, what.target.role, what.target.label, what.arguments


def _find_done_acts(past: HistoryCache) -> set[ActKey]:
    return {
        _act_key(past.plans[entry.version].steps[entry.index])
        for entry in past.entries
        if entry.outcome is None or entry.outcome.status in ("ok", "unknown")
    }


async def _count_carried_out(ports: Ports, plan: PlanVersion) -> int:
    """The number of the plan's steps, from the first, that are done."""
    past = await refresh_history(ports)
    done = [e.index for e in past.entries if e.version == plan.version and e.outcome and e.outcome.status == "ok"]
    return max(done, default=-1) + 1


def _describe_step(step: Step) -> str:
    return step.says or step.skill
