"""The `AskPerson` command: ask an approver a question with everything needed to answer it."""

import logging
from typing import TypeAlias

from midcourse.codec import decode, encode
from midcourse.containment import Contained
from midcourse.domain.approval import VERDICTS, Consequence, Decision, Question, Revision, Verdict
from midcourse.domain.argument import Arguments
from midcourse.domain.commands import AskPerson
from midcourse.domain.events import ApprovalDecided, PersonAsked
from midcourse.domain.plan import Step
from midcourse.domain.records.answers import AskedConsequence
from midcourse.domain.records.ledger import LedgerEntry
from midcourse.domain.replace import replace
from midcourse.exception_text import describe_exception, format_traceback
from midcourse.perform.acting import load_step
from midcourse.perform.answering import NotAsync, format_name, require_awaitable
from midcourse.perform.ports import Ports
from midcourse.policy.approval.objection import Objection, find_objection
from midcourse.policy.approval.question import bind_decision
from midcourse.policy.approval.rules import planned_consequence
from midcourse.policy.evidence.presence import find_new_texts
from midcourse.policy.evidence.verification import Sight, explain_undecided
from midcourse.policy.identity import consequence_digest, shape_digest
from midcourse.policy.plan.diff import compute_plan_diff
from midcourse.ports.abilities import offers
from midcourse.ports.controls import Questions

log = logging.getLogger(__name__)

ActKey: TypeAlias = tuple[str, str, str, Arguments]
"""The key of an act: skill, role, label and arguments. The page's title does not count."""

CONTINUING_CAUSES = ("initial", "adaptive", "detour")
"""Causes of plans that do not replace another plan."""


async def ask_person(ports: Ports, command: AskPerson) -> ApprovalDecided | PersonAsked:
    question = await build_question(ports, command)
    if command.about == "approve":
        await ports.store.save_asked_consequences(_list_asked(question))
    # Stored before the approver is asked: another process may answer while it is still thinking.
    if offers(ports.store, Questions):
        await ports.store.save_question(question)
    try:
        async with Contained():
            decision = await require_awaitable(ports.approver.ask(question), ports.approver.ask)
        if decision is None:
            return PersonAsked(answers=command.id)
        decision = decode(Decision, encode(decision, Decision))
    except NotAsync as error:
        return _deny(command, str(error))
    except Exception as error:
        asked = format_name(ports.approver.ask)
        log.error("%s raised\n%s", asked, format_traceback(error))
        return _deny(command, ports.sanitize(f"{asked} raised {describe_exception(error)}"))
    match find_objection(question, decision):
        case None:
            return bind_decision(question, decision)
        case Objection(code="wrong_author"):
            return PersonAsked(answers=command.id)  # it stays open for another approver
        case objection:
            return _deny(command, objection.text)


def _list_asked(question: Question) -> tuple[AskedConsequence, ...]:
    return tuple(
        AskedConsequence(
            run=question.run,
            question=question.id,
            shape=shape_digest(consequence),
            consequence=consequence_digest(question.run, consequence),
        )
        for consequence in question.consequences
    )


def _deny(command: AskPerson, by: str) -> ApprovalDecided:
    """The denial that stands in for a missing or invalid decision."""
    verdict: Verdict = "rejected" if "rejected" in VERDICTS[command.about] else "stop"
    return ApprovalDecided(question=command.id, verdict=verdict, by=by)


async def build_question(ports: Ports, command: AskPerson) -> Question:
    consequences: list[Consequence] = []
    says: list[str] = []
    for asked in command.steps:
        step = await load_step(ports, asked.version, asked.index)
        consequence = await ports.store.consequence(ports.run_id, asked.consequence)
        consequences.append(consequence or planned_consequence(step, ""))
        says.append(step.says)
    changed = await ports.store.consequence(ports.run_id, command.changed_from) if command.changed_from else None
    question = Question(
        run=ports.run_id,
        id=command.id,
        about=command.about,
        goal=ports.task.goal,
        consequences=tuple(consequences),
        says=tuple(says),
        expires_at=command.expires_at,
        changed_from=changed,
        detail=command.detail,
        not_by=ports.task.by if ports.task.agreement.four_eyes else "",
        not_by_id=ports.task.by_id if ports.task.agreement.four_eyes else "",
        before=await _find_compared(ports, command, tuple(consequences)),
        revision=await _find_revision(ports, command) if command.about == "approve" else None,
        earlier=command.earlier,
        contradicted=command.contradicts,
        more=command.more,
    )
    entry = await ports.store.ledger_entry(ports.run_id, command.doubted) if command.doubted else None
    if entry is None:
        return question
    step = await load_step(ports, entry.version, entry.index)
    return await _add_sight(ports, question, step, entry, command.seen)


