"""Open questions of runs, and decisions about exactly what was shown."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from midcourse.agent.control import RunControl
from midcourse.agent.start import is_stored
from midcourse.director.asking import why_withdrawn
from midcourse.domain.approval import VERDICTS, Change, Decision, Question
from midcourse.errors import RunUnknown
from midcourse.policy.approval.check import CONSENTS, why_changes_invalid, why_may_not_decide
from midcourse.policy.approval.question import compare_steps, describe_change, is_read_at_a_glance, list_digests
from midcourse.server.models.questions import Accepted, DecisionBody, QuestionPage, QuestionView
from midcourse.server.problems import Refusal, problem_responses
from midcourse.server.routes.runs import RunPath
from midcourse.server.state import Approver, TheDesk
from midcourse.server.views import build_change_view, build_question_view
from midcourse.tenants.desk import Desk

router = APIRouter(tags=["questions"])
QuestionPath = Annotated[int, Path(ge=1, le=2**31, description="The question's number.")]

SAYS = {
    "approved": "approved, exactly as shown",
    "changed": "you are asked again about the result of your changes",
    "rejected": "rejected; nothing is sent",
    "take_over": "the run pauses, and you take over its world",
    "happened": "it counts as done",
    "did_not_happen": "it is looked for once more, and may then be done again",
    "go_on": "it plans again",
    "stop": "it ends here",
    "send_again": "it is sent again, exactly as shown",
}


@router.get("/questions", responses=problem_responses(422))
async def list_questions(desk: TheDesk, limit: Annotated[int, Query(ge=1, le=200)] = 100) -> QuestionPage:
    """The open questions of all runs."""
    return QuestionPage(questions=tuple(map(build_question_view, await desk.open_questions(limit))))


@router.get("/runs/{run_id}/questions/{question}", responses=problem_responses(404, 409, 422))
async def get_question(run_id: RunPath, question: QuestionPath, desk: TheDesk) -> QuestionView:
    """An open question. If it was replaced, the response is 409 and names the open one."""
    return build_question_view(await _open(desk, run_id, question))


@router.post("/runs/{run_id}/questions/{question}", responses=problem_responses(400, 404, 409, 413, 415, 422))
async def decide(
    run_id: RunPath, question: QuestionPath, body: DecisionBody, desk: TheDesk, caller: Approver
) -> Accepted:
    """Answer a question. If it has changed since it was shown, nothing is decided and the response is 409 with the difference."""
    asked = await _open(desk, run_id, question)
    control = desk.control(run_id)
    await _check_shown(asked, body, control)
    if body.verdict not in VERDICTS[asked.about]:
        words = ", ".join(VERDICTS[asked.about])
        raise Refusal(422, "invalid", f"'{body.verdict}' does not answer this question", next=f"one of: {words}")
    changes = tuple(Change(step=change.step, arguments=change.arguments) for change in body.changes)
    if unfit := why_changes_invalid(body.verdict, changes, len(asked.consequences)):
        raise Refusal(422, "invalid", unfit)
    decision = Decision(
        verdict=body.verdict,
        once=body.once,
        guidance=body.guidance.strip(),
        by=caller.name,
        by_id=caller.id,
        changes=changes,
        all_values=body.all_values,
    )
    if why_not := why_may_not_decide(asked, decision):
        raise Refusal(403, "forbidden", why_not, next="another approver has to decide")
    if body.verdict in CONSENTS and not body.all_values and not is_read_at_a_glance(asked.consequences):
        says = "a value is long or shown only by its digest"
        raise Refusal(409, "refused", says, next="read all of it, then send all_values: true")
    if why_not := await control.answer(asked, decision):
        raise Refusal(409, "refused", why_not, next="load the question again")
    return Accepted(run=run_id, says=SAYS[body.verdict])


async def _open(desk: Desk, run_id: str, number: int) -> Question:
    if not await is_stored(desk.store, run_id):
        raise RunUnknown(f"no run is called '{run_id}'")
    asked = await desk.store.open_question(run_id)
    run, _ = await desk.store.load(run_id)
    if why := why_withdrawn(run, number):
        raise Refusal(409, "refused", why, next="nothing is left to decide; the run continues")
    if asked is None:
        raise Refusal(
            409, "refused", f"run {run_id} has no open question", next="it was decided, withdrawn, or has expired"
        )
    if asked.id != number:
        raise Refusal(
            409,
            "question_changed",
            f"question {number} is not open; run {run_id} asks question {asked.id}",
            next=f"load /api/v1/runs/{run_id}/questions/{asked.id}",
            question=asked.id,
        )
    return asked


async def _check_shown(asked: Question, body: DecisionBody, control: RunControl) -> None:
    if body.shown == list_digests(asked):
        return
    earlier = [await control.store.consequence(asked.run, digest) for digest in body.shown]
    known = [consequence for consequence in earlier if consequence is not None]
    if len(known) != len(earlier) or not known:
        detail, changes = "nothing with these digests was asked about in this run", ()
    else:
        changes = compare_steps(known, asked.consequences)
        detail = f"the question has changed since it was shown: {'; '.join(map(describe_change, changes))}"
    raise Refusal(
        409,
        "question_changed",
        detail,
        next=f"load /api/v1/runs/{asked.run}/questions/{asked.id} and decide about that",
        changes=tuple(map(build_change_view, changes)),
        question=asked.id,
    )
