"""`midcourse approve`, `reject` and `answer`: decide what a run asks, from any terminal."""

import asyncio
import json as json_format
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.text import Text

from midcourse.app.control import LocalControl, RunControl
from midcourse.app.defaults import user
from midcourse.app.presentation.question import TITLES, step_json, why_unseen
from midcourse.app.presentation.vocabulary import format_seconds
from midcourse.cli.commands.control import DONE, REFUSED, deliver, report
from midcourse.cli.lookup import ControlledRun, local_questions, open_run
from midcourse.cli.options import Fleet, Json, Run, teach
from midcourse.cli.overrides import HOME, Overrides, load_both_settings
from midcourse.cli.session.edits import parse_changes
from midcourse.cli.session.keyboard import InputEnded, Interrupted, Keyboard
from midcourse.cli.session.local import open_prompt
from midcourse.cli.session.prompt import Choice
from midcourse.cli.view.question import question_panel
from midcourse.cli.view.symbols import Marks
from midcourse.cli.view.terminal import print_object, terminal
from midcourse.codec import encode
from midcourse.domain.approval import VERDICTS, Decision, Question, Verdict
from midcourse.errors import TaskInvalid
from midcourse.policy.approval.question import compare_steps, describe_change, is_read_at_a_glance, list_digests

SURE = (
    Choice(key="y", label="[y]es", leads_to="exactly as shown"),
    Choice(key="n", label="[n]o", leads_to="decide nothing now; the question stays open"),
)
WHAT = {
    "happened": "whether something happened",
    "stuck": "how to continue",
    "question": "a question of the planner",
    "repeat": "whether to send something again",
}
MOST = 100
"""Questions that are listed."""
WIDEST = 100

ANSWERS: dict[str, tuple[Verdict, str]] = {
    "happened": ("happened", "it counts as done"),
    "did_not_happen": ("did_not_happen", "it may be done again"),
    "go_on": ("go_on", "it plans again"),
    "send_again": ("send_again", "it is sent again, exactly as shown"),
    "stop": ("stop", "it ends here"),
}

