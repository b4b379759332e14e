"""Planner: a model is given the planning context, and its answer becomes a draft."""

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Literal, TypeAlias, TypeVar, get_args
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from midcourse.domain.budget import Cost
from midcourse.domain.failure import FailedStep
from midcourse.domain.observation import Observation, Viewer
from midcourse.domain.outcome import CompletedStep, Reading
from midcourse.domain.plan import LED_ELSEWHERE, NOT_SENT, UNDONE
from midcourse.domain.records.lesson import Recalled
from midcourse.domain.replace import replace
from midcourse.domain.skill import READ_MORE, WorldKind
from midcourse.llm.image import draw_zones, fit_image
from midcourse.llm.model_client import IMAGE_TOKENS, ModelClient, Unanswered
from midcourse.llm.prompt.prompt_text import (
    LONGEST_ERROR,
    LONGEST_STEP,
    format_advice,
    format_analysis,
    format_attempt,
    format_completed_step,
    format_done_when,
    format_lesson,
    format_outline,
    format_parameter,
    format_probe,
    format_proposal,
    format_skills,
    format_values,
    join_task_words,
)
from midcourse.llm.prompt.quoting import SAID_CUT, quote, quote_block, quote_name
from midcourse.llm.prompt.results import render_results
from midcourse.llm.prompt.screen import find_first_seen, render_screen
from midcourse.llm.prompt.template import Prompt, estimate_tokens, load_template
from midcourse.llm.roles.plan_answer import MOST_NOTE, PlanAnswer, build_plan_draft
from midcourse.policy.grounding import REQUEST
from midcourse.policy.plan.skill_offer import is_offered_by_screen, is_offered_by_task
from midcourse.policy.spending import MICRO, UNLIMITED
from midcourse.ports.planner import PlanDraft, PlanningContext

ROLE = "planner"

Images: TypeAlias = Literal["off", "on", "auto"]
"""`auto`: if the profile of the model says that it takes images, and the zones of the screen do not say enough."""

FEW_ZONES = 3
"""Zones in view up to which a screen is mostly a picture."""
MANY_NAMELESS = 2
NAMELESS_SHARE = 0.1
"""Controls without a name from which on a picture is worth its tokens: this many, and this share of all."""

CAUSES = {
    "initial": "",
    "adaptive": "",
    "error": "a step or an answer failed",
    "guided": "the user gave guidance",
    "reopened": "the world was lost and opened again: finished steps may have been undone",
    "taken_over": "a person took over and acted; continue from the present screen, and do not repeat what they did",
}
"""Empty for the ordinary causes: the model sees the new screen."""

SCREEN_SHARE = 0.6
"""Of a prompt, for what stays the same: task, skills and the screen as it was first seen."""

FEW_CALLS = 10
"""Calls that are left from which on a planner is told of them."""
BLOCK = 50
"""Steps that are left out together if there are too many. One at a time would change the prompt's beginning with every
plan, and providers cache prompts by their beginning.
"""
MOST_STEPS = 200
MOST_IRREVERSIBLE = 100
"""Irreversible steps that are listed although they are not among the latest."""


class ModelPlanner:
    remembers = True
    """Whether the context should include the observations that earlier plans were made from."""

    def __init__(self, client: ModelClient, *, images: Images = "off") -> None:
        self.client = client
        self._images: Images = images

    @property
    def sees(self) -> bool:
        """Whether one of its models is sent the screenshot."""
        return self._images == "on" or (
            self._images == "auto" and any(map(self.client.accepts_images, range(len(self.client.models))))
        )

    def worst(self, tokens: int) -> Cost:
        return self.client.worst(tokens)

    async def plan(self, context: PlanningContext) -> PlanDraft:
        image = self._draw_image(context)
        room = self.client.room(context.worst, PlanAnswer) - (IMAGE_TOKENS if image else 0)
        prompt = build_planner_prompt(context, room, marked=image is not None)
        images = (image,) if image else ()
        reply = await self.client.ask(
            prompt, PlanAnswer, worst=context.worst, version=context.version, turn=context.turn, images=images
        )
        if isinstance(reply, Unanswered):
            return PlanDraft(
                verdict=reply.why, detail=reply.detail, cost=reply.cost, model=reply.model, wait=reply.wait
            )
        draft = build_plan_draft(reply.answer, context)
        return replace(draft, repairs=reply.repairs + draft.repairs, cost=reply.cost, model=reply.model)

    def _draw_image(self, context: PlanningContext) -> bytes | None:
        """The screenshot with the ids of zones on it, if this model is to see it."""
        wanted = self._images == "on" or (
            self._images == "auto"
            and self.client.accepts_images(context.turn)
            and is_worth_picture(context.observation)
        )
        if not wanted or not context.picture or context.observation.stale:
            return None
        drawn = draw_zones(context.picture, context.observation.zones, context.observation.size)
        image = fit_image(drawn) if drawn else None
        return image.png if image else None


