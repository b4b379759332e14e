"""The `Advise` command: ask the adviser of a role. A wrong, late or malformed answer only means that there is no advice."""

from collections.abc import Iterable, Mapping
from functools import partial
from itertools import groupby, takewhile

from midcourse.domain.budget import Cost, bill
from midcourse.domain.commands import Advise
from midcourse.domain.events import AdviceVerdict, Advised
from midcourse.domain.failure import Failure
from midcourse.domain.monitor import ProposedStep, TakenStep
from midcourse.domain.observation import Observation
from midcourse.domain.outline import Outline
from midcourse.domain.plan import REPLAN, PlanVersion
from midcourse.domain.records.ledger import LedgerEntry
from midcourse.domain.reflection import MOST_KEPT, Analysis, Fix, Reflection
from midcourse.domain.replace import replace
from midcourse.perform.answering import NoAnswer, request_answer
from midcourse.perform.history import NO_ANSWER, find_failed_step
from midcourse.perform.learning import LONGEST_EXCERPT, recall_lessons
from midcourse.perform.ports import Ports
from midcourse.policy.advice.outline import is_seen, select_goals
from midcourse.policy.evidence.verification import describe
from midcourse.policy.failure.reflection import explain_failure
from midcourse.policy.spending import worst_plan
from midcourse.ports.judge import Judgement, ProgressContext
from midcourse.ports.monitor import Finding, MonitorContext
from midcourse.ports.outliner import OutlineDraft, OutliningContext
from midcourse.ports.reflector import Explanation, ReflectionContext

MOST_FACTORS = 5
"""The number of contributing factors and of proposed changes that are kept: the state of a run must stay small."""

LONGEST_PATH = 24
"""The number of steps that a monitor is shown: enough to find loops, and short enough for a model before every plan."""


async def advise(ports: Ports, command: Advise) -> Advised:
    if command.role == "reflector":
        return await _reflect(ports, command)
    seen = await ports.store.observation(ports.run_id, command.seen)
    if seen is None:
        return _build_advised(command, "transport", "the observation to advise from is gone")
    match command.role:
        case "monitor":
            return await _ask_monitor(ports, command, seen)
        case "outliner":
            return await _ask_outliner(ports, command, seen)
        case "judge":
            return await _ask_judge(ports, command, seen)


def _build_advised(
    command: Advise, verdict: AdviceVerdict, detail: str = "", cost: Cost | None = None, model: str = ""
) -> Advised:
    """The event without the role's own fields."""
    cost = cost or Cost()
    version = command.version if command.role == "reflector" else 0
    spent = bill(command.role, cost, version, model)
    return Advised(answers=command.id, role=command.role, verdict=verdict, detail=detail, cost=cost, spent=spent)


def _report_no_answer(ports: Ports, command: Advise, answer: NoAnswer) -> Advised:
    cost = answer.meter.at_most(worst_plan(ports.task.limits))
    return _build_advised(command, answer.verdict, answer.detail, cost)


# --- the reflector


async def _reflect(ports: Ports, command: Advise) -> Advised:
    assert command.failure is not None, "a reflector is asked about a failure"
    answer = await request_answer(partial(_call_reflector, ports), command, Explanation, command.timeout)
    if isinstance(answer, NoAnswer):
        return _report_no_answer(ports, command, answer)
    found = answer.reflection if answer.verdict == "reflected" else None
    kept = _clean_reflection(ports, found, command.failure) if found else None
    verdict = answer.verdict if answer.verdict != "reflected" else "answered" if kept else "garbage"
    return replace(_build_advised(command, verdict, answer.detail, answer.cost, answer.model), reflection=kept)


async def _call_reflector(ports: Ports, command: Advise) -> Explanation:
    assert command.failure is not None, "a reflector is asked about a failure"
    failure = replace(command.failure, detail=ports.mask_text(command.failure.detail))
    history = await ports.load_history(command.outcome_answers)
    reminded = await recall_lessons(ports, failure.found.error_type)
    context = ReflectionContext(
        task=ports.public_task,
        failure=failure,
        failed=find_failed_step(failure, history),
        attempts=history.attempts[-MOST_KEPT:],
        completed=history.completed[-MOST_KEPT:],
        similar=reminded.similar,
        observation=await ports.store.observation(ports.run_id, command.seen) if command.seen else None,
        version=command.version,
        left=command.left,
        worst=worst_plan(ports.task.limits),
    )
    return await ports.reflector.reflect(context)


def _clean_reflection(ports: Ports, found: Reflection, failure: Failure) -> Reflection | None:
    """The reflection as stored: masked, shortened, and with the error type that the rules determined."""
    analysis, fix = found.analysis, found.fix
    if not analysis.root_cause.strip():
        return None
    if not fix.message.strip():
        fix = explain_failure(failure).fix
    return Reflection(
        analysis=Analysis(
            error_type=failure.found.error_type,
            severity=analysis.severity,
            root_cause=_shorten(ports, analysis.root_cause),
            contributing_factors=_shorten_all(ports, analysis.contributing_factors),
            preventable=analysis.preventable,
        ),
        fix=Fix(message=_shorten(ports, fix.message), changes=_shorten_all(ports, fix.changes)),
        by=found.by,
    )


