"""The sections of a page: what was sent, questions, plans, pictures, spending and the log."""

from collections.abc import Iterable, Sequence

from midcourse.domain.approval import Consequence, Verdict
from midcourse.domain.argument import Argument
from midcourse.domain.budget import Cost
from midcourse.domain.outcome import Status
from midcourse.domain.plan import REPLAN, PlanVersion, Step
from midcourse.history.replay import compare_plans
from midcourse.policy.approval.question import list_rows
from midcourse.policy.plan.diff import PlanDiff, StepChange
from midcourse.policy.spending import MICRO
from midcourse.presentation.evidence import Look, SentAct
from midcourse.presentation.page.markup import NOTHING, Child, Markup, element, join, text
from midcourse.presentation.page.story import AskedQuestion, Picture, Story
from midcourse.presentation.question import TITLES
from midcourse.presentation.vocabulary import (
    describe_call,
    describe_step,
    format_argument,
    format_cost,
    format_elapsed,
    format_time,
    plan_reason,
    pluralize,
)

FINDINGS = {
    "happened": ("good", "happened"),
    "did_not_happen": ("bad", "did not happen"),
    "undecided": ("doubt", "undecided"),
    "too_early": ("doubt", "too early to tell"),
    "unknown": ("doubt", "unknown"),
}
HOW = {"act": "its own answer", "verification": "looked again", "person": "a person"}
STATUS: dict[Status, tuple[str, str]] = {"ok": ("good", "happened"), "unknown": ("doubt", "unknown")}
VERDICTS: dict[Verdict, tuple[str, str]] = {
    "approved": ("good", "approved"),
    "rejected": ("bad", "rejected"),
    "happened": ("good", "it happened"),
    "did_not_happen": ("bad", "it did not happen"),
    "go_on": ("ask", "continue"),
    "stop": ("bad", "stop"),
    "changed": ("ask", "approved with changes"),
    "take_over": ("ask", "taken over"),
    "send_again": ("ask", "send it again"),
    "spend_more": ("good", "may spend more"),
}
CAUSE_TONES = {"initial": "plain", "adaptive": "plain", "error": "bad", "detour": "doubt"}
KINDS = {"skill": "does", "target": "on", "origin": "at", "address": "sends to"}


def render_section(anchor: str, title: str, count: str, *children: Child) -> Markup:
    head = element("h2", title, " ", element("small", count) if count else None)
    return element("section", head, *children, id=anchor)


def render_pill(tone: str, words: str) -> Markup:
    return element("span", words, class_=f"pill {tone}")


def render_moment(at: float, story: Story) -> Markup:
    """The time since the beginning, with the date and time as its title."""
    return element("time", format_elapsed(at - story.began_at), title=format_time(at))


# --- what was sent


def render_sent(story: Story) -> Markup:
    if not story.sent:
        return render_section("sent", "What was sent", "nothing", _render_empty("Nothing was sent into the world."))
    return render_section(
        "sent", "What was sent", str(len(story.sent)), *(_render_sent_act(act, story) for act in story.sent)
    )


def _render_sent_act(act: SentAct, story: Story) -> Markup:
    tone, words = STATUS.get(act.status, ("bad", "did not happen"))
    barred = act.barred_at
    facts = [
        join(["sent ", render_moment(act.dispatched_at, story)]),
        join(["closed ", render_moment(barred, story), ": no late copy can arrive"]) if barred else None,
        act.words,
    ]
    grave = act.consequence is not None and act.consequence.effect == "irreversible"
    return element(
        "article",
        element(
            "header",
            render_pill(tone, words),
            element("h3", text(act.says or "an act")),
            element("span", "irreversible", class_="tag") if grave else None,
        ),
        element("p", join([fact for fact in facts if fact], " · "), class_="soft"),
        _render_rows(act.consequence),
        _render_looks(act.looks, story),
    )


def _render_looks(looks: Sequence[Look], story: Story) -> Markup:
    rows: list[Markup] = []
    for look in looks:
        tone, words = FINDINGS[look.finding]
        how = join([HOW[look.how], ": " if look.by else "", text(look.by)])
        shot = story.shots.get(look.observation)
        link = element("a", f"picture {shot.number}", href=f"#picture-{shot.number}") if shot else None
        rows.append(
            element(
                "tr",
                element("td", render_moment(look.at, story)),
                element("td", how),
                element("td", render_pill(tone, words)),
                element("td", text(look.detail), link),
            )
        )
    if not rows:
        return NOTHING
    head = element("tr", *(element("th", name, scope="col") for name in ("at", "evidence", "found", "detail")))
    return _render_table(element("thead", head), element("tbody", *rows), class_="looks")


def _render_rows(consequence: Consequence | None) -> Markup:
    """Everything that an approval binds, as rows. It is never a mapping, because a page chooses the names."""
    if consequence is None:
        return NOTHING
    rows: list[Markup] = []
    for row in list_rows(consequence):
        name = text(row.name) if row.name else KINDS.get(row.kind, row.kind)
        number = f" ({row.number} of {row.of})" if row.of > 1 else ""
        rows.append(element("tr", element("th", name, number, scope="row"), element("td", _render_value(row.value))))
    return _render_table(element("tbody", *rows), class_="values")


