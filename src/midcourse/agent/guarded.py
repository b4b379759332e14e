"""`@guarded`: makes the effect of a plain function happen at most once for each key, even after crashes and repeated calls.

Each call is a run with one step. It is written to the ledger before the function is called. If the function raises, the outcome is
unknown until `happened` decides it. Calls are runs, so `midcourse runs` and the console list them, and `midcourse approve` approves them.
"""

import inspect
import logging
import os
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from contextvars import Context, ContextVar, copy_context
from dataclasses import dataclass, replace
from functools import cached_property, wraps
from itertools import product
from string import Formatter
from typing import Any, Literal, ParamSpec, Protocol, TypeVar, cast

from midcourse.agent.agent import Agent
from midcourse.agent.blocking import run_blocking
from midcourse.agent.function_name import FunctionName, is_same_file, name_function, refill, register
from midcourse.agent.patience import Patience
from midcourse.agent.shared_store import SHARED_STORE, load_settings, warn_of_default_home, warn_of_ignored_database
from midcourse.agent.start import Free, check_key, new_run_id
from midcourse.agent.undo import UndoReport, named_inverse
from midcourse.config.defaults import LeaveOpen
from midcourse.config.settings import Settings
from midcourse.config.variables import variable_of
from midcourse.domain.approval import Decision, Question
from midcourse.domain.argument import Pairs
from midcourse.domain.budget import Limits
from midcourse.domain.plan import Draft
from midcourse.domain.result import Result
from midcourse.domain.skill import Effect, Undo
from midcourse.domain.task import Task
from midcourse.errors import (
    AnswerLost,
    KeyTaken,
    OutcomeUnknown,
    Rejected,
    RunBusy,
    RunUnknown,
    SkillInvalid,
    TaskInvalid,
)
from midcourse.planners.playbook import SamePlan
from midcourse.ports.approver import Approver
from midcourse.ports.store import Store
from midcourse.worlds.functions import GUARD, RETURNED, Function, Functions, Returned, function_of

log = logging.getLogger(__name__)

P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)

MAX_KEY = 1_000_000
"""Characters of a filled-in key."""
HOME_VARIABLE = variable_of("home")
NEVER = 10.0**9
"""A time-out in seconds that is never reached. A plain function cannot be interrupted, so it needs a time-out inside."""


def guarded(
    *,
    key: str,
    name: str = "",
    effect: Effect = "irreversible",
    happened: Callable[..., Any] | None = None,
    absent_on: tuple[type[Exception], ...] = (),
    settles_after: float = 0.0,
    undo: str | Undo | Callable[..., Any] = "",
    approve: Literal["never", "always"] = "never",
    approver: Approver | None = None,
    wait: float | None = None,
    timeout: float | None = None,
    settings: Settings | None = None,
    database: str = "",
    tenant: str = "default",
    store: Store | None = None,
) -> "Callable[[Callable[P, R]], GuardedFunction[P, R]]":
    """Make the effect of a function, plain or `async`, happen at most once for each key.

    `key` is a format string of the arguments, such as `"{order_id}"`. A repeated call returns what the first one returned; the same
    key with other values raises `KeyTaken`. Keys are unique within `name`, by default the function's module and qualified name. A
    function that is made inside another, in a notebook, an interactive session or by `-c` needs a `name`. It may contain variables
    of the functions around it, as in `"orders.{shop}"`.

    `happened` takes the same arguments and returns whether the effect exists: True, False, or None if it cannot tell. It is called
    after a call raised or its process died; without it the approver is asked. `settles_after` is how many seconds the effect may
    take to become visible. `NotSent`, or an exception in `absent_on`, means that nothing was sent unless `happened` finds the effect.
    `undo` is the function that reverts this one, or its name in the same module: `order.undo(…)` with the arguments of a call reverts that call.

    `approve="always"` asks `approver`, or without one leaves the question for `midcourse approve` and the console. After `wait`
    seconds without a decision, or behind another process that is in the same call, the call raises `Pending`. `timeout`, in seconds,
    is for `async` functions. `database` is the URL of a PostgreSQL database, for calls from several machines. Calls raise `Rejected`,
    `OutcomeUnknown` or `AnswerLost`, and the function's own exception if nothing happened.
    """

    def decorate(call: Callable[P, R]) -> GuardedFunction[P, R]:
        function = Function(
            call=call,
            effect=effect,
            happened=happened,
            absent_on=absent_on,
            settles_after=settles_after,
            undo=_read_undo(undo),
        )
        guard = Guard(
            function=function,
            name=name_function(call, name),
            key=key,
            approvals=approve,
            approver=approver,
            wait=wait,
            timeout=timeout,
            settings=settings,
            database=database,
            tenant=tenant,
            store=store,
            inverse=undo if callable(undo) else None,
        )
        home = str(settings.home.absolute()) if settings else os.environ.get(HOME_VARIABLE, "")
        if not guard.name.missing:
            register(guard.name, home, database, tenant, store or "")
        return _wrap(call, guard)

    return decorate


