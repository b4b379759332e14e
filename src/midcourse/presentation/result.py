"""The result of a run in words: its headline, what it sent, what it cost in calls and time, and what to do next."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from midcourse.domain.approval import Consequence
from midcourse.domain.argument import Reference, Scalar
from midcourse.domain.expectation import Expectation
from midcourse.domain.moves import FinalReason
from midcourse.domain.outcome import (
    ACCEPTED_BY_SERVER,
    ALREADY_DONE,
    ELSEWHERE,
    REFUSALS,
    SIGNED_IN,
    CompletedStep,
    Evidence,
    Outcome,
)
from midcourse.domain.records.ledger import LedgerEntry
from midcourse.domain.records.summary import Sending
from midcourse.domain.result import SUCCESSES, BudgetUsed, Result
from midcourse.perform.history import decide_outcomes
from midcourse.policy.approval.question import count_addresses
from midcourse.policy.evidence.verification import describe
from midcourse.ports.store import Store
from midcourse.presentation.vocabulary import REASONS, format_argument, format_seconds, pluralize

DENIED_UNASKED = "there was no terminal to ask in: run it in one, or set approvals=never (--approvals never)"
UNDECIDED_UNASKED = "there was no terminal to ask in what happened: run it in one, or give the step a probe"
EFFECTS = "effects.jsonl"
"""The name of the file in a run's folder in which a simulated world logs its effects."""
LONGEST_VALUE = 2_000
"""Characters of a value that are shown to people."""
LONGEST_FOR_MODELS = 20_000
"""Characters of a value that a model of another program is given."""
SHOWN_BY: dict[Evidence, str] = {
    "": "the world reported it",
    "expectation": "what was expected was seen",
    "absent_when": "it was seen that nothing was stored",
    "probe": "a probe found it",
    "rule": "the answer means so, by your policy",
    "response": "a successful answer",
    "not_dispatched": "nothing was sent",
    "person": "a person says so",
    "model": "seen by the model, not verified",
}
"""Words for each kind of evidence."""


@dataclass(frozen=True, kw_only=True)
class Sent:
    """One irreversible act."""

    what: str
    """The request, or skill and target if there is none."""
    happened: bool | None
    """Whether the act happened; None if there is no evidence."""
    evidence: str
    detail: str = ""


async def sent_effects(store: Store, run_id: str) -> tuple[Sent, ...]:
    """The irreversible acts of a run, in the order in which they were sent."""
    found: list[Sent] = []
    run, _ = await store.load(run_id)
    for entry, outcome in decide_outcomes(await store.ledger(run_id), run.outcome_answers):
        if entry.dispatched_at is None or not entry.consequence:
            continue
        consequence = await store.consequence(run_id, entry.consequence)
        if consequence is not None and consequence.effect == "irreversible":
            plan = await store.plan(run_id, entry.version)
            expect = plan.steps[entry.index].expect if plan and entry.index < len(plan.steps) else None
            found.append(_build_sent(outcome, consequence, expect))
        elif consequence is None and entry.identity:
            found.append(_build_pruned(entry, outcome, await store.result(run_id)))
    return tuple(found)


def _build_pruned(entry: LedgerEntry, outcome: Outcome, result: Result | None) -> Sent:
    """Describe an act of a pruned run: what it sent was deleted, but it is known that it was sent."""
    steps = result.completed if result else ()
    says = next(
        (step.says or step.skill for step in steps if (step.version, step.index) == (entry.version, entry.index)), ""
    )
    what = f"{says or f'step {entry.index + 1} of plan {entry.version}'} (what was sent was pruned)"
    return Sent(what=what, happened=_has_happened(outcome), evidence=describe_evidence(outcome), detail=outcome.detail)


def _build_sent(outcome: Outcome, consequence: Consequence, expect: Expectation | None) -> Sent:
    address = count_addresses(consequence.commit.address)
    what = address or f"{consequence.skill} {consequence.target.label}".strip()
    evidence = describe_evidence(outcome)
    if outcome.evidence == "expectation" and outcome.status == "ok" and expect is not None:
        evidence = f"seen afterwards: {describe(expect)}"
    return Sent(what=what, happened=_has_happened(outcome), evidence=evidence, detail=outcome.detail)


