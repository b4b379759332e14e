"""`midcourse approve`, `reject` and `answer`: a person's decision on what a durable run asks."""

import asyncio
import json as json_format
import time
from collections.abc import Sequence
from dataclasses import replace

from rich.text import Text

from midcourse.app.fleet_store import opened_store
from midcourse.app.person import user
from midcourse.cli.changes import changes_in
from midcourse.cli.control import taken
from midcourse.cli.desk import Choice
from midcourse.cli.keyboard import InputEnded, Interrupted, Keyboard
from midcourse.cli.overrides import fleet_with
from midcourse.cli.question import TITLES, question_panel, rows_of
from midcourse.cli.reach import DONE, REFUSED, Reached, reached, report
from midcourse.cli.session import desk_at
from midcourse.cli.terminal import print_object, terminal
from midcourse.cli.words import argument, seconds
from midcourse.codec import encode
from midcourse.domain.approval import VERDICTS, Decision, Question, Verdict
from midcourse.errors import TaskInvalid

SURE = (
    Choice(key="y", label="[y]es", leads_to="exactly as shown"),
    Choice(key="n", label="[n]o", leads_to="decide nothing now; the question stays open"),
)
WHAT = {"happened": "whether something happened", "stuck": "how to go on"}
MOST = 100
"""Questions that are listed."""
WIDEST = 100


def approve(
    name: str, overrides: Sequence[str], *, yes: bool, once: bool, json: bool, changes: Sequence[str] = ()
) -> int:
    if changes:
        said = "it will be done like that once you have seen what comes of it: midcourse approve"
        decision = Decision(verdict="changed", once=once)
        return asyncio.run(_decide(name, overrides, decision, said, sure=yes, json=json, changes=changes))
    decision = Decision(verdict="approved", once=once)
    said = "approved, exactly as shown" if once else "approved, exactly as shown, as often as this run needs it"
    return asyncio.run(_decide(name, overrides, decision, said, sure=yes, json=json))


def reject(name: str, guidance: str, overrides: Sequence[str], *, json: bool) -> int:
    said = "rejected; it plans again with your words" if guidance.strip() else "rejected; nothing is sent, and it ends"
    decision = Decision(verdict="rejected", guidance=guidance.strip())
    return asyncio.run(_decide(name, overrides, decision, said, sure=True, json=json))


def answer(name: str, word: str, overrides: Sequence[str], *, json: bool) -> int:
    verdict = word.replace("-", "_")
    said: dict[str, tuple[Verdict, str]] = {
        "happened": ("happened", "it counts as done"),
        "did_not_happen": ("did_not_happen", "it may be done again"),
        "go_on": ("go_on", "it plans again"),
        "stop": ("stop", "it ends here"),
    }
    if verdict not in said:
        raise TaskInvalid(f"'{word}' is no answer: {', '.join(said)}")
    decided, words = said[verdict]
    return asyncio.run(_decide(name, overrides, Decision(verdict=decided), words, sure=True, json=json))


async def _decide(
    name: str,
    overrides: Sequence[str],
    decision: Decision,
    said: str,
    *,
    sure: bool,
    json: bool,
    changes: Sequence[str] = (),
) -> int:
    async with reached(name, overrides) as there:
        question = await there.fleet.store.open_question(there.run.id)
        why_not = _mismatch(question, there, decision)
        if question is None or why_not:
            return report(there.run.id, why_not, "", json=json)
        decision = replace(decision, changes=changes_in(question, changes))
        if not json:
            _show(question)
        if not sure and not await _confirmed(json=json):
            return REFUSED
        why_not = await taken(there.handle.answer(question, replace(decision, by=user())))
        return report(there.run.id, why_not, said, json=json, question=question.id, verdict=decision.verdict)


def _mismatch(question: Question | None, there: Reached, decision: Decision) -> str:
    """Why this decision is not what the run waits for, or nothing."""
    if question is None:
        return f"run {there.run.id} asks nothing; it is {there.run.phase.replace('_', ' ')}"
    if decision.verdict in VERDICTS[question.about]:
        return ""
    if question.about != "approve":
        words = "|".join(VERDICTS[question.about])
        return f"it asks {WHAT[question.about]}: midcourse answer {there.run.id} {words}"
    return f"it asks for an approval: midcourse approve {there.run.id}, or reject"


def _show(question: Question) -> None:
    where = terminal()
    left = max(0.0, question.expires_at - time.time())
    panel = question_panel(question, left, min(where.console.width, WIDEST), where.marks, hint="")
    where.console.print(panel)


async def _confirmed(*, json: bool) -> bool:
    desk = desk_at(terminal(silent=json), Keyboard())
    if desk is None:
        raise TaskInvalid("nobody is here to decide: say --yes if you have decided already")
    try:
        return await desk.choose(SURE) == "y"
    except (Interrupted, InputEnded):
        return False


# --- what is waiting


def list_questions(overrides: Sequence[str], *, json: bool) -> int:
    return asyncio.run(_list_questions(overrides, json=json))


async def _list_questions(overrides: Sequence[str], *, json: bool) -> int:
    _, settings = fleet_with(overrides)
    async with opened_store(settings) as store:
        questions = await store.open_questions(MOST)
    if json:
        print_object([_plain(question) for question in questions])
        return DONE
    where = terminal()
    for question in questions:
        left = f"expires in {seconds(max(0.0, question.expires_at - time.time()))}"
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
        "would": [
            {"says": says, **{name: argument(value) for name, value in rows_of(consequence).items()}}
            for says, consequence in zip(question.says, question.consequences, strict=True)
        ],
        "revision": json_format.loads(encode(question.revision)) if question.revision else None,
        "detail": question.detail,
        "expires_at": question.expires_at,
    }
