"""DrawOutline and JudgeProgress: whoever is asked may be wrong, late or talk nonsense, and nothing worse comes of it."""

from midcourse.domain.budget import bill
from midcourse.domain.command import DrawOutline, JudgeProgress
from midcourse.domain.event import Outlined, ProgressJudged
from midcourse.domain.observation import Observation
from midcourse.perform.answering import NoAnswer, answer_of
from midcourse.perform.ports import Ports
from midcourse.policy.advice.outline import select_goals
from midcourse.policy.advice.progress import is_seen
from midcourse.policy.spending import worst_plan
from midcourse.ports.judge import Judgement, ProgressContext
from midcourse.ports.outliner import OutlineDraft, OutliningContext


async def draw_outline(ports: Ports, command: DrawOutline) -> Outlined:
    """The goals of the draft that are coarse. If none is, it was no outline."""
    seen = await ports.store.observation(ports.run_id, command.seen)
    if seen is None:
        return Outlined(answers=command.id, verdict="transport", detail="the observation to draw from is gone")
    draft = await _drawn(ports, command, seen)
    goals, refused = select_goals(draft.goals)
    verdict = "garbage" if draft.verdict == "goals" and not goals else draft.verdict
    return Outlined(
        answers=command.id,
        verdict=verdict,
        goals=goals if verdict == "goals" else (),
        detail="; ".join((draft.detail, *refused) if draft.detail else refused),
        cost=draft.cost,
        spent=bill("outliner", draft.cost, model=draft.model),
    )


async def _drawn(ports: Ports, command: DrawOutline, seen: Observation) -> OutlineDraft:
    worst = worst_plan(ports.task.limits)
    if ports.outliner is None:
        return OutlineDraft(verdict="gave_up", detail="nobody here draws outlines")
    context = OutliningContext(
        task=ports.public_task,
        observation=seen,
        outline=command.outline,
        guidance=ports.mask_all(command.guidance),
        advice=command.advice,
        left=command.left,
        worst=worst,
    )
    answer = await answer_of(ports.outliner.outline, context, OutlineDraft, command.timeout)
    if isinstance(answer, NoAnswer):
        return OutlineDraft(verdict=answer.verdict, detail=answer.detail, cost=worst)
    return answer


async def judge_progress(ports: Ports, command: JudgeProgress) -> ProgressJudged:
    """What the judge says; and what shows it, if that is to be seen."""
    seen = await ports.store.observation(ports.run_id, command.seen)
    if seen is None:
        return ProgressJudged(answers=command.id, verdict="transport", detail="the observation to judge is gone")
    said = await _said(ports, command, seen)
    there = is_seen(said.evidence, seen)
    unseen = f"not on the screen: {said.evidence}" if said.evidence.strip() and not there else ""
    return ProgressJudged(
        answers=command.id,
        verdict=said.verdict,
        current=said.current,
        evidence=ports.plain(said.evidence) if there else "",
        detail="; ".join(each for each in (said.detail, unseen) if each),
        cost=said.cost,
        spent=bill("judge", said.cost, model=said.model),
    )


async def _said(ports: Ports, command: JudgeProgress, seen: Observation) -> Judgement:
    worst = worst_plan(ports.task.limits)
    context = ProgressContext(task=ports.public_task, outline=command.outline, observation=seen, worst=worst)
    answer = await answer_of(ports.progress_judge.judge, context, Judgement, command.timeout)
    if isinstance(answer, NoAnswer):
        return Judgement(verdict="transport", detail=answer.detail, cost=worst)
    return answer