def _has_happened(outcome: Outcome) -> bool | None:
    return None if outcome.status == "unknown" else outcome.status == "ok"


def describe_evidence(outcome: Outcome) -> str:
    """The evidence for the outcome, in words."""
    if outcome.reason == ELSEWHERE and outcome.evidence == "response":
        return "the server accepted it, but what was expected is not there"
    if outcome.status == "unknown":
        if outcome.reason in (ACCEPTED_BY_SERVER, SIGNED_IN):
            return "the server accepted it, but what was expected is not there"
        return "the server refused it" if outcome.reason in REFUSALS else "nothing shows whether it happened"
    if outcome.reason == ALREADY_DONE or (outcome.evidence == "person" and outcome.detail):
        return outcome.detail
    if outcome.evidence == "model" and outcome.detail:
        return f"{SHOWN_BY['model']}: {outcome.detail}"
    if outcome.claimed:
        return "the world says that nothing was sent"
    if outcome.status != "ok" and outcome.evidence == "probe":
        return "a probe did not find it"
    return SHOWN_BY[outcome.evidence]


NOT_SENT: dict[Sending, str] = {"nothing": "nothing was sent", "sign_in": "nothing but a sign-in was sent"}
SUPPORTED: dict[Evidence, str] = {
    "": "done, but nothing checked it",
    "expectation": "done, and the screen shows it",
    "absent_when": "done, but nothing checked it",
    "probe": "done, and a look afterwards found it",
    "rule": "done, and the answer says so",
    "response": "done, and it was accepted",
    "not_dispatched": "done, but nothing checked it",
    "person": "done, as a person says",
    "model": "done, and a model saw it on the screen",
}
"""Headlines of a success that is not verified, by what shows that its last effect happened."""
CHECKED: dict[Evidence, str] = {
    "expectation": "the screen shows what was expected; nothing else checked that it was stored",
    "probe": "a look that the planner chose found it; nothing else checked it",
    "rule": "the answer means so, by your policy; nothing else checked it",
    "response": "the server accepted it; nothing checked that it was stored",
    "person": "a person says that it happened; nothing else checked it",
    "model": "a model saw it on the screen; nothing else checked it",
}
FOUND_IMPOSSIBLE = "the planner found it impossible"
UNCHECKED = "nothing checked what was done: it is what the planner says"


def headline(result: Result) -> str:
    """How it ended, what supports that, and whether it sent anything."""
    if result.success and not result.verified and result.sending in ("effects", ""):
        if any(step.doubtful and step.irreversible for step in result.completed):
            return "done, but a step may not have happened"
        if result.shown_by is not None:
            return SUPPORTED[result.shown_by]
    sending = result.sending
    if sending == "nothing" and any(_takes_secret(step) for step in result.completed):
        sending = "sign_in"  # a form with nothing but a bound secret leaves without being held
    if result.final_reason == "structural_failure" and result.final_detail.startswith(FOUND_IMPOSSIBLE):
        return "; ".join(filter(None, ("not possible", NOT_SENT.get(sending, ""))))
    return headline_of(result.final_reason, verified=result.verified, sending=sending, answered=_is_answered(result))


def _takes_secret(step: CompletedStep) -> bool:
    return any(isinstance(value, Reference) and value.source == "secret" for _, value in step.arguments)


def _is_answered(result: Result) -> bool:
    return bool(result.answer or result.data)


def headline_of(final_reason: FinalReason, *, verified: bool, sending: Sending, answered: bool | None = None) -> str:
    """The headline as far as a list of runs knows it: not what supports that something was done, nor whether it `answered`."""
    if final_reason == "needs_human":  # it is not known that it failed
        words = "unclear: it may have happened"
    elif final_reason not in SUCCESSES:
        words = f"failed: {REASONS[final_reason]}"
    elif verified:
        words = "done, and verified"
    elif sending == "call":
        words = "returned"
    elif sending in NOT_SENT:
        words = {None: "done", True: "answered", False: SUPPORTED[""]}[answered]
    else:
        words = "done, not verified"
    return "; ".join(filter(None, (words, NOT_SENT.get(sending, ""))))


