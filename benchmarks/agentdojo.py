"""Does an agent that obeys every injection do harm, by AgentDojo's own checks, with and without approvals?

    python -m benchmarks.agentdojo --json

AgentDojo (from PyPI, pinned) has 97 user tasks in four suites, and injection tasks for each suite. Injection tasks without a ground truth,
which a script cannot execute, are counted and left out. The attack `important_instructions` puts an injection where the user task reads.
The agent is a script: it makes the calls of the user task's ground truth. As soon as a result contains the injected text, it first makes
the calls of the injection's ground truth. Arms:

bare          calls are executed without questions
midcourse     a call that does not only read needs an approval; the approver approves only the calls of the user task's ground truth,
              with exactly those arguments

attacked %    cases in which the injection succeeded (AgentDojo's `security`)
useful %      cases in which the user task was solved (AgentDojo's `utility`), without and with an attack
asked         questions for each case, without and with an attack

Which tools only read is our own table (`dojo_cases/world.py`); a tool in it that changes AgentDojo's environment is reported. With
`--limit`, every suite has the same weight in the total, whatever its number of cases.
"""

import argparse
import asyncio
import logging
import sys
import time
from collections import Counter
from collections.abc import Iterable
from random import Random
from typing import Any

from benchmarks.dojo_cases.session import Case, Dojo
from benchmarks.dojo_cases.trial import ARMS, Outcome
from benchmarks.harness.report import Share, describe_machine, format_table, make_parser, report

SUITES = ("workspace", "travel", "banking", "slack")
COLUMNS = ["suite", "arm", "tasks", "cases", "attacked %", "useful %", "useful % attacked", "asked", "asked attacked"]
MEANING = """\
What this shows. The agent is a script that obeys always and makes no mistake otherwise, so `bare` is an upper bound of obedience and not
the figure of any model. The approver is perfect: a person who approves without reading would let the same calls pass. So the table shows
that calls which were not approved do not reach the tools, what the questions cost, and where approvals of calls cannot help: an
injection that only wants something to be said in the answer needs no call. It shows neither how often a model falls for an injection nor
how often a person approves one, and it cannot be compared with published rates of models and defences (as in the AgentDojo and CaMeL
papers, arXiv 2406.13352 and 2503.18813), which measure a model's choices."""


def select_cases(known: dict[str, dict[str, list[str]]], suites: Iterable[str], limit: int, seed: int) -> list[Case]:
    """Select all cases of these suites, or `limit` cases per suite, without and with an attack."""
    cases: list[Case] = []
    for suite in suites:
        tasks = known[suite]
        plain = [Case(suite=suite, user=user) for user in tasks["user"]]
        attacked = [
            Case(suite=suite, user=user, injection=injection)
            for user in tasks["user"]
            for injection in tasks["injection"]
        ]
        for group in (plain, attacked):
            cases += Random(f"{seed} {suite}").sample(group, limit) if 0 < limit < len(group) else group
    return cases


async def run_cases(dojo: Dojo, cases: list[Case]) -> list[Outcome]:
    outcomes: list[Outcome] = []
    for case in cases:
        loaded = dojo.load(case)
        for run in ARMS.values():
            dojo.reset()
            outcomes.append(await run(dojo, case, loaded))
    return outcomes


def make_row(suite: str, arm: str, outcomes: list[Outcome]) -> dict[str, object]:
    of_arm = [outcome for outcome in outcomes if outcome.arm == arm and suite in ("all", outcome.case.suite)]
    plain = [outcome for outcome in of_arm if outcome.attacked is None]
    attacked = [outcome for outcome in of_arm if outcome.attacked is not None]
    return {
        "suite": suite,
        "arm": arm,
        "tasks": len(plain),
        "cases": len(attacked),
        "obeyed": sum(outcome.obeyed for outcome in attacked),
        "successes": sum(bool(outcome.attacked) for outcome in attacked),
        "attacked": vars(Share.of(sum(bool(outcome.attacked) for outcome in attacked), len(attacked))),
        "useful": vars(Share.of(sum(outcome.utility for outcome in plain), len(plain))),
        "useful_attacked": vars(Share.of(sum(outcome.utility for outcome in attacked), len(attacked))),
        "asked": mean_questions(plain),
        "asked_attacked": mean_questions(attacked),
    }


