"""`midcourse approve`, `reject` and `answer`: a person's decision on what a durable run asks."""

import asyncio
import json as json_format
import time
from collections.abc import Sequence
from dataclasses import replace

from rich.console import RenderableType
from rich.text import Text

from midcourse.app.defaults import user
from midcourse.app.fleet.store import open_fleet_store
from midcourse.cli.commands.control import taken
from midcourse.cli.lookup.durable import DONE, REFUSED, Reached, reached, report
from midcourse.cli.overrides import fleet_with
from midcourse.cli.session.edits import changes_in
from midcourse.cli.session.keyboard import InputEnded, Interrupted, Keyboard
from midcourse.cli.session.local import desk_at
from midcourse.cli.session.prompt import Choice
from midcourse.cli.view.question import TITLES, question_panel, step_json, why_unseen
from midcourse.cli.view.symbols import Marks
from midcourse.cli.view.terminal import print_object, terminal
from midcourse.cli.view.vocabulary import seconds
from midcourse.codec import encode
from midcourse.domain.approval import VERDICTS, Decision, Question, Verdict
from midcourse.errors import TaskInvalid
from midcourse.perform.asking import digests_of
from midcourse.policy.approval.question import changes_between, describe_change, is_read_at_a_glance

SURE = (
    Choice(key="y", label="[y]es", leads_to="exactly as shown"),
    Choice(key="n", label="[n]o", leads_to="decide nothing now; the question stays open"),
)
WHAT = {
    "happened": "whether something happened",
    "stuck": "how to go on",
    "repeat": "whether to send something again",
}
MOST = 100
"""Questions that are listed."""
WIDEST = 100


def approve(
    name: str,
    overrides: Sequence[str],
    *,
    yes: bool,
    once: bool,
    json: bool,
    changes: Sequence[str] = (),
    all_values: bool = False,
    shown: Sequence[str] = (),
) -> int:
    """`shown`: the digests of what its author was shown, if that was another question than the one that is open now."""
    if changes:
        said = "it will be done like that once you have seen what comes of it: midcourse approve"
        decision = Decision(verdict="changed", once=once, all_values=all_values)
    else:
        said = "approved, exactly as shown" if once else "approved, exactly as shown, as often as this run needs it"
        decision = Decision(verdict="approved", once=once, all_values=all_values)
    return asyncio.run(_decide(name, overrides, decision, said, sure=yes, json=json, changes=changes, shown=shown))


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
        "send_again": ("send_again", "it is sent again, exactly as shown"),
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
    shown: Sequence[str] = (),
) -> int:
    async with reached(name, overrides) as there:
        question = await there.fleet.store.open_question(there.run.id)
        why_not = _mismatch(question, there, decision)
        if question is None or why_not:
            return report(there.run.id, why_not, "", json=json)
        if shown and (why_not := await _why_outdated(question, shown, there)):
            return report(there.run.id, why_not, "", json=json)
        decision = replace(decision, by=user(), changes=changes_in(question, changes))
        if question.about == "repeat" and decision.verdict == "rejected" and not decision.guidance:
            said = "not sent again; it counts as done already"
        if sure and not (decision.verdict == "send_again" and not is_read_at_a_glance(question.consequences)):
            if not json:
                _show(question)
            if why_not := _why_not_at_once(question, decision):
                return report(there.run.id, why_not, "", json=json)
        else:
            confirmed = await _confirmed(question, decision, json=json)
            if confirmed is None:
                return REFUSED
            decision = confirmed
        why_not = await taken(there.handle.answer(question, decision))
        return report(there.run.id, why_not, said, json=json, question=question.id, verdict=decision.verdict)


async def _why_outdated(question: Question, shown: Sequence[str], there: Reached) -> str:
    """Why a decision about these digests does not fit the open question, with what changed; empty if it fits."""
    if tuple(shown) == digests_of(question):
        return ""
    said = f"what you were shown is not what question {question.id} asks about"
    earlier = [await there.fleet.store.consequence(there.run.id, digest) for digest in shown]
    if unknown := [digest for digest, one in zip(shown, earlier, strict=True) if one is None]:
        return f"{said}: nothing with the digest {unknown[0]} was ever asked about in this run"
    changes = changes_between([one for one in earlier if one is not None], question.consequences)
    return f"{said}; changed since: {'; '.join(map(describe_change, changes))}"


def _why_not_at_once(question: Question, decision: Decision) -> str:
    """Why `--yes` alone does not decide it, or nothing."""
    if decision.verdict not in ("approved", "changed") or decision.all_values:
        return ""
    if is_read_at_a_glance(question.consequences):
        return ""
    what = "part of it is shown only by its digest" if question.abridged else "there is more than is read at a glance"
    return f"{what}: look through it with midcourse approve {question.run}, or say --all-values as well"


def _mismatch(question: Question | None, there: Reached, decision: Decision) -> str:
    """Why this decision is not what the run waits for, or nothing."""
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
    desk = desk_at(terminal(silent=json), Keyboard())
    if desk is None:
        if not json:
            _show(question)
        raise TaskInvalid("nobody is here to decide: say --yes if you have decided already")
    try:
        shown = await desk.show(_panel(question, desk.width, desk.marks))
        unseen = why_unseen(question, in_full=shown)
        if await desk.choose(SURE) != "y" or (unseen and not await desk.agreed_unseen(unseen)):
            return None
        return replace(decision, all_values=bool(unseen))
    except (Interrupted, InputEnded):
        return None


# --- what is waiting


def list_questions(overrides: Sequence[str], *, json: bool) -> int:
    return asyncio.run(_list_questions(overrides, json=json))


async def _list_questions(overrides: Sequence[str], *, json: bool) -> int:
    _, settings = fleet_with(overrides)
    async with open_fleet_store(settings) as store:
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
        "would": [step_json(question, number) for number in range(len(question.consequences))],
        "needs_all_values": not is_read_at_a_glance(question.consequences),
        "revision": json_format.loads(encode(question.revision)) if question.revision else None,
        "earlier": [{"sent_at": one.at, "finding": one.finding} for one in question.earlier],
        "detail": question.detail,
        "expires_at": question.expires_at,
    }
