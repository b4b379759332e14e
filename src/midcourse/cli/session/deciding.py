"""Sends decisions about the questions of runs, and lists the questions that wait for one."""

import json as json_format
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text

from midcourse.agent.control import LocalControl, RunControl
from midcourse.cli.commands.control import DONE, REFUSED, deliver, report
from midcourse.cli.lookup import ControlledRun, local_questions, open_run
from midcourse.cli.options import Overrides
from midcourse.codec import encode
from midcourse.config.defaults import user, user_id
from midcourse.domain.approval import VERDICTS, Decision, Question
from midcourse.errors import TaskInvalid
from midcourse.home.folder import JOB_FILE, AtHome
from midcourse.policy.approval.objection import Objection, find_closed, find_objection, needs_all_values
from midcourse.policy.approval.question import describe_change
from midcourse.presentation.question import TITLES, step_json, why_unseen
from midcourse.presentation.vocabulary import format_seconds
from midcourse.terminal.approver import parse_changes
from midcourse.terminal.output import Marks, print_object, terminal
from midcourse.terminal.prompt import Choice, InputEnded, Interrupted, Keyboard, open_prompt
from midcourse.terminal.question import question_panel

if TYPE_CHECKING:
    from midcourse.config.fleet_settings import FleetSettings

SURE = (
    Choice(key="y", label="[y]es", leads_to="exactly as shown"),
    Choice(key="n", label="[n]o", leads_to="decide nothing now; the question stays open"),
)
WHAT = {
    "happened": "whether something happened",
    "stuck": "how to continue",
    "question": "a question of the planner",
    "repeat": "whether to send something again",
    "more": "whether to spend more",
}
MOST = 100
"""The maximum number of questions that are listed."""
WIDEST = 100


async def decide(
    name: str,
    overrides: Overrides,
    decision: Decision,
    reply: str,
    *,
    sure: bool,
    json: bool,
    changes: Sequence[str] = (),
    shown: Sequence[str] = (),
) -> int:
    async with open_run(name, overrides) as there:
        question = await there.control.open_question()
        if question is None:
            phase = there.run.phase.replace("_", " ")
            why_not = await _why_withdrawn(there.control, decision)
            why_not = why_not or f"run {there.run.id} has no open question; it is {phase}"
            return report(there.run.id, why_not, "", json=json)
        decision = replace(decision, by=user(), by_id=user_id())
        if question.about == "approve":
            decision = replace(decision, changes=parse_changes(question, changes))
        # `send_again` has no option for `all_values`: what is long is shown at a prompt, where a person reads it through.
        sure = sure and not (decision.verdict == "send_again" and needs_all_values(question, "glance"))
        stated = replace(decision, all_values=decision.all_values or not sure)
        objection = find_objection(question, stated, shown=tuple(shown) or None, read="glance")
        if sure and not json and (objection is None or objection.code == "unread"):
            _show(question)
        if objection:
            why_not = await _explain(objection, question, shown, decision, there.control)
            return report(there.run.id, why_not, "", json=json)
        if question.about == "repeat" and decision.verdict == "rejected" and not decision.guidance:
            reply = "not sent again; it counts as done already"
        if not sure:
            confirmed = await _confirm(question, decision, json=json)
            if confirmed is None:
                return REFUSED
            decision = confirmed
        why_not = await deliver(there.control.answer(question, decision))
        if isinstance(there.control, LocalControl) and await there.control.why_not_driven():
            reply = f"{reply}; no process is running it: {_how_to_continue(there)}"
        return report(there.run.id, why_not, reply, json=json, question=question.id, verdict=decision.verdict)


def _how_to_continue(there: ControlledRun) -> str:
    if there.folder and (there.folder / JOB_FILE).is_file():
        return f"to continue it, type midcourse resume {there.run.id}"
    return "it continues when its program makes the same call again"