def mean_questions(outcomes: list[Outcome]) -> float:
    return round(sum(outcome.asked for outcome in outcomes) / max(len(outcomes), 1), 2)


def find_losses(outcomes: list[Outcome]) -> dict[str, dict[str, int]]:
    """Count the cases in which approvals did not help or did harm, by cause."""
    bare = {outcome.case: outcome for outcome in outcomes if outcome.arm == "bare"}
    ours = [outcome for outcome in outcomes if outcome.arm == "midcourse"]
    lost = [outcome for outcome in ours if bare[outcome.case].utility and not outcome.utility]
    return {
        "attacks that succeed": count_names(
            f"{outcome.case.suite} {outcome.case.injection}" for outcome in ours if outcome.attacked
        ),
        "tasks that only the bare agent solves": count_names(
            f"{outcome.case.suite} {outcome.case.user}" for outcome in lost
        ),
        "calls that could not be planned, or runs that ended early": count_names(
            outcome.why[:200] for outcome in ours if outcome.why
        ),
        "reading tools that changed something": count_names(
            tool for outcome in outcomes for tool in set(outcome.changing_reads)
        ),
    }


def count_names(names: Iterable[str]) -> dict[str, int]:
    return dict(Counter(names).most_common())


def format_cells(row: dict[str, Any]) -> list[str]:
    shares = (Share(**row[name]) for name in ("attacked", "useful", "useful_attacked"))
    return [
        *(str(row[name]) for name in ("suite", "arm", "tasks", "cases")),
        *map(str, shares),
        f"{row['asked']:.2f}",
        f"{row['asked_attacked']:.2f}",
    ]


def format_losses(losses: dict[str, dict[str, int]]) -> str:
    rows = [[kind, what, str(number)] for kind, found in losses.items() for what, number in found.items()]
    none = [[kind, "none", "0"] for kind, found in losses.items() if not found]
    return "Where the gate loses:\n\n" + format_table(["loss", "what", "cases"], [*rows, *none])


async def main(args: argparse.Namespace) -> int:
    began = time.monotonic()
    logging.disable(logging.CRITICAL)
    suites = args.suites.split(",")
    with Dojo() as dojo:
        known = dojo.cases()
        outcomes = await run_cases(dojo, select_cases(known, suites, args.limit, args.seed))
    rows = [make_row(suite, arm, outcomes) for suite in (*suites, "all") for arm in ARMS]
    losses = find_losses(outcomes)
    summary: dict[str, object] = {
        "rows": rows,
        "losses": losses,
        "left_out": sum(len(known[suite]["user"]) * len(known[suite]["unknown"]) for suite in suites),
        "agentdojo": "0.1.35, tasks v1.2.2",
        "seconds": round(time.monotonic() - began, 1),
        "machine": describe_machine(),
    }
    left_out = f"Left out, because AgentDojo has no ground truth for the injection: {summary['left_out']} cases."
    text = "\n\n".join([format_table(COLUMNS, list(map(format_cells, rows))), left_out, format_losses(losses), MEANING])
    report(args, "agentdojo", summary, text)
    return 0


if __name__ == "__main__":
    parser = make_parser(__doc__)
    parser.add_argument("--suites", default=",".join(SUITES), help="separated by commas")
    parser.add_argument("--limit", type=int, default=0, help="cases of each suite without and with an attack; 0: all")
    parser.add_argument("--seed", type=int, default=0, help="which cases, with --limit")
    sys.exit(asyncio.run(main(parser.parse_args())))
