"""The section about plans: why each version was made, its steps, and what it changed."""

from midcourse.domain.argument import Argument
from midcourse.domain.plan import REPLAN, PlanVersion, Step
from midcourse.history.plan_diff import compare_plans
from midcourse.policy.plan.diff import PlanDiff, StepChange
from midcourse.presentation.page.markup import NOTHING, Markup, element, join, text
from midcourse.presentation.page.sections import render_pill, render_section
from midcourse.presentation.page.story import Story
from midcourse.presentation.vocabulary import describe_call, describe_step, format_argument, plan_reason, pluralize

CAUSE_TONES = {"initial": "plain", "adaptive": "plain", "error": "bad", "detour": "doubt"}


def render_plans(story: Story) -> Markup:
    plans = story.journal.plans
    if not plans:
        return NOTHING
    return render_section(
        "plans", "Plans", pluralize(len(plans), "version"), *(_render_plan(plan, story) for plan in plans)
    )


def _render_plan(plan: PlanVersion, story: Story) -> Markup:
    reached = story.carried_out.get(plan.version, 0)
    steps = sum(step.zone != REPLAN for step in plan.steps)
    done = sum(step.zone != REPLAN for step in plan.steps[:reached])
    head = element(
        "header",
        element("h3", f"Plan {plan.version}"),
        element("span", text(plan_reason(plan)), class_=CAUSE_TONES.get(plan.cause, "ask")),
        element("span", f"{done} of {pluralize(steps, 'step')} carried out", class_="soft right"),
    )
    return element(
        "article",
        head,
        _render_context(plan),
        *(element("p", render_pill("doubt", "repaired"), " ", text(repair)) for repair in plan.repairs),
        element("ol", *(render_step(step, reached) for step in plan.steps), class_="steps"),
        _render_difference(plan, story),
        id=f"plan-{plan.version}",
    )


def _render_context(plan: PlanVersion) -> Markup:
    context = plan.context
    if context is None or not context.analysis.root_cause:
        return NOTHING
    who = {"model": "A model", "rules": "Rules"}.get(context.by, "A reflector")
    return element("p", f"{who} on why it failed: ", text(context.analysis.root_cause), class_="soft")


def render_step(step: Step, reached: int) -> Markup:
    """A step as an item of a list. `reached`: the number of steps that were carried out."""
    if step.zone == REPLAN:
        return element("li", describe_step(step), class_="again")
    done = step.index < reached
    call = describe_call(step) if step.says else ""
    given = [join([text(name), " = ", text(_format_value(value))]) for name, value in step.arguments]
    return element(
        "li",
        element("span", text(describe_step(step)), class_="says"),
        element("span", "irreversible", class_="tag") if step.effect == "irreversible" else None,
        element("span", text(call), ": " if call and given else "", join(given, ", "), class_="soft call"),
        class_="done" if done else "open",
    )


def _render_difference(plan: PlanVersion, story: Story) -> Markup:
    if plan.parent is None or story.journal.plan(plan.parent) is None:
        return NOTHING
    found = compare_plans(story.journal, plan.parent, plan.version).found
    lines = render_difference_items(found)
    if not lines:
        return NOTHING
    names = ("done", "kept", "changed", "dropped", "new")
    counts = [f"{len(getattr(found, name))} {name}" for name in names if getattr(found, name)]
    summary = element("summary", f"Compared with plan {plan.parent}: {', '.join(counts)}")
    return element(
        "details", summary, element("ul", *lines, class_="diff"), open=plan.cause not in ("initial", "adaptive")
    )


def render_difference_items(found: PlanDiff) -> list[Markup]:
    """What a plan changed, as items of a list."""
    lines = [
        element("li", element("span", sign, class_="sign"), text(describe_step(step)), class_=name)
        for sign, name, steps in (
            ("✓", "done", found.done),
            ("=", "kept", found.kept),
            ("−", "dropped", found.dropped),
            ("+", "new", found.new),
        )
        for step in steps
    ]
    return [*lines, *map(_render_changed_item, found.changed)]


def _render_changed_item(change: StepChange) -> Markup:
    was, now = dict(change.before.arguments), dict(change.after.arguments)
    changes = [
        element(
            "li",
            text(name),
            ": ",
            element("del", _render_cell(was, name)),
            " → ",
            element("ins", _render_cell(now, name)),
        )
        for name in {**was, **now}
        if was.get(name) != now.get(name) or (name in was) != (name in now)
    ]
    says = text(describe_step(change.after))
    return element("li", element("span", "~", class_="sign"), says, element("ul", *changes), class_="changed")


def _render_cell(values: dict[str, Argument], name: str) -> Markup:
    return text(_format_value(values[name])) if name in values else element("span", "not there", class_="soft")


def _format_value(value: Argument) -> str:
    return format_argument(value) or "''"
