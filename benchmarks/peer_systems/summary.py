"""Summary of the runs: rows, scenarios, the pairs that cannot be compared, and the rows where Midcourse loses."""

from collections.abc import Sequence
from dataclasses import asdict
from statistics import median
from typing import Any, Literal

from benchmarks.harness.report import Share, format_table
from benchmarks.peer_systems.cells import ERRING, SITE_FAULTS, WAGTAIL_FAULTS, Cell, digest_cells
from benchmarks.peer_systems.systems import SYSTEMS
from benchmarks.peer_systems.trial import RunOutcome

OURS, BARE = "midcourse", "midcourse-bare"
COSTS = ("calls", "tokens_in", "cached", "tokens_out", "usd", "usd_uncached")


def summarize(outcomes: list[RunOutcome], wanted: int, frozen: list[Cell]) -> dict[str, Any]:
    """Return the figures of the runs. `frozen`: the list of cells that they belong to."""
    keys = dict.fromkeys((outcome.app, outcome.fault, outcome.profile, outcome.system) for outcome in outcomes)
    rows = [
        make_row(
            key,
            [outcome for outcome in outcomes if (outcome.app, outcome.fault, outcome.profile, outcome.system) == key],
        )
        for key in sorted(keys, key=list(keys).index)
    ]
    systems = [name for name in SYSTEMS if any(outcome.system == name for outcome in outcomes)]
    shared = keep_shared([each for each in outcomes if each.app != "wagtail" and each.profile not in ERRING])
    in_wagtail = keep_shared([each for each in outcomes if each.app == "wagtail"])
    erring = keep_shared([each for each in outcomes if each.profile in ERRING])
    compared = [name for name in SYSTEMS if any(outcome.system == name for outcome in shared)]
    return {
        "cells": digest_cells(frozen),
        "frozen_cells": len(frozen),
        "wanted": wanted,
        "runs": len(outcomes),
        "systems": {
            name: {
                "versions": SYSTEMS[name].read_versions(),
                "settings": SYSTEMS[name].settings,
                "recovery": SYSTEMS[name].recovery,
            }
            for name in systems
        },
        "not_comparable": list_not_comparable(outcomes),
        "rows": rows,
        "overall": [make_overall_row(name, shared) for name in compared],
        "faults": make_parts("fault", SITE_FAULTS, shared),
        "wagtail": make_parts("fault", WAGTAIL_FAULTS, in_wagtail),
        "erring": make_parts("profile", ERRING, erring),
        "losses": list_losses(rows),
        "troubled": [asdict(outcome) for outcome in outcomes if outcome.system == OURS and not outcome.completed][:40],
    }


def count_scenarios(outcomes: list[RunOutcome]) -> dict[str, int]:
    """Count scenarios: an application, a fault and a profile. The same script decides in every run, so that seeds mostly repeat a
    run and are no sample. A scenario is completed if all its runs are, and repeated or asked if one of them is.
    """
    runs: dict[tuple[str, str, str], list[RunOutcome]] = {}
    for outcome in outcomes:
        if outcome.begun:
            runs.setdefault((outcome.app, outcome.fault, outcome.profile), []).append(outcome)
    return {
        "scenarios": len(runs),
        "completed": sum(all(run.completed for run in group) for group in runs.values()),
        "repeated": sum(any(run.repeated for run in group) for group in runs.values()),
        "false_done": sum(any(run.false_done for run in group) for group in runs.values()),
        "asked": sum(any(run.doubts for run in group) for group in runs.values()),
    }


def make_row(key: tuple[str, str, str, str], outcomes: list[RunOutcome]) -> dict[str, Any]:
    app, fault, profile, system = key
    return {"app": app, "fault": fault, "profile": profile, "system": system, **count_runs(outcomes)}


def count_runs(outcomes: list[RunOutcome]) -> dict[str, Any]:
    begun = [outcome for outcome in outcomes if outcome.begun]
    completed = sum(outcome.completed for outcome in begun)
    return {
        "runs": len(begun),
        "completed": completed,
        "share": asdict(Share.of(completed, len(begun))),
        "repeated": sum(outcome.repeated > 0 for outcome in begun),
        "false_done": sum(outcome.false_done for outcome in begun),
        "asked": sum(outcome.doubts > 0 for outcome in begun),
        "without_the_fault": sum(not outcome.happened for outcome in begun),
        "not_begun": len(outcomes) - len(begun),
        **{name: round(median(getattr(outcome, name) for outcome in begun), 6) if begun else 0 for name in COSTS},
    }


def keep_shared(candidates: list[RunOutcome]) -> list[RunOutcome]:
    """Keep the runs in cells that every system among these has run."""
    systems = {outcome.system for outcome in candidates}
    done: dict[tuple[str, str, str, int], set[str]] = {}
    for outcome in candidates:
        done.setdefault((outcome.app, outcome.fault, outcome.profile, outcome.seed), set()).add(outcome.system)
    return [
        outcome for outcome in candidates if done[outcome.app, outcome.fault, outcome.profile, outcome.seed] == systems
    ]


def make_overall_row(system: str, shared: list[RunOutcome]) -> dict[str, Any]:
    of_system = [outcome for outcome in shared if outcome.system == system]
    return {"system": system, **count_runs(of_system), "by_scenario": count_scenarios(of_system)}


def make_parts(
    name: Literal["fault", "profile"], values: Sequence[str], shared: list[RunOutcome]
) -> list[dict[str, Any]]:
    """Make a row for each fault or profile and each system."""
    systems = [system for system in SYSTEMS if any(outcome.system == system for outcome in shared)]
    selected = {
        (value, system): [each for each in shared if (each.system, getattr(each, name)) == (system, value)]
        for value in values
        for system in systems
    }
    return [
        {"system": system, name: value, **count_runs(runs), "by_scenario": count_scenarios(runs)}
        for (value, system), runs in selected.items()
    ]


