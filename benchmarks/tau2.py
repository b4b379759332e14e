"""Is an effect repeated, or a task called finished falsely, when an answer is lost in tasks that others wrote?

    python -m benchmarks.tau2 --json

Tasks: all 50 of tau2's airline (from PyPI's `inspect-evals`, pinned), and all 42 of BFCL's set `multi_turn_base` (from PyPI's `bfcl-eval`,
pinned) that use only its trading, ticket and message systems. Each task comes with its gold calls. Every arm makes these calls in this
order; a call that a tool refuses is left out. So no model plans, and only what happens after a fault differs.

Faults, each at one call that changes the database, so that a task has as many cases as such calls:

none      nothing happens; one case for each task
answer    the tool carries the call out, and the caller gets a time-out
request   the tool does not get the call, and the caller gets the same time-out
kill      the tool carries the call out, and the caller is killed with -9 and started again; only for tools that accept a repetition

Arms:

plain loop               calls again after a time-out; begins again after a kill
langgraph                one node for a call, progress in SQLite after each, `RetryPolicy` for time-outs; `invoke(None)` after a kill
…, checks first          the same, and before each call that writes it asks a probe (a function over the reading tools of the domain)
                         whether the effect exists already, and if so does not make the call
midcourse                the tools as a world of functions, those that write irreversible, with the same probes; `resume` after a kill; a
                         person approves every call, and is not there for other questions, so that a question ends the run
midcourse, no probes     the same without probes

equal       cases in which the final database is that of the gold calls, by the comparison of tau2 and BFCL
finished    cases that the program itself calls finished
false       cases that it calls finished although the database is not equal
twice       calls that changed the database again, beyond the gold calls, in the log of the tools' process
asked       cases in which Midcourse asked a person whether something happened

Each domain is a result of its own.
"""

import argparse
import hashlib
import logging
import sys
import time
from collections import Counter
from contextlib import ExitStack
from typing import Any

from benchmarks.harness.arm_workers import Worker
from benchmarks.harness.report import describe_machine, format_table, make_parser, report
from benchmarks.tool_tasks.trial import ARMS, DOMAINS, FAULTS, Known, Outcome, Server, run_case

COLUMNS = ["tasks of", "fault", "arm", "cases", "telling", "equal", "finished", "false", "twice", "asked"]
TOOL_COLUMNS = ["tasks of", "tool", "calls", "repetition changes something", "refused by the tool", "changes nothing"]
MEANING = """\
What this shows. The tasks, tools, databases and comparisons are those of others; the faults and the probes are ours. A case is telling if the
tool accepts the same call twice and that changes the database: only there can a repetition do harm. The other cases show whether a task is
finished all the same. A probe is knowledge about a domain that somebody has to write; the arms that check first have it as well. The table
shows nothing about a model's choices, and cannot be compared with published scores of tau2 or BFCL."""


def select_tasks(names: list[str], limit: int) -> list[str]:
    """Select all tasks, or those `limit` tasks whose names have the smallest hashes."""
    chosen = sorted(names, key=lambda name: hashlib.sha256(name.encode()).hexdigest())[: limit or None]
    return [name for name in names if name in chosen]


def run_domain(domain: str, args: argparse.Namespace, workers: dict[str, Worker]) -> tuple[list[Known], list[Outcome]]:
    outcomes: list[Outcome] = []
    with Server(domain) as server:
        tasks = [server.describe(task) for task in select_tasks(server.client.ask("tasks"), args.limit)]
        for known in tasks:
            for fault in args.faults:
                for call in find_places(known, fault):
                    outcomes += (run_case(server, known, ARMS[arm], workers[arm], fault, call) for arm in args.arms)
    return tasks, outcomes


def find_places(known: Known, fault: str) -> list[dict[str, object] | None]:
    """Return the calls of a task at which this fault happens, each in a case of its own."""
    if fault == "none":
        return [None]
    return [call for call in known.find_writes() if fault != "kill" or call["again"] == "changed"]


def make_row(domain: str, fault: str, arm: str, outcomes: list[Outcome]) -> dict[str, object]:
    fitting = [each for each in outcomes if (each.domain, each.fault, each.arm) == (domain, fault, arm)]
    return {
        "domain": domain,
        "fault": fault,
        "arm": arm,
        "cases": len(fitting),
        "telling": sum(each.tells for each in fitting),
        "equal": sum(each.equal for each in fitting),
        "finished": sum(each.finished for each in fitting),
        "false": sum(each.finished and not each.equal for each in fitting),
        "twice": sum(each.twice for each in fitting),
        "asked": sum(each.asked > 0 for each in fitting),
    }


