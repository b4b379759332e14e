"""`midcourse plans`: every plan version of a run, and what changed from one to another."""

import json as json_format
from collections.abc import Iterator, Sequence

from rich.text import Text

from midcourse.app.records.journal import Journal
from midcourse.app.records.plan_diff import PlanComparison, compare_plans
from midcourse.cli.lookup.journals import find_journal
from midcourse.cli.overrides import places_with
from midcourse.cli.view.question import ABSENT
from midcourse.cli.view.symbols import Marks
from midcourse.cli.view.terminal import print_object, terminal
from midcourse.cli.view.vocabulary import argument, step_call, step_words, why_made
from midcourse.codec import encode
from midcourse.domain.plan import PlanVersion, Step
from midcourse.policy.plan.diff import StepChange


def plans(name: str, compared: tuple[int, int] | None, overrides: Sequence[str], *, json: bool) -> None:
    journal = find_journal(name, *places_with(overrides, "home")).journal
    if compared is not None:
        _compare(journal, *compared, json=json)
    elif json:
        print_object([json_format.loads(encode(plan)) for plan in journal.plans])
    else:
        where = terminal()
        for plan in journal.plans:
            for line in (*plan_lines(plan, where.marks), Text("")):
                where.console.print(line, soft_wrap=not where.console.is_terminal)
        if not journal.plans:
            where.console.print(f"run {journal.opening.id} has made no plan", soft_wrap=True)


def plan_lines(plan: PlanVersion, marks: Marks) -> Iterator[Text]:
    """Why it was made, what was mended in it, and its steps."""
    yield Text.assemble((f"Plan {plan.version}  ", "bold"), (marks.clean(why_made(plan)), "italic"))
    if plan.context and plan.context.by != "rules":
        who = "a model" if plan.context.by == "model" else "your reflector"
        yield Text(f"  {who} on why it failed: {marks.clean(plan.context.analysis.root_cause)}", "yellow")
    for repair in plan.repairs:
        yield Text(f"  repaired: {marks.clean(repair)}", "yellow")
    for step in plan.steps:
        yield Text.assemble((f"  {step.index + 1:>2}. ", "dim"), *_step_parts(step, marks))


def _step_parts(step: Step, marks: Marks) -> tuple[str | tuple[str, str], ...]:
    call = step_call(step) if step.says else ""
    return marks.clean(step_words(step)), (f"  {marks.clean(call)}", "dim") if call else ""


# --- two of them


def _compare(journal: Journal, earlier: int, later: int, *, json: bool) -> None:
    compared = compare_plans(journal, earlier, later)
    if json:
        print_object(_plain(compared))
        return
    where = terminal()
    for line in _lines(compared, where.marks):
        where.console.print(line, soft_wrap=not where.console.is_terminal)


def _plain(compared: PlanComparison) -> dict[str, object]:
    after, found = compared.after, compared.found
    steps = {"kept": found.kept, "done": found.done, "dropped": found.dropped, "new": found.new}
    return {
        "from": compared.before.version,
        "to": after.version,
        "cause": after.cause,
        "why": after.why,
        **{name: [json_format.loads(encode(step)) for step in some] for name, some in steps.items()},
        "changed": [json_format.loads(encode(change)) for change in found.changed],
    }


def _lines(compared: PlanComparison, marks: Marks) -> Iterator[Text]:
    found, why = compared.found, marks.clean(why_made(compared.after))
    head = f"Plan {compared.before.version} {marks.arrow} {compared.after.version}  "
    yield Text.assemble((head, "bold"), (why, "italic"))
    signs = (("=", "kept", "", found.kept), (marks.done, "done", "green", found.done))
    signs += (("-", "dropped", "red", found.dropped), ("+", "new", "cyan", found.new))
    counts = [f"{name} {len(steps)}" for _, name, _, steps in signs]
    counts += [f"changed {len(found.changed)}"] if found.changed else []
    yield Text("  " + ", ".join(counts), "dim")
    for sign, name, style, steps in signs:
        for step in steps:
            yield Text.assemble((f"  {sign} {name:<8}", style), *_step_parts(step, marks))
    for change in found.changed:
        yield Text.assemble(("  ~ changed ", "yellow"), *_step_parts(change.after, marks))
        yield from _arguments(change, marks)


def _arguments(change: StepChange, marks: Marks) -> Iterator[Text]:
    old, new = dict(change.before.arguments), dict(change.after.arguments)
    for name in dict.fromkeys((*old, *new)):
        if name not in old or name not in new or old[name] != new[name]:
            was = marks.clean(argument(old[name])) if name in old else ABSENT
            now = marks.clean(argument(new[name])) if name in new else ABSENT
            yield Text(f"      {marks.clean(name)}: {was} {marks.arrow} {now}", "yellow")
