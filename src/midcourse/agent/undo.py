"""Undoes the acts of a run: carries out the inverse of each act in its ledger, newest first.

Each inverse is a separate run under the business key `undo:RUN/COMMAND`, so it is carried out once, even if several calls or
processes request it. See design/0028.
"""

import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from midcourse.config.settings import Settings
from midcourse.config.task.modules import import_named
from midcourse.domain.agreement import Agreement, Rule
from midcourse.domain.argument import Argument, Reference
from midcourse.domain.budget import Limits
from midcourse.domain.outcome import Outcome
from midcourse.domain.plan import Step
from midcourse.domain.records.ledger import LedgerEntry
from midcourse.domain.result import Result
from midcourse.domain.skill import Catalogue, Effect
from midcourse.domain.task import Task
from midcourse.errors import KeyTaken, RunBusy, TaskInvalid
from midcourse.history.journal import journal_of
from midcourse.planners.inverse import InversePlanner
from midcourse.policy.inverse import Certainty, Inverse, PastAct, find_inverse
from midcourse.ports.planner import Planner
from midcourse.ports.store import Store
from midcourse.ports.world import World
from midcourse.presentation.evidence import sent_acts
from midcourse.presentation.vocabulary import REASONS, describe_step, format_argument
from midcourse.worlds.functions import GUARD, Function, Functions, function_of

UndoState: TypeAlias = Literal["planned", "undone", "gone", "left"]
"""`gone`: a probe no longer found the effect, so nothing was sent. `left`: the effect is still there, or may be."""

KEY = "undo:"
"""The prefix of the business keys of undos."""
NOT_TRIED = "not tried, because a later act could not be undone"


WITHOUT_MODELS = {"model": "", "role_models": "", "cassette": "", "record": "", "detours": False, "reuse": False}
"""Settings of an undo: nothing in it is planned, explained or read by a model."""


@dataclass(frozen=True, kw_only=True)
class UndoneAct:
    """One act of the run, and whether it was undone."""

    number: int
    """Its number in the run, counted from 1, which `Agent.undo` takes as `step`."""
    says: str
    effect: Effect
    state: UndoState
    inverse: str = ""
    """The call that undoes it, in words."""
    reason: str = ""
    """Why it was not undone."""
    run: str = ""
    """The id of the run that undid it, or tried to."""


@dataclass(frozen=True, kw_only=True)
class UndoReport:
    """What was undone, newest first, and what was left, with the reason."""

    run: str
    acts: tuple[UndoneAct, ...]

    @property
    def left(self) -> tuple[UndoneAct, ...]:
        return tuple(act for act in self.acts if act.state == "left")

    @property
    def complete(self) -> bool:
        """Whether no effect of these acts is left."""
        return all(act.state in ("undone", "gone") for act in self.acts)


# --- the acts of a run


async def load_acts(store: Store, run_id: str) -> tuple[PastAct, ...]:
    """The acts of a run that had an effect, or may have had one, in order. Raises `TaskInvalid` if it has not ended."""
    await store.initial_state(run_id)  # raises if the run is unknown
    if await store.result(run_id) is None:
        raise TaskInvalid(
            f"run {run_id} has not ended; resume it (midcourse resume {run_id}), or cancel it and then undo it"
        )
    journal = await journal_of(store, run_id)
    sent = {act.command: Outcome(status=act.status, evidence=act.evidence) for act in await sent_acts(store, journal)}
    acts: list[PastAct] = []
    results: dict[str, Argument] = {}
    for entry in await store.ledger(run_id):
        plan = journal.plan(entry.version)
        step = plan.steps[entry.index] if plan and entry.index < len(plan.steps) else None
        outcome = sent.get(entry.command) or entry.outcome or Outcome(status="unknown")
        effect = _find_effect(entry, step)
        happened = _classify_outcome(outcome)
        if step is not None and effect is not None and happened is not None:
            data = entry.outcome.data if entry.outcome else ()
            acts.append(
                PastAct(
                    number=len(acts) + 1,
                    command=entry.command,
                    step=_fill_in_results(step, results),
                    effect=effect,
                    happened=happened,
                    results=data,
                )
            )
        results |= dict(entry.outcome.data) if entry.outcome else {}
    return tuple(acts)


def _find_effect(entry: LedgerEntry, step: Step | None) -> Effect | None:
    """The effect of what was sent; None if nothing was sent, or if it only read."""
    if step is None:
        return None
    if entry.dispatched_at is None:
        return "set_state" if step.effect == "set_state" else None
    if entry.consequence:
        return "irreversible"
    return "reversible" if step.effect in ("read", "set_state") else step.effect


def _classify_outcome(outcome: Outcome) -> Certainty | None:
    """Whether an act happened; None if it certainly had no effect. A failure without evidence may have had one."""
    if outcome.status == "ok":
        return "yes"
    if outcome.status in ("no_effect", "unreachable") or (outcome.status == "failed" and outcome.evidence):
        return None
    return "perhaps"