async def update_question(ports: Ports, number: int, step: Step, doubted: LedgerEntry, seen: str) -> None:
    """Replace what an open question shows of the screen by a later observation. Other processes find it in the store."""
    asked = await ports.store.open_question(ports.run_id) if offers(ports.store, Questions) else None
    if asked is not None and asked.id == number and offers(ports.store, Questions):
        await ports.store.save_question(await _add_sight(ports, asked, step, doubted, seen))


async def _add_sight(ports: Ports, question: Question, step: Step, doubted: LedgerEntry, seen: str) -> Question:
    """The question with what this observation shows, compared with the one before the act."""
    before = await ports.store.observation(ports.run_id, doubted.seen)
    after = await ports.store.observation(ports.run_id, seen) if seen else None
    if before is None:
        return question
    return replace(
        question,
        page=after.surface.title if after else "",
        picture=after.id if after and after.screenshot else "",
        appeared=find_new_texts(before, after) if after else (),
        unmet=explain_undecided(Sight(before=before, after=after, expect=step.expect, absent_when=step.absent_when)),
    )


async def _find_compared(
    ports: Ports, command: AskPerson, consequences: tuple[Consequence, ...]
) -> tuple[Consequence | None, ...]:
    """What each consequence is compared with; for a repetition, what was sent before."""
    if command.about == "approve":
        return await _find_shown_before(ports, command, consequences)
    entry = await ports.store.ledger_entry(ports.run_id, command.repeats) if command.repeats else None
    return (await ports.store.consequence(ports.run_id, entry.consequence),) if entry and entry.consequence else ()


# --- the difference to earlier questions


async def _find_revision(ports: Ports, command: AskPerson) -> Revision | None:
    """What the plan in question changed in the plan that it replaced, if it replaced one."""
    plan = await ports.store.plan(ports.run_id, command.steps[0].version) if command.steps else None
    if plan is None or plan.parent is None or plan.cause in CONTINUING_CAUSES:
        return None
    before = await ports.store.plan(ports.run_id, plan.parent)
    if before is None:
        return None
    run, _ = await ports.store.load(ports.run_id)
    outcomes = (await ports.refresh_history()).outcomes(run.outcome_answers)
    done = [entry.index for entry, outcome in outcomes if entry.version == before.version and outcome.status == "ok"]
    found = compute_plan_diff(before, plan, max(done, default=-1) + 1)
    return Revision(
        version=plan.version,
        before=before.version,
        why=plan.why,
        kept=len(found.kept),
        dropped=tuple(_describe_step(step) for step in found.dropped),
        new=tuple(_describe_step(step) for step in found.new),
        changed=tuple((_describe_step(pair.before), _describe_step(pair.after)) for pair in found.changed),
    )


async def _find_shown_before(
    ports: Ports, command: AskPerson, consequences: tuple[Consequence, ...]
) -> tuple[Consequence | None, ...]:
    """For each consequence, what a person was last asked about in its place, if that was different.

    That is the same act, which would now send something else, or the only one of its shape that is neither done nor planned.
    """
    if not command.steps:
        return ()
    earlier = [asked for asked in await ports.store.asked_consequences(ports.run_id) if asked.question < command.id]
    past = await ports.refresh_history()
    plan = past.plans.get(command.steps[0].version)
    gone = {_act_key(step) for step in (plan.steps if plan else ())} | {
        _act_key(past.plans[entry.version].steps[entry.index])
        for entry in past.entries
        if entry.outcome is None or entry.outcome.status in ("ok", "unknown")
    }
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


def _describe_step(step: Step) -> str:
    return step.says or step.skill
