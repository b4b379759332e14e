"""Advice for the planner: explain a failure, review the path or the plan, keep the outline up to date.

Before a plan the advisers are consulted in a fixed order: reflector, monitor, then judge and outliner until the outline is
current. After a plan is made the monitor may review it once. Advisers decide nothing: they cannot end a run, and are skipped
if they could use up what the plan needs.
"""

from collections.abc import Callable

from midcourse.director.turn import Turn, can_afford_adviser, find_current_view, issue_to_adviser
from midcourse.domain import commands, events, moves, phases
from midcourse.domain.outline import Outline
from midcourse.domain.replace import replace
from midcourse.domain.run import Run
from midcourse.policy.advice.monitor import (
    current_advice,
    next_version,
    record_objection,
    record_review,
    wants_review,
)
from midcourse.policy.advice.outline import (
    active_outline,
    apply_judgement,
    has_new_advice,
    rewrite_goals,
    wants_outline,
)
from midcourse.policy.failure.reflection import says_what_to_do
from midcourse.policy.identity import guidance_digest
from midcourse.policy.plan.admission import remember_progress
from midcourse.policy.spending import remaining_cost


def consult(run: Run, move: moves.Consult) -> Turn:
    asked = move.then
    skip: moves.Move = replace(move, role=AFTER[move.role]) if move.role in AFTER else asked
    question = QUESTIONS[move.role](run, asked)
    if question is None or not can_afford_adviser(run):
        return run, skip
    if question.role == "outliner":
        run = _record_outline_inputs(run, question)
    # An outline is checked again after each answer: there may be new guidance or another screen.
    then = replace(move, role=AFTER.get(move.role, move.role))
    return _ask(run, question, phases.Advising(role=question.role, then=then), due=asked.due, otherwise=skip)


def propose(run: Run, move: moves.Propose) -> Turn:
    """Ask for a review of the plan before its first step. After an objection a new plan is made, which is not reviewed."""
    plan = run.segment
    if plan is None or find_current_view(run) is None or not can_afford_adviser(run, plans=2):
        return run, moves.Begin()
    again = replace(move.asked, refused="", objected=True)
    phase = phases.Advising(role="monitor", then=moves.Consult(role="outliner", then=again), drafted=True)
    question = replace(_build_monitor_question(run), version=plan.version, made_by=plan.made_by)
    return _ask(run, question, phase, due=move.asked.due, otherwise=moves.Begin())


def _ask(
    run: Run, question: commands.Advise, phase: phases.Advising, *, due: float | None, otherwise: moves.Move
) -> Turn:
    return issue_to_adviser(
        run, phase, lambda number, time: replace(question, id=number, timeout=time), due=due, otherwise=otherwise
    )


def on_advised(run: Run, phase: phases.Advising, event: events.Advised) -> Turn:
    assert event.role == phase.role, f"a {phase.role} was asked and a {event.role} answered"
    return ANSWERS[phase.role](run, phase, event)


# --- the question to each adviser; None: do not ask


def _question_to_reflector(run: Run, asked: moves.AskPlanner) -> commands.Advise | None:
    if asked.failure is None or not run.has_reflector:
        return None
    if run.format >= 4 and says_what_to_do(asked.failure, run.attempts):
        return None
    return commands.Advise(
        id=0,
        timeout=0.0,
        role="reflector",
        version=run.counts.versions + 1,
        failure=asked.failure,
        seen=view.id if (view := find_current_view(run)) else "",
        outcome_answers=run.outcome_answers,
        left=remaining_cost(run),
    )


def _question_to_monitor(run: Run, asked: moves.AskPlanner) -> commands.Advise | None:
    if find_current_view(run) is None or asked.amends or not wants_review(run):
        return None
    return _build_monitor_question(run)


def _build_monitor_question(run: Run) -> commands.Advise:
    return commands.Advise(
        id=0,
        timeout=0.0,
        role="monitor",
        seen=view.id if (view := find_current_view(run)) else "",
        since=run.watch.since,
        outline=active_outline(run),
        left=remaining_cost(run),
    )


