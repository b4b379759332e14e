"""What the runs add up to: rows with intervals, the pairs that cannot be compared, and the rows where Midcourse loses."""

from dataclasses import asdict
from statistics import median
from typing import Any

from benchmarks.harness.report import Share, format_table
from benchmarks.peer_systems.cells import ERRING, FROZEN, SITE_FAULTS, all_cells
from benchmarks.peer_systems.systems import SYSTEMS
from benchmarks.peer_systems.trial import Ended

OURS, BARE = "midcourse", "midcourse-bare"
COSTS = ("calls", "tokens_in", "cached", "tokens_out", "usd", "usd_uncached")


def summary_of(ended: list[Ended], wanted: int) -> dict[str, Any]:
    keys = dict.fromkeys((one.app, one.fault, one.profile, one.system) for one in ended)
    rows = [
        row_of(key, [one for one in ended if (one.app, one.fault, one.profile, one.system) == key])
        for key in sorted(keys, key=list(keys).index)
    ]
    systems = [name for name in SYSTEMS if any(one.system == name for one in ended)]
    shared = shared_of(ended)
    compared = [name for name in SYSTEMS if any(one.system == name for one in shared)]
    return {
        "cells": FROZEN,
        "frozen_cells": len(all_cells()),
        "wanted": wanted,
        "runs": len(ended),
        "systems": {
            name: {
                "versions": SYSTEMS[name].versions(),
                "settings": SYSTEMS[name].settings,
                "recovery": SYSTEMS[name].recovery,
            }
            for name in systems
        },
        "not_comparable": not_comparable(ended),
        "rows": rows,
        "overall": [overall(name, shared) for name in compared],
        "faults": [by_fault(name, fault, shared) for fault in SITE_FAULTS for name in compared],
        "losses": losses(rows),
        "troubled": [asdict(one) for one in ended if one.system == OURS and not one.completed][:40],
    }


def row_of(key: tuple[str, str, str, str], every: list[Ended]) -> dict[str, Any]:
    app, fault, profile, system = key
    return {"app": app, "fault": fault, "profile": profile, "system": system, **counts(every)}


def counts(every: list[Ended]) -> dict[str, Any]:
    begun = [one for one in every if one.begun]
    completed = sum(one.completed for one in begun)
    return {
        "runs": len(begun),
        "completed": completed,
        "share": asdict(Share.of(completed, len(begun))),
        "repeated": sum(one.repeated > 0 for one in begun),
        "false_done": sum(one.false_done for one in begun),
        "asked": sum(one.doubts > 0 for one in begun),
        "without_the_fault": sum(not one.happened for one in begun),
        "not_begun": len(every) - len(begun),
        **{name: round(median(getattr(one, name) for one in begun), 6) if begun else 0 for name in COSTS},
    }


def shared_of(ended: list[Ended]) -> list[Ended]:
    """Runs on both sites with a model that makes no errors, of those cells that every system has done."""
    some = [one for one in ended if one.app != "wagtail" and one.profile not in ERRING]
    systems = {one.system for one in some}
    done: dict[tuple[str, str, str, int], set[str]] = {}
    for one in some:
        done.setdefault((one.app, one.fault, one.profile, one.seed), set()).add(one.system)
    return [one for one in some if done[one.app, one.fault, one.profile, one.seed] == systems]


def overall(system: str, shared: list[Ended]) -> dict[str, Any]:
    return {"system": system, **counts([one for one in shared if one.system == system])}


def by_fault(system: str, fault: str, shared: list[Ended]) -> dict[str, Any]:
    some = [one for one in shared if (one.system, one.fault) == (system, fault)]
    return {"system": system, "fault": fault, **counts(some)}


def not_comparable(ended: list[Ended]) -> list[str]:
    """Pairs of system and application of which an undisturbed run, by a model without errors, was not completed."""
    failed = [
        one for one in ended if one.fault == "clean" and one.profile not in ERRING and one.begun and not one.completed
    ]
    return [f"{system} on {app}" for system, app in dict.fromkeys((one.system, one.app) for one in failed)]