async def _explain(
    objection: Objection, question: Question, shown: Sequence[str], decision: Decision, control: RunControl
) -> str:
    """What to do instead of this decision. The rule is in `policy`; here it gets the words of a command line."""
    run = question.run
    match objection.code:
        case "wrong_verdict":
            if withdrawn := await _why_withdrawn(control, decision):
                return withdrawn
            if question.about == "approve":
                return f"it asks for an approval: midcourse approve {run}, or reject"
            if question.about == "repeat":
                return f"it asks {WHAT['repeat']}: midcourse answer {run} send_again|stop, or midcourse reject {run}"
            return f"it asks {WHAT[question.about]}: midcourse answer {run} {'|'.join(objection.verdicts)}"
        case "other_content":
            problem = f"what you were shown is not what question {question.id} asks about"
            if changes := await control.find_changes(question, shown):
                return f"{problem}; changed since: {'; '.join(map(describe_change, changes))}"
            return f"{problem}: nothing with one of these digests was ever asked about in this run"
        case "unread":
            what = (
                "part of it is shown only by its digest"
                if question.abridged
                else "there is more than is read at a glance"
            )
            return f"{what}: look through it with midcourse approve {run}, or give --all-values as well"
        case _:
            return objection.text


async def _why_withdrawn(control: RunControl, decision: Decision) -> str:
    """That the last question was withdrawn, and why, if this decision may be about it: the command does not name a question."""
    run, _ = await control.store.load(control.run_id)
    if run.withdrawn is None or decision.verdict not in VERDICTS["happened"]:
        return ""
    closed = find_closed(run, run.withdrawn.question)
    return closed.text if closed else ""


def _show(question: Question) -> None:
    where = terminal()
    where.console.print(_build_panel(question, min(where.console.width, WIDEST), where.marks))


def _build_panel(question: Question, width: int, marks: Marks) -> RenderableType:
    return question_panel(question, max(0.0, question.expires_at - time.time()), width, marks, hint="")


async def _confirm(question: Question, decision: Decision, *, json: bool) -> Decision | None:
    """Show the question, and return the decision if the user confirms it; None if the user leaves without deciding."""
    prompt = open_prompt(terminal(silent=json), Keyboard())
    if prompt is None:
        if not json:
            _show(question)
        raise TaskInvalid("there is no terminal to ask in: give --yes if you have decided already")
    try:
        shown = await prompt.show(_build_panel(question, prompt.width, prompt.marks))
        unseen = why_unseen(question, in_full=shown)
        if (await prompt.choose(SURE))[0] != "y" or (unseen and not await prompt.confirm_unseen(unseen)):
            return None
        return replace(decision, all_values=bool(unseen))
    except (Interrupted, InputEnded):
        return None


# --- what is waiting


async def list_questions(settings: AtHome, fleet: "FleetSettings | None", *, json: bool) -> int:
    questions = await local_questions(settings)
    if fleet is not None:
        from midcourse.home.fleet_store import open_fleet_store

        async with open_fleet_store(fleet) as store:
            questions += await store.open_questions(MOST)
    if json:
        print_object([_question_json(question) for question in questions])
        return DONE
    where = terminal()
    for question in questions:
        left = f"expires in {format_seconds(max(0.0, question.expires_at - time.time()))}"
        what = "; ".join(says or c.skill for says, c in zip(question.says, question.consequences, strict=True))
        asks = TITLES[question.about].lower()
        line = Text.assemble((question.run, "bold"), f"  {asks}  {where.marks.clean(what)}  ", (left, "dim"))
        where.console.print(line, soft_wrap=True)
    if not questions:
        where.console.print("nothing is waiting for an answer", soft_wrap=True)
    return DONE


def _question_json(question: Question) -> dict[str, object]:
    return {
        "run": question.run,
        "question": question.id,
        "about": question.about,
        "goal": question.goal,
        "would": [step_json(question, number) for number in range(len(question.consequences))],
        "needs_all_values": needs_all_values(question, "glance"),
        "revision": json_format.loads(encode(question.revision)) if question.revision else None,
        "page": question.page,
        "appeared": question.appeared,
        "unmet": question.unmet,
        "picture": question.picture,
        "contradicted": question.contradicted,
        "earlier": [{"sent_at": request.at, "finding": request.finding} for request in question.earlier],
        "detail": question.detail,
        "more": json_format.loads(encode(question.more)) if question.more else None,
        "expires_at": question.expires_at,
    }
