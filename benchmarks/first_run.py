"""Does a first run succeed? A model, the page's address, the password as a secret, and no policy file.

    python -m benchmarks.first_run --json

A scripted model that reads only its prompt works in two applications (`first_run/sites.py`) and, with `--apps wagtail`, in Wagtail as it
comes from PyPI. Each run has one fault: none, a pop-up, renamed controls, a session that ends, or an effect that is stored and answered with HTTP 504. What
was stored is counted in the application's own log. Each run is followed by a second one with the policy that the first one proposes
(`midcourse policy propose`). The approver agrees to what it is shown, repeats what only leads up to the effect (a page of a form after the session ended), and
cannot know whether something happened.
"""

import asyncio
import json
import sys
import tempfile
import time
import tomllib
from collections.abc import Generator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from benchmarks.harness.report import Share, describe_machine, format_table, keep, make_parser
from benchmarks.llm.decisions import ARTICLE
from benchmarks.llm.scripted_model import serve_model
from benchmarks.llm.sites import APPS, FAULTS, GOALS, PASSWORD, SECRET, Site, serve, truth
from midcourse import Agent, Settings, Task
from midcourse.domain.approval import CommitSet, Decision, Question
from midcourse.store.sqlite import SqliteStore
from midcourse.testing import Approves
from midcourse.worlds.browser import Browser
from midcourse.worlds.browser.learn import list_sent_requests, propose_policy

ENOUGH = 0.95
"""Of the runs of a cell are to finish."""
AT_SUBMIT = "expired at submit"
"""The session ends with the very request that stores the ticket or order."""
ARTICLE_GOAL = (
    f"Sign in as user '{ARTICLE['user']}'. Under {ARTICLE['parent']} add a child page (an article) with title '{ARTICLE['title']}', summary "
    f"'{ARTICLE['summary']}' and related page '{ARTICLE['related']}' (in {ARTICLE['parent']}, {ARTICLE['section']}), and publish it, exactly once."
)


@dataclass(frozen=True, kw_only=True)
class Cell:
    app: str
    fault: str


@dataclass(frozen=True, kw_only=True)
class Ended:
    app: str
    fault: str
    seed: int
    second: bool
    success: bool
    right: bool
    repeated: int
    approvals: int
    effects: int
    """Requests for the effect itself that reached the application."""
    unsafe: int
    """Requests other than the sign-in that reached the application and may have changed something."""
    doubts: int
    """Questions that a person has to look elsewhere to answer: whether it happened, or whether the effect itself is to be repeated."""
    reason: str
    detail: str
    calls: int

    @property
    def finished(self) -> bool:
        return self.success and self.right and not self.repeated and not self.doubts

    @property
    def false_done(self) -> bool:
        return self.success and not self.right


