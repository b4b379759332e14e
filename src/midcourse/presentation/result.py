"""The result of a run in words: its headline, what it sent, what it cost in calls and time, and what to do next."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from midcourse.domain.approval import Consequence
from midcourse.domain.moves import FinalReason
from midcourse.domain.outcome import ACCEPTED_BY_SERVER, ALREADY_DONE, REFUSALS, SIGNED_IN, Evidence, Outcome
from midcourse.domain.records.ledger import LedgerEntry
from midcourse.domain.records.summary import Sending
from midcourse.domain.result import SUCCESSES, BudgetUsed, Result
from midcourse.ports.store import Store
from midcourse.presentation.vocabulary import REASONS, format_seconds, pluralize

DENIED_UNASKED = "there was no terminal to ask in: run it in one, or set approvals=never (--approvals never)"
UNDECIDED_UNASKED = "there was no terminal to ask in what happened: run it in one, or give the step a probe"
EFFECTS = "effects.jsonl"
"""The name of the file in a run's folder in which a simulated world logs its effects."""
SHOWN_BY: dict[Evidence, str] = {
    "": "the world reported it",
    "expectation": "what was expected was seen",
    "absent_when": "it was seen that nothing was stored",
    "probe": "a probe found it",
    "rule": "the answer means so, by your policy",
    "response": "a successful answer",
    "not_dispatched": "nothing was sent",
    "person": "you confirmed it",
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
    for entry in await store.ledger(run_id):
        if entry.dispatched_at is None or not entry.consequence:
            continue
        consequence = await store.consequence(run_id, entry.consequence)
        if consequence is not None and consequence.effect == "irreversible":
            found.append(_build_sent(entry, consequence))
        elif consequence is None and entry.identity:
            found.append(_build_pruned(entry, await store.result(run_id)))
    return tuple(found)


def _build_pruned(entry: LedgerEntry, result: Result | None) -> Sent:
    """Describe an act of a pruned run: what it sent was deleted, but it is known that it was sent."""
    steps = result.completed if result else ()
    says = next(
        (step.says or step.skill for step in steps if (step.version, step.index) == (entry.version, entry.index)), ""
    )
    outcome = entry.outcome or Outcome(status="unknown")
    what = f"{says or f'step {entry.index + 1} of plan {entry.version}'} (what was sent was pruned)"
    return Sent(what=what, happened=_has_happened(outcome), evidence=describe_evidence(outcome), detail=outcome.detail)


def _build_sent(entry: LedgerEntry, consequence: Consequence) -> Sent:
    outcome = entry.outcome or Outcome(status="unknown")
    what = consequence.commit.address or f"{consequence.skill} {consequence.target.label}".strip()
    return Sent(what=what, happened=_has_happened(outcome), evidence=describe_evidence(outcome), detail=outcome.detail)


def _has_happened(outcome: Outcome) -> bool | None:
    return None if outcome.status == "unknown" else outcome.status == "ok"


def describe_evidence(outcome: Outcome) -> str:
    """The evidence for the outcome, in words."""
    if outcome.status == "unknown":
        if outcome.reason in (ACCEPTED_BY_SERVER, SIGNED_IN):
            return "the server accepted it, but what was expected is not there"
        return "the server refused it" if outcome.reason in REFUSALS else "nothing shows whether it happened"
    if outcome.reason == ALREADY_DONE:
        return outcome.detail
    if outcome.claimed:
        return "the world says that nothing was sent"
    if outcome.status != "ok" and outcome.evidence == "probe":
        return "a probe did not find it"
    return SHOWN_BY[outcome.evidence]


def headline(result: Result) -> str:
    """Whether it succeeded, separately whether that was verified, and whether it sent anything."""
    return headline_of(result.final_reason, verified=result.verified, sending=result.sending)


NOT_SENT: dict[Sending, str] = {"nothing": "; nothing was sent", "sign_in": "; nothing but a sign-in was sent"}


def headline_of(final_reason: FinalReason, *, verified: bool, sending: Sending) -> str:
    if final_reason not in SUCCESSES:
        words = f"failed: {REASONS[final_reason]}"
    elif verified:
        words = "done, and verified"
    else:
        words = "returned" if sending == "call" else "done, not verified"
    return words + NOT_SENT.get(sending, "")


def tone_of(result: Result) -> Literal["good", "doubt", "plain", "bad"]:
    """The tone in which an end is shown. Only what was verified is good. A call that returned is plain: its caller has the value."""
    if not result.success:
        return "bad"
    if result.verified:
        return "good"
    return "plain" if result.sending == "call" else "doubt"


def describe_counts(result: Result) -> str:
    parts = [
        pluralize(result.steps, "step"),
        pluralize(result.budget.segments, "plan"),
        pluralize(result.executions, "act"),
        pluralize(result.planner_calls, "planner call") + (f" and {result.reused} saved" if result.reused else ""),
        format_seconds(result.wall_seconds),
        *([pluralize(result.budget.tokens, "token")] if result.budget.tokens else []),
        *([f"${result.budget.cost_usd:.4f}"] if result.budget.cost_usd else []),
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


def suggest_next(result: Result, unattended: bool) -> str:
    """What to do next, in one or two sentences. `unattended`: a question was denied because there was no terminal."""
    show = f"midcourse show {result.run}"
    used = result.budget
    if unattended and result.final_reason == "rejected":
        return show
    match result.final_reason:
        case "goal_reached" | "plan_complete":
            return show if result.verified else _suggest_after_claim(result.sending, show)
        case "replan_exhausted":
            return _suggest_after_failures(used, show)
        case "budget_exhausted":
            return f"the same command with --set {_raise_scarcest(used)}; {show} lists what the budget was spent on"
        case "deadline_exceeded":
            return f"more time with --set deadline_seconds=N (or none); {show}"
        case "structural_failure" | "replan_no_change" | "empty_plan":
            return f"change the task, its world or its planner: planning again would not help; {show}"
        case "rejected":
            return "nothing was sent; run it again, and answer no with guidance to have it do something else"
        case "needs_human" | "contradicted":
            return f"look at the world, and finish by hand or start a new run; {show}"
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


def _suggest_after_claim(sending: Sending, show: str) -> str:
    match sending:
        case "call":
            return show
        case "nothing" | "sign_in":
            return f"if it was to send something, run it with --sends (`sends = true` in a task file): then this fails; {show}"
        case "effects" | "":
            return f"add a `done_when` check so that success can be verified; {show}"


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
