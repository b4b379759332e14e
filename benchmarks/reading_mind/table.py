"""The table of all judged tasks, from their transcripts."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.reading_mind.chosen import CHOSEN
from benchmarks.reading_mind.session import find_runs
from benchmarks.reading_mind.tasks import TASKS

Json = Mapping[str, Any]
HEAD = ("task", "kind", "right", "effects", "calls", "prompt tokens", "questions", "verdict", "note")
OURS = "midcourse"


def print_table(folder: Path | None) -> None:
    paths = folder.rglob("*.jsonl") if folder else find_runs().glob("*/transcript.jsonl")
    judged: dict[tuple[str, str], Json] = {}
    for path in paths:
        for line in path.read_text(encoding="utf-8").splitlines():
            if (read := json.loads(line))["kind"] == "judgement":
                judged[read["id"], read.get("with", "")] = read
    lines = make_table([judged[task.id, ""] for task in TASKS if (task.id, "") in judged])
    print("\n".join([*lines, *make_comparison(judged)]))


def make_table(judged: list[Json]) -> list[str]:
    """Return the lines of a table in Markdown, and of the sums below it."""
    lines = [HEAD, tuple("---" for _ in HEAD), *map(_make_row, judged)]
    table = [f"| {' | '.join(line)} |" for line in lines]
    if not judged:
        return [*table, "", "Nothing was judged."]
    asked = sum(each["questions"]["all"] for each in judged)
    noise = sum(each["questions"]["unnecessary"] for each in judged)
    short = [each for each in judged if each["kind_of_task"] != "long_text"]
    counted = ", ".join(sorted(Counter(each["counted_as"] for each in judged if each["counted_as"])))
    return [
        *table,
        "",
        (
            f"- {sum(each['right'] for each in judged)} of {len(judged)} ended right ({len(TASKS)} tasks); "
            f"{sum(len(each['effects']['twice']) for each in judged)} effects twice, "
            f"{sum(len(each['effects']['unasked']) for each in judged)} unasked; "
            f"{sum(_is_falsely_verified(each) for each in judged)} false 'verified'"
        ),
        f"- {asked} questions, {noise} of them unnecessary ({noise / max(asked, 1):.0%})",
        (
            f"- without long texts, median of {len(short)} tasks: {median(_count_calls(each) for each in short) if short else 0:g} calls, "
            f"{median(each['tokens']['prompt'] for each in short) if short else 0:,.0f} prompt tokens (counted as {counted})"
        ),
    ]


def make_comparison(judged: Mapping[tuple[str, str], Json]) -> list[str]:
    """Return the lines of a table that puts other systems beside ours, for the tasks chosen for it, and sums over what all of them did."""
    systems = sorted({system for task, system in judged if task in CHOSEN})
    if len(systems) < 2:
        return []
    head = ("task", "kind", "system", "right", "effects", "calls", "prompt tokens", "not cached", "questions", "note")
    rows = [
        _make_compared_row(judged[task, system]) for task in CHOSEN for system in systems if (task, system) in judged
    ]
    shared = [task for task in CHOSEN if all((task, system) in judged for system in systems)]
    lines = [f"| {' | '.join(line)} |" for line in (head, tuple("---" for _ in head), *rows)]
    return ["", *lines, "", *(_sum_up(system or OURS, [judged[task, system] for task in shared]) for system in systems)]


def _make_compared_row(each: Json) -> tuple[str, ...]:
    task, kind, right, effects, _, tokens, questions, _, note = _make_row(each)
    system, fresh = each.get("with") or OURS, each["tokens"]["prompt"] - each["tokens"]["cached"]
    return task, kind, system, right, effects, str(_count_calls(each)), tokens, f"{fresh:,}", questions, note


def _sum_up(system: str, judged: list[Json]) -> str:
    return (
        f"- {system}: {sum(each['right'] for each in judged)} of {len(judged)} tasks that all systems did ended right; "
        f"{sum(len(each['effects']['twice']) for each in judged)} effects twice, "
        f"{sum(len(each['effects']['unasked']) for each in judged)} unasked; {sum(map(_count_calls, judged))} calls, "
        f"{sum(each['tokens']['prompt'] for each in judged):,} prompt tokens, "
        f"{sum(each['tokens']['prompt'] - each['tokens']['cached'] for each in judged):,} of them not cached, "
        f"{sum(each['tokens']['answer'] for each in judged):,} answer tokens "
        f"(counted as {', '.join(sorted({each['counted_as'] for each in judged if each['counted_as']}))})"
    )


def _make_row(each: Json) -> tuple[str, ...]:
    effects, questions = each["effects"], each["questions"]
    extra = [f"{len(effects[name])} {name}" for name in ("twice", "unasked") if effects[name]]
    notes = [each["note"], *(f"not in the answer: {word}" for word in each["missing_in_answer"])]
    return (
        each["id"],
        each["kind_of_task"],
        "yes" if each["right"] else "**no**",
        ", ".join([f"{effects['done']} of {effects['expected']}", *extra]),
        f"{each['calls']['planner']}+{each['calls']['others']}",
        f"{each['tokens']['prompt']:,}",
        f"{questions['all']}/{questions['unnecessary']}",
        each["verdict"],
        "; ".join(note for note in notes if note).replace("|", "/"),
    )


def _count_calls(each: Json) -> int:
    return each["calls"]["planner"] + each["calls"]["others"]


def _is_falsely_verified(each: Json) -> bool:
    verdict = each["verdict"].lower()
    return not each["right"] and "verified" in verdict and "not verified" not in verdict