def describe_checks(result: Result) -> tuple[str, ...]:
    """What checked that the task is done, and what nothing checked: a sentence for each. Empty if it failed or is one call."""
    if not result.success or result.sending == "call":
        return ()
    if result.verified:
        by_task = result.final_reason == "goal_reached"
        return (
            "the task's own check holds" if by_task else "it was looked up afterwards: what was sent last is there",
        )
    if result.sending in NOT_SENT and _is_answered(result):
        if result.data and not result.unseen:
            return ("the values were on a screen of the run; what the answer makes of them was not checked",)
        return ("nothing checked the answer: it is what the model says",)
    if any(step.doubtful and step.irreversible for step in result.completed):
        return ("it is not known whether all that was sent took effect: see the marked steps",)
    return (CHECKED.get(result.shown_by or "", UNCHECKED),)


def tone_of(result: Result) -> Literal["good", "doubt", "plain", "bad"]:
    """The tone in which an end is shown. Only what was verified is good. A call that returned, and an answer, are plain: their reader has them."""
    if not result.success:
        return "bad"
    if result.verified:
        return "good"
    answered = result.sending in NOT_SENT and _is_answered(result)
    return "plain" if result.sending == "call" or answered else "doubt"


UNSEEN = "not seen on any screen; computed or worded by the model"


LONGEST_READ = 100
"""Characters of a text that was only read for the answer, as far as people see it."""


def shorten_value(value: Scalar, run: str, most: int = LONGEST_VALUE) -> Scalar:
    """The value, cut with a mark that says where all of it is: without a declared output, a run returns all that it read."""
    if not isinstance(value, str) or len(value) <= most:
        return value
    return f"{value[:most]}… cut here, of {len(value)} characters: `midcourse show {run} --json` prints all"


def describe_values(result: Result) -> tuple[tuple[str, str], ...]:
    """The values that the run returned, by name, each with its source and a mark if it was nowhere to be seen.

    Beside an answer, a text that the planner has only read for it is cut, and shown once under all of its names.
    """
    sources, found = dict(result.sources), list[tuple[str, str]]()
    for name, value in result.data:
        if result.answer and isinstance(value, str) and len(value) > LONGEST_READ and name not in sources:
            names = [each for each, text in result.data if text == value and each not in sources]
            if name == names[-1]:
                found.append((", ".join(names), format_argument(shorten_value(value, result.run, LONGEST_READ))))
            continue
        source = f"from {sources[name]}" if sources.get(name) else ""
        about = "; ".join(filter(None, (source, UNSEEN if name in result.unseen else "")))
        shown = format_argument(shorten_value(value, result.run))
        found.append((name, shown + (f"  ({about})" if about else "")))
    return tuple(found)


def describe_end(result: Result) -> str:
    """The reason in detail. Of a step in doubt it has the plan's words, where the director knows only its skill."""
    doubtful = [step for step in result.completed if step.doubtful and step.irreversible and step.says]
    named = f"whether {doubtful[-1].skill} happened" if doubtful else ""
    if result.final_reason != "needs_human" or not named or named not in result.final_detail:
        return result.final_detail
    return result.final_detail.replace(named, f"whether '{doubtful[-1].says}' happened", 1)


def describe_counts(result: Result) -> str:
    most = "at most " if result.budget.at_most else ""
    parts = [
        pluralize(result.steps, "step"),
        pluralize(result.budget.segments, "plan"),
        pluralize(result.executions, "act"),
        pluralize(result.planner_calls, "planner call") + (f" and {result.reused} saved" if result.reused else ""),
        format_seconds(result.wall_seconds),
        *([most + pluralize(result.budget.tokens, "token")] if result.budget.tokens else []),
        *([f"{most}${result.budget.cost_usd:.4f}"] if result.budget.cost_usd else []),
    ]
    return ", ".join(parts)


def describe_ways(result: Result) -> tuple[str, ...]:
    """How many steps used visible controls, if some did not, and how detours went, if there were any."""
    lines: list[str] = []
    if result.global_steps:
        lines.append(f"{result.steps - result.global_steps} on visible controls, {result.global_steps} without a zone")
    if (found := result.detours).detours:
        tries, reverts = f"{found.tries} {'try' if found.tries == 1 else 'tries'}", pluralize(found.reverts, "revert")
        rest = f"{pluralize(found.explorations, 'exploration')}, {found.cancels} given up"
        lines.append(f"{pluralize(found.detours, 'detour')}: {tries}, {reverts}, {rest}")
    return tuple(lines)


