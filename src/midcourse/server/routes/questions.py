"""Open questions of runs, and decisions about exactly what was shown."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Path, Query

from midcourse.agent.start import is_stored
from midcourse.domain.approval import Change, Decision, Question
from midcourse.errors import RunUnknown
from midcourse.policy.approval.objection import Objection, find_closed, find_objection
from midcourse.policy.approval.question import Difference, describe_change
from midcourse.server.models.questions import Accepted, DecisionBody, QuestionPage, QuestionView
from midcourse.server.problems import Refusal, problem_responses
from midcourse.server.routes.runs import RunPath
from midcourse.server.state import Approver, TheRuns
from midcourse.server.views import build_change_view, build_question_view
from midcourse.tenants.runs import TenantRuns

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
    "spend_more": "it continues, and may spend exactly that much more",
}


@router.get("/questions", responses=problem_responses(422))
async def list_questions(tenant_runs: TheRuns, limit: Annotated[int, Query(ge=1, le=200)] = 100) -> QuestionPage:
    """The open questions of all runs."""
    return QuestionPage(questions=tuple(map(build_question_view, await tenant_runs.open_questions(limit))))


@router.get("/runs/{run_id}/questions/{question}", responses=problem_responses(404, 409, 422))
async def get_question(run_id: RunPath, question: QuestionPath, tenant_runs: TheRuns) -> QuestionView:
    """An open question. If it was replaced, the response is 409 and names the open one."""
    return build_question_view(await _open(tenant_runs, run_id, question))


@router.post("/runs/{run_id}/questions/{question}", responses=problem_responses(400, 404, 409, 413, 415, 422))
async def decide(
    run_id: RunPath, question: QuestionPath, body: DecisionBody, tenant_runs: TheRuns, caller: Approver
) -> Accepted:
    """Answer a question. If it has changed since it was shown, nothing is decided and the response is 409 with the difference."""
    if body.verdict == "spend_more" and not caller.may("administer"):  # as for a request that would raise a ceiling
        raise Refusal(
            403, "forbidden", f"the role {caller.role} may not raise a ceiling", next="an administrator has to decide"
        )
    asked = await _open(tenant_runs, run_id, question)
    control = tenant_runs.control(run_id)
    decision = Decision(
        verdict=body.verdict,
        once=body.once,
        guidance=body.guidance.strip(),
        by=caller.name,
        by_id=caller.id,
        changes=tuple(Change(step=change.step, arguments=change.arguments) for change in body.changes),
        all_values=body.all_values,
    )
    if objection := find_objection(asked, decision, shown=body.shown, read="glance"):
        changes = await control.find_changes(asked, body.shown) if objection.code == "other_content" else ()
        raise _refuse(objection, run_id, changes)
    if why_not := await control.answer(asked, decision):
        raise Refusal(409, "refused", why_not, next="load the question again")
    return Accepted(run=run_id, says=SAYS[body.verdict])


async def _open(tenant_runs: TenantRuns, run_id: str, number: int) -> Question:
    if not await is_stored(tenant_runs.store, run_id):
        raise RunUnknown(f"no run is called '{run_id}'")
    asked = await tenant_runs.store.open_question(run_id)
    run, _ = await tenant_runs.store.load(run_id)
    if closed := find_closed(run, number):
        raise _refuse(closed, run_id)
    if asked is None or asked.id != number:  # it was closed or opened between the two reads
        raise _refuse(Objection(code="none_open", text="no question is open"), run_id)
    return asked


def _refuse(objection: Objection, run_id: str, changes: Sequence[Difference] = ()) -> Refusal:
    """The response to a decision that is not valid. The rule is in `policy`; here it gets a status, and what to do next."""
    why, number = objection.text, objection.question
    match objection.code:
        case "withdrawn":
            return Refusal(409, "refused", why, next="nothing is left to decide; the run continues")
        case "ended" | "none_open":
            why = f"run {run_id} has no open question"
            return Refusal(409, "refused", why, next="it was decided, withdrawn, or has expired")
        case "other_question":
            load = f"load /api/v1/runs/{run_id}/questions/{number}"
            return Refusal(409, "question_changed", why, next=load, question=number)
        case "other_content":
            why = "nothing with these digests was asked about in this run"
            if changes:
                why = f"the question has changed since it was shown: {'; '.join(map(describe_change, changes))}"
            load = f"load /api/v1/runs/{run_id}/questions/{number} and decide about that"
            views = tuple(map(build_change_view, changes))
            return Refusal(409, "question_changed", why, next=load, changes=views, question=number)
        case "wrong_verdict":
            return Refusal(422, "invalid", why, next=f"one of: {', '.join(objection.verdicts)}")
        case "invalid_changes":
            return Refusal(422, "invalid", why)
        case "wrong_author":
            return Refusal(403, "forbidden", why, next="another approver has to decide")
        case "unread":
            why = "a value is long or shown only by its digest"
            return Refusal(409, "refused", why, next="read all of it, then send all_values: true")
        case "expired":
            return Refusal(409, "refused", why, next="load the question again")