@dataclass(frozen=True, kw_only=True)
class Place:
    """An application that is up: where it is, what is wanted of it, and what has become of that."""

    url: str
    goal: str
    password: str

    def stored(self) -> tuple[bool, int]:
        raise NotImplementedError

    def sent(self) -> list[str]:
        """Requests that reached the application and may have changed something, but for sign-ins."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class OwnSite(Place):
    site: Site

    def stored(self) -> tuple[bool, int]:
        found = truth(self.site)
        return found.right and not found.wrong and not found.unasked, found.repeated

    def sent(self) -> list[str]:
        return [each for each in self.site.requests if each.startswith("POST ") and each != "POST /login"]


@dataclass(frozen=True, kw_only=True)
class Wagtail(Place):
    application: Any
    proxy: Any

    def stored(self) -> tuple[bool, int]:
        found = self.application.truth(ARTICLE["title"])
        return found.live == 1 and not found.others, max(found.published - 1, 0) + max(found.pages - 1, 0)

    def sent(self) -> list[str]:
        return [each for each in self.proxy.changing if "/login/" not in each]


@contextmanager
def wagtail(fault: str, seed: int) -> Generator[Place]:
    from benchmarks.web_apps.wagtail.application import PASSWORD, Application
    from benchmarks.web_apps.wagtail.proxy import Fault, Proxy, in_front_of
    from benchmarks.web_apps.wagtail.story import LIST, is_page, is_publication, running

    faults = {
        "clean": (),
        "popup": (Fault(kind="overlay", at=is_page, nth=1 + seed % 5),),
        "expired": (Fault(kind="expired", at=is_page, nth=2 + seed % 4),),
        "lost": (Fault(kind="lost", at=is_publication),),
        AT_SUBMIT: (Fault(kind="expired", at=is_publication),),
    }
    with tempfile.TemporaryDirectory() as folder, running(Application(Path(folder))) as application:
        proxy = Proxy(application.address, faults[fault])
        with in_front_of(proxy) as url:
            yield Wagtail(url=url + LIST, goal=ARTICLE_GOAL, password=PASSWORD, application=application, proxy=proxy)


@contextmanager
def place(cell: Cell, seed: int) -> Generator[Place]:
    if cell.app == "wagtail":
        with wagtail(cell.fault, seed) as there:
            yield there
        return
    at_submit = cell.fault == AT_SUBMIT
    site = Site(cell.app, "expired" if at_submit else cell.fault, seed, expires_at_submit=at_submit)  # pyrefly: ignore[bad-argument-type]
    with serve(site) as url:
        yield OwnSite(url=f"{url}/", goal=GOALS[site.app], password=PASSWORD, site=site)


class Sensible(Approves):
    """Agrees to what it is shown. It repeats what only led up to the effect, as after a session that ended, and never the effect itself."""

    async def ask(self, question: Question) -> Decision | None:
        decided = await super().ask(question)
        if question.about != "repeat" or any(is_effect(one.commit) for one in question.consequences):
            return decided
        return Decision(verdict="send_again", by="testing")


EFFECTS = ("POST /tickets", "POST /orders")


def is_effect(commit: CommitSet) -> bool:
    method, _, url = commit.address.partition(" ")
    published = "action-publish" in dict(commit.values)
    return method == "POST" and (published or f"POST {urlsplit(url).path}" in EFFECTS)


class Vault:
    def __init__(self, secret: str) -> None:
        self._secret = secret

    def reveal(self, name: str) -> str | None:
        return self._secret if name == SECRET else None


async def run_once(cell: Cell, seed: int, policy: Mapping[str, object] | None) -> tuple[Ended, str]:
    """How it ended, and the policy that it proposes with the origin left open."""
    with place(cell, seed) as there, serve_model(cell.app) as (model_url, model), tempfile.TemporaryDirectory() as home:
        origin = "{0.scheme}://{0.netloc}".format(urlsplit(there.url))
        settings = Settings.load(overrides={"home": home, "model_base_url": model_url})
        approver, store = Sensible(), SqliteStore(Path(home) / "runs.db")
        agent = Agent(
            world=Browser(there.url, origins=None if policy is None else {origin: dict(policy)}),
            model="openai:gpt-5",
            approver=approver,
            settings=settings,
            store=store,
            vault=Vault(there.password),
        )
        task = Task(goal=there.goal, secrets=(f"{SECRET}@{origin}",), limits=settings.limits())
        result = await agent.run(task, run_id="first")
        proposed = propose_policy(await list_sent_requests(store, "first"))
        store.close()
        right, repeated = there.stored()
        about = [question.about for question in approver.questions]
        effects = [one for one in approver.questions if any(is_effect(each.commit) for each in one.consequences)]
        asked = [
            one
            for one in approver.questions
            if one.about == "approve" or (one.about == "repeat" and one not in effects)
        ]
        ended = Ended(
            app=cell.app,
            fault=cell.fault,
            seed=seed,
            second=policy is not None,
            success=result.success,
            right=right,
            repeated=repeated,
            approvals=len(asked),
            unsafe=len(there.sent()),
            effects=sum(each in EFFECTS for each in there.sent()) or 1,
            doubts=len(about) - len(asked),
            reason=result.final_reason,
            detail=str(result.final_detail),
            calls=len(model.calls),
        )
        return ended, json.dumps(tomllib.loads(proposed).get(origin, {}))


def run_twice(cell: Cell, seed: int) -> list[Ended]:
    first, proposed = asyncio.run(run_once(cell, seed, None))
    second, _ = asyncio.run(run_once(cell, seed, json.loads(proposed)))
    return [first, second]


def summarize_runs(ended: list[Ended]) -> dict[str, Any]:
    first, second = [[one for one in ended if one.second is again] for again in (False, True)]
    rows: list[dict[str, Any]] = []
    for cell in dict.fromkeys((one.app, one.fault) for one in ended):
        of = [one for one in first if (one.app, one.fault) == cell]
        again = [one for one in second if (one.app, one.fault) == cell]
        rows.append(
            {
                "app": cell[0],
                "fault": cell[1],
                "runs": len(of),
                "finished": asdict(Share.of(sum(one.finished for one in of), len(of))),
                "second_finished": asdict(Share.of(sum(one.finished for one in again), len(again))),
                "repeated": sum(one.repeated for one in of + again),
                "false_done": sum(one.false_done for one in of + again),
                "questions": max(one.approvals for one in of),
                "more_questions_than_requests": sum(one.approvals > one.unsafe for one in of),
                "second_questions": max(one.approvals for one in again),
                "more_questions_than_effects": sum(one.approvals > one.effects for one in again),
                "asked_a_person": sum(one.doubts > 0 for one in of + again),
            }
        )
    bars = {
        "each cell finishes at least 95 %": all(row["finished"]["share"] >= ENOUGH for row in rows),
        "nothing is repeated": all(row["repeated"] == 0 for row in rows),
        "nothing is claimed that was not done": all(row["false_done"] == 0 for row in rows),
        "at most one question per unsafe request": all(row["more_questions_than_requests"] == 0 for row in rows),
        "second run: at most one question per request for the effect": all(
            row["more_questions_than_effects"] == 0 for row in rows
        ),
    }
    troubled = [asdict(one) for one in ended if not one.finished]
    return {"runs": len(ended), "rows": rows, "bars": bars, "troubled": troubled[:20]}


def format_tables(result: dict[str, Any]) -> str:
    header = [
        "application",
        "fault",
        "runs",
        "finished %",
        "second run %",
        "repeated",
        "false 'done'",
        "questions",
        "second run",
        "asked a person",
    ]
    rows = [
        [
            row["app"],
            row["fault"],
            str(row["runs"]),
            str(Share(**row["finished"])),
            str(Share(**row["second_finished"])),
            str(row["repeated"]),
            str(row["false_done"]),
            str(row["questions"]),
            str(row["second_questions"]),
            str(row["asked_a_person"]),
        ]
        for row in result["rows"]
    ]
    return format_table(header, rows)


def progress(pair: list[Ended], number: int, pairs: int, seconds: float) -> str:
    first = pair[0]
    reasons = ", ".join(one.reason if one.finished else f"{one.reason} (NOT FINISHED)" for one in pair)
    return f"{2 * number}/{2 * pairs} runs, {seconds:.0f} s: {first.app}, {first.fault}, seed {first.seed}: {reasons}"


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--seeds", type=int, default=20, help="runs of each cell")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--apps", nargs="+", default=list(APPS), choices=[*APPS, "wagtail"])
    parser.add_argument("--faults", nargs="+", default=[*FAULTS, AT_SUBMIT], choices=[*FAULTS, AT_SUBMIT])
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    cells = [Cell(app=app, fault=fault) for app in args.apps for fault in args.faults]
    cells = [cell for cell in cells if (cell.app, cell.fault) != ("wagtail", "renamed")]  # its controls are its own
    jobs = [(cell, seed) for seed in range(args.first_seed, args.first_seed + args.seeds) for cell in cells]
    began = time.monotonic()
    ended: list[Ended] = []
    with ProcessPoolExecutor(args.jobs, mp_context=get_context("spawn")) as pool:
        for number, done in enumerate(as_completed([pool.submit(run_twice, *job) for job in jobs]), 1):
            pair = done.result()
            ended += pair
            print(progress(pair, number, len(jobs), time.monotonic() - began), file=sys.stderr, flush=True)
    ended.sort(key=lambda one: (jobs.index((Cell(app=one.app, fault=one.fault), one.seed)), one.second))
    result: dict[str, Any] = {
        **summarize_runs(ended),
        "seconds": round(time.monotonic() - began, 1),
        "machine": describe_machine(),
    }
    print(format_tables(result))
    if args.keep:
        keep(
            "first_run" if args.apps == list(APPS) else f"first_run_{'_'.join(args.apps)}",
            result,
            format_tables(result),
        )
    if args.json:
        print(json.dumps(result))
    sys.exit(0 if all(result["bars"].values()) else 1)


if __name__ == "__main__":
    main()