def is_worth_picture(seen: Observation) -> bool:
    """Whether a picture says much that the zones do not: controls without a name or hint, a canvas, or hardly any zone.

    A picture costs about as much as a hundred zones, and most screens say nothing more in it.
    """
    in_view = [zone for zone in seen.zones if zone.role != "page" and zone.bounds and zone.get("seen") is not False]
    acted_on = [zone for zone in in_view if zone.role not in ("text", "heading", "cell", "img", "status", "alert")]
    nameless = sum(not zone.label and not zone.get("hint") for zone in acted_on)
    drawn = any(zone.get("hint") == "canvas" for zone in in_view)
    return drawn or len(in_view) <= FEW_ZONES or nameless >= MANY_NAMELESS + len(acted_on) * NAMELESS_SHARE


def build_planner_prompt(context: PlanningContext, room: int, *, marked: bool = False) -> Prompt:
    """Render the context in at most `room` tokens, as far as cutting the screen allows. `marked`: a picture with zones comes with it.

    How much of the screen is shown depends on nothing that changes from plan to plan, so that prompts begin alike and are cached.
    """
    values, wording = {**_describe_context(context, room), "marked": "yes" if marked else ""}, load_template(ROLE)
    bare = wording.fill({**values, "screen": "", "changes": "", "cut": ""})
    same = estimate_tokens("".join((bare.instructions, *bare.parts[:2])))
    first = int(room * SCREEN_SHARE) - same
    since = room - max(first, 0) - estimate_tokens(bare.text)
    screen = render_screen(
        context.observation, context.earlier, join_task_words(context.task), first, since, in_sight=True, marked=marked
    )
    cut = any(SAID_CUT in text for text in (screen.first, screen.since)) and context.catalogue.skill("read")
    return wording.fill({**values, "screen": screen.first, "changes": screen.since, "cut": "yes" if cut else ""})


def _describe_context(context: PlanningContext, room: int) -> dict[str, str]:
    task, catalogue = context.task, context.catalogue
    readings = context.readings or tuple(Reading(name=name, value=value) for name, value in context.results)
    results = render_results(readings, room)
    always = [skill for skill in catalogue.skills if is_offered_by_task(skill, task) and skill != READ_MORE]
    others = [skill for skill in catalogue.skills if skill not in always]
    sometimes = [skill for skill in others if is_offered_by_screen(skill, context.observation)]
    sometimes += [skill for skill in others if skill == READ_MORE and results.cut]

    def describe_attempt(step: FailedStep) -> str:
        return format_attempt(step, LONGEST_ERROR if step is context.attempts[-1] else LONGEST_STEP)

    steps = [*_list_latest(context.completed, format_completed_step)]
    first = max(len(steps) - _count_since_first_seen(context), 0)
    before, after = steps[:first], steps[first:]
    return {
        **{f"for_{kind}": "yes" if catalogue.kind == kind else "" for kind in get_args(WorldKind)},
        "skills": quote_block("SKILLS", format_skills(always)) or "none",
        "offered": quote_block("OFFERED", format_skills(sometimes)),
        "probes": quote_block("PROBES", map(format_probe, catalogue.probes)),
        "goal": quote(task.goal, longest=4000),
        "inputs": quote_block("VALUES", format_values(task)),
        "output": quote_block("OUTPUT", map(format_parameter, task.output)),
        "done_when": quote_block("DONE", format_done_when(task)),
        "before": quote_block("FINISHED", before),
        "completed": quote_block("FINISHED_HERE", after),
        "results": results.text,
        "attempts": quote_block("FAILED", _list_latest(context.attempts, describe_attempt)),
        "lessons": quote_block("LESSONS", map(format_lesson, _select_lessons(context))),
        "analysis": quote_block("ANALYSIS", format_analysis(context.recovery)),
        "outline": quote_block("OUTLINE", format_outline(context.outline)),
        "advice": quote_block("MONITOR", format_advice(context.advice)),
        "objected": quote_block(
            "OBJECTED", (format_proposal(number, step) for number, step in enumerate(context.objected, 1))
        ),
        "guidance": "\n".join(f"- {quote(text, longest=4000)}" for text in context.guidance if text),
        "note": quote(context.note, longest=MOST_NOTE) if context.note else "",
        "repairs": quote_block("REPAIRS", (quote(each) for each in context.repairs)),
        "cause": "" if _has_failed_step(context) else CAUSES[context.cause],
        "why": quote_block("WHY", [quote(context.why, longest=1000)]) if _has_unstated_reason(context) else "",
        "refused": quote_block("REFUSED", [quote(context.refused, longest=1000)]) if context.refused else "",
        "undone": quote_block("UNDONE", _quote_reason(context, UNDONE)),
        "unsent": quote_block("UNSENT", _quote_reason(context, NOT_SENT)),
        "elsewhere": quote_block("ELSEWHERE", _quote_reason(context, LED_ELSEWHERE)),
        "left": _format_left(context.left),
        **_describe_facts(context),
        "pictured": "yes" if any(zone.pictured for zone in context.observation.zones) else "",
        "requests": "yes" if any(zone.role == REQUEST for zone in context.observation.zones) else "",
        "unread": quote(context.observation.unread, longest=300) if context.observation.unread else "",
        "wrap_up": "yes" if context.wrap_up else "",
        "detours": "yes" if context.detours else "",
    }


WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
"""In English, whatever language this program runs in."""


def _describe_facts(context: PlanningContext) -> dict[str, str]:
    """What a person in front of the screen knows without looking: the day, the place, the language and the size of the screen.

    The day stands where the prompt stays the same throughout a run, and the time of day at its end, in quarters of an hour.
    Keys of cassettes leave this wording out.
    """
    viewer = context.observation.viewer or Viewer()
    facts: list[str] = []
    hour = ""
    if context.now is not None:
        time = _localize(context.now, viewer.time_zone)
        facts.append(f"Today is {WEEKDAYS[time.weekday()]}, {time:%Y-%m-%d}")
        hour = f"{time - timedelta(minutes=time.minute % 15):%H:%M}"
    facts += [f"time zone {quote_name(viewer.time_zone)}"] if viewer.time_zone else []
    facts += [f"language {quote_name(viewer.locale)}"] if viewer.locale else []
    facts += [f"the screen is {viewer.size[0]} x {viewer.size[1]}"] if viewer.size else []
    return {"facts": "; ".join(facts), "hour": hour}


def _localize(seconds: float, time_zone: str) -> datetime:
    """The time where the application takes its user to be, or else UTC."""
    try:
        return datetime.fromtimestamp(seconds, ZoneInfo(time_zone) if time_zone else UTC)
    except (ZoneInfoNotFoundError, ValueError, OSError):  # a name that a page made up, or no time zones on this machine
        return datetime.fromtimestamp(seconds, UTC)


def _select_lessons(context: PlanningContext) -> list[Recalled]:
    """The lessons about skills that this plan can use."""
    offered = {
        "",
        *(
            skill.name
            for skill in context.catalogue.skills
            if is_offered_by_task(skill, context.task) or is_offered_by_screen(skill, context.observation)
        ),
    }
    similar = context.recovery.similar if context.recovery else ()
    return [recalled for recalled in similar if recalled.lesson.skill in offered]


S = TypeVar("S", CompletedStep, FailedStep)


def _list_latest(steps: Sequence[S], line: Callable[[S], str]) -> Iterable[str]:
    """List all steps, or the latest and how many came before. Of the earlier ones, the latest irreversible ones are listed, too.

    What is left out cannot be repeated by mistake: a plan that would is refused with the reason.
    """
    early = _count_omitted(len(steps), MOST_STEPS)
    lasting = [step for step in steps[:early] if isinstance(step, CompletedStep) and step.irreversible]
    older = _count_omitted(len(lasting), MOST_IRREVERSIBLE)
    kept = lasting[older:]
    if early > len(kept):
        refused = f", {older} of which cannot be undone and are refused if they are planned again" if older else ""
        yield f"{early - len(kept)} earlier ones, not listed{refused}"
    yield from map(line, (*kept, *steps[early:]))


def _count_omitted(count: int, most: int) -> int:
    """How many are left out from the beginning so that at most so many are listed."""
    return max(0, -(-(count - most) // BLOCK) * BLOCK)


def _quote_reason(context: PlanningContext, begins: str) -> list[str]:
    """The reason of a plan that goes on from the last one, if it begins like this."""
    due = context.cause == "adaptive" and context.why.startswith(begins)
    return [quote(context.why, longest=1000)] if due else []


def _has_unstated_reason(context: PlanningContext) -> bool:
    """Whether the reason for a new plan is not already in the prompt: in the screen, the cause or the failed step."""
    in_prompt = context.cause in ("initial", "adaptive", "reopened") or _has_failed_step(context)
    return bool(context.why) and not in_prompt


def _has_failed_step(context: PlanningContext) -> bool:
    """Whether the plan is made because of a failed step, which the prompt shows with its analysis."""
    return context.cause == "error" and context.recovery is not None and context.recovery.failed is not None


def _count_since_first_seen(context: PlanningContext) -> int:
    """How many of the finished steps were carried out since the present screen was first planned for.

    Earlier ones come before the screen in the prompt and do not change while it stays, so that the beginning can be cached.
    """
    base = find_first_seen(context.observation, context.earlier)
    if base is context.observation:
        return 0
    planned = zip(context.earlier, context.planned, strict=False)
    version = next((version for seen, version in planned if seen is base), 0)
    return sum(step.version >= version for step in context.completed)


def _format_left(left: Cost) -> str:
    """Describe what is left of the budget, without limits that are not set or far away."""
    parts = [f"{left.calls} calls"] if left.calls <= FEW_CALLS else []
    parts += [f"{left.tokens} tokens"] if left.tokens < UNLIMITED // 2 else []
    parts += [f"${left.microusd / MICRO:.2f}"] if left.microusd < UNLIMITED // 2 else []
    return ", ".join(parts)
