"""The answer of an agent's tool: what a model of another framework reads about the run that it started."""

import json
from dataclasses import asdict, dataclass
from typing import Literal, TypeAlias

from midcourse.domain.approval import Question
from midcourse.domain.argument import Scalar
from midcourse.domain.result import Result
from midcourse.presentation.question import TITLES
from midcourse.presentation.result import LONGEST_FOR_MODELS, headline, shorten_value

Status: TypeAlias = Literal["done", "pending", "rejected", "failed", "unknown", "refused"]
"""`unknown`: something irreversible may have happened. `refused`: the call itself makes no sense, and nothing was started."""

NEXT: dict[Status, str] = {
    "done": "",
    "pending": "",
    "rejected": "A person refused it. Do not try it again unless the user asks for it.",
    "failed": "Tell the user. What `did` lists was done and must not be done again.",
    "unknown": "Tell the user that it may have happened and must be looked up. Do not call the tool again for it.",
    "refused": "Nothing was started.",
}
CLAIMED = "Nothing verified it. Tell the user so, or look before you rely on it; do not call the tool again for it."


@dataclass(frozen=True, kw_only=True)
class ToolAnswer:
    """The answer to a call of an agent's tool."""

    status: Status
    says: str
    run: str = ""
    verified: bool = False
    """Whether a check or a probe found that the task is done."""
    answer: str = ""
    """What the run tells the user. Its planner's word."""
    data: dict[str, Scalar]
    """The output of the run."""
    did: tuple[str, ...] = ()
    """The irreversible effects of the run."""
    next: str = ""
    """What to do now, in words for the model."""

    @property
    def text(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)


def answer_of(result: Result) -> ToolAnswer:
    """The answer for a run that has ended."""
    lasting = [step for step in result.completed if step.irreversible]
    status: Status = "done" if result.success else "rejected" if result.final_reason == "rejected" else "failed"
    if not result.success and any(step.doubtful for step in lasting):
        status = "unknown"
    detail = "" if result.success or not result.final_detail else f" ({result.final_detail})"
    return ToolAnswer(
        status=status,
        says=f"{headline(result)}{detail}",
        run=result.run,
        verified=result.verified,
        answer=result.answer,
        data={name: shorten_value(value, result.run, LONGEST_FOR_MODELS) for name, value in result.data},
        did=tuple(step.says or step.skill for step in lasting),
        next=CLAIMED if result.success and not result.verified else NEXT[status],
    )


def pending_answer(run: str, question: Question | None, home: str) -> ToolAnswer:
    """The answer for a run that waits for a person. The model is told how a person decides; it cannot decide itself."""
    about = question.about if question else "approve"
    command = f"midcourse {'approve' if about in ('approve', 'repeat') else 'answer'} {run}{home}"
    steps = "; ".join(question.says) if question else ""
    what = " ".join(part for part in (TITLES[about], steps, question.detail if question else "") if part)
    return ToolAnswer(
        status="pending",
        says=f"It waits for a person: {what}",
        run=run,
        data={},
        next=f"Ask the user to decide it with `{command}`, or in the console (`midcourse serve`). You cannot decide it. "
        f"After that, call this tool with run='{run}' and nothing else to continue it.",
    )


def refused_answer(says: str, run: str = "") -> ToolAnswer:
    return ToolAnswer(status="refused", says=says, run=run, data={}, next=NEXT["refused"])