class GuardedFunction(Protocol[P, R_co]):
    """A function decorated with `@guarded`."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co: ...

    def undo(self, *args: P.args, **kwargs: P.kwargs) -> Any:
        """Undo the call with these arguments and return an `UndoReport`. Await it if the function is `async`."""
        ...


def _read_undo(undo: str | Undo | Callable[..., Any]) -> Undo | None:
    if not undo:
        return None
    if isinstance(undo, Undo):
        return undo
    return Undo(skill=undo if isinstance(undo, str) else function_of(undo).name)


def _wrap(call: Callable[P, R], guard: "Guard") -> GuardedFunction[P, R]:
    """Make the function that callers get: it passes each call to the guard."""
    if inspect.iscoroutinefunction(call):

        @wraps(call)
        async def invoke_async(*args: P.args, **kwargs: P.kwargs) -> Any:
            return await guard.call(guard.function.arguments(*args, **kwargs))

        wrapper: Callable[..., Any] = invoke_async
        undo: Callable[..., Any] = guard.undo
    else:

        @wraps(call)
        def invoke(*args: P.args, **kwargs: P.kwargs) -> Any:
            return run_blocking(guard.call(guard.function.arguments(*args, **kwargs)))

        def undo_call(*args: P.args, **kwargs: P.kwargs) -> UndoReport:
            return run_blocking(guard.undo(*args, **kwargs))

        wrapper, undo = invoke, undo_call
    in_worlds = replace(guard.function, call_once=guard.call_within_run)
    for name, value in ((GUARD, in_worlds), ("undo", undo)):
        setattr(wrapper, name, value)
    return cast(GuardedFunction[P, R], wrapper)


class StopWithoutAsking:
    """An approver that stops the run at its first question, so that the run that made the call asks its own approver."""

    async def ask(self, question: Question) -> Decision:
        return Decision(verdict="stop")


class LeaveOpenAndLog(LeaveOpen):
    """Leaves the question open and logs how to decide it, so that it is visible why a caller without a time limit waits."""

    async def ask(self, question: Question) -> None:
        log.warning("run %s waits for a decision: midcourse approve %s", question.run, question.run)


@dataclass(frozen=True, kw_only=True)
class Guard:
    """One guarded function. It carries out each call as a run."""

    function: Function
    name: FunctionName
    """Its text is the prefix of the business keys of its calls."""
    key: str
    approvals: Literal["never", "always"]
    approver: Approver | None
    wait: float | None
    timeout: float | None
    settings: Settings | None
    database: str
    tenant: str
    store: Store | None
    inverse: Callable[..., Any] | None = None
    """The function that reverts this one. If only its name was given, it is looked up in the module of the function."""

    def __post_init__(self) -> None:
        name, parameters = self.function.name, [each.name for each in self.function.signature.parameters]
        if not self.key_fields:
            raise SkillInvalid(f"{name}: key '{self.key}' names no argument; write it like '{{{parameters[0]}}}'")
        if unknown := [field for field in self.key_fields if field not in parameters]:
            raise SkillInvalid(
                f"{name}: key '{self.key}' names {', '.join(unknown)}, which is not one of its arguments"
            )
        if self.timeout is not None and not inspect.iscoroutinefunction(self.function.call):
            raise SkillInvalid(f"{name}: a plain function cannot be interrupted; set the time-out inside it")

    @cached_property
    def key_fields(self) -> list[str]:
        """The arguments that the key is made of."""
        return [field for _, field, _, _ in Formatter().parse(self.key) if field is not None]

    @cached_property
    def limits(self) -> Limits:
        """Limits of one step without retries: the caller decides what to do after an exception."""
        return Limits(
            approvals=self.approvals,
            max_replans=0,
            max_error_replans=0,
            max_step_retries=0,
            outline="off",
            act_timeout_seconds=self.timeout or NEVER,
            max_wall_seconds=NEVER,
        )

    async def call(self, arguments: Pairs) -> Any:
        """Carry out a call, or find the earlier one under its key, and return what the function returned."""
        return (await self.find_or_call(arguments)).value

    async def find_or_call(self, arguments: Pairs, *, again: bool = False) -> Returned:
        """`again` allows another attempt after a call in doubt that was found not to have happened."""
        settings = self.settings or load_settings()
        async with self._open_store(settings) as store:
            return await self._call(arguments, settings, store, again=again)

    async def call_within_run(self, arguments: Pairs, again: bool) -> Returned:
        """Carry out a call as a step of another run. That run asks its own approver, also about an unknown outcome."""
        within = replace(self, approvals="never", approver=StopWithoutAsking(), wait=None)
        return await within.find_or_call(arguments, again=again)

    async def undo(self, *args: Any, **kwargs: Any) -> UndoReport:
        """Undo the call with these arguments. Raises `RunUnknown` if there was none, and what `Agent.undo` raises."""
        settings = self.settings or load_settings()
        world = Functions(self.function, self._find_inverse(), shared=bool(self.database))
        limited = settings.with_overrides({"approvals": self.approvals})
        async with self._open_store(settings) as store:
            agent = Agent(world, approver=self.approver or LeaveOpen(), settings=limited, store=store)
            arguments = self.function.arguments(*args, **kwargs)
            key = await self._find_key(store, arguments)
            run_id = await store.run_with_key(key)
            if run_id is None:
                raise RunUnknown(
                    f"{self.function.name} was not called for {self._fill_key(arguments)[0]}: there is nothing to undo"
                )
            await self._check_values(store, key, arguments)
            return await agent.undo(run_id)

    def _find_inverse(self) -> Function:
        declared = self.function.undo
        if declared is None:
            raise SkillInvalid(f"{self.function.name} cannot be undone: it names no undo")
        found = self.inverse or named_inverse(self.function)
        if not callable(found):
            raise SkillInvalid(
                f"{self.function.name}: undone by '{declared.skill}', which is not a function of its module"
            )
        return replace(function_of(found), call_once=None)  # the run that undoes the call has its own key

    @asynccontextmanager
    async def _open_store(self, settings: Settings) -> AsyncGenerator[Store]:
        if self.store is not None:
            yield self.store
        elif self.database:
            from midcourse.config.fleet_settings import FleetSettings
            from midcourse.home.fleet_store import open_fleet_store

            fleet = FleetSettings.load(settings.home, {"database_url": self.database, "tenant": self.tenant})
            async with open_fleet_store(fleet) as store:
                yield store
        else:
            warn_of_default_home(settings)
            warn_of_ignored_database(settings.home)
            with SHARED_STORE.use(settings.home) as store:
                yield store

    async def _find_key(self, store: Store, arguments: Pairs) -> str:
        """Return the business key of the run of a call: the name of the function and its filled-in key.

        If a version up to 0.2.0 made the call, under another form of the key, that form stays its key.
        """
        if self.name.missing:
            raise SkillInvalid(self.name.missing)
        if (now := refill(self.name, self.function.call)) != self.name.text:
            raise TaskInvalid(
                f"{self.function.name} was decorated as '{self.name.text}' and is now '{now}', because a variable in its name was "
                "set again, as in a loop: make each function by a call of its own"
            )
        which, *others = self._fill_key(arguments)
        key = f"{self.name.text}:{which}"
        names = (self.name.text, *self.name.earlier)
        earlier = [form for name in names for each in (which, *others) if (form := f"{name}:{each}") != key]
        shared = [(f"{name}:{each}", each) for name in self.name.shared for each in (which, *others)]
        if not (earlier or shared or self.name.otherwise_started) or await _is_used(store, key):
            return key
        for form in earlier:
            if await _is_used(store, form):
                return form
        for name in self.name.otherwise_started:
            form = f"{name}:{which}"
            if await _is_used(store, form) and await self._is_of_this_file(store, form, name):
                return form
        for form, each in shared:
            if await _is_used(store, form):
                await self._refuse_shared(store, form, each)
        return key

    async def _is_of_this_file(self, store: Store, key: str, name: str) -> bool:
        """Whether a call under another name was made from the file of this function, as far as its record says."""
        _, task = await store.load(await store.run_with_key(key) or "")
        if task.program:
            return is_same_file(task.program, self.name.file)
        dots, mine = name.count("."), self.name.text.count(".")
        return dots > mine  # it was imported from a package, in the folder of this script

    async def _refuse_shared(self, store: Store, key: str, which: str) -> None:
        """Raise `KeyTaken` if a version up to 0.2.0 made a call with this key, which all closures of a factory had."""
        run_id = await store.run_with_key(key) or ""
        _, task = await store.load(run_id)
        if task.goal == self._describe_call(which):
            raise KeyTaken(
                f"run {run_id} called {self.function.name} under the key '{key}', and its record does not say for which "
                f"'{self.name.given}' that was; look at it (midcourse effects {run_id}), and use another key to do it for "
                f"'{self.name.text}'"
            )

    def _describe_call(self, which: str) -> str:
        return f"Call {self.function.name} for {which}"

    def _fill_key(self, arguments: Pairs) -> list[str]:
        """Return the filled-in key, and after it what versions up to 0.2.0, which did not convert values, made of equal ones."""
        name, given = self.function.name, dict(arguments)
        if empty := [field for field in self.key_fields if self.function.is_empty(field, given.get(field))]:
            raise TaskInvalid(
                f"{name}: its key '{self.key}' needs {', '.join(empty)}, which is empty: all such calls would be taken for one"
            )
        spellings = [self.function.spell_for_key(field, given[field]) for field in self.key_fields]
        filled: list[str] = []
        for values in product(*spellings):
            try:
                filled.append(self.key.format(**(given | dict(zip(self.key_fields, values, strict=True)))))
            except (LookupError, ValueError) as error:
                if not filled:
                    raise TaskInvalid(f"{name}: its key '{self.key}' cannot be filled in: {error}") from None
        if len(filled[0]) > MAX_KEY:
            raise TaskInvalid(
                f"{name}: its key '{self.key}' has {len(filled[0])} characters; at most {MAX_KEY} are stored"
            )
        return list(dict.fromkeys(filled))

    async def _call(self, arguments: Pairs, settings: Settings, store: Store, *, again: bool) -> Returned:
        name = self.function.name
        which, *_ = self._fill_key(arguments)
        world = Functions(self.function, shared=bool(self.database))
        agent = Agent(
            world,
            SamePlan([Draft(skill=name, arguments=arguments, says=f"{name} {which}")]),
            approver=self.approver or (LeaveOpenAndLog() if self.wait is None else LeaveOpen()),
            settings=settings,
            store=store,
        )
        task = Task(
            goal=self._describe_call(which),
            inputs=arguments,
            limits=self.limits,
            program=self.name.program,
        )
        run_id = new_run_id()
        patience = Patience(f"{name} for {which}", self.wait)
        identity = (self.database, self.tenant, settings.home, id(self.store), self.name.text, which)
        with _enter_call(identity, f"{name} for {which}") as context:
            while True:
                key = await self._find_key(store, arguments)  # each time, since an earlier form of it may become free
                task = replace(task, key=key)
                await self._check_values(store, key, arguments)
                try:
                    run = context.run(agent.start, task, run_id=run_id, again=again)
                    result = await run.result_unless_asked(self.wait)
                except RunBusy as busy:
                    await patience.wait_for_run(store, await store.run_with_key(key) or run_id, busy)
                    continue
                except KeyTaken:
                    earlier = await store.run_with_key(key) or run_id
                    may_have = f"{name} may have happened in an earlier call, and nothing could decide it"
                    raise OutcomeUnknown(
                        f"{may_have}; look for it, and use another key to do it once more", earlier
                    ) from None
                await self._check_values(store, key, arguments)
                if result.run == run_id or not _had_no_effect(result):
                    value = await self._return_or_raise(store, result, world)
                    return Returned(value=value, earlier_run="" if result.run == run_id else result.run)

    async def _check_values(self, store: Store, key: str, arguments: Pairs) -> None:
        run_id = await store.run_with_key(key)
        if run_id is None:
            return
        _, task = await store.load(run_id)
        here = "" if self.name.given else self.name.file
        if task.program and here and not is_same_file(task.program, here):
            raise KeyTaken(
                f"run {run_id} called {self.function.name} under the key '{key}' from {task.program}, and this is {here}. If it is "
                f"the same program in another place, @guarded(name='{self.name.text}', …) keeps its records; if it is another "
                "program, give its function another name"
            )
        stored, as_key = dict(task.inputs), self.function.as_key
        differing = [name for name, value in arguments if as_key(name, stored.get(name)) != as_key(name, value)]
        if differing:
            raise KeyTaken(
                f"run {run_id} called {self.function.name} under the key '{key}' with other values of {', '.join(differing)}"
            )

    async def _return_or_raise(self, store: Store, result: Result, world: Functions) -> Any:
        name, run_id = self.function.name, result.run
        if result.success:
            for entry in await store.ledger(run_id):
                returned = dict(entry.outcome.data).get(RETURNED) if entry.outcome else None
                if isinstance(returned, str):
                    return self.function.read_returned(returned)
            if self.function.returns_nothing:
                return None
            raise AnswerLost(f"{name} happened, and what it returned was lost; run {run_id} has the evidence", run_id)
        if result.final_reason == "rejected":
            raise Rejected(f"{name} was not approved: {result.final_detail}", run_id)
        if world.raised is not None and _had_no_effect(result):
            raise world.raised
        raise OutcomeUnknown(f"{name} may have happened: {result.final_detail}", run_id)


async def _is_used(store: Store, key: str) -> bool:
    """Whether a run with this key has not ended, or had an effect or may have had one, so that the key stays its own."""
    try:
        return not isinstance(await check_key(store, key), Free)
    except KeyTaken:
        return True


def _had_no_effect(result: Result) -> bool:
    """Return whether a call failed without an effect, so that it may be made again."""
    failed = not result.success and result.final_reason != "rejected"
    return failed and not any(step.irreversible for step in result.completed)


@dataclass(eq=False)
class _CallUnderWay:
    """A call whose function, probe or approver runs in this context or in one that was copied from it."""

    identity: tuple[object, ...]
    over: bool = False
    """A task that the function has left behind is still in this context, but may wait for a later call."""


_UNDER_WAY: ContextVar[tuple[_CallUnderWay, ...]] = ContextVar("calls under way", default=())


@contextmanager
def _enter_call(identity: tuple[object, ...], what: str) -> Generator[Context]:
    """Return the context in which a call is carried out. Raise `RunBusy` if that call is made inside itself, and so would never end."""
    outer = _UNDER_WAY.get()
    if any(call.identity == identity and not call.over for call in outer):
        raise RunBusy(
            f"{what} is called inside that same call, which would wait for itself; use another key, or do not call it there"
        )
    call, context = _CallUnderWay(identity), copy_context()
    context.run(_UNDER_WAY.set, (*outer, call))
    try:
        yield context
    finally:
        call.over = True