def _shorten_all(ports: Ports, texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(_shorten(ports, text) for text in texts if text.strip())[:MOST_FACTORS]


def _shorten(ports: Ports, text: str) -> str:
    return ports.sanitize(text.strip())[:LONGEST_EXCERPT]


# --- the monitor


async def _ask_monitor(ports: Ports, command: Advise, seen: Observation) -> Advised:
    context = MonitorContext(
        task=ports.public_task,
        observation=seen,
        path=await load_path(ports, command.since),
        proposed=await load_proposed(ports, command.version, command.made_by) if command.version else (),
        outline=command.outline,
        left=command.left,
        worst=worst_plan(ports.task.limits),
    )
    answer = await request_answer(ports.monitor.review, context, Finding, command.timeout)
    if isinstance(answer, NoAnswer):
        return _report_no_answer(ports, command, answer)
    verdict = "answered" if answer.verdict == "reviewed" else answer.verdict
    advice = answer.advice
    advice = replace(advice, says=ports.sanitize(advice.says)) if advice and advice.says.strip() else None
    return replace(_build_advised(command, verdict, answer.detail, answer.cost, answer.model), advice=advice)


async def load_path(ports: Ports, since: int) -> tuple[TakenStep, ...]:
    """The latest steps from this command on, oldest first. A step and its retries are one entry, with the last outcome.

    Steps of detours are left out: a detour detects its own loops.
    """
    past = await ports.refresh_history()
    plans = past.plans
    later = takewhile(lambda entry: entry.command >= since, reversed(past.entries))
    tries = [entry for entry in later if plans[entry.version].cause != "detour"][::-1]
    steps = [tuple(group) for _, group in groupby(tries, key=lambda entry: (entry.version, entry.index))][
        -LONGEST_PATH:
    ]
    seen = {step[0].seen: await ports.store.observation(ports.run_id, step[0].seen) for step in steps}
    return tuple(_build_taken_step(ports, plans, step[-1], seen[step[0].seen]) for step in steps)


async def load_proposed(ports: Ports, version: int, made_by: int) -> tuple[ProposedStep, ...]:
    """The steps of a plan that has not begun, up to its `__replan__`."""
    plan = await ports.store.plan(ports.run_id, version, made_by)
    return tuple(
        ProposedStep(
            call=step.call,
            skill=step.skill,
            target=ports.mask_text(step.target.label),
            says=ports.mask_text(step.says),
            expected=ports.mask_text(describe(step.expect)) if step.expect else "",
            effect=step.effect,
        )
        for step in (plan.steps if plan else ())
        if step.zone != REPLAN
    )


def _build_taken_step(
    ports: Ports, plans: Mapping[int, PlanVersion], entry: LedgerEntry, seen: Observation | None
) -> TakenStep:
    step, outcome = plans[entry.version].steps[entry.index], entry.outcome or NO_ANSWER
    return TakenStep(
        call=entry.call,
        before=seen.fingerprint if seen else "",
        skill=step.skill,
        target=ports.mask_text(step.target.label),
        surface=seen.surface.title if seen else "",
        says=ports.mask_text(step.says),
        effect="irreversible" if entry.identity else step.effect,
        status=outcome.status,
        reason=outcome.reason,
    )


# --- the outliner and its judge


async def _ask_outliner(ports: Ports, command: Advise, seen: Observation) -> Advised:
    """Ask the outliner, and keep the coarse goals of its draft. A draft without any is garbage."""
    if ports.outliner is None:
        return _build_advised(command, "gave_up", "there is no outliner")
    history = await ports.load_history()
    context = OutliningContext(
        task=ports.public_task,
        observation=seen,
        outline=command.outline,
        completed=history.completed[-MOST_KEPT:],
        readings=history.readings,
        guidance=ports.mask_all(command.guidance),
        advice=command.advice,
        left=command.left,
        worst=worst_plan(ports.task.limits),
    )
    answer = await request_answer(ports.outliner.outline, context, OutlineDraft, command.timeout)
    if isinstance(answer, NoAnswer):
        return _report_no_answer(ports, command, answer)
    goals, refused = select_goals(answer.goals)
    verdict = answer.verdict if answer.verdict != "goals" else "answered" if goals else "garbage"
    detail = "; ".join((answer.detail, *refused) if answer.detail else refused)
    advised = _build_advised(command, verdict, detail, answer.cost, answer.model)
    return replace(advised, goals=goals if verdict == "answered" else ())


async def _ask_judge(ports: Ports, command: Advise, seen: Observation) -> Advised:
    """Ask the judge, and keep its evidence only if it is on the screen."""
    context = ProgressContext(
        task=ports.public_task,
        outline=command.outline or Outline(),
        observation=seen,
        worst=worst_plan(ports.task.limits),
    )
    answer = await request_answer(ports.progress_judge.judge, context, Judgement, command.timeout)
    if isinstance(answer, NoAnswer):
        return _report_no_answer(ports, command, answer)
    there = is_seen(answer.evidence, seen)
    unseen = f"not on the screen: {answer.evidence}" if answer.evidence.strip() and not there else ""
    verdict = "answered" if answer.verdict == "judged" else answer.verdict
    detail = "; ".join(each for each in (answer.detail, unseen) if each)
    return replace(
        _build_advised(command, verdict, detail, answer.cost, answer.model),
        current=answer.current,
        evidence=ports.sanitize(answer.evidence) if there else "",
    )
