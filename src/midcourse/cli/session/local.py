"""A run from the command line, begun or resumed: wired up, followed, written out, and judged."""

import json
import logging
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import TextIOWrapper
from pathlib import Path

from rich.console import RenderableType
from rich.text import Text

from midcourse.app.agent import Agent, agent_for
from midcourse.app.defaults import NO_APPROVER
from midcourse.app.home import open_store
from midcourse.app.one_line import DryRun
from midcourse.app.start import start_run
from midcourse.app.wiring import Job, export, result_json, run_folder
from midcourse.cli.session.approver import TerminalApprover
from midcourse.cli.session.follower import Conductor, Followed
from midcourse.cli.session.keyboard import Keyboard
from midcourse.cli.session.prompt import desk_at as desk_at
from midcourse.cli.session.screen import Lines, LiveView, Nowhere, Screen
from midcourse.cli.view.question import question_panel, step_json
from midcourse.cli.view.run import View
from midcourse.cli.view.sent import plain_sent, sent_by
from midcourse.cli.view.terminal import Terminal, print_json, print_object, terminal
from midcourse.cli.view.verdict import EFFECTS, Verdict, counts, most_steps
from midcourse.cli.view.vocabulary import argument
from midcourse.domain.approval import Question
from midcourse.domain.event import ApprovalDecided
from midcourse.domain.result import Result
from midcourse.errors import RunBusy, RunEnded
from midcourse.files import private_opener
from midcourse.policy.approval.question import rows_of
from midcourse.ports.approver import Approver
from midcourse.ports.store import Store
from midcourse.redact import Discreet
from midcourse.store.sqlite import SqliteStore
from midcourse.worlds.simulated.effects import read_effects

SUCCEEDED, FAILED, LEFT = 0, 1, 130


@dataclass(frozen=True, kw_only=True)
class Manner:
    """How much is said."""

    json: bool = False
    quiet: bool = False

    @property
    def silent(self) -> bool:
        return self.json or self.quiet


async def begin(job: Job, run_id: str, manner: Manner, *, again: bool = False, dry: DryRun | None = None) -> int:
    """A new run, or the earlier one under the same business key. A `dry` one drops the first irreversible request."""
    with open_store(job.settings.home) as store:
        built: list[Session] = []
        entry = await start_run(
            job,
            run_id,
            store,
            again=again,
            ready=lambda: built.append(Session(job, run_id, store, manner, dry=dry)),
        )
        if entry.result is not None:
            folder = run_folder(job.settings, entry.run)
            return await present(entry.result, store, folder, manner, key=job.task.key)
        try:
            session = built[-1] if built and not entry.earlier else None
            return await pick_up(entry.job, entry.run, store, manner, dry=dry, session=session)
        except RunEnded:  # a process that began it together with this one was faster
            result = await store.result(entry.run)
            if result is None:
                raise
            return await present(result, store, run_folder(job.settings, entry.run), manner, key=job.task.key)


async def pick_up(
    job: Job,
    run_id: str,
    store: SqliteStore,
    manner: Manner,
    *,
    restored: bool = False,
    dry: DryRun | None = None,
    session: "Session | None" = None,
) -> int:
    """Go on with a stored run, in the `session` that was built for it before it was stored, or a new one."""
    session = session or Session(job, run_id, store, manner, dry=dry)
    run, _ = await store.load(run_id)
    session.view.recall(run, await store.plans(run_id), await store.journal(run_id))
    try:
        return await session.conduct(session.agent.pick_up(run_id, restored=restored))
    except RunBusy:
        said = f"another process drives run {run_id} right now; midcourse show {run_id} looks on"
        raise RunBusy(said) from None


class Session:
    """One run, its folder, and whoever watches it."""

    def __init__(
        self,
        job: Job,
        run_id: str,
        store: SqliteStore,
        manner: Manner,
        *,
        dry: DryRun | None = None,
        screen: Screen | None = None,
        stand_in: Approver | None = None,
    ) -> None:
        """`screen` shows the run in place of the usual view; `stand_in` answers where there is no terminal to ask in."""
        self._dry = dry
        self._save_as = f"midcourse init task {job.name}.toml --from {run_id}" if job.unfiled else ""
        self.folder = run_folder(job.settings, run_id)
        self._run_id = run_id
        self._store = store
        self.manner = manner
        self.terminal = terminal(silent=manner.silent)
        self.view = View(name=job.name, goal=job.task.goal, run_id=run_id, marks=self.terminal.marks)
        keyboard = Keyboard()
        desk = desk_at(self.terminal, keyboard)
        screen = screen or screen_at(self.terminal, self.view, keyboard, manner)
        self._conductor = Conductor(store=store, view=self.view, screen=screen, desk=desk, live=self.terminal.live)
        approver: Approver | None = stand_in
        if desk is not None:
            approver = TerminalApprover(
                desk=desk,
                screen=screen,
                interrupted=self._conductor.question_interrupted,
                ended=self._conductor.leave,
            )
        if dry is not None and approver is not None:
            dry.otherwise = approver
        self.agent: Agent = replace(agent_for(job, self.folder, dry or approver), store=store)

    async def conduct(self, live: Followed) -> int:
        """Follow the run to its end and present it. Returns the exit code."""
        self.announce()
        with logged_to(self.folder / "run.log"):
            result = await self._conductor.follow(live)
        await export(self._store, self._run_id, self.folder)
        if result is None:
            return self.left()
        if self._dry is not None and self._dry.dropped is not None:
            return present_dry(result, self._dry.dropped, self.manner)
        more = self.facts(result)
        return await present(result, self._store, self.folder, self.manner, save_as=self._save_as, more=more)

    def facts(self, result: Result) -> Mapping[str, object]:
        """What `--json` has besides the result."""
        return {}

    def announce(self) -> None:
        """Say what is begun, where no live view does."""
        if not self.terminal.live and not self.manner.silent:
            goal = self.terminal.marks.clean(self.view.goal)
            self.terminal.console.print(Text(f"run {self._run_id}: {goal}"), soft_wrap=True)

    def left(self) -> int:
        """Say how to go on with a run that was left before its end."""
        how = f"midcourse resume {self._run_id}"
        if self.manner.json:
            print_object({"error": f"left before its end; {how} goes on", "run": self._run_id})
        else:
            text = Text.assemble(("left before its end", "bold yellow"), f"; to go on: {how}")
            self.terminal.console.print(text, soft_wrap=True)
        return LEFT