def list_not_comparable(outcomes: list[RunOutcome]) -> list[str]:
    """List the pairs of system and application that did not complete an undisturbed run with a model that makes no errors."""
    failed = [
        outcome
        for outcome in outcomes
        if outcome.fault == "clean" and outcome.profile not in ERRING and outcome.begun and not outcome.completed
    ]
    return [f"{system} on {app}" for system, app in dict.fromkeys((outcome.system, outcome.app) for outcome in failed)]


def list_losses(rows: list[dict[str, Any]]) -> list[str]:
    """List each row in which Midcourse, with or without probes, repeats, claims falsely, completes less than a peer or needs more tokens."""
    losses: list[str] = []
    for ours in rows:
        if ours["system"] not in (OURS, BARE) or not ours["runs"]:
            continue
        where = f"{ours['system']}, {ours['app']}, {ours['fault']}, {ours['profile']}"
        losses += [f"{where}: {ours[name]} {name}" for name in ("repeated", "false_done") if ours[name]]
        for row in rows:
            is_same_case = all(row[name] == ours[name] for name in ("app", "fault", "profile"))
            if not is_same_case or row["system"].startswith(OURS) or not row["runs"]:
                continue
            if row["share"]["share"] > ours["share"]["share"]:
                losses.append(f"{where}: {format_share(ours)} % completed, {row['system']} {format_share(row)} %")
            if row["completed"] and row["tokens_in"] < ours["tokens_in"]:
                losses.append(
                    f"{where}: {ours['tokens_in']:,.0f} prompt tokens, {row['system']} {row['tokens_in']:,.0f}"
                )
    return losses


def format_share(row: dict[str, Any]) -> str:
    return f"{100 * row['share']['share']:.1f}"


def format_tables(summary: dict[str, Any]) -> str:
    done = f"{summary['runs']} of {summary['frozen_cells']} frozen cells (digest `{summary['cells']}`) are done."
    header = ["application", "fault", "model", "system", *(title for title, _ in COLUMNS)]
    rows = [[row["app"], row["fault"], row["profile"], row["system"], *_format_cells(row)] for row in summary["rows"]]
    versions = [
        [name, ", ".join(" ".join(pair) for pair in system["versions"].items()), system["settings"], system["recovery"]]
        for name, system in summary["systems"].items()
    ]
    parts = [
        done,
        (
            "All faults, trusting and careful, without Wagtail, the cells that every system has done. A scenario is an application, a fault and "
            "a profile; calls, tokens and dollars are medians of runs:"
        ),
        format_overall(summary),
        format_parts(summary["faults"]),
        *([f"In Wagtail:\n\n{format_parts(summary['wagtail'])}"] if summary["wagtail"] else []),
        *(
            [f"A model that errs, on the tickets, clean and lost:\n\n{format_parts(summary['erring'])}"]
            if summary["erring"]
            else []
        ),
        "Not comparable, since an undisturbed run was not completed: "
        + (", ".join(summary["not_comparable"]) or "none."),
        "Rows where Midcourse loses:\n\n" + ("\n".join(f"- {loss}" for loss in summary["losses"]) or "None."),
        format_table(header, rows),
        format_table(["system", "versions", "settings", "after a crash"], versions),
    ]
    return "\n\n".join(parts)


def format_overall(summary: dict[str, Any]) -> str:
    """Format the scenarios of each system, and the medians of its runs."""
    return format_table(
        ["system", "completed", "repeated", "false 'done'", "asked", *(title for title, _ in COSTS_SHOWN)],
        [
            [
                row["system"],
                f"{row['by_scenario']['completed']} of {row['by_scenario']['scenarios']}",
                *(str(row["by_scenario"][name]) for name in SHORT),
                *(show(row) for _, show in COSTS_SHOWN),
            ]
            for row in summary["overall"]
        ],
    )


def format_parts(parts: list[dict[str, Any]]) -> str:
    """Format the completed scenarios of each fault, or the completed runs of each profile, where every seed errs elsewhere."""
    if not parts:
        return "None."
    name = "fault" if "fault" in parts[0] else "profile"
    rows = [
        [value, *(_format_counts(row) for row in parts if row[name] == value)]
        for value in dict.fromkeys(row[name] for row in parts if row["runs"])
    ]
    return format_table([name, *dict.fromkeys(row["system"] for row in parts)], rows)


def _format_counts(row: dict[str, Any]) -> str:
    if not row["runs"]:
        return "–"
    counted, total = (row["by_scenario"], "scenarios") if "fault" in row else (row, "runs")
    also = [f"{counted[name]} {word}" for name, word in SHORT.items() if counted[name]]
    return ", ".join([f"{counted['completed']} of {counted[total]}", *also])


SHORT = {"repeated": "repeated", "false_done": "false 'done'", "asked": "asked"}


def _format_cells(row: dict[str, Any]) -> list[str]:
    return [show(row) for _, show in COLUMNS]


COSTS_SHOWN = (
    ("calls", lambda row: f"{row['calls']:g}"),
    ("prompt tokens", lambda row: f"{row['tokens_in']:,.0f}"),
    ("$ cached", lambda row: f"{row['usd']:.4f}"),
    ("$ uncached", lambda row: f"{row['usd_uncached']:.4f}"),
)
COLUMNS = (
    ("runs", lambda row: str(row["runs"])),
    ("completed", lambda row: str(row["completed"])),
    ("repeated", lambda row: str(row["repeated"])),
    ("false 'done'", lambda row: str(row["false_done"])),
    ("asked", lambda row: str(row["asked"])),
    ("not begun", lambda row: str(row["not_begun"])),
    *COSTS_SHOWN,
)