def losses(rows: list[dict[str, Any]]) -> list[str]:
    """Each row in which Midcourse, with or without probes, repeats, claims falsely, or is behind a peer in completion or prompt tokens."""
    found: list[str] = []
    for ours in rows:
        if ours["system"] not in (OURS, BARE) or not ours["runs"]:
            continue
        where = f"{ours['system']}, {ours['app']}, {ours['fault']}, {ours['profile']}"
        found += [f"{where}: {ours[name]} {name}" for name in ("repeated", "false_done") if ours[name]]
        for row in rows:
            same = all(row[name] == ours[name] for name in ("app", "fault", "profile"))
            if not same or row["system"].startswith(OURS) or not row["runs"]:
                continue
            if row["share"]["share"] > ours["share"]["share"]:
                found.append(f"{where}: {percent(ours)} % completed, {row['system']} {percent(row)} %")
            if row["completed"] and row["tokens_in"] < ours["tokens_in"]:
                found.append(
                    f"{where}: {ours['tokens_in']:,.0f} prompt tokens, {row['system']} {row['tokens_in']:,.0f}"
                )
    return found


def percent(row: dict[str, Any]) -> str:
    return f"{100 * row['share']['share']:.1f}"


def tables(told: dict[str, Any]) -> str:
    done = f"{told['runs']} of {told['frozen_cells']} frozen cells (digest `{told['cells']}`) are done."
    header = ["application", "fault", "model", "system", *(title for title, _ in COLUMNS)]
    rows = [[row["app"], row["fault"], row["profile"], row["system"], *_cells(row)] for row in told["rows"]]
    versions = [
        [name, ", ".join(" ".join(pair) for pair in of["versions"].items()), of["settings"], of["recovery"]]
        for name, of in told["systems"].items()
    ]
    parts = [
        done,
        "Both sites, all faults, trusting and careful, the cells that every system has done:",
        overall_table(told),
        fault_table(told),
        "Not comparable, since an undisturbed run was not completed: " + (", ".join(told["not_comparable"]) or "none."),
        "Rows where Midcourse loses:\n\n" + ("\n".join(f"- {each}" for each in told["losses"]) or "None."),
        format_table(header, rows),
        format_table(["system", "versions", "settings", "after a crash"], versions),
    ]
    return "\n\n".join(parts)


def overall_table(told: dict[str, Any]) -> str:
    return format_table(
        ["system", *(title for title, _ in COLUMNS)], [[row["system"], *_cells(row)] for row in told["overall"]]
    )


def fault_table(told: dict[str, Any]) -> str:
    """Runs completed, for each fault and system."""
    systems = [row["system"] for row in told["overall"]]
    rows = [
        [fault, *(_short(row) for row in told["faults"] if row["fault"] == fault)]
        for fault in dict.fromkeys(row["fault"] for row in told["faults"] if row["runs"])
    ]
    return format_table(["fault", *systems], rows)


def _short(row: dict[str, Any]) -> str:
    also = [f"{row[name]} {word}" for name, word in SHORT.items() if row[name]]
    return ", ".join([f"{row['completed']} of {row['runs']}", *also]) if row["runs"] else "–"


SHORT = {"repeated": "repeated", "false_done": "false 'done'", "asked": "asked"}


def _cells(row: dict[str, Any]) -> list[str]:
    return [show(row) for _, show in COLUMNS]


COLUMNS = (
    ("n", lambda row: str(row["runs"])),
    ("completed %", lambda row: str(Share(**row["share"]))),
    ("repeated", lambda row: str(row["repeated"])),
    ("false 'done'", lambda row: str(row["false_done"])),
    ("asked", lambda row: str(row["asked"])),
    ("not begun", lambda row: str(row["not_begun"])),
    ("calls", lambda row: f"{row['calls']:g}"),
    ("prompt tokens", lambda row: f"{row['tokens_in']:,.0f}"),
    ("$ cached", lambda row: f"{row['usd']:.4f}"),
    ("$ uncached", lambda row: f"{row['usd_uncached']:.4f}"),
)