AskingRun = Annotated[
    str,
    typer.Argument(
        metavar="[RUN]",
        help="A run's id, the beginning of one, or 'last'; without it, what is waiting.",
        show_default=False,
    ),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask whether you are sure.")]
AllValues = Annotated[
    bool,
    typer.Option("--all-values", help="With --yes: also what is shown only by a digest, or is long."),
]
Shown = Annotated[
    list[str] | None,
    typer.Option(
        "--shown",
        metavar="DIGEST",
        help="The digest that you were shown (`digest` in midcourse approve --json, one for each step). If the question has "
        "changed since, nothing is approved and the difference is printed.",
    ),
]
ForTheRun = Annotated[
    bool, typer.Option("--for-run", help="Exactly this, as often as this run needs it, instead of once.")
]
Changes = Annotated[
    list[str] | None,
    typer.Option(
        "--change",
        metavar="NAME=VALUE",
        help="Not like that, but with this argument (2.NAME=VALUE: of the second step). You are asked again about the result.",
    ),
]

KEPT = "no process is running it: this counts once its program is started again, or by midcourse resume {run}"

commands = typer.Typer()


@commands.command(
    epilog=teach(
        ("midcourse approve", "what is waiting for an answer"),
        ("midcourse approve last", "see exactly what will be sent, and decide"),
        ("midcourse approve last --change quantity=2", "not like that; you are shown the result"),
        ("midcourse approve --json", "for programs: every value, and the digest of each step"),
        ("midcourse approve 20260802-11 --yes --shown DIGEST --json", "this, or nothing if it has changed since"),
    ),
)
def approve(
    run: AskingRun = "",
    yes: Yes = False,
    for_run: ForTheRun = False,
    change: Changes = None,
    all_values: AllValues = False,
    shown: Shown = None,
    set_: Fleet = None,
    json: Json = False,
) -> int:
    """Allow what a run asks for: exactly that, and nothing else.

    You are shown every value that will be sent. If one of them changes
    before it is, nothing is sent and you are asked again. What does not fit
    on a screen is shown page by page. To approve without reading to the end,
    or a value shown only by its digest, you type a word instead of a key.

    Without a RUN it lists what is waiting.

    Exit codes: 0 approved, 1 refused with a reason or not approved after all,
    2 misuse.
    """
    if not run:
        return asyncio.run(_list_questions(set_, json=json))
    decision = Decision(verdict="changed" if change else "approved", once=not for_run, all_values=all_values)
    reply = "approved, exactly as shown" + (", as often as this run needs it" if for_run else "")
    if change:
        reply = "it will be done like that once you have seen and approved the result: midcourse approve"
    return asyncio.run(
        _decide(run, set_, decision, reply, sure=yes, json=json, changes=change or (), shown=shown or ())
    )


@commands.command(
    epilog=teach(
        ("midcourse reject last", "nothing is sent, and the run ends"),
        ("midcourse reject last --guidance 'take the cheaper one'", "nothing is sent; it plans again with your words"),
    ),
)
def reject(
    run: Run,
    guidance: Annotated[str, typer.Option("--guidance", metavar="TEXT", help="What it should do instead.")] = "",
    set_: Fleet = None,
    json: Json = False,
) -> int:
    """Refuse what a run asks for.

    Exit codes: 0 rejected, 1 refused (the reason is printed), 2 misuse.
    """
    reply = "rejected; it plans again with your words" if guidance.strip() else "rejected; nothing is sent, and it ends"
    decision = Decision(verdict="rejected", guidance=guidance.strip())
    return asyncio.run(_decide(run, set_, decision, reply, sure=True, json=json))


@commands.command(
    epilog=teach(
        ("midcourse answer last happened", "it counts as done and is never done again"),
        ("midcourse answer last did_not_happen", "it may be done again, immediately"),
        ("midcourse answer last go_on --guidance 'the second account'", "the answer to a question of the planner"),
        ("midcourse answer last stop", "the run ends here; nothing more is done"),
    ),
)
def answer(
    run: Run,
    word: Annotated[
        str,
        typer.Argument(
            metavar="WORD", help=f"{', '.join(list(ANSWERS)[:-1])} or {list(ANSWERS)[-1]}.", show_default=False
        ),
    ],
    guidance: Annotated[
        str, typer.Option("--guidance", metavar="TEXT", help="With go_on: your answer or advice, for the next plan.")
    ] = "",
    set_: Fleet = None,
    json: Json = False,
) -> int:
    """Tell a run whether something happened that nothing else could decide, how to continue, or what it asks.

    Look for yourself first: the run believes you. Advice while it asks nothing is given with `midcourse guide`.

    Exit codes: 0 answered, 1 refused (the reason is printed), 2 misuse.
    """
    chosen = word.replace("-", "_")
    if chosen not in ANSWERS:
        raise TaskInvalid(f"unknown answer: {word}; answers are {', '.join(ANSWERS)}")
    verdict, reply = ANSWERS[chosen]
    if guidance and verdict != "go_on":
        raise TaskInvalid("--guidance goes with go_on")
    decision = Decision(verdict=verdict, guidance=guidance.strip())
    return asyncio.run(_decide(run, set_, decision, reply, sure=True, json=json))


async def _decide(
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
        why_not = _mismatch(question, there, decision)
        if question is None or why_not:
            return report(there.run.id, why_not, "", json=json)
        if shown and (why_not := await _why_outdated(question, shown, there.control)):
            return report(there.run.id, why_not, "", json=json)
        decision = replace(decision, by=user(), changes=parse_changes(question, changes))
        if question.about == "repeat" and decision.verdict == "rejected" and not decision.guidance:
            reply = "not sent again; it counts as done already"
        if sure and not (decision.verdict == "send_again" and not is_read_at_a_glance(question.consequences)):
            if not json:
                _show(question)
            if why_not := _why_not_confirmed(question, decision):
                return report(there.run.id, why_not, "", json=json)
        else:
            confirmed = await _confirmed(question, decision, json=json)
            if confirmed is None:
                return REFUSED
            decision = confirmed
        why_not = await deliver(there.control.answer(question, decision))
        if isinstance(there.control, LocalControl) and await there.control.why_not_driven():
            reply = f"{reply}; {KEPT.format(run=there.run.id)}"
        return report(there.run.id, why_not, reply, json=json, question=question.id, verdict=decision.verdict)


async def _why_outdated(question: Question, shown: Sequence[str], control: RunControl) -> str:
    """Why a decision about these digests does not fit the open question, with what changed; empty if it fits."""
    if tuple(shown) == list_digests(question):
        return ""
    problem = f"what you were shown is not what question {question.id} asks about"
    earlier = [await control.store.consequence(control.run_id, digest) for digest in shown]
    if unknown := [digest for digest, one in zip(shown, earlier, strict=True) if one is None]:
        return f"{problem}: nothing with the digest {unknown[0]} was ever asked about in this run"
    changes = compare_steps([one for one in earlier if one is not None], question.consequences)
    return f"{problem}; changed since: {'; '.join(map(describe_change, changes))}"


def _why_not_confirmed(question: Question, decision: Decision) -> str:
    """Why `--yes` alone does not decide it; empty if it does."""
    if decision.verdict not in ("approved", "changed") or decision.all_values:
        return ""
    if is_read_at_a_glance(question.consequences):
        return ""
    what = "part of it is shown only by its digest" if question.abridged else "there is more than is read at a glance"
    return f"{what}: look through it with midcourse approve {question.run}, or give --all-values as well"


def _mismatch(question: Question | None, there: ControlledRun, decision: Decision) -> str:
    """Why this decision is not what the run waits for; empty if it is."""
    if question is None:
        return f"run {there.run.id} asks nothing; it is {there.run.phase.replace('_', ' ')}"
    if decision.verdict in VERDICTS[question.about]:
        return ""
    if question.about == "repeat":
        return f"it asks {WHAT['repeat']}: midcourse answer {there.run.id} send_again|stop, or midcourse reject {there.run.id}"
    if question.about != "approve":
        words = "|".join(VERDICTS[question.about])
        return f"it asks {WHAT[question.about]}: midcourse answer {there.run.id} {words}"
    return f"it asks for an approval: midcourse approve {there.run.id}, or reject"


def _show(question: Question) -> None:
    where = terminal()
    where.console.print(_panel(question, min(where.console.width, WIDEST), where.marks))


def _panel(question: Question, width: int, marks: Marks) -> RenderableType:
    return question_panel(question, max(0.0, question.expires_at - time.time()), width, marks, hint="")


async def _confirmed(question: Question, decision: Decision, *, json: bool) -> Decision | None:
    """The approver's decision after reading the question. None: the approver left without deciding."""
    prompt = open_prompt(terminal(silent=json), Keyboard())
    if prompt is None:
        if not json:
            _show(question)
        raise TaskInvalid("there is no terminal to ask in: give --yes if you have decided already")
    try:
        shown = await prompt.show(_panel(question, prompt.width, prompt.marks))
        unseen = why_unseen(question, in_full=shown)
        if await prompt.choose(SURE) != "y" or (unseen and not await prompt.confirm_unseen(unseen)):
            return None
        return replace(decision, all_values=bool(unseen))
    except (Interrupted, InputEnded):
        return None


# --- what is waiting


async def _list_questions(overrides: Overrides, *, json: bool) -> int:
    settings, fleet = load_both_settings(overrides, HOME)
    questions = await local_questions(settings)
    if fleet is not None:
        from midcourse.app.fleet.store import open_fleet_store

        async with open_fleet_store(fleet) as store:
            questions += await store.open_questions(MOST)
    if json:
        print_object([_plain(question) for question in questions])
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


def _plain(question: Question) -> dict[str, object]:
    return {
        "run": question.run,
        "question": question.id,
        "about": question.about,
        "goal": question.goal,
        "would": [step_json(question, number) for number in range(len(question.consequences))],
        "needs_all_values": not is_read_at_a_glance(question.consequences),
        "revision": json_format.loads(encode(question.revision)) if question.revision else None,
        "earlier": [{"sent_at": one.at, "finding": one.finding} for one in question.earlier],
        "detail": question.detail,
        "expires_at": question.expires_at,
    }