def _fill_in_results(step: Step, results: dict[str, Argument]) -> Step:
    filled = tuple(
        (name, results.get(value.name) if isinstance(value, Reference) and value.source == "result" else value)
        for name, value in step.arguments
    )
    return replace(step, arguments=filled)


# --- undoing


async def undo_acts(
    store: Store,
    run_id: str,
    *,
    world: World,
    settings: Settings,
    carry_out: Callable[[Task, Planner], Awaitable[Result]],
    step: int | None = None,
    dry_run: bool = False,
) -> AsyncGenerator[UndoneAct]:
    """Undo the acts of a run, newest first, or only number `step`, and yield each one with its outcome.

    `carry_out` runs the task of an undo in the world, with the planner that knows its inverse.
    If undoing an act fails, earlier acts are not tried, because it may depend on them. An act without an inverse does not
    stop the others. Raises `TaskInvalid` for an unknown step, and `RunBusy` if another process is undoing the run.
    """
    acts = await load_acts(store, run_id)
    if step is not None and step not in {act.number for act in acts}:
        raise TaskInvalid(f"run {run_id} has no act {step} to undo; it has {len(acts)}")
    catalogue = await _read_catalogue(world) if acts else Catalogue()
    _, task = await store.load(run_id)
    stopped = False
    for act in reversed([act for act in acts if step in (None, act.number)]):
        inverse = find_inverse(act, catalogue)
        entry = UndoneAct(number=act.number, says=describe_step(act.step), effect=act.effect, state="planned")
        if isinstance(inverse, str):
            yield replace(entry, state="left", reason=inverse)
            continue
        entry = replace(entry, inverse=describe_inverse(inverse))
        if stopped and not dry_run:
            entry = replace(entry, state="left", reason=NOT_TRIED)
        elif not dry_run:
            again = _make_task(settings, task, run_id, inverse)
            try:
                result = await carry_out(again, InversePlanner(inverse, world))
            except RunBusy:
                raise RunBusy(f"another process is undoing act {entry.number}; try again when it has ended") from None
            except KeyTaken:
                earlier = await store.run_with_key(again.key) or ""
                entry = replace(
                    entry, state="left", run=earlier, reason=f"run {earlier} may have undone it; look for it"
                )
            else:
                if result.success:
                    entry = replace(entry, state="undone" if result.executions else "gone", run=result.run)
                else:
                    why = f"{REASONS[result.final_reason]}: {result.final_detail}"
                    entry = replace(entry, state="left", run=result.run, reason=why)
        stopped = stopped or entry.state == "left"
        yield entry


async def _read_catalogue(world: World) -> Catalogue:
    """The skills of the world. Some, such as an MCP server's, are known only while it is open."""
    catalogue = world.catalogue()
    if catalogue.skills:
        return catalogue
    await world.open()
    try:
        return world.catalogue()
    finally:
        await world.close()


def _make_task(settings: Settings, task: Task, run_id: str, inverse: Inverse) -> Task:
    """The task of an undo. Every inverse needs approval, even a reversible one, unless approvals are off."""
    limits = Limits(outline="off").with_defaults(settings.limits())
    agreement: Agreement = settings.agreement()
    if limits.approvals != "never":
        agreement = replace(agreement, rules=(*agreement.rules, Rule(ask=True)))
    act = inverse.act
    return Task(
        goal=f"Undo act {act.number} of run {run_id}: {describe_step(act.step)}",
        world=task.world,
        inputs=task.inputs,
        secrets=task.secrets,
        secret_origins=task.secret_origins,
        files=task.files,
        done_when=inverse.undone,
        key=f"{KEY}{run_id}/{act.command}",
        limits=limits,
        agreement=agreement,
    )


def undone_run(task: Task) -> str:
    """The id of the run that has the act this task undoes; empty if the task is not an undo."""
    return task.key.removeprefix(KEY).rpartition("/")[0] if task.key.startswith(KEY) else ""


def functions_in(module: str) -> Functions:
    """The guarded functions of a module and the functions that undo them, as a world. Raises `TaskInvalid`."""
    try:
        found = [each for each in vars(import_named(module)).values() if hasattr(each, GUARD)]
    except ImportError as error:
        raise TaskInvalid(f"module '{module}' cannot be loaded: {error}") from error
    if not found:
        raise TaskInvalid(f"module '{module}' has no guarded functions")
    guarded = [function_of(each) for each in found]
    inverses = [function_of(inverse) for each in guarded if callable(inverse := named_inverse(each))]
    functions = {function.name: replace(function, call_once=None) for function in (*inverses, *guarded)}
    return Functions(*functions.values())  # each inverse has a separate key


def named_inverse(function: Function) -> object:
    """What the module of a function has under the name of the function's inverse."""
    return inspect.unwrap(function.call).__globals__.get(function.undo.skill) if function.undo else None


def describe_inverse(inverse: Inverse) -> str:
    """The call that undoes an act, in words."""
    arguments = ", ".join(f"{name}={format_argument(value)}" for name, value in inverse.arguments)
    return f"{inverse.skill.name}({arguments})"