def count_tools(tasks: list[Known]) -> list[dict[str, object]]:
    """Count what each tool does if a gold call that changed the database is made twice in a row."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    for known in tasks:
        for call in known.find_writes():
            counts.setdefault((known.domain, call["tool"]), Counter())[call["again"]] += 1
    return [
        {"domain": domain, "tool": tool, "calls": found.total(), **{did: found[did] for did in DID}}
        for (domain, tool), found in sorted(counts.items())
    ]


PACKAGES = "inspect-evals 0.26.0, inspect-ai 0.3.285, bfcl-eval 2026.3.23, langgraph 1.2.20"
DID = ("changed", "refused", "unchanged")


def find_losses(outcomes: list[Outcome]) -> dict[str, int]:
    """Count the cases in which Midcourse did not reach the right end by itself, by fault, tool and reason."""
    ours = (each for each in outcomes if each.arm == "midcourse" and not (each.equal and each.finished))
    return dict(
        Counter(
            f"{each.domain}, {each.fault}, {each.tool or 'no fault'}: "
            f"{each.reason if not each.finished else 'called finished, and the database differs'}"
            for each in ours
        )
    )


def format_text(rows: list[dict[str, object]], tools: list[dict[str, object]], losses: dict[str, int]) -> str:
    names = ("domain", "fault", "arm", "cases", "telling", "equal", "finished", "false", "twice", "asked")
    results = format_table(
        COLUMNS,
        [["–" if name == "telling" and row["fault"] == "none" else str(row[name]) for name in names] for row in rows],
    )
    repeated = format_table(
        TOOL_COLUMNS, [[str(row[name]) for name in ("domain", "tool", "calls", *DID)] for row in tools]
    )
    lost = format_table(
        ["where Midcourse does not finish rightly by itself", "cases"],
        [[what, str(number)] for what, number in losses.items()] or [["nowhere", "0"]],
    )
    return "\n\n".join([results, "What the tools do if a gold call is made twice in a row:", repeated, lost, MEANING])


def format_overview(*summaries: dict[str, Any]) -> str:
    """Return the table of docs/peers.md: for each fault and arm, the cases that ended right and were called finished."""
    found = {(row["domain"], row["fault"], row["arm"]): row for summary in summaries for row in summary["rows"]}
    places = dict.fromkeys((domain, fault) for domain, fault, _ in found)
    arms = list(dict.fromkeys(arm for _, _, arm in found))
    rows = [[domain, fault, *(_format_counts(found[domain, fault, arm]) for arm in arms)] for domain, fault in places]
    return format_table(["tasks of", "fault", *arms], rows)


def _format_counts(row: dict[str, Any]) -> str:
    counts = [f"{row['finished'] - row['false']} of {row['cases']}"]
    counts += [f"{row[name]} {name}" for name in ("twice", "asked") if row[name]]
    return ", ".join(counts)


def measure_domain(domain: str, args: argparse.Namespace, workers: dict[str, Worker]) -> tuple[dict[str, object], str]:
    """Return the summary of a domain, and its tables."""
    began = time.monotonic()
    tasks, outcomes = run_domain(domain, args, workers)
    rows = [make_row(domain, fault, arm, outcomes) for fault in args.faults for arm in args.arms]
    tools, losses = count_tools(tasks), find_losses(outcomes)
    summary: dict[str, object] = {
        "rows": rows,
        "tools": tools,
        "losses": losses,
        "errors_with_effect": sum(each.errors_with_effect for each in outcomes),
        "tasks": len(tasks),
        "tasks_that_change_nothing": sum(not known.find_writes() for known in tasks),
        "packages": PACKAGES,
        "seconds": round(time.monotonic() - began, 1),
        "machine": describe_machine(),
    }
    return summary, format_text(rows, tools, losses)


def main(args: argparse.Namespace) -> int:
    logging.disable(logging.CRITICAL)
    with ExitStack() as stack:
        workers = {name: Worker(f"tool-tasks-{number}", ARMS[name].make_command) for number, name in enumerate(ARMS)}
        for worker in workers.values():
            stack.callback(worker.close)
        for domain in args.domains:
            summary, text = measure_domain(domain, args, workers)
            report(args, f"tau2_{domain}", summary, text)
    return 0


if __name__ == "__main__":
    parser = make_parser(__doc__)
    parser.add_argument("--domains", nargs="+", default=list(DOMAINS), choices=list(DOMAINS))
    parser.add_argument("--arms", nargs="+", default=list(ARMS), choices=list(ARMS))
    parser.add_argument("--faults", nargs="+", default=list(FAULTS), choices=FAULTS)
    parser.add_argument("--limit", type=int, default=0, help="tasks of each domain, chosen by a hash; 0: all")
    sys.exit(main(parser.parse_args()))
