"""The verifier: has a model read whether something in words is true of a screen."""

from pydantic import BaseModel, ConfigDict, Field

from midcourse.domain.budget import Cost
from midcourse.llm.model_client import Mind, Unanswered
from midcourse.llm.prompt_text import about
from midcourse.llm.quoting import quoted
from midcourse.llm.screen import first_seen, shown
from midcourse.llm.template import Prompt, template
from midcourse.ports.verifier import Claim, Verdict

ROLE = "verifier"


class VerdictAnswer(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    now: bool | None = Field(description="whether it is true now; null if it cannot be told")
    before: bool | None = Field(default=None, description="whether it was true on the screen before")
    why: str = ""


class ModelVerifier:
    def __init__(self, mind: Mind) -> None:
        self.mind = mind

    def worst(self, tokens: int) -> Cost:
        return self.mind.worst(tokens)

    async def verify(self, claim: Claim) -> Verdict:
        prompt = verifier_prompt(claim, self.mind.room(claim.worst, VerdictAnswer))
        reply = await self.mind.ask(prompt, VerdictAnswer, worst=claim.worst, turn=claim.turn)
        if isinstance(reply, Unanswered):
            why = f"nobody could say: {reply.detail}"
            return Verdict(why=why, cost=reply.cost, model=reply.model, wait=reply.again)
        answer = reply.answer
        return Verdict(
            holds=answer.now, held_before=answer.before, why=answer.why[:300], cost=reply.cost, model=reply.model
        )


def verifier_prompt(claim: Claim, room: int) -> Prompt:
    before, now = _screens(claim, room // 3)
    return template(ROLE).filled(
        {
            "goal": quoted(claim.task.goal, longest=1000),
            "before": before,
            "now": now,
            "claim": quoted(claim.says, longest=1000),
        }
    )


def _screens(claim: Claim, room: int) -> tuple[str, str]:
    """Before and now: as what has changed if it is the same screen, else each in full."""
    words = f"{claim.says} {about(claim.task)}"
    before, now = claim.before, claim.now
    if before is None:
        return "", shown(now, (), words, room, 0).first
    if first_seen(now, (before,)) is before:
        screen = shown(now, (before,), words, room, room)
        return screen.first, screen.since
    return shown(before, (), words, room, 0).first, shown(now, (), words, room, 0).first
