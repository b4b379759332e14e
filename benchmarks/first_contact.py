"""Does the browser world order exactly once in forms that its authors had not seen?

    python -m benchmarks.first_contact --json

The sites, tasks and the planner in `first_contact_sites` were written from the HTTP and HTML contract alone, and frozen
(`frozen.sha256`) before the first run. Each form is a separate run with a new browser,
without a policy file, with an approver that approves everything but repeats.

effects     entries in the site's own log, and whether they are exactly the expected ones
repeated    entries beyond the expected number
finished    the run succeeded
right       the log and the ending are as the task says
false       'done' although the log disagrees
questions   how often the approver was asked; `needless` counts those beyond one per effect; `sends` is how many unsafe requests a
            person's browser would have sent
arrived     requests with an unsafe method that reached the site, also those that it refused, such as one with a spent token
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from benchmarks.first_contact_sites.case import RECEIPT, RECEIPT_NAME, Case
from benchmarks.first_contact_sites.cases import CASES
from benchmarks.first_contact_sites.planner import Brief, FormFiller
from benchmarks.first_contact_sites.server import App, Reply, Visit, serve_app
from benchmarks.harness.report import describe_machine, format_table, make_parser, report
from midcourse import Agent, Expectation, Probe, Settings, Task
from midcourse.domain.result import Result
from midcourse.expect import TextContains
from midcourse.testing import Approves
from midcourse.worlds import Browser

SITES = Path(__file__).parent / "first_contact_sites"
FROZEN = SITES / "frozen.sha256"
MAX_SECONDS = 120.0


def list_digests() -> str:
    """Return the digest of each file that was frozen, in the format of sha256sum."""
    files = sorted(SITES.glob("*.py"))
    return "".join(f"{sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files)


@dataclass(frozen=True, kw_only=True)
class Row:
    """What one run on one form did."""

    form: str
    expected: tuple[str, ...]
    actual: tuple[str, ...]
    ending: str
    finished: bool
    verified: bool
    reason: str
    detail: str
    questions: tuple[str, ...]
    sends: int
    arrived: int
    other: dict[str, int]
    seconds: float

    @property
    def repeated(self) -> int:
        return max(0, len(self.actual) - len(self.expected))

    @property
    def missing(self) -> int:
        return sum((Counter(self.expected) - Counter(self.actual)).values())

    @property
    def wrong(self) -> int:
        """Entries that the task did not ask for, other than repeats."""
        return len([one for one in self.actual if one not in self.expected])

    @property
    def is_false_done(self) -> bool:
        return self.finished and (self.actual != self.expected or self.ending == "not_done")

    @property
    def is_right(self) -> bool:
        return self.actual == self.expected and self.finished == (self.ending == "done")

    @property
    def needless(self) -> int:
        return max(0, len(self.questions) - len(self.actual))


async def run_case(case: Case, folder: Path) -> Row:
    """Carry out the task of one case in a new browser, and read the site's log."""
    receipt = folder / RECEIPT_NAME
    receipt.write_bytes(RECEIPT)
    brief = replace(
        case.brief, fields=tuple((k, str(receipt) if v == RECEIPT_NAME else v) for k, v in case.brief.fields)
    )
    app, approver, began = case.app(), Approves(), time.monotonic()
    arrived = _count_arrivals(app)
    with serve_app(app) as url:
        origins = {url: {"unsafe": list(case.unsafe)}} if case.unsafe else None
        world = Browser(url + "/", origins=origins) if origins else Browser(url + "/")
        settings = Settings.load(overrides={"home": str(folder / case.name), "max_wall_seconds": f"{MAX_SECONDS:g}"})
        agent = Agent(world, FormFiller(brief), approver=approver, settings=settings)
        result = await agent.run(Task(goal=case.goal, done_when=_make_check(case, brief, url), files=[str(receipt)]))
        await asyncio.sleep(0.2)  # for a request that is still on its way
        seconds = time.monotonic() - began
        return _make_row(case, result, app, approver, arrived=len(arrived), seconds=seconds)


def _count_arrivals(app: App) -> list[str]:
    """Return the requests with an unsafe method that reach the application from now on."""
    arrived, answer = list[str](), app.answer

    def count(visit: Visit) -> Reply:
        if visit.method != "GET":
            arrived.append(f"{visit.method} {visit.path}")
        return answer(visit)

    app.answer = count
    return arrived


