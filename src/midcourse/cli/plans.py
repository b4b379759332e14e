"""`midcourse plans`: every plan version of a run, and what changed from one to another."""

import json as json_format
from collections.abc import Iterator, Sequence

from rich.text import Text

from midcourse.app.journalfile import Journal
from midcourse.cli.journals import find_journal
from midcourse.cli.marks import Marks
from midcourse.cli.overrides import settings_with
from midcourse.cli.terminal import print_object, terminal
from midcourse.cli.words import step_call, step_words, why_made
from midcourse.codec import encode
from midcourse.domain.plan import PlanVersion, Step
from midcourse.errors import TaskInvalid
from midcourse.policy.diff import PlanDiff, diff
from midcourse.replay import carried_out


def plans(name: str, compared: tuple[int, int] | None, overrides: Sequence[str], *, json: bool) -> None:
    journal = find_journal(name, settings_with(overrides, "home")).journal
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
    for repair in plan.repairs:
        yield Text(f"  repaired: {marks.clean(repair)}", "yellow")
    for step in plan.steps:
        yield Text.assemble((f"  {step.index + 1:>2}. ", "dim"), *_step_parts(step, marks))


def _step_parts(step: Step, marks: Marks) -> tuple[str | tuple[str, str], ...]:
    call = step_call(step) if step.says else ""
    return marks.clean(step_words(step)), (f"  {marks.clean(call)}", "dim") if call else ""


# --- two of them


def _compare(journal: Journal, earlier: int, later: int, *, json: bool) -> None:
    before, after = _version(journal, earlier), _version(journal, later)
    reached = carried_out(journal.opening, journal.rows)
    found = diff(before, after, reached.get(before.version, 0))
    if json:
        print_object(_plain(before, after, found))
        return
    where = terminal()
    for line in _lines(before, after, found, where.marks):
        where.console.print(line, soft_wrap=not where.console.is_terminal)


def _version(journal: Journal, version: int) -> PlanVersion:
    plan = journal.plan(version)
    if plan is None:
        made = ", ".join(str(plan.version) for plan in journal.plans) or "none"
        raise TaskInvalid(f"run {journal.opening.id} has no plan {version}; there are: {made}")
    return plan


def _plain(before: PlanVersion, after: PlanVersion, found: PlanDiff) -> dict[str, object]:
    steps = {"kept": found.kept, "done": found.done, "dropped": found.dropped, "new": found.new}
    return {
        "from": before.version,
        "to": after.version,
        "cause": after.cause,
        "why": after.why,
        **{name: [json_format.loads(encode(step)) for step in some] for name, some in steps.items()},
    }


def _lines(before: PlanVersion, after: PlanVersion, found: PlanDiff, marks: Marks) -> Iterator[Text]:
    why = marks.clean(why_made(after))
    yield Text.assemble((f"Plan {before.version} {marks.arrow} {after.version}  ", "bold"), (why, "italic"))
    signs = (("=", "kept", "", found.kept), (marks.done, "done", "green", found.done))
    signs += (("-", "dropped", "red", found.dropped), ("+", "new", "cyan", found.new))
    yield Text("  " + ", ".join(f"{name} {len(steps)}" for _, name, _, steps in signs), "dim")
    for sign, name, style, steps in signs:
        for step in steps:
            yield Text.assemble((f"  {sign} {name:<8}", style), *_step_parts(step, marks))