def _question_about_outline(run: Run, asked: moves.AskPlanner) -> commands.Advise | None:
    """The question about the outline. Progress is judged before rewriting, since a rewrite keeps finished goals."""
    view, outline = find_current_view(run), run.outline
    if view is None or asked.amends or not wants_outline(run):
        return None
    seen = view.id
    if outline and outline.goals and outline.judged != _screen_to_judge(run) and outline.current <= len(outline.goals):
        return commands.Advise(id=0, timeout=0.0, role="judge", outline=outline, seen=seen)
    if outline and outline.heard == guidance_digest(run.guidance) and not has_new_advice(run, outline):
        return None
    return commands.Advise(
        id=0,
        timeout=0.0,
        role="outliner",
        seen=seen,
        outline=outline,
        guidance=run.guidance,
        advice=current_advice(run),
        left=remaining_cost(run),
    )


def _screen_to_judge(run: Run) -> str:
    """What progress is judged from: a screen that looks as before shows no other progress. Earlier formats kept the observation."""
    assert run.seen is not None, "there is a current view"
    return f"{run.seen.fingerprint}{run.seen.view}" if run.format >= 4 else run.seen.id


def _record_outline_inputs(run: Run, question: commands.Advise) -> Run:
    """Record what the outliner is asked with, so that after a failure it is asked again only if there is something new."""
    outline = replace(
        question.outline or Outline(),
        heard=guidance_digest(run.guidance),
        advice_seen=run.watch.spoken,
        judged=_screen_to_judge(run),
    )
    return replace(run, outline=outline)


# --- the answer of each adviser


def _on_reflection(run: Run, phase: phases.Advising, event: events.Advised) -> Turn:
    found = event.reflection if event.verdict == "answered" else None
    return run, replace(phase.then, then=replace(phase.then.then, reflection=found))


def _on_review(run: Run, phase: phases.Advising, event: events.Advised) -> Turn:
    """Apply a monitor's review. One that cannot be reached counts as without advice until the next plan.

    Advice is new information: with it, a repeated plan gets another try before it counts as a circle.
    """
    advice = event.advice if event.verdict == "answered" else None
    if event.verdict != "answered" and run.format >= 4:
        watch = run.watch if phase.drafted else replace(run.watch, version=next_version(run))
        return replace(run, watch=watch), moves.Begin() if phase.drafted else phase.then
    if phase.drafted:
        watch = record_objection(run, advice)
        return replace(run, watch=watch), phase.then.then if watch.spoken > run.watch.spoken else moves.Begin()
    watch = record_review(run, advice, by_model=event.cost.calls > 0)
    remembered = remember_progress(run) if watch.spoken > run.watch.spoken else run.remembered_plans
    return replace(run, watch=watch, remembered_plans=remembered), phase.then


def _on_outline(run: Run, phase: phases.Advising, event: events.Advised) -> Turn:
    assert run.outline is not None, "the outline to write was noted when the outliner was asked"
    if event.verdict == "answered":
        run = replace(run, outline=rewrite_goals(run.outline, event.goals))
    return run, phase.then


def _on_judgement(run: Run, phase: phases.Advising, event: events.Advised) -> Turn:
    assert run.outline is not None, "there is an outline to judge"
    assert run.seen is not None, "it was judged from an observation"
    if event.verdict == "answered":
        outline = apply_judgement(run.outline, event.current, event.evidence, run.seen.id)
    else:
        outline = run.outline
    return replace(run, outline=replace(outline, judged=_screen_to_judge(run))), phase.then


AFTER: dict[moves.Adviser, moves.Adviser] = {"reflector": "monitor", "monitor": "outliner"}

QUESTIONS: dict[moves.Adviser, Callable[[Run, moves.AskPlanner], commands.Advise | None]] = {
    "reflector": _question_to_reflector,
    "monitor": _question_to_monitor,
    "judge": _question_about_outline,
    "outliner": _question_about_outline,
}

ANSWERS: dict[moves.Adviser, Callable[[Run, phases.Advising, events.Advised], Turn]] = {
    "reflector": _on_reflection,
    "monitor": _on_review,
    "judge": _on_judgement,
    "outliner": _on_outline,
}
