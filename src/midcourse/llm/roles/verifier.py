"""Verifier: a model reads whether a claim in words is true of a screen."""

from pydantic import Field

from midcourse.llm.answer_parser import Answer
from midcourse.llm.model_client import ModelRole, Unanswered
from midcourse.llm.prompt.prompt_text import join_task_words
from midcourse.llm.prompt.quoting import quote
from midcourse.llm.prompt.screen import find_first_seen, render_screen
from midcourse.llm.prompt.template import Prompt, load_template
from midcourse.ports.verifier import Claim, Verdict

ROLE = "verifier"


class VerdictAnswer(Answer):
    now: bool | None = Field(description="whether it is true now; null if it cannot be told")
    before: bool | None = Field(default=None, description="whether it was true on the screen before")
    quote: str = Field(default="", description="the words on the screen now that show it, copied exactly")
    why: str = ""


class ModelVerifier(ModelRole):
    async def verify(self, claim: Claim) -> Verdict:
        prompt = build_verifier_prompt(claim, self.client.room(claim.worst, VerdictAnswer))
        reply = await self.client.ask(prompt, VerdictAnswer, worst=claim.worst, turn=claim.turn)
        if isinstance(reply, Unanswered):
            why = f"no model could say: {reply.detail}"
            return Verdict(why=why, cost=reply.cost, model=reply.model, wait=reply.seconds_until_retry)
        answer = reply.answer
        return Verdict(
            holds=answer.now,
            held_before=answer.before,
            why=answer.why[:300],
            quote=answer.quote,
            cost=reply.cost,
            model=reply.model,
        )


def build_verifier_prompt(claim: Claim, room: int) -> Prompt:
    before, now = _render_screens(claim, room // 3)
    return load_template(ROLE).fill(
        {
            "goal": quote(claim.task.goal, longest=1000),
            "before": before,
            "now": now,
            "claim": quote(claim.says, longest=1000),
            "happened": "yes" if claim.happened else "",
            "held": "yes" if before and not claim.happened else "",
        }
    )


def _render_screens(claim: Claim, room: int) -> tuple[str, str]:
    """Render the screens before and now: as changes if it is the same screen, else each in full."""
    words = f"{claim.says} {join_task_words(claim.task)}"
    before, now = claim.before, claim.now
    if before is None:
        return "", render_screen(now, (), words, room, 0).first
    if find_first_seen(now, (before,)) is before:
        screen = render_screen(now, (before,), words, room, room)
        return screen.first, screen.since
    return render_screen(before, (), words, room, 0).first, render_screen(now, (), words, room, 0).first