def _render_value(value: Argument) -> Markup:
    return text(format_argument(value)) or element("span", "empty", class_="soft")


# --- questions


def render_questions(story: Story) -> Markup:
    if not story.questions:
        return render_section(
            "questions", "Questions and decisions", "none", _render_empty("No one was asked anything.")
        )
    count = pluralize(len(story.questions), "question")
    return render_section(
        "questions",
        "Questions and decisions",
        count,
        *(_render_question(question, story) for question in story.questions),
    )


def _render_question(asked: AskedQuestion, story: Story) -> Markup:
    command, decision = asked.command, asked.decision
    answer = (
        _render_decision(asked, story) if decision else element("p", render_pill("ask", "no decision"), class_="soft")
    )
    return element(
        "article",
        element(
            "header",
            element("h3", TITLES[command.about]),
            element("span", render_moment(asked.at, story), class_="soft"),
        ),
        element("p", text(command.detail)) if command.detail else None,
        *(
            element("div", element("p", text(step.says), class_="says"), _render_rows(step.consequence))
            for step in asked.steps
        ),
        answer,
    )


def _render_decision(asked: AskedQuestion, story: Story) -> Markup:
    decision = asked.decision
    assert decision is not None
    tone, words = VERDICTS[decision.verdict]
    once = " once" if decision.verdict == "approved" and decision.once else ""
    more = f": {format_cost(decision.more)}" if decision.verdict == "spend_more" and decision.more else ""
    changes = [
        element("li", text(name), " is now ", _render_value(value))
        for change in decision.changes
        for name, value in change.arguments
    ]
    return element(
        "div",
        element(
            "p",
            render_pill(tone, words + once + more),
            " by ",
            text(decision.by or "an approver that gave no name"),
            element("span", " after ", format_elapsed(decision.at - asked.at), class_="soft"),
        ),
        element("blockquote", text(decision.guidance)) if decision.guidance else None,
        element("ul", *changes) if changes else None,
        class_="decision",
    )


# --- plans


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


# --- pictures, spending and the log


def render_pictures(story: Story) -> Markup:
    if not story.pictures:
        return NOTHING
    left = story.left_out
    note = (
        _render_empty(f"{pluralize(left, 'picture')} left out: too large together, or no longer stored.")
        if left
        else None
    )
    shown = [_render_figure(picture, story) for picture in story.pictures if picture.source]
    count = pluralize(len(story.pictures), "picture")
    return render_section("pictures", "What it saw", count, element("div", *shown, class_="strip"), note)


def _render_figure(picture: Picture, story: Story) -> Markup:
    anchor = f"picture-{picture.number}"
    size = {"width": str(picture.width), "height": str(picture.height)} if picture.width else {}
    image = element("img", src=picture.source, alt=f"Screenshot {picture.number}", **size)
    caption = element(
        "figcaption", f"{picture.number}", " · ", render_moment(picture.at, story), " · ", text(picture.surface)
    )
    near = element("a", image, href=f"#{anchor}", class_="near")
    return element("figure", near, element("a", "make it small", href="#pictures", class_="away"), caption, id=anchor)


def render_spending(story: Story) -> Markup:
    """The section with the costs by role and model, over all plans."""
    totals: dict[tuple[str, str], list[Cost]] = {}
    for spent in story.journal.state.spent:
        totals.setdefault((spent.role or "lost or given up", spent.model), []).append(spent.cost)
    if not totals:
        return NOTHING
    rows = [
        element("tr", element("th", text(role), scope="row"), element("td", text(model)), *_render_cost(costs))
        for (role, model), costs in totals.items()
    ]
    head = element("tr", *(element("th", name, scope="col") for name in ("role", "model", "calls", "tokens", "US$")))
    return render_section("spent", "What it cost", "", _render_table(element("thead", head), element("tbody", *rows)))


def _render_cost(costs: list[Cost]) -> Iterable[Markup]:
    calls, tokens = sum(cost.calls for cost in costs), sum(cost.tokens for cost in costs)
    dollars = sum(cost.microusd for cost in costs) / MICRO
    cells = (f"{calls}", f"{tokens:,}" if tokens else "–", f"{dollars:.4f}" if dollars else "–")
    return (element("td", cell, class_="number") for cell in cells)


def render_log(story: Story) -> Markup:
    rows = [
        element(
            "li",
            element("span", render_moment(line.at, story), class_="at"),
            element("span", text(line.text)),
            class_=line.tone,
        )
        for line in story.log
    ]
    count = pluralize(len(rows), "line")
    return render_section("log", "Log", count, element("ol", *rows, class_="log"))


def _render_table(*children: Child, class_: str = "") -> Markup:
    return element("div", element("table", *children, class_=class_), class_="wide", tabindex="0", role="group")


def _render_empty(words: str) -> Markup:
    return element("p", words, class_="soft")