def screen_at(where: Terminal, view: View, keyboard: Keyboard, manner: Manner, hint: str = "Ctrl-C pauses") -> Screen:
    if manner.silent:
        return Nowhere()
    return LiveView(where.console, view, keyboard, hint) if where.live else Lines(where.console, view)


async def present(
    result: Result,
    store: Store,
    folder: Path | None,
    manner: Manner,
    *,
    key: str = "",
    ended: bool = False,
    save_as: str = "",
    more: Mapping[str, object] | None = None,
) -> int:
    """Say what a run came to, and return the exit code for it.

    `key`: it had done it before, under this one. `ended`: there was nothing left to resume. `save_as`: the command that makes a
    task file of it. `more`: what `--json` has besides.
    """
    if manner.json:
        beside: dict[str, object] = {"sent": [plain_sent(sent) for sent in await sent_by(store, result.run)]}
        beside |= ({"again": True} if key else {}) | ({"save_as": save_as} if save_as else {})
        print_json(json.dumps({**json.loads(result_json(result)), **beside, **(more or {})}, ensure_ascii=False))
    else:
        where = terminal()
        verdict = replace(await verdict_of(result, store, folder), save_as=save_as)
        before = f"run {result.run} had ended already; this is what it came to" if ended else ""
        before = f"already done under this key: {where.marks.clean(key)}" if key else before
        if manner.quiet:
            line = "; ".join(part for part in (before, verdict.line(where.marks)) if part)
            where.console.print(Text(line), soft_wrap=True)
        else:
            if before:
                where.console.print(Text(before, "bold"), soft_wrap=True)
            verdict.print(where.console, where.marks, most_steps(where.console))
    return SUCCEEDED if result.success else FAILED


async def verdict_of(result: Result, store: Store, folder: Path | None) -> Verdict:
    nobody = False
    if result.final_reason in ("rejected", "needs_human"):
        decided = [row.event for row in await store.journal(result.run) if isinstance(row.event, ApprovalDecided)]
        nobody = bool(decided) and decided[-1].by == NO_APPROVER
    return Verdict(
        result=result,
        folder=folder,
        nobody_asked=nobody,
        sent=await sent_by(store, result.run),
        effects=effects_in(folder / EFFECTS) if folder else (),
    )


def effects_in(log: Path) -> tuple[str, ...]:
    """The world's own log of what happened in it, a line each; empty if it keeps none."""
    return tuple(
        f"{one.effect} {', '.join(f'{name}={value}' for name, value in one.values.items())}".strip()
        for one in read_effects(log)
    )


def present_dry(result: Result, dropped: Question, manner: Manner) -> int:
    """Show the request at which a dry run ended. That it got there is a success."""
    if manner.json:
        would = [step_json(dropped, number) for number in range(len(dropped.consequences))]
        print_json(json.dumps({**json.loads(result_json(result)), "dry_run": True, "would": would}, ensure_ascii=False))
        return SUCCEEDED
    where = terminal()
    if not manner.quiet:
        where.console.print(dry_panel(dropped, where))
    where.console.print(Text(f"dry run: this would be sent, and was not; {counts(result)}", "bold"), soft_wrap=True)
    where.console.print(Text("to do it: the same command without --dry-run", "dim"), soft_wrap=True)
    return SUCCEEDED


def dry_panel(dropped: Question, where: Terminal) -> RenderableType:
    """A panel in a terminal, plain lines elsewhere."""
    width = min(where.console.width, 100)
    if where.console.is_terminal:
        return question_panel(dropped, None, width, where.marks, title="This would be sent", hint="")
    lines = (
        f"{row.kind:<9} {row.name + ' = ' if row.name else ''}{argument(row.value)}"
        for consequence in dropped.consequences
        for row in rows_of(consequence)
    )
    return Text("\n".join(where.marks.clean(line) for line in lines))


class PrivateLog(logging.FileHandler):
    """A log file that only its owner may read."""

    def _open(self) -> TextIOWrapper:
        return open(self.baseFilename, "a", encoding=self.encoding, errors=self.errors, opener=private_opener)


@contextmanager
def logged_to(path: Path | None) -> Generator[None]:
    """What libraries log goes to a file, which is there only if they do, or nowhere: the terminal belongs to the view."""
    handler = PrivateLog(path, delay=True, encoding="utf-8") if path else logging.NullHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    handler.addFilter(Discreet())
    root = logging.getLogger()
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)
        handler.close()