def _make_check(case: Case, brief: Brief, url: str) -> Expectation | Probe | None:
    if not case.checked:
        return None
    if brief.orders:
        path = {"My orders": "/orders", "My donations": "/donations"}[brief.orders]
        return Probe(name="page_shows", arguments={"url": url + path, "text": brief.reference})
    return Expectation(checks=(TextContains(text=brief.shows),))


def _make_row(case: Case, result: Result, app: App, approver: Approves, *, arrived: int, seconds: float) -> Row:
    return Row(
        form=case.name,
        expected=case.effects,
        actual=tuple(app.effects),
        ending=case.ending,
        finished=result.success,
        verified=result.verified,
        reason=result.final_reason,
        detail=result.final_detail,
        questions=tuple(question.about for question in approver.questions),
        sends=case.sends,
        arrived=arrived,
        other=dict(app.other),
        seconds=round(seconds, 1),
    )


async def run_cases(cases: Sequence[Case]) -> list[Row]:
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as name:
        for case in cases:
            rows.append(await run_case(case, Path(name)))
            print(json.dumps(asdict(rows[-1])), file=sys.stderr, flush=True)
    return rows


def summarize(rows: Sequence[Row]) -> dict[str, Any]:
    return {
        "forms": len(rows),
        "right": sum(row.is_right for row in rows),
        "finished": sum(row.finished for row in rows),
        "should_finish": sum(row.ending == "done" for row in rows),
        "repeated": sum(row.repeated for row in rows),
        "wrong": sum(row.wrong for row in rows),
        "missing": sum(row.missing for row in rows),
        "false_done": sum(row.is_false_done for row in rows),
        "questions": sum(len(row.questions) for row in rows),
        "needless": sum(row.needless for row in rows),
        "sends": sum(row.sends for row in rows),
        "arrived": sum(row.arrived for row in rows),
        "frozen": sha256(FROZEN.read_bytes()).hexdigest()[:16],
        "seconds": round(sum(row.seconds for row in rows), 1),
        "machine": describe_machine(),
        "rows": [asdict(row) for row in rows],
    }


def format_summary(summary: dict[str, Any], rows: Sequence[Row]) -> str:
    head = [
        "form",
        "effects",
        "repeated",
        "finished",
        "right",
        "false 'done'",
        "questions",
        "needless",
        "sends",
        "arrived",
        "reason",
    ]
    lines = [
        [
            row.form,
            f"{len(row.actual)} of {len(row.expected)}" + (" (wrong)" if row.wrong else ""),
            str(row.repeated),
            "yes" if row.finished else "no",
            "yes" if row.is_right else "NO",
            "YES" if row.is_false_done else "",
            str(len(row.questions)),
            str(row.needless),
            str(row.sends),
            str(row.arrived),
            row.reason,
        ]
        for row in rows
    ]
    told = (
        f"{summary['right']} of {summary['forms']} forms right, {summary['repeated']} effects repeated, {summary['false_done']} false "
        f"'done', {summary['missing']} effects missing, {summary['questions']} questions ({summary['needless']} beyond one per effect)."
    )
    return f"{told}\n\n{format_table(head, lines)}"


def main() -> int:
    parser = make_parser(__doc__)
    parser.add_argument("--forms", default="", help="names of forms, separated by commas; default: all")
    args: argparse.Namespace = parser.parse_args()
    if list_digests() != FROZEN.read_text(encoding="utf-8"):
        print("the sites, tasks or the planner are not those of frozen.sha256", file=sys.stderr)
        return 2
    wanted = set(args.forms.split(",")) if args.forms else {case.name for case in CASES}
    cases = [case for case in CASES if case.name in wanted]
    if unknown := wanted - {case.name for case in cases}:
        raise SystemExit(f"there is no form {', '.join(sorted(unknown))}")
    rows = asyncio.run(run_cases(cases))
    summary = summarize(rows)
    report(args, "first_contact", summary, format_summary(summary, rows))
    return 0 if not summary["repeated"] and not summary["false_done"] else 1


if __name__ == "__main__":
    sys.exit(main())