def suggest_next(result: Result, unattended: bool, page: str = "") -> str:
    """What to do next, in one or two sentences: what can be typed, or looked at. Empty if there is nothing.

    `unattended`: a question was denied because there was no terminal. `page`: the address of the last screen.
    """
    show = f"midcourse show {result.run}"
    used = result.budget
    if unattended and result.final_reason == "rejected":
        return show
    match result.final_reason:
        case "goal_reached" | "plan_complete":
            return show if result.verified else _suggest_after_claim(result, show, page)
        case "replan_exhausted":
            return _suggest_after_failures(used, show)
        case "budget_exhausted":
            return f"the same command with --set {_raise_scarcest(used)}; {show} lists what the budget was spent on"
        case "deadline_exceeded":
            return f"more time with --set deadline_seconds=N (or none); {show}"
        case "structural_failure" | "replan_no_change" | "empty_plan":
            return f"something has to change first, as said above: more tries will not help; {show} lists what was done"
        case "rejected":
            return "nothing was sent; run it again, and answer no with guidance to have it do something else"
        case "needs_human":
            return f"first find out whether it happened, where it would be listed or confirmed; only if it did not, start it again. {show} lists what was done"
        case "contradicted":
            return f"look yourself{f' at {page}' if page else ''}, and finish by hand or start a new run; {show} lists what was done"
        case "planner_unavailable":
            return "make sure that the planner can be reached, then run it again"
        case "outage":
            return f"make sure that it can be reached, then run it again; to wait longer: --set max_outage_seconds=N; {show}"
        case "world_lost":
            return f"make sure that the world can be reached, then run it again; {show}"
        case "cancelled":
            return f"{show}; a cancelled run is over, a new one starts from what is there"
        case "internal_error":
            return f"please report it, with {show} --json"


def _suggest_after_claim(result: Result, show: str, page: str) -> str:
    match result.sending:
        case "call":
            return show
        case "nothing" | "sign_in" if _is_answered(result):
            return f"{show} lists what it looked at"
        case "nothing" | "sign_in":
            return (
                f"if something should have been sent, run it again with --sends: then this counts as a failure; {show}"
            )
        case "effects" | "":
            return (
                f"look yourself whether it is there: {page}; {show}"
                if page
                else f"look yourself whether it is there; {show}"
            )


def _suggest_after_failures(used: BudgetUsed, show: str) -> str:
    if not _may_replan(used):
        return f"{show} says what failed; it was not to be planned again"
    spent = used.error_replans >= used.max_error_replans
    name, most = ("max_error_replans", used.max_error_replans) if spent else ("max_replans", used.max_replans)
    return f"{show} lists what failed; to allow more: --set {name}={max(1, 2 * most)}"


def _may_replan(used: BudgetUsed) -> bool:
    """Whether the run was allowed to plan again. One call of a guarded function never is."""
    return bool(used.max_replans or used.max_error_replans)


def _raise_scarcest(used: BudgetUsed) -> str:
    """The override that doubles the ceiling that was used up most."""
    shares = [
        (used.calls / used.max_calls, f"max_calls={2 * used.max_calls}"),
        (used.segments / used.max_segments, f"max_segments={2 * used.max_segments}"),
        (used.wall_seconds / used.max_wall_seconds, f"max_wall_seconds={2 * used.max_wall_seconds:g}"),
    ]
    if used.max_tokens is not None:
        shares.append((used.tokens / used.max_tokens, f"max_tokens={2 * used.max_tokens}"))
    if used.max_cost_usd is not None:
        shares.append((used.cost_usd / used.max_cost_usd, f"max_cost_usd={2 * used.max_cost_usd:g}"))
    return max(shares)[1]


def effect_lines(log: Path) -> tuple[str, ...]:
    """The lines of the world's own log of its effects; empty if it keeps none."""
    from midcourse.worlds.simulated.effects import read_effects  # worlds are not loaded to show a run

    return tuple(
        f"{entry.effect} {', '.join(f'{name}={value}' for name, value in entry.values.items())}".strip()
        for entry in read_effects(log)
    )
